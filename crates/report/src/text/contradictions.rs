//! Load levels of a sweep that contradict each other, the saturation rate, the knee or the offered
//! load.

use document::Document;
use document::units::{latency, percent, rate};
use measure::Knee;
use measure::knee::RISE_MIN;
use record::Load;
use verdict::{Summary, SweepSummary};

use crate::steps::{Swept, by_load, load};

/// Notes about levels that contradict each other, or the offered load.
pub(super) fn add(document: &mut Document, summary: &Summary, sweep: &SweepSummary) {
    if sweep.is_of_phases() {
        return;
    }
    let found = [
        disturbed(summary),
        exceeded(sweep),
        more_than_offered(sweep),
    ];
    for words in found.into_iter().flatten() {
        document.note(words);
    }
}

/// Names a closed loop, or a level that was not sustained, which achieved more than the saturation
/// rate. With [`RISE_MIN`] times this rate, the system can do more than a disturbed level showed.
fn exceeded(sweep: &SweepSummary) -> Option<String> {
    let saturated = sweep.limit.as_ref()?.achieved_per_second?;
    let levels = sweep.sweep_steps.iter();
    let beyond = levels
        .filter(|level| level.complete && (!level.holds || matches!(level.load, Load::Closed)));
    let achieved = beyond.filter_map(|level| Some((level.load, level.achieved_per_second?)));
    let (at, most) = achieved.max_by(|one, other| one.1.total_cmp(&other.1))?;
    (most >= RISE_MIN * saturated).then(|| {
        format!(
            "{}/s were achieved at {}, {:.1} times the saturation rate: the machine or the \
             target changed between the levels (repeat the sweep)",
            rate(Some(most)),
            load(at),
            most / saturated
        )
    })
}

/// Smallest excess of the achieved rate over the offered one that is explained: about three
/// standard deviations of 10,000 random arrivals.
const EXCESS_MIN: f64 = 0.03;

/// Explains a level that achieved more than was offered.
fn more_than_offered(sweep: &SweepSummary) -> Option<String> {
    let levels = sweep.sweep_steps.iter().filter(|level| level.complete);
    let rates = levels.filter_map(|level| Some((level.load.rate()?, level.achieved_per_second?)));
    let excess = |(offered, achieved): &(f64, f64)| achieved / offered - 1.0;
    let most = rates.max_by(|one, other| excess(one).total_cmp(&excess(other)));
    most.filter(|most| excess(most) > EXCESS_MIN).map(|most| {
        format!(
            "{} offered achieved {} more: transactions that the warm-up left waiting, and chance \
             in random arrivals",
            rate(Some(most.0)),
            percent(excess(&most))
        )
    })
}

/// Names a sustained level whose 99th percentile is at least [`RISE_MIN`] times that of a level
/// with a higher load. The load does not explain such a percentile.
fn disturbed(summary: &Summary) -> Option<String> {
    let levels = by_load(summary).into_iter();
    let sustained = levels.filter(|(_, level)| level.complete && level.holds);
    let p99s = sustained.filter_map(|(_, level)| Some((level.load, level.p99_ns? as f64)));
    let p99s: Vec<(Load, f64)> = p99s.collect();
    let pairs = (1..p99s.len()).flat_map(|higher| {
        let lower = p99s[..higher].iter();
        lower.map(move |lower| (*lower, higher))
    });
    let pairs = pairs.map(|(lower, higher)| (lower, p99s[higher]));
    let ratio = |((_, lower), (_, higher)): &((Load, f64), (Load, f64))| lower / higher;
    let worst = pairs.max_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    let ((lower, high_ns), (higher, low_ns)) = worst.filter(|pair| ratio(pair) >= RISE_MIN)?;
    Some(format!(
        "the p99 does not rise with the load: {} at {}, {} at {}; something else disturbed the \
         first of them (repeat the sweep)",
        latency(high_ns),
        load(lower),
        latency(low_ns),
        load(higher)
    ))
}

/// Names the level below the knee with the highest mean latency, if it exceeds that at the knee.
pub(super) fn higher_below(sweep: &SweepSummary, knee: &Knee) -> String {
    let levels = sweep.sweep_steps.iter();
    let levels = levels.filter(|level| level.complete && level.holds);
    let lower = levels.filter_map(|level| {
        let value = level.load.value().filter(|value| *value < knee.rate)?;
        Some((value, level.mean_ns?))
    });
    let highest = lower.max_by(|one, other| one.1.total_cmp(&other.1));
    let higher = highest.filter(|(_, mean_ns)| *mean_ns > knee.latency);
    higher.map_or_else(String::new, |(value, mean_ns)| {
        format!(
            "; it is higher at {}, {}, so something else disturbs these levels (repeat the sweep)",
            Swept::of(sweep).load(value),
            latency(mean_ns)
        )
    })
}
