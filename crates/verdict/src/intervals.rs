//! The intervals of a phase's time series that lie within the measured time while all workers were
//! active. An interval is a second; in a phase of more than half an hour it is wider.

use std::ops::Range;

use measure::{SLICES_MAX, steady};
use record::run::PhaseRecord;

/// Returns the measured intervals. The range may end after the last recorded interval. No operation
/// completed in the intervals that are not recorded.
pub(crate) fn measured(phase: &PhaseRecord) -> Range<usize> {
    let (Some(first), Some(last)) = (phase.measured().next(), phase.measured().last()) else {
        return 0..0;
    };
    let zero_ns = zero_ns(phase);
    let until_ns = phase.first_done.map_or(last.ended_ns, |first_done| {
        first_done.at_ns.min(last.ended_ns)
    });
    let width_ns = phase.slices.width_ns();
    // The boundaries of intervals and of segments may differ by the duration of some operations, so
    // 1 % of an interval is tolerated.
    let slack_ns = width_ns / 100;
    let begin = (first.began_ns - zero_ns)
        .saturating_sub(slack_ns)
        .div_ceil(width_ns);
    let end = until_ns.saturating_sub(zero_ns).saturating_add(slack_ns) / width_ns;
    // Intervals after the last operation count as zeros. A run may be idle for long, so the number
    // of intervals is limited.
    let end = end.min(2 * SLICES_MAX as u64);
    if phase.slices.is_empty() || end <= begin {
        return 0..0;
    }
    begin as usize..end as usize
}

/// Returns the start of the phase's first interval, in nanoseconds since the origin.
pub(crate) fn zero_ns(phase: &PhaseRecord) -> u64 {
    phase.span_ns().map_or(0, |(began_ns, _)| began_ns)
}

/// Returns the rate of each measured interval, in operations a second.
pub(crate) fn rates(phase: &PhaseRecord) -> Vec<f64> {
    let width_ns = phase.slices.width_ns();
    let rate = |operations: u64| operations as f64 * 1e9 / width_ns as f64;
    let range = measured(phase);
    let recorded = phase.slices.iter().take(range.end).skip(range.start);
    let mut rates: Vec<f64> = recorded
        .map(|slice| rate(slice.values().map(|meter| meter.operations).sum()))
        .collect();
    rates.resize(range.len(), 0.0);
    rates
}

/// Returns the dispersion of the rate: the standard deviation of the rates of the measured
/// intervals, divided by their mean. `None` for fewer intervals than a test of steadiness needs.
pub(crate) fn dispersion(phase: &PhaseRecord) -> Option<f64> {
    let rates = rates(phase);
    measure::dispersion(&rates).filter(|_| rates.len() >= steady::SLICES_MIN)
}
