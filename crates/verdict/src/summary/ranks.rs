//! Contribution of each rank and each host to a run.
//!
//! The numbers describe the transactions. For a load sweep, these are the transactions of the last
//! load level. Without transactions, the numbers describe the preparation. The rate of a rank
//! refers to the rank's own time, from the start of its first worker to the end of its last worker.
//! With a fixed number of transactions for each worker, all ranks perform the same work, and slow
//! ranks take longer.

use std::collections::HashMap;

use measure::Middle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;
use workload::{Phase, Role};

use super::hosts::{self, HostsDiffer};
use super::observers::{self, ObserverSummary};
use super::phase;
use super::rate::Rate;
use record::host_phase::{HostId, HostPhase};
use record::ranks::{ClusterRecord, RankRecord};
use record::run::{PhaseRecord, Record, WorkerPhase};

/// Contribution of each rank and each host to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RanksSummary {
    /// Number of ranks that were started.
    pub launched: u32,
    /// Numbers of the ranks whose part of the record is missing.
    pub missing: Vec<u32>,
    /// The phase that the numbers describe; null if no such phase began, or if its workers cannot
    /// be assigned to ranks.
    pub phase: Option<Phase>,
    /// Hosts in the order of their first rank.
    pub hosts: Vec<HostShare>,
    /// Ranks in the order of the record.
    pub ranks: Vec<RankShare>,
    /// Distribution of the ranks' rates; null if no rate is known.
    pub ranks_spread: Option<SharesSpread>,
    /// Distribution of the hosts' rates per worker; null if no rate is known.
    pub hosts_spread: Option<SharesSpread>,
    /// The rank with the lowest rate; null if all rates are equal.
    pub slowest_rank: Option<SlowestRank>,
    /// Maximum error between moments of two ranks, in nanoseconds: twice the greatest error of a
    /// clock. Not available if the error of a clock was not measured.
    pub clock_error_ns: Fact<u64>,
    /// The facts in which hosts differ, such as the kernel; empty if the hosts are alike.
    pub differences: Vec<HostsDiffer>,
    /// The numbers of observers: ranks that perform no work and read the counters of their
    /// machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<ObserverSummary>,
}

/// Work and rate of one rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankShare {
    /// Number of the rank, from 0.
    pub rank: u32,
    /// Index of the rank's host in `hosts`, from 0.
    pub host: u32,
    /// Number of the rank's workers in the phase that the numbers describe.
    pub workers: u32,
    /// Transactions that the rank completed (operations in `prepare`), and their rate from the
    /// start of its first worker to the end of its last.
    pub done: Rate,
    /// Share of the work of all ranks, from 0 to 1; null if no work was completed.
    pub fraction: Option<f64>,
}

/// Work and rate of one host, with its clocks and its utilization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostShare {
    /// Name of the host, as in `host.hostname` of its record.
    pub host: String,
    /// Number of ranks on the host.
    pub ranks: u32,
    /// Number of workers of all ranks on the host.
    pub workers: u32,
    /// Transactions that the host completed (operations in `prepare`), and their rate from the
    /// start of its first worker to the end of its last.
    pub done: Rate,
    /// Share of the work of all hosts, from 0 to 1; null if no work was completed.
    pub fraction: Option<f64>,
    /// The host's rate divided by its number of workers; null if no time passed.
    pub per_worker: Option<f64>,
    /// Offset of the host's monotonic clock from rank 0's, in nanoseconds, as measured by the
    /// host's first rank before the run.
    pub clock_offset_ns: Fact<i64>,
    /// Maximum error of `clock_offset_ns`, in nanoseconds.
    pub clock_error_ns: Fact<u64>,
    /// Offset of the host's wall clock from rank 0's, in nanoseconds.
    pub wall_offset_ns: i64,
    /// Mean processor time of a worker, as a number of processors; null if this time is not known.
    pub worker_cpu: Option<f64>,
    /// The most used interface that leads to the server, with the used share of its speed; null if
    /// this share is not known.
    pub interface: Option<(String, f64)>,
}

/// Distribution of rates: transactions a second, or operations a second in `prepare`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharesSpread {
    /// Rate of the slowest rank, or rate per worker of the slowest host.
    pub min_per_second: f64,
    /// The median rate; for an even number of rates, the mean of the two middle rates.
    pub median_per_second: f64,
    /// Rate of the fastest rank, or rate per worker of the fastest host.
    pub max_per_second: f64,
    /// Difference between the highest and the lowest rate, as a share of the highest, from 0 to 1.
    pub apart_fraction: f64,
}

/// The rank with the lowest rate. If all ranks perform the same work, this rank ends last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowestRank {
    /// Number of the rank, from 0.
    pub rank: u32,
    /// Name of the rank's host.
    pub host: String,
    /// Rate of the rank: transactions a second, or operations a second in `prepare`.
    pub per_second: f64,
}

