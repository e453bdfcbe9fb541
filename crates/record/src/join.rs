//! Joins the records of ranks.
//!
//! A rank's record contains the results of the rank's own workers. The joined record is that of one
//! run with all workers. Joining is associative, so that records can be joined by a tree. The
//! record with the lower ranks comes first. Moments of all records count from the same origin: the
//! code that creates the records converts moments to the clock of rank 0.
//!
//! Some results depend on all ranks: the outcome, the hash of the stream, and the evidence of a
//! phase. Every join computes these results from the stored values of each rank and host, so that
//! the order of joining does not matter.

mod evidence;
mod phase;

use std::collections::HashMap;

use spec::RunSpec;
use system::Fact;
use workload::{End, StreamHash};

use crate::classic::ClassicFigures;
use crate::host_phase::HostId;
use crate::merge;
use crate::outcome::Outcome;
use crate::ranks::{ClusterRecord, HostRecord, MissingRank};
use crate::run::{Actual, Check, PhaseRecord, Record, SweepStep};
use crate::stale::Stale;

impl Record {
    /// Converts the record to that of one rank, which can be joined with records of other ranks.
    /// The outcome is stored with the rank, and the evidence with the rank's host. Workers must
    /// already be numbered across all ranks.
    #[must_use]
    pub fn of_rank(mut self, mut cluster: ClusterRecord) -> Self {
        for rank in &mut cluster.ranks {
            rank.outcome = self.actual.outcome.clone();
            rank.end = self.actual.end.clone();
        }
        if let Some(host) = cluster.hosts.first().map(HostRecord::id) {
            let of_rank = |phases: &mut Vec<PhaseRecord>| {
                let taken = std::mem::take(phases).into_iter();
                *phases = taken.map(|phase| phase.of_rank(&host)).collect();
            };
            of_rank(&mut self.actual.phases);
            for step in &mut self.actual.sweep_steps {
                of_rank(&mut step.phases);
            }
        }
        self.cluster = Some(cluster);
        self.tell_of_all();
        self
    }

    /// Joins the results of two records; `self` has the lower ranks. Values that all ranks share,
    /// such as the run spec, are those of the lowest rank. Results that only rank 0 has, such as
    /// the removal of the run directory, are those of rank 0.
    #[must_use]
    pub fn join(mut self, later: Self) -> Self {
        self.actual = actual(self.actual, later.actual);
        self.locations = match self.locations.is_empty() {
            true => later.locations,
            false => self.locations,
        };
        self.room = self.room.or(later.room);
        for hint in later.hints {
            if !self.hints.contains(&hint) {
                self.hints.push(hint);
            }
        }
        self.cluster = merge::options(self.cluster, later.cluster, clusters);
        self.tell_of_all();
        self
    }

    /// Joins all records by a tree, the lower ranks first. `None` for an empty list.
    pub fn join_all(records: Vec<Self>) -> Option<Self> {
        let mut level = records;
        while level.len() > 1 {
            let mut records = std::mem::take(&mut level).into_iter();
            while let Some(first) = records.next() {
                level.push(match records.next() {
                    Some(second) => first.join(second),
                    None => first,
                });
            }
        }
        level.pop()
    }

    /// Adds ranks whose records are missing. The outcome of a run with a missing rank is not
    /// `Complete`.
    #[must_use]
    pub fn without(mut self, missing: Vec<MissingRank>) -> Self {
        if let Some(cluster) = &mut self.cluster {
            cluster.missing.extend(missing);
            cluster.missing.sort_by_key(|missing| missing.rank);
        }
        self.tell_of_all();
        self
    }

