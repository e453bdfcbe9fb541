//! The phase by which a run is judged, and whether its rate was constant.

use document::units::{percent, rate, signed_percent};
use measure::{Drift, Histogram, RateChange, SLICES_MAX, Steady, steady};
use record::run::{PhaseRecord, Record};
use record::sizing::SteadyFound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::SteadyRule;
use system::Fact;
use workload::Phase;

/// How a rate changed over time. Rates are in operations a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// If no steady state was requested: whether the rate changed beyond its noise
    /// ([`measure::steady::change`]).
    Change(RateChange),
    /// Result of the slope rule ([`measure::steady::drift`]).
    Slope(Drift),
    /// Result of SNIA's rule on five rounds ([`measure::steady::window`]).
    Rounds(Steady),
}

impl Steadiness {
    pub fn is_steady(&self) -> bool {
        match self {
            Self::Change(change) => change.is_steady,
            Self::Slope(drift) => drift.is_steady,
            Self::Rounds(steady) => steady.is_steady,
        }
    }

    /// Returns the numbers and their thresholds, as the end of a sentence.
    pub(super) fn in_numbers(&self) -> String {
        match self {
            Self::Change(change) => changed(change),
            Self::Slope(drift) => format!(
                "the rate changed by {} ({}; threshold {}).",
                signed_percent(drift.drift),
                interval(drift),
                percent(drift.limit)
            ),
            Self::Rounds(steady) => format!(
                "rates of the last {} rounds vary by {} (threshold {}), and their trend line \
                 changes by {} (threshold {}).",
                steady.window,
                percent(steady.excursion),
                percent(steady::EXCURSION_MAX),
                percent(steady.slope_excursion),
                percent(steady::SLOPE_EXCURSION_MAX)
            ),
        }
    }
}

fn changed(change: &RateChange) -> String {
    let of_line = |side: f64| rate(Some(change.average * (1.0 + side * change.drift / 2.0)));
    if change.varies() && !change.drifts() {
        return format!(
            "the rates of five equal parts of the time lie between {} and {} operations/s, a \
             difference of {} (threshold {}; noise explains up to {}).",
            rate(Some(change.slowest)),
            rate(Some(change.fastest)),
            percent(change.excursion),
            percent(steady::EXCURSION_MAX),
            percent(change.excursion_by_chance)
        );
    }
    format!(
        "the trend line {} from {} to {} operations/s, by {} (threshold {}; noise explains up to \
         {}).",
        if change.drift < 0.0 { "falls" } else { "rises" },
        of_line(-1.0),
        of_line(1.0),
        percent(change.drift.abs()),
        percent(steady::DRIFT_MAX),
        percent(change.drift_by_chance)
    )
}

fn interval(drift: &Drift) -> String {
    match drift.interval {
        Some((low, high)) => format!(
            "95 % confidence interval {} to {}",
            signed_percent(low),
            signed_percent(high)
        ),
        None => "95 % confidence interval not available, because the rates of successive seconds \
                 are too strongly correlated"
            .to_owned(),
    }
}

pub(super) fn is_sweep(record: &Record) -> bool {
    record.spec.drive.sweep.is_some() || !record.actual.sweep_steps.is_empty()
}

/// Returns the phase by which a run is judged; `None` for a load sweep and for a partial run.
pub(super) fn judged(record: &Record) -> Option<&PhaseRecord> {
    if is_sweep(record) || record.actual.is_partial() {
        return None;
    }
    record
        .actual
        .phase(match record.spec.workload.transactions() {
            0 => Phase::Prepare,
            _ => Phase::Transactions,
        })
}

/// Returns the rate of each interval that lies within the measured time while all workers were
/// active, in operations a second.
fn seconds(phase: &PhaseRecord) -> Vec<f64> {
    let (Some(first), Some(last)) = (phase.measured().next(), phase.measured().last()) else {
        return Vec::new();
    };
    let zero_ns = phase.span_ns().map_or(0, |(began_ns, _)| began_ns);
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
    // A run may be idle for long after its last operation. The number of intervals is limited,
    // because more zeros add no information.
    let end = end.min(2 * SLICES_MAX as u64);
    if phase.slices.is_empty() || end <= begin {
        return Vec::new();
    }
    let rate = |operations: u64| operations as f64 * 1e9 / width_ns as f64;
    let mut rates: Vec<f64> = phase
        .slices
        .iter()
        .map(|slice| rate(slice.values().map(|meter| meter.operations).sum()))
        .collect();
    // No operation completed after the last recorded interval, so later rates are 0.
    rates.resize(rates.len().max(end as usize), 0.0);
    rates[begin as usize..end as usize].to_vec()
}

pub(super) fn steadiness(record: &Record) -> Fact<Steadiness> {
    let unknown = |why: &str| Fact::Unavailable(why.to_owned());
    let Some(phase) = judged(record).filter(|phase| phase.phase == Phase::Transactions) else {
        return Fact::NotApplicable;
    };
    if let Some(found) = &phase.steady {
        return match by_the_rule(record, found) {
            Some(steadiness) => Fact::Known(steadiness),
            None => unknown("no complete window of rounds was measured"),
        };
    }
    if record.spec.drive.rate().is_some() {
        // In an open loop the arrivals determine the rate, so its steadiness does not describe the
        // target.
        return Fact::NotApplicable;
    }
    if phase.slices.is_empty() {
        return unknown("the time series was not recorded");
    }
    let mut durations = Histogram::default();
    for operation in phase.measured_operations() {
        durations.merge(&operation.meter.latency);
    }
    match steady::change(&seconds(phase), phase.slices.width_ns(), &durations) {
        Ok(change) => Fact::Known(Steadiness::Change(change)),
        Err(why) => unknown(why.why()),
    }
}

/// Returns the result of the steady-state rule that was requested to end the run.
fn by_the_rule(record: &Record, found: &SteadyFound) -> Option<Steadiness> {
    match record.spec.drive.steady()?.rule {
        SteadyRule::Snia => found.snia.map(Steadiness::Rounds),
        SteadyRule::Slope => found.slope.map(Steadiness::Slope),
    }
}
