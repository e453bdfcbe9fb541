//! Whether ranks and hosts were as they should be.

use spec::Pace;
use system::Fact;

use super::evidence::{client_saturated, targets_a_server};
use super::limits::{CLOCKS_MAX, HOSTS_APART_MAX, MORE_CLIENTS_MAX};
use super::{Reason, is_partial};
use crate::summary::ranks::{self, HostShare};
use crate::sweep::SweepStepSummary;
use record::Outcome;
use record::run::Record;
use record::share;

pub(super) fn reasons(record: &Record) -> Vec<Reason> {
    let reasons = [
        ranks_not_done(record),
        hosts_apart(record),
        too_few_clients(record),
        clocks_not_aligned(record),
    ];
    reasons.into_iter().flatten().collect()
}

fn ranks_not_done(record: &Record) -> Option<Reason> {
    let cluster = record.cluster.as_ref()?;
    let failed: Vec<u32> = cluster
        .ranks
        .iter()
        .filter(|rank| rank.outcome != Outcome::Complete)
        .map(|rank| rank.rank)
        .collect();
    let missing: Vec<u32> = cluster.missing.iter().map(|missing| missing.rank).collect();
    (!failed.is_empty() || !missing.is_empty()).then_some(Reason::RanksNotDone {
        failed,
        missing,
        launched: cluster.launched,
    })
}

/// Not of a partial run, whose hosts ended at different moments, and not of readers and writers,
/// whose rates differ by what they do.
fn hosts_apart(record: &Record) -> Option<Reason> {
    if is_partial(record) || !ranks::judged(record).is_some_and(ranks::is_comparable) {
        return None;
    }
    let summary = ranks::summary(record)?;
    let fraction = summary.hosts_spread?.apart_fraction;
    let by_rate = |one: &&HostShare, other: &&HostShare| {
        let rate = |host: &HostShare| host.per_worker.unwrap_or(0.0);
        rate(one).total_cmp(&rate(other))
    };
    let rated = || {
        summary
            .hosts
            .iter()
            .filter(|host| host.per_worker.is_some())
    };
    let (slowest, fastest) = (rated().min_by(by_rate)?, rated().max_by(by_rate)?);
    (fraction > HOSTS_APART_MAX).then(|| Reason::HostsApart {
        slowest: slowest.host.clone(),
        fastest: fastest.host.clone(),
        fraction,
    })
}

/// Of a sweep of workers or ranks in a closed loop, on a server: its step with the most workers
/// against the one with the next fewer. Of a single load nothing says what more of it would bring.
fn too_few_clients(record: &Record) -> Option<Reason> {
    let is_cluster = record
        .cluster
        .as_ref()
        .is_some_and(|cluster| cluster.launched > 1);
    let is_open = matches!(record.spec.drive.pace, Pace::Open { .. });
    if !is_cluster || is_open || !targets_a_server(record) || client_saturated(record).is_some() {
        return None;
    }
    let closed = record
        .actual
        .sweep_steps
        .iter()
        .filter(|step| step.load.rate().is_none());
    let mut steps: Vec<(u32, f64)> = closed
        .filter_map(|step| {
            let summary = SweepStepSummary::of(step);
            Some((
                step.workers,
                summary.achieved_per_second.filter(|_| summary.complete)?,
            ))
        })
        .collect();
    steps.sort_by_key(|(workers, _)| *workers);
    let (workers, most) = steps.pop()?;
    let (fewer, before) = steps.into_iter().rfind(|(fewer, _)| *fewer < workers)?;
    let gain = most / before - 1.0;
    (gain.is_finite() && gain > MORE_CLIENTS_MAX).then_some(Reason::TooFewClients {
        workers,
        fewer,
        gain,
    })
}

fn clocks_not_aligned(record: &Record) -> Option<Reason> {
    let Fact::Known(error_ns) = ranks::clock_error(record.cluster.as_ref()?) else {
        return None;
    };
    let measured_ns = ranks::judged(record)?.measured_ns();
    (measured_ns > 0 && share(error_ns, measured_ns) > CLOCKS_MAX).then_some(
        Reason::ClocksNotAligned {
            error_ns,
            measured_ns,
        },
    )
}
