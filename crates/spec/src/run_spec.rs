//! The run spec: the complete description of a run.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use engine::{Action, Durability, Policies};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Phase, PhaseWork, Workers, Workload};

use crate::engine_name::EngineName;
use crate::load::Drive;
use crate::serial::{as_text, lossy, lossy_option, ns};
use crate::settings::{Cache, Keeping, OnError, Place};
use crate::stop::{PhaseLoad, Stop};
use crate::sweep::Climb;

fn one() -> u32 {
    1
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

/// The complete description of a run, resolved from options, a configuration file and a preset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSpec {
    /// The command line as given, such as `postmark run --for 1m`: the program's name and the
    /// arguments.
    pub command_line: Vec<String>,
    /// The preset that defines the workload, with its version, such as `mail-1`. Options may have
    /// changed the number of files, the workers and the length of the workload. Null without a
    /// preset, or if options changed the operations of the preset.
    pub preset: Option<String>,
    /// The complete, resolved workload, with the workers of all ranks.
    pub workload: Workload,
    /// Number of ranks, left out if 1. Ranks are processes that a launcher started as one job, and
    /// that perform the run together. The workers are divided equally: the first rank has the first
    /// workers, and so on.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub ranks: u32,
    /// Number of ranks by which pools are shifted after the preparation; left out if 0. With 1,
    /// each rank uses and removes the pool that the next rank created. With 0, each rank uses its
    /// own pool.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub neighbour: u32,
    /// The targets as given, in the order of the workload's location weights. An empty target is
    /// the working directory.
    #[serde(with = "lossy")]
    #[schemars(with = "Vec<String>")]
    pub targets: Vec<PathBuf>,
    /// Where the files are created in the targets.
    pub place: Place,
    /// The I/O engine, by the name that `--engine` accepts, such as `posix`.
    #[serde(rename = "storage")]
    pub engine: EngineName,
    /// Number of operations that each worker keeps in flight; left out if 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub depth: u32,
    /// The durability policies in the form that `--durability` accepts, such as `fsync+dir`.
    /// Exceptions for single operations follow after commas: in `fsync+dir,rename=none`, renames
    /// are not synced.
    #[schemars(with = "String",
        extend("pattern" = "^(([a-z-]+=)?\
            (none|fdatasync|fsync(\\+dir)?|o-d?sync|batch:[0-9]+)(,|$))+$"))]
    pub durability: Policies,
    /// Whether file contents bypass the page cache (direct I/O).
    pub direct: bool,
    /// State of the page cache before the transactions, and how the run reaches this state.
    pub cache: Cache,
    /// The load: warm-up, pace, stop rule and load sweep.
    pub drive: Drive,
    /// Number or share of errors that the run allows, as options accept it.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String", extend("pattern" = "^(stop|[0-9]+|[0-9.]+%)$"))]
    pub on_error: OnError,
    /// Time in nanoseconds after which a worker that is still in the same operation is reported as
    /// stalled. The run ends if the operation takes five times as long.
    #[serde(rename = "stall_timeout_ns", with = "ns")]
    #[schemars(with = "u64")]
    pub stall_timeout: Duration,
    /// Whether workers are pinned: each worker runs on one processor only (sched_setaffinity(2)).
    pub pin: bool,
    /// Whether the pool is kept for a later run, and whether it is the pool of an earlier run.
    pub keeping: Keeping,
    /// Path of the acknowledgement log; null if none is written. The time for writing the log is
    /// included in the measured rates.
    #[serde(with = "lossy_option")]
    #[schemars(with = "Option<String>")]
    pub ack_log: Option<PathBuf>,
    /// Whether the contents of reads are verified.
    pub verify: bool,
    /// Whether file names and sizes are checked after the transactions.
    pub check: bool,
    /// Whether file systems are synced after each phase. The time of the sync is recorded.
    pub sync_phases: bool,
    /// Whether the latency of every operation is recorded.
    pub latencies: bool,
    /// Whether the calls of operations, such as open and write, are timed; requires latencies.
    pub steps: bool,
    /// Whether counts and latencies of each second are recorded; requires latencies.
    pub series: bool,
    /// Whether the overhead of the program is measured after the run, with the same stream on the
    /// null engine.
    pub overhead: bool,
    /// Whether the streams of private pools are drawn before the run begins, so that drawing takes
    /// no time during the run. Used to measure the program itself. Needs about 80 bytes of memory
    /// per operation.
    pub prepared: bool,
    /// Whether a target without enough free space is refused.
    pub room_check: bool,
    /// Whether the run keeps root rights on a target that other users could replace.
    pub trusts_others: bool,
}

impl RunSpec {
    /// Returns the actions that the workload performs in any phase.
    pub(crate) fn performed_actions(&self) -> Vec<Action> {
        [Phase::Prepare, Phase::Transactions, Phase::Delete]
            .into_iter()
            .flat_map(|phase| self.workload.actions(phase))
            .collect()
    }

    /// Returns the durability policy of the operations that write contents. If these operations
    /// have several policies, prefers one under which an acknowledged write may not have reached
    /// the device.
    pub fn durability_of_writes(&self) -> Durability {
        let Some(mix) = self.workload.mix() else {
            return self.durability.rest;
        };
        let writes = |action: &Action| action.moves_bytes_out() || action.copies();
        let actions = mix.weights.actions().filter(writes);
        let policies: Vec<Durability> = actions.map(|action| self.durability.of(action)).collect();
        let is_delayed =
            |policy: &Durability| matches!(policy, Durability::None | Durability::Batch(_));
        let delayed = policies.iter().copied().find(is_delayed);
        delayed
            .or(policies.first().copied())
            .unwrap_or(self.durability.rest)
    }