/// Derives the contributions of ranks and hosts; `None` if one process performed the run.
pub(crate) fn summary(record: &Record) -> Option<RanksSummary> {
    let cluster = record.cluster.as_ref()?;
    let phase = judged(record).filter(|phase| workers_of(cluster, phase).is_some());
    let per_rank = phase
        .and_then(|phase| workers_of(cluster, phase))
        .unwrap_or_default();
    let ranks = ranks(cluster, phase, &per_rank);
    let hosts = hosts(cluster, phase, &per_rank);
    let slowest = slowest(cluster, &ranks);
    Some(RanksSummary {
        launched: cluster.launched,
        missing: cluster.missing.iter().map(|missing| missing.rank).collect(),
        phase: phase.map(|phase| phase.phase),
        ranks_spread: spread(ranks.iter().filter_map(|rank| rank.done.per_second)),
        hosts_spread: spread(hosts.iter().filter_map(|host| host.per_worker)),
        slowest_rank: slowest,
        clock_error_ns: clock_error(cluster),
        differences: hosts::differences(cluster),
        observers: observers::summary(record),
        ranks,
        hosts,
    })
}

/// Returns the phase that the numbers describe: the transactions. For a load sweep, these are the
/// transactions of the last load level. Without transactions, it is the preparation.
pub(crate) fn judged(record: &Record) -> Option<&PhaseRecord> {
    let actual = &record.actual;
    let of_sweep = || actual.sweep_steps.last()?.transactions();
    actual
        .phase(Phase::Transactions)
        .or_else(of_sweep)
        .or_else(|| actual.phase(Phase::Prepare))
}

/// Returns the workers of each rank in a phase, according to the ranges of worker numbers in the
/// record. If a load level has another number of workers than the record, its workers are equally
/// divided among the ranks. `None` if the workers cannot be assigned to ranks.
fn workers_of<'a>(
    cluster: &ClusterRecord,
    phase: &'a PhaseRecord,
) -> Option<Vec<Vec<&'a WorkerPhase>>> {
    let all: u64 = cluster
        .ranks
        .iter()
        .map(|rank| u64::from(rank.workers))
        .sum();
    let found = phase.workers.len() as u64;
    let (count, is_as_launched) = (cluster.ranks.len() as u64, found == all);
    if count == 0
        || !(is_as_launched
            || (cluster.missing.is_empty() && found > 0 && found.is_multiple_of(count)))
    {
        return None;
    }
    let each = found / count;
    let mut workers: Vec<&WorkerPhase> = phase.workers.iter().collect();
    workers.sort_by_key(|worker| worker.worker);
    let range = |rank: &RankRecord| match is_as_launched {
        true => (u64::from(rank.first_worker), u64::from(rank.workers)),
        false => (u64::from(rank.rank) * each, each),
    };
    let of_rank = |rank: &RankRecord| {
        let (first, many) = range(rank);
        let begin = workers.partition_point(|worker| u64::from(worker.worker) < first);
        let end = workers.partition_point(|worker| u64::from(worker.worker) < first + many);
        workers[begin..end].to_vec()
    };
    Some(cluster.ranks.iter().map(of_rank).collect())
}

fn done_by(phase: Phase, workers: &[&WorkerPhase]) -> Rate {
    let began_ns = workers.iter().map(|worker| worker.began_ns).min();
    let ended_ns = workers.iter().map(|worker| worker.ended_ns).max();
    let lasted_ns = ended_ns
        .zip(began_ns)
        .map(|(ended, began)| ended.saturating_sub(began));
    let done = workers.iter().map(|worker| phase::done_by(phase, worker));
    Rate::over(done.sum(), lasted_ns.unwrap_or(0))
}

const NOTHING: Rate = Rate {
    count: 0,
    per_second: None,
};

fn ranks(
    cluster: &ClusterRecord,
    phase: Option<&PhaseRecord>,
    per_rank: &[Vec<&WorkerPhase>],
) -> Vec<RankShare> {
    let all: u64 = total(phase, per_rank);
    let share = |(place, rank): (usize, &RankRecord)| {
        let workers = per_rank.get(place);
        let done = phase
            .zip(workers)
            .map_or(NOTHING, |(phase, workers)| done_by(phase.phase, workers));
        RankShare {
            rank: rank.rank,
            host: rank.host,
            workers: workers.map_or(rank.workers, |workers| workers.len() as u32),
            done,
            fraction: (all > 0).then(|| done.count as f64 / all as f64),
        }
    };
    cluster.ranks.iter().enumerate().map(share).collect()
}

fn total(phase: Option<&PhaseRecord>, per_rank: &[Vec<&WorkerPhase>]) -> u64 {
    let done = phase.map(|phase| {
        per_rank
            .iter()
            .map(|workers| done_by(phase.phase, workers).count)
            .sum()
    });
    done.unwrap_or(0)
}

