//! How long it was measured, how steady it was, and whether the rate was achieved.

use measure::{Histogram, SLICES_MAX, steady};
use spec::{Pace, SteadyRule};
use system::Fact;
use workload::Phase;
use workload::arrivals::ArrivalProcess;

use super::limits::{ACHIEVED_MIN, ARRIVALS_DEVIATIONS, MEASURED_MIN_NS, OPERATIONS_MIN};
use super::{Measured, Reason, Seen, Steadiness, is_partial, is_sweep, transactions};
use crate::summary::{operations, phase};
use record::run::{PhaseRecord, Record};
use record::sizing::SteadyFound;

pub(super) fn reasons(record: &Record, seen: &Seen) -> Vec<Reason> {
    let found = [
        seen.measured.and_then(too_short),
        not_steady(record, seen),
        rate_not_reached(record),
    ];
    found.into_iter().flatten().collect()
}

/// The phase that the run is about.
fn judged(record: &Record) -> Option<&PhaseRecord> {
    if is_sweep(record) || is_partial(record) {
        return None;
    }
    if record.spec.workload.transactions() > 0 {
        return transactions(record);
    }
    let mut phases = record.actual.phases.iter();
    phases.find(|phase| phase.phase == Phase::Prepare)
}

pub(super) fn measured(record: &Record) -> Option<Measured> {
    let phase = judged(record)?;
    Some(Measured {
        phase: phase.phase,
        ns: phase.measured_ns(),
        operations: operations(phase)
            .map(|operation| operation.meter.operations)
            .sum(),
    })
}

fn too_short(measured: Measured) -> Option<Reason> {
    let Measured {
        phase,
        ns,
        operations,
    } = measured;
    // A hundredth less is no matter.
    let is_short = ns < MEASURED_MIN_NS / 100 * 99 || operations < OPERATIONS_MIN;
    is_short.then_some(Reason::TooShort {
        phase,
        measured_ns: ns,
        operations,
    })
}

/// Operations a second of each whole second (slice) that was measured while all workers were at
/// work.
fn seconds(phase: &PhaseRecord) -> Vec<f64> {
    let (Some(first), Some(last)) = (phase.measured().next(), phase.measured().last()) else {
        return Vec::new();
    };
    let zero_ns = phase
        .segments
        .iter()
        .map(|segment| segment.began_ns)
        .min()
        .unwrap_or(0);
    let until_ns = phase.first_done.map_or(last.ended_ns, |first_done| {
        first_done.at_ns.min(last.ended_ns)
    });
    let width_ns = phase.slices.width_ns();
    // The borders of seconds and of segments are some operations apart.
    let slack_ns = width_ns / 100;
    let begin = (first.began_ns - zero_ns)
        .saturating_sub(slack_ns)
        .div_ceil(width_ns);
    let end = until_ns.saturating_sub(zero_ns).saturating_add(slack_ns) / width_ns;
    // Where nothing was done for longer than a series is, more of nothing tells no more.
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
    // Nothing was done after the last one that has something.
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
        // What is done in a second is what arrives in it.
        return Fact::NotApplicable;
    }
    if phase.slices.is_empty() {
        return unknown("the time series was not recorded");
    }
    let mut durations = Histogram::default();
    operations(phase).for_each(|operation| durations.merge(&operation.meter.latency));
    match steady::change(&seconds(phase), phase.slices.width_ns(), &durations) {
        Ok(change) => Fact::Known(Steadiness::Change(change)),
        Err(why) => unknown(why.why()),
    }
}

/// What the rule found that was to end the run.
fn by_the_rule(record: &Record, found: &SteadyFound) -> Option<Steadiness> {
    match record.spec.drive.steady()?.rule {
        SteadyRule::Snia => found.snia.map(Steadiness::Rounds),
        SteadyRule::Slope => found.slope.map(Steadiness::Slope),
    }
}

fn not_steady(record: &Record, seen: &Seen) -> Option<Reason> {
    let phase = judged(record)?;
    if let Some(found) = &phase.steady {
        let rule = record.spec.drive.steady()?.rule;
        return (!found.is_steady).then(|| Reason::SteadyStateNotReached {
            rule,
            rounds: found.rounds.len() as u64,
            last: by_the_rule(record, found),
        });
    }
    let found = *seen.steadiness.known()?;
    (!found.is_steady()).then_some(Reason::NotSteady { found })
}

/// Of what was due until the first worker was done: from then on not all arrivals are met.
fn rate_not_reached(record: &Record) -> Option<Reason> {
    let Pace::Open {
        per_second,
        arrivals,
    } = record.spec.drive.pace
    else {
        return None;
    };
    let summary = phase::summary(record, judged(record)?);
    let until = summary.first_done.unwrap_or(summary.last_done);
    let due = per_second * until.ns as f64 / 1e9;
    // One transaction of each worker may be under way.
    let mut allowed = due * (1.0 - ACHIEVED_MIN) + f64::from(record.spec.workload.workers.count());
    if arrivals != ArrivalProcess::Constant {
        allowed += ARRIVALS_DEVIATIONS * due.sqrt();
    }
    let phase = judged(record)?;
    let is_late = due - until.done.count as f64 > allowed;
    let not_completed = phase.issued().saturating_sub(phase.transactions());
    // What waits at the very end of a run may be a moment's.
    let is_missed = (is_late && !phase.queue_is_bounded()) || not_completed as f64 > allowed;
    is_missed.then(|| Reason::RateNotReached {
        requested: per_second,
        achieved: until.done.per_second.unwrap_or(0.0),
    })
}
