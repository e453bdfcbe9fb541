//! The run spec: a run as it is asked for, complete; what options of it come to, and the options
//! that come to it.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use engine::{Durability, ServerUrl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::presets::Preset;
use workload::{Work, Workers, Workload};

use crate::config_error::ConfigError;
use crate::limits::{DEPTH_MAX, RANKS_MAX};
use crate::load::{self, Drive, Stop};
use crate::options::{Options, TargetOption};
use crate::serial::{as_text, lossy, lossy_option, ns};
use crate::settings::{Cache, EngineName, Keeping, OnError, Place};
use crate::sweep::Climb;
use crate::values::{Count, Time};
use crate::work;

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
    pub storage: EngineName,
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
            storage: EngineName::Stdio,
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

    /// What options and a preset come to, of this work in these targets.
    pub(crate) fn mean(
        options: &Options,
        preset: Option<&Preset>,
        workload: Workload,
        targets: Vec<PathBuf>,
    ) -> Result<Self, ConfigError> {
        let is_given = |flag: Option<bool>| flag.unwrap_or(false);
        let is_of_server = targets.iter().any(|target| ServerUrl::is_one(target));
        let otherwise = match workload.work {
            _ if is_of_server => EngineName::Nfs,
            Work::Mix(_) => EngineName::Posix,
            Work::Classic(_) => EngineName::Stdio,
        };
        let storage = options.storage.unwrap_or(otherwise);
        let cache = options.cache.unwrap_or_default();
        if (cache, storage) == (Cache::ColdData, EngineName::Stdio) {
            return Err(ConfigError::ColdDataOfStdio);
        }
        let touches = storage.touches();
        let place = if touches {
            Place::OwnDirectory
        } else {
            Place::Nowhere
        };
        let latencies = !is_given(options.no_latencies);
        let of_preset = preset.and_then(|preset| preset.how.durability);
        let of_preset = of_preset.map(str::parse::<Durability>).transpose()?;
        Ok(Self {
            preset: preset.map(|preset| preset.name.to_owned()),
            ranks: ranks(options)?,
            neighbour: neighbour(options)?,
            storage,
            depth: depth(options)?,
            durability: options.durability.or(of_preset).unwrap_or_default(),
            direct: is_given(options.direct),
            cache,
            drive: load::mean(options)?,
            on_error: options.on_error.unwrap_or(OnError::Stop),
            stall_timeout: options
                .stall_timeout
                .map_or(Duration::from_secs(60), |time| Duration::from_nanos(time.0)),
            pin: is_given(options.pin),
            keeping: Keeping {
                keep: is_given(options.keep),
                reuse: is_given(options.reuse),
            },
            ack_log: options.ack_log.clone(),
            verify: is_given(options.verify),
            check: touches && !is_given(options.no_check),
            sync_phases: storage.syncs() && !is_given(options.no_sync_phases),
            latencies,
            steps: is_given(options.steps),
            series: latencies && !is_given(options.no_series),
            overhead: !is_given(options.no_overhead),
            ..Self::classic(workload, targets, place)
        })
    }
}

/// How many processes perform the run.
pub(crate) fn ranks(options: &Options) -> Result<u32, ConfigError> {
    let Count(ranks) = options.ranks.unwrap_or(Count(1));
    let fits = u32::try_from(ranks)
        .ok()
        .filter(|ranks| (1..=RANKS_MAX).contains(ranks));
    fits.ok_or(ConfigError::Ranks(ranks))
}

fn neighbour(options: &Options) -> Result<u32, ConfigError> {
    let ranks = ranks(options)?;
    match options.neighbour {
        None => Ok(0),
        Some(Count(further)) if ranks > 1 && (1..u64::from(ranks)).contains(&further) => {
            Ok(further as u32)
        }
        Some(Count(further)) => Err(ConfigError::Neighbour { further, ranks }),
    }
}

/// How many operations are in flight.
fn depth(options: &Options) -> Result<u32, ConfigError> {
    let Count(depth) = options.depth.unwrap_or(Count(1));
    let fits = u32::try_from(depth)
        .ok()
        .filter(|depth| (1..=DEPTH_MAX).contains(depth));
    fits.ok_or(ConfigError::Depth(depth))
}

impl Options {
    /// The options that come to this, with all that is left out where nothing is said.
    pub fn of(spec: &RunSpec) -> Self {
        let (workload, mut options) = (&spec.workload, Self::default());
        work::say(workload, spec.ranks, &mut options);
        options.neighbour = (spec.neighbour > 0).then_some(Count(spec.neighbour.into()));
        options.ranks = (spec.ranks > 1).then_some(Count(spec.ranks.into()));
        load::say(&spec.drive, &mut options);
        // Those without end come with a time, and a sweep of workers says how many.
        let sweep = spec.drive.sweep.as_ref();
        let is_ended = spec.drive.stop != Stop::Transactions || sweep.is_some();
        if !(is_ended && workload.transactions() == Workload::ENDLESS) {
            options.transactions = Some(Count(workload.transactions()));
        }
        if sweep.is_some_and(|sweep| matches!(sweep.climb, Climb::Workers(_))) {
            options.workers = None;
        }
        options.storage = Some(spec.storage);
        options.depth = (spec.depth > 1).then_some(Count(spec.depth.into()));
        options.durability = Some(spec.durability);
        options.cache = Some(spec.cache);
        options.on_error = Some(spec.on_error);
        options.stall_timeout = Some(Time::of(spec.stall_timeout));
        let flag = |is_so: bool| is_so.then_some(true);
        let touches = spec.storage.touches();
        options.direct = flag(spec.direct);
        options.no_sync_phases = flag(spec.storage.syncs() && !spec.sync_phases);
        options.no_check = flag(touches && !spec.check);
        options.verify = flag(spec.verify);
        options.no_latencies = flag(!spec.latencies);
        options.steps = flag(spec.steps);
        // Without latencies there are none anyway.
        options.no_series = flag(spec.latencies && !spec.series);
        options.no_overhead = flag(!spec.overhead);
        options.pin = flag(spec.pin);
        options.keep = flag(spec.keeping.keep);
        options.reuse = flag(spec.keeping.reuse);
        options.ack_log.clone_from(&spec.ack_log);
        let weights = workload.location_weights();
        // Where nothing was said, nothing is: a file may be for another directory.
        let is_anywhere = |target: &PathBuf| target.as_os_str().is_empty();
        if !(weights == [1] && spec.targets.iter().all(is_anywhere)) {
            let all = spec.targets.iter().zip(weights);
            options.target = all
                .map(|(target, weight)| TargetOption {
                    path: crate::directory(target).to_owned(),
                    weight: *weight,
                })
                .collect();
        }
        options
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