fn hosts(
    cluster: &ClusterRecord,
    phase: Option<&PhaseRecord>,
    per_rank: &[Vec<&WorkerPhase>],
) -> Vec<HostShare> {
    let all = total(phase, per_rank);
    let seen: HashMap<&HostId, &HostPhase> = phase
        .into_iter()
        .flat_map(|phase| &phase.hosts)
        .map(|seen| (&seen.host, seen))
        .collect();
    let mut of_host: Vec<(Vec<&WorkerPhase>, Vec<&RankRecord>)> =
        vec![Default::default(); cluster.hosts.len()];
    for (place, rank) in cluster.ranks.iter().enumerate() {
        if let Some((workers, ranks)) = of_host.get_mut(rank.host as usize) {
            workers.extend(per_rank.get(place).into_iter().flatten());
            ranks.push(rank);
        }
    }
    let share = |(host, (workers, ranks)): (
        &record::ranks::HostRecord,
        (Vec<&WorkerPhase>, Vec<&RankRecord>),
    )| {
        let done = phase.map_or(NOTHING, |phase| done_by(phase.phase, &workers));
        let id = host.id();
        let seen = seen.get(&id).copied();
        let begin = ranks.first().map(|rank| rank.clock.begin.clone());
        let begin = begin.unwrap_or_else(|| Fact::Unavailable("no rank".to_owned()));
        let launched: u32 = ranks.iter().map(|rank| rank.workers).sum();
        let count = if workers.is_empty() {
            launched
        } else {
            workers.len() as u32
        };
        HostShare {
            host: host.host.hostname.clone(),
            ranks: ranks.len() as u32,
            workers: count,
            done,
            fraction: (all > 0).then(|| done.count as f64 / all as f64),
            per_worker: done
                .per_second
                .map(|per_second| per_second / f64::from(count.max(1))),
            clock_offset_ns: begin.clone().map(|clock| clock.offset_ns),
            clock_error_ns: begin.map(|clock| clock.error_ns),
            wall_offset_ns: ranks.first().map_or(0, |rank| rank.clock.wall_offset_ns),
            worker_cpu: seen.and_then(worker_cpu),
            interface: phase
                .zip(seen)
                .and_then(|(phase, seen)| busiest_interface(phase, seen)),
        }
    };
    cluster.hosts.iter().zip(of_host).map(share).collect()
}

/// Returns the mean processor time of a host's workers, as a number of processors.
pub(crate) fn worker_cpu(host: &HostPhase) -> Option<f64> {
    let workers = host.workers?;
    (workers.ns > 0).then(|| workers.cpu_ns as f64 / workers.ns as f64)
}

/// Returns the most used interface of a host in a phase, including warm-ups, and the used share of
/// its speed.
pub(crate) fn busiest_interface(phase: &PhaseRecord, host: &HostPhase) -> Option<(String, f64)> {
    let evidence = host.evidence.as_ref()?;
    super::evidence::busiest_interface(phase, evidence)
}

fn spread(rates: impl Iterator<Item = f64>) -> Option<SharesSpread> {
    let Middle {
        median,
        least,
        greatest,
    } = Middle::of(rates)?;
    Some(SharesSpread {
        min_per_second: least,
        median_per_second: median,
        max_per_second: greatest,
        apart_fraction: match greatest > 0.0 {
            true => 1.0 - least / greatest,
            false => 0.0,
        },
    })
}

fn slowest(cluster: &ClusterRecord, ranks: &[RankShare]) -> Option<SlowestRank> {
    let rated = || {
        ranks
            .iter()
            .filter_map(|rank| Some((rank, rank.done.per_second?)))
    };
    let (rank, per_second) = rated().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let is_slower = rated().any(|(_, other)| other > per_second);
    is_slower.then(|| SlowestRank {
        rank: rank.rank,
        host: cluster
            .hosts
            .get(rank.host as usize)
            .map_or_else(String::new, |host| host.host.hostname.clone()),
        per_second,
    })
}

/// Returns the maximum error between moments of two ranks. It is twice the greatest error of a
/// clock, because each moment is off by the error of its own clock.
pub(crate) fn clock_error(cluster: &ClusterRecord) -> Fact<u64> {
    let mut greatest = 0_u64;
    for rank in &cluster.ranks {
        match &rank.clock.begin {
            Fact::Known(begin) => greatest = greatest.max(begin.error_ns),
            Fact::NotApplicable => {}
            Fact::Unavailable(why) => {
                return Fact::Unavailable(format!("rank {}: {why}", rank.rank));
            }
        }
        if let Fact::Known(end) = &rank.clock.end {
            // Moments are corrected by the offset that was measured before the run, so the drift of
            // the clock adds to the error.
            let begin = rank.clock.begin.known();
            let drifted = begin.map_or(0, |begin| begin.offset_ns.abs_diff(end.offset_ns));
            greatest = greatest.max(end.error_ns.saturating_add(drifted));
        }
    }
    Fact::Known(greatest.saturating_mul(2))
}

/// Whether all workers perform the same kind of work, so that the hosts' rates are comparable.
/// Rates of readers are not comparable with those of writers.
pub(crate) fn is_comparable(phase: &PhaseRecord) -> bool {
    let mut roles: Vec<Role> = phase.workers.iter().map(|worker| worker.role).collect();
    roles.sort_unstable();
    roles.dedup();
    roles.len() <= 1
}