    /// Checks that the outcome, the end, the hash of the stream and the evidence of phases agree
    /// with the values of the ranks and hosts.
    ///
    /// # Errors
    /// Returns an error that names the value that does not agree.
    pub fn follows_from_its_ranks(&self) -> Result<(), String> {
        let Some(cluster) = &self.cluster else {
            return Ok(());
        };
        // For a sweep, the listed ranks are those of the last load level, but the results include
        // all levels. So the results are not compared with the ranks.
        if self.spec.drive.sweep.is_some() {
            return Ok(());
        }
        let (actual, told) = (&self.actual, Told::of(self, cluster));
        let is_told = (&actual.outcome, &actual.end, &actual.stream_hash)
            == (&told.outcome, &told.end, &told.stream_hash);
        if !is_told {
            let why = "outcome, end or hash of the stream are not those of the ranks";
            return Err(why.to_owned());
        }
        let of_hosts = |phase: &&PhaseRecord| {
            !phase.hosts.is_empty() && phase.evidence != evidence::of_hosts(&phase.hosts)
        };
        if let Some(phase) = self.actual.phases.iter().find(of_hosts) {
            return Err(format!(
                "the evidence of {} is not that of its hosts",
                phase.phase.name()
            ));
        }
        Ok(())
    }

    /// Computes the results that depend on all ranks, for the ranks joined so far.
    fn tell_of_all(&mut self) {
        let Some(cluster) = &self.cluster else { return };
        let told = Told::of(self, cluster);
        let first = cluster.ranks.first();
        if let Some(host) = first.and_then(|first| cluster.hosts.get(first.host as usize)) {
            self.during = host.during.clone();
        }
        self.actual.outcome = told.outcome;
        self.actual.end = told.end;
        self.actual.stream_hash = told.stream_hash;
    }
}

/// Results that depend on all ranks. For a single rank, the end and the hash are copied from the
/// record.
struct Told {
    outcome: Outcome,
    end: Fact<End>,
    stream_hash: Fact<StreamHash>,
}

impl Told {
    fn of(record: &Record, cluster: &ClusterRecord) -> Self {
        let ends = || cluster.ranks.iter().map(|rank| rank.end.known().copied());
        let is_alone = cluster.launched <= 1;
        Self {
            outcome: outcome(cluster),
            end: match is_alone {
                true => record.actual.end.clone(),
                false => merge::ends(ends()),
            },
            stream_hash: match is_alone {
                true => record.actual.stream_hash.clone(),
                false => stream_hash(&record.spec, cluster),
            },
        }
    }
}

/// Returns the hash of the streams of all private pools together.
fn stream_hash(spec: &RunSpec, cluster: &ClusterRecord) -> Fact<StreamHash> {
    let workers = spec.workload.workers;
    if workers.is_shared() {
        return Fact::NotApplicable;
    }
    let all: usize = cluster
        .ranks
        .iter()
        .map(|rank| rank.worker_hashes.len())
        .sum();
    if all as u64 != u64::from(workers.count()) {
        return Fact::Unavailable("the run ended before the last operation".to_owned());
    }
    let hashes = cluster.ranks.iter().flat_map(|rank| &rank.worker_hashes);
    let mut hashes: Vec<StreamHash> = hashes.cloned().collect();
    // After the preparation, each worker uses the pool of its neighbour, so the worker's hash is
    // that of the neighbour's pool. The rotation sorts the hashes by pool.
    hashes.rotate_right(spec.neighbour_of(0) as usize);
    Fact::Known(StreamHash::of_all(hashes))
}

/// Returns the worst outcome of all ranks; a failure names its rank. Of equally bad outcomes, that
/// of the lowest rank is returned.
fn outcome(cluster: &ClusterRecord) -> Outcome {
    let mut worst = if cluster.missing.is_empty() {
        Outcome::Complete
    } else {
        Outcome::Unfinished
    };
    for rank in &cluster.ranks {
        if severity(&rank.outcome) <= severity(&worst) {
            continue;
        }
        let named = |why: &String| match (cluster.launched, cluster.hostname_of(rank)) {
            (..=1, _) => why.clone(),
            (_, Some(host)) => format!("rank {} (host {host}): {why}", rank.rank),
            (_, None) => format!("rank {}: {why}", rank.rank),
        };
        worst = match &rank.outcome {
            Outcome::Failed { why } => Outcome::Failed { why: named(why) },
            Outcome::PlaceGone { why } => Outcome::PlaceGone { why: named(why) },
            other => other.clone(),
        };
    }
    worst
}

