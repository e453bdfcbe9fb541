//! The phase by which a run is judged, and whether its rate was constant.

use document::units::{percent, rate, signed_percent};
use measure::{Drift, Histogram, RateChange, Steady, steady};
use record::run::{PhaseRecord, Record};
use record::sizing::SteadyFound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::SteadyRule;
use system::Fact;
use workload::Phase;

use crate::intervals;

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

    /// Returns the numbers and their limits as a clause.
    pub(super) fn in_numbers(&self) -> String {
        match self {
            Self::Change(change) => changed(change),
            Self::Slope(drift) => format!(
                "the rate changed by {} ({}), limit {}",
                signed_percent(drift.drift),
                interval(drift),
                percent(drift.limit)
            ),
            Self::Rounds(steady) => format!(
                "the last {} rounds vary by {}, limit {}, and their trend line by {}, limit {}",
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
    // A steeper line begins or ends below 0, and a rate cannot be negative.
    let has_line = change.drift.abs() < 2.0;
    if change.varies() && (!change.drifts() || !has_line) {
        return format!(
            "rates of five equal parts lie between {} and {} operations/s, a difference of {}, at \
             most {}",
            rate(Some(change.slowest)),
            rate(Some(change.fastest)),
            percent(change.excursion),
            percent(steady::EXCURSION_MAX)
        );
    }
    format!(
        "the rate {} from {} to {} operations/s, by {} of the mean, limit {}",
        if change.drift < 0.0 { "falls" } else { "rises" },
        of_line(-1.0),
        of_line(1.0),
        percent(change.drift.abs()),
        percent(steady::DRIFT_MAX)
    )
}

fn interval(drift: &Drift) -> String {
    match drift.interval {
        Some((low, high)) => format!(
            "95 % interval {} to {}",
            signed_percent(low),
            signed_percent(high)
        ),
        None => "95 % interval not available".to_owned(),
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
    match steady::change(
        &intervals::rates(phase),
        phase.slices.width_ns(),
        &durations,
    ) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_a_steep_change_are_positive() {
        let change = RateChange {
            is_steady: false,
            window: 20,
            average: 1_000.0,
            drift: 2.4,
            drift_by_chance: 0.1,
            slowest: 10.0,
            fastest: 2_600.0,
            excursion: 2.59,
            excursion_by_chance: 0.1,
        };
        let of_parts = "rates of five equal parts lie between 10.00 and 2,600 operations/s";
        assert!(
            changed(&change).starts_with(of_parts),
            "{}",
            changed(&change)
        );
        let gentle = RateChange {
            drift: 0.4,
            ..change
        };
        assert!(changed(&gentle).starts_with("the rate rises from 800 to 1,200 operations/s"));
    }
}