    /// Returns the spec of a run with only those features that the original PostMark has.
    pub fn classic(workload: Workload, targets: Vec<PathBuf>, place: Place) -> Self {
        Self {
            command_line: Vec::new(),
            preset: None,
            workload,
            ranks: 1,
            neighbour: 0,
            targets,
            place,
            engine: EngineName::STDIO,
            depth: 1,
            durability: Policies::default(),
            direct: false,
            cache: Cache::AsIs,
            drive: Drive::default(),
            on_error: OnError::Stop,
            stall_timeout: Duration::from_secs(60),
            pin: false,
            keeping: Keeping::default(),
            ack_log: None,
            verify: false,
            check: false,
            sync_phases: false,
            latencies: true,
            steps: false,
            series: false,
            overhead: false,
            prepared: false,
            room_check: true,
            trusts_others: false,
        }
    }

    /// Returns the loads of the workload's phases; empty for a workload without phases.
    pub fn phase_loads(&self) -> &[PhaseLoad] {
        match self.drive.sweep.as_ref().map(|sweep| &sweep.climb) {
            Some(Climb::Phases(loads)) => loads,
            _ => &[],
        }
    }

    /// Returns the state of the page cache before each phase of the workload, or before the
    /// transactions of a workload without phases.
    pub fn caches(&self) -> Vec<Cache> {
        match self.phase_loads() {
            [] => vec![self.cache],
            loads => loads.iter().map(|load| load.cache).collect(),
        }
    }

    /// Returns the duration of all phases; `None` if a number of operations may end a phase.
    pub fn phases_length(&self) -> Option<Duration> {
        let timed = self.phase_loads().iter().map(|load| match load.stop {
            Stop::After(length) => Some(length),
            Stop::Transactions | Stop::Steady(_) => None,
        });
        timed.sum()
    }

    /// Returns the phases of the workload; empty for a workload without phases.
    pub fn phases(&self) -> &[PhaseWork] {
        self.workload.mix().map_or(&[], |mix| &mix.phases)
    }

    /// Returns the numbers of a rank's workers. The workers of all ranks are numbered from 0.
    pub fn workers_of(&self, rank: u32) -> Range<u32> {
        let each = self.workload.workers.count() / self.ranks.max(1);
        rank * each..(rank + 1) * each
    }

    /// Returns the same run with `each` workers on each rank, all of them with private pools.
    #[must_use]
    pub fn of_workers(&self, each: u32) -> Self {
        let mut some = self.clone();
        let workers = each.saturating_mul(self.ranks.max(1));
        some.workload.workers = Workers::Private { workers };
        some
    }

    /// Returns the same run on `ranks` ranks. The number of workers on each rank remains the same.
    #[must_use]
    pub fn of_ranks(&self, ranks: u32) -> Self {
        let mut some = self.clone();
        let launched = self.ranks.max(1);
        let (Workers::Private { workers: all } | Workers::Shared { pools: all, .. }) =
            &mut some.workload.workers;
        *all = *all / launched * ranks;
        some.ranks = ranks;
        some
    }

    /// Returns the work of one rank, as the spec of a run with a single process.
    #[must_use]
    pub fn of_one_rank(&self) -> Self {
        Self {
            neighbour: 0,
            ..self.of_ranks(1)
        }
    }

    /// Returns the worker that prepared the pool of `worker`. With `neighbour`, a worker of another
    /// rank prepared that pool.
    pub fn neighbour_of(&self, worker: u32) -> u32 {
        let all = self.workload.workers.count().max(1);
        (worker + self.neighbour * (all / self.ranks.max(1))) % all
    }

    /// Whether ranks check, after the transactions, the operations that another rank acknowledged.
    pub fn checks_across(&self) -> bool {
        self.ranks > 1 && self.verify && self.check
    }

    /// Returns the pool that `worker` checks in the cross-rank check, as two workers. The first one
    /// prepared the pool, and the second one used the pool last. With `neighbour`, `worker` checks
    /// the pool that it prepared and that another rank used. Otherwise it checks a pool of the next
    /// rank.
    pub fn checked_by(&self, worker: u32) -> (u32, u32) {
        let all = self.workload.workers.count().max(1);
        let each = all / self.ranks.max(1);
        match self.neighbour {
            0 => ((worker + each) % all, (worker + each) % all),
            further => (worker, (worker + all - further * each) % all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_keeps_the_run_spec() {
        let mut spec = RunSpec::classic(
            workload::Classic::default().into(),
            vec!["/mnt/a".into()],
            Place::OwnDirectory,
        );
        spec.on_error = OnError::Percent(0.5);
        spec.drive.warm_up = Duration::from_millis(1_500);
        spec.durability = "fsync+dir,delete=none".parse().unwrap();
        spec.ack_log = Some("/var/ack_log".into());
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(
            serde_json::from_str::<RunSpec>(&text).unwrap(),
            spec,
            "{text}"
        );
    }

    #[test]
    fn endless_workload_has_null_transactions_in_json() {
        for workload in [
            Workload::from(workload::Classic::default()),
            workload::Mix::default().into(),
        ] {
            for (transactions, number) in [(Workload::ENDLESS, "null"), (7, "7")] {
                let asked = workload.with_transactions(transactions);
                let text = serde_json::to_string(&asked).unwrap();
                let field = |number: &str| format!("\"transactions\":{number},");
                assert!(text.contains(&field(number)), "{text}");
                // Older records contain the number [`Workload::ENDLESS`] instead of null.
                let before = text.replace(&field(number), &field(&transactions.to_string()));
                for text in [text, before] {
                    assert_eq!(
                        serde_json::from_str::<Workload>(&text).unwrap(),
                        asked,
                        "{text}"
                    );
                }
            }
        }
    }
}
