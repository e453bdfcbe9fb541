//! The run spec: a run as it is asked for, complete.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use engine::Durability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Workers, Workload};

use crate::engine_name::EngineName;
use crate::load::Drive;
use crate::serial::{as_text, lossy, lossy_option, ns};
use crate::settings::{Cache, Keeping, OnError, Place};

fn one() -> u32 {
    1
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

/// Everything that can be asked of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSpec {
    /// The arguments as said.
    pub command_line: Vec<String>,
    /// The preset whose workload this is, of any size and length; nothing where there is none, or
    /// options changed its operations.
    pub preset: Option<String>,
    /// The complete workload as meant: the workers are those of all ranks.
    pub workload: Workload,
    /// The processes that perform it together, started by a launcher as the ranks of one job; left
    /// out where that is 1. Each has as many of the workers: the first rank the first ones,
    /// and so on.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub ranks: u32,
    /// By how many ranks the pools move on after the preparation: each rank works on what the one
    /// so much further has made, and removes it. Left out where each keeps its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub neighbour: u32,
    /// The targets as said, one for each of the workload's weights; an empty one is the working
    /// directory.
    #[serde(with = "lossy")]
    #[schemars(with = "Vec<String>")]
    pub targets: Vec<PathBuf>,
    /// Where the files go in them.
    pub place: Place,
    /// How input and output are done.
    #[serde(rename = "storage")]
    pub engine: EngineName,
    /// How many operations each worker keeps in flight; left out where that is 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub depth: u32,
    /// The policy of durability, as options take it.
    #[schemars(with = "String",
        extend("pattern" = "^(none|fdatasync|fsync|fsync\\+dir|o-dsync|o-sync|batch:[0-9]+)$"))]
    pub durability: Durability,
    /// Whether contents go past the page cache.
    pub direct: bool,
    /// What is done to the page cache before the transactions.
    pub cache: Cache,
    /// How the transactions are driven.
    pub drive: Drive,
    /// What errors do, as options take it.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String", extend("pattern" = "^(stop|[0-9]+|[0-9.]+%)$"))]
    pub on_error: OnError,
    /// After what time in one operation a worker is named, in nanoseconds; one that is in it for
    /// five times as long ends the run.
    #[serde(rename = "stall_timeout_ns", with = "ns")]
    #[schemars(with = "u64")]
    pub stall_timeout: Duration,
    /// Whether each worker is bound to a processor.
    pub pin: bool,
    /// Whether the pool outlives the run.
    pub keeping: Keeping,
    /// The acknowledgement log, whose waiting is in the rates; nothing where none is written.
    #[serde(with = "lossy_option")]
    #[schemars(with = "Option<String>")]
    pub ack_log: Option<PathBuf>,
    /// Whether the contents of reads are verified.
    pub verify: bool,
    /// Whether names are checked after the transactions.
    pub check: bool,
    /// Whether file systems are synced, and that is timed, after each phase.
    pub sync_phases: bool,
    /// Whether the latency of every operation is recorded.
    pub latencies: bool,
    /// Whether the steps of operations are timed, too; needs latencies.
    pub steps: bool,
    /// Whether what is done in each second is recorded; needs latencies.
    pub series: bool,
    /// Whether what the program itself costs is measured after the run: the same stream on the
    /// null storage.
    pub overhead: bool,
    /// Whether the streams of private pools are drawn before the run begins, so that drawing costs
    /// nothing in it. For measuring the program itself: it takes about 80 bytes an operation.
    pub prepared: bool,
    /// Whether a target without room is refused.
    pub room_check: bool,
    /// Whether root keeps its rights where other users may exchange the target.
    pub trusts_others: bool,
}

impl RunSpec {
    /// The classic run of a workload: no more than the original does.
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
            durability: Durability::None,
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

    /// The numbers of the workers that a rank has.
    pub fn workers_of(&self, rank: u32) -> Range<u32> {
        let each = self.workload.workers.count() / self.ranks.max(1);
        rank * each..(rank + 1) * each
    }

    /// The same with so many workers of each rank, each with a pool of its own.
    #[must_use]
    pub fn of_workers(&self, each: u32) -> Self {
        let mut some = self.clone();
        let workers = each.saturating_mul(self.ranks.max(1));
        some.workload.workers = Workers::Private { workers };
        some
    }

    /// The same for so many ranks, each with as many workers.
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

    /// The work of one rank, for one process alone.
    #[must_use]
    pub fn of_one_rank(&self) -> Self {
        Self {
            neighbour: 0,
            ..self.of_ranks(1)
        }
    }

    /// The worker whose pool a worker has after the preparation.
    pub fn neighbour_of(&self, worker: u32) -> u32 {
        let all = self.workload.workers.count().max(1);
        (worker + self.neighbour * (all / self.ranks.max(1))) % all
    }

    /// Whether ranks check what others have acknowledged when the transactions have ended.
    pub fn checks_across(&self) -> bool {
        self.ranks > 1 && self.verify && self.check
    }

    /// The worker whose pool a worker checks for another rank, and the one that has worked on it:
    /// its own pool, where another rank had turned to it, else that of the next rank.
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
    fn a_description_is_the_same_after_it_was_written() {
        let mut spec = RunSpec::classic(
            workload::Classic::default().into(),
            vec!["/mnt/a".into()],
            Place::OwnDirectory,
        );
        spec.on_error = OnError::Percent(0.5);
        spec.drive.warm_up = Duration::from_millis(1_500);
        spec.durability = Durability::FsyncDirectory;
        spec.ack_log = Some("/var/ack_log".into());
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(
            serde_json::from_str::<RunSpec>(&text).unwrap(),
            spec,
            "{text}"
        );
    }

    #[test]
    fn work_without_an_end_has_no_number_of_transactions_and_is_read_back_as_it_was() {
        for workload in [
            Workload::from(workload::Classic::default()),
            workload::Mix::default().into(),
        ] {
            for (transactions, number) in [(Workload::ENDLESS, "null"), (7, "7")] {
                let asked = workload.with_transactions(transactions);
                let text = serde_json::to_string(&asked).unwrap();
                let field = |number: &str| format!("\"transactions\":{number},");
                assert!(text.contains(&field(number)), "{text}");
                // Records of before have the number itself.
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