const fn severity(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Complete => 0,
        Outcome::Unfinished => 1,
        Outcome::Interrupted { .. } => 2,
        Outcome::PlaceGone { .. } => 3,
        Outcome::Failed { .. } => 4,
    }
}

/// Joins all results except outcome, end and hash, which [`Record::join`] computes later from all
/// ranks.
fn actual(one: Actual, later: Actual) -> Actual {
    let mut errors = one.errors;
    merge::errors(&mut errors, later.errors);
    let mut stalled = one.stalled;
    stalled.extend(later.stalled);
    Actual {
        phases: phase::all(one.phases, later.phases),
        sweep_steps: sweep_steps(one.sweep_steps, later.sweep_steps),
        errors,
        check: merge::facts(one.check, later.check, Check::beside),
        check_across: merge::options(one.check_across, later.check_across, Check::beside),
        taken: merge::options(one.taken, later.taken, Check::beside),
        stale: merge::options(one.stale, later.stale, Stale::and),
        stalled,
        classic: merge::options(one.classic, later.classic, classic),
        clean_up: one.clean_up.or(later.clean_up),
        overhead: one.overhead.or_else(|| later.overhead),
        traffic: merge::options(one.traffic, later.traffic, evidence::traffic),
        ..one
    }
}

fn sweep_steps(steps: Vec<SweepStep>, later: Vec<SweepStep>) -> Vec<SweepStep> {
    let mut later = later.into_iter();
    let mut joined: Vec<SweepStep> = steps
        .into_iter()
        .map(|step| match later.next() {
            Some(more) => SweepStep {
                load: step.load,
                name: step.name,
                workers: step.workers.max(more.workers),
                phases: phase::all(step.phases, more.phases),
                of_run: step.of_run.or(more.of_run),
            },
            None => step,
        })
        .collect();
    joined.extend(later);
    joined
}

/// Adds the counts and bytes of two reports. Times in whole seconds are copied from `one`, which
/// contains the times of the first worker.
fn classic(one: ClassicFigures, more: ClassicFigures) -> ClassicFigures {
    ClassicFigures {
        end: match merge::ends([Some(one.end), Some(more.end)]) {
            Fact::Known(end) => end,
            _ => one.end,
        },
        created_alone: one.created_alone + more.created_alone,
        created_mixed: one.created_mixed + more.created_mixed,
        read: one.read + more.read,
        appended: one.appended + more.appended,
        deleted_alone: one.deleted_alone + more.deleted_alone,
        deleted_mixed: one.deleted_mixed + more.deleted_mixed,
        bytes_read: one.bytes_read + more.bytes_read,
        bytes_written: one.bytes_written + more.bytes_written,
        ..one
    }
}

/// Joins the ranks and hosts of two records. A host with ranks in both records is listed once.
fn clusters(mut one: ClusterRecord, later: ClusterRecord) -> ClusterRecord {
    let mut known: HashMap<HostId, usize> = (0..)
        .zip(&one.hosts)
        .map(|(place, host)| (host.id(), place))
        .collect();
    let mut places: Vec<usize> = Vec::with_capacity(later.hosts.len());
    for host in later.hosts {
        let next = one.hosts.len();
        let place = *known.entry(host.id()).or_insert(next);
        places.push(place);
        if place == next {
            one.hosts.push(host);
            continue;
        }
        one.hosts[place].during.add_process(&host.during);
    }
    one.ranks.extend(later.ranks.into_iter().map(|mut rank| {
        rank.host = places
            .get(rank.host as usize)
            .map_or(rank.host, |place| *place as u32);
        rank
    }));
    one.missing.extend(later.missing);
    one.observers.extend(later.observers);
    one.launched = one.launched.max(later.launched);
    one
}
