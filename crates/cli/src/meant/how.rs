//! How the work is done, as meant.

use std::path::PathBuf;
use std::time::Duration;

use contract::Durability;
use runner::{Cache, Drive, Keeping, OnError};
use workload::presets::Manner;
use workload::{Crew, Workload};

use super::error::refuse;
use super::{MeaningError, drive};
use crate::said::{Options, StorageName};

/// Refuses what has no sense where no file system is touched.
pub(super) fn refuse_of_null(options: &Options) -> Result<(), MeaningError> {
    if options.storage != Some(StorageName::Null) {
        return Ok(());
    }
    let is_said = |flag: Option<bool>| flag.unwrap_or(false);
    let said = [
        ("--verify", is_said(options.verify)),
        (
            "--cache",
            options.cache.is_some_and(|cache| Cache::from(cache) != Cache::AsIs),
        ),
        ("--direct", is_said(options.direct)),
        ("--keep", is_said(options.keep)),
        ("--reuse", is_said(options.reuse)),
        ("--journal", options.journal.is_some()),
        ("--beyond-cache", options.beyond_cache.is_some()),
    ];
    match said.iter().find(|(_, said)| *said) {
        None => Ok(()),
        Some((option, _)) => refuse(format!(
            "{option}: the storage null touches no file system: take --storage posix, or leave {option} out"
        )),
    }
}

/// Everything about a run but its work and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct How {
    /// How the transactions are driven.
    pub drive: Drive,
    /// What is synced, and when.
    pub durability: Durability,
    /// Whether contents go past the page cache.
    pub direct: bool,
    /// What is done to the page cache before the transactions.
    pub cache: Cache,
    /// Whether file systems are synced after each phase.
    pub settle: bool,
    /// Whether names are checked after the transactions.
    pub check: bool,
    /// Whether the contents of reads are verified.
    pub verify: bool,
    /// What errors do.
    pub on_error: OnError,
    /// After what time a worker is named that does not come back.
    pub stuck_after: Duration,
    /// Whether every operation's latency is recorded.
    pub latencies: bool,
    /// Whether the steps of operations are timed.
    pub steps: bool,
    /// Whether what is done in each second is recorded.
    pub slices: bool,
    /// Whether what the program itself costs is measured after the run.
    pub own_cost: bool,
    /// Whether each worker is bound to a processor.
    pub pin: bool,
    /// Whether the pool outlives the run.
    pub keeping: Keeping,
    /// Where acknowledged operations are logged.
    pub journal: Option<PathBuf>,
}

impl How {
    /// What options and a preset come to.
    pub(super) fn mean(options: &Options, preset: Manner, storage: StorageName) -> Result<Self, MeaningError> {
        let is_said = |flag: Option<bool>| flag.unwrap_or(false);
        let of_preset = preset.durability.map(str::parse::<Durability>).transpose();
        // A test reads those of all presets.
        let of_preset = of_preset.map_err(|error| MeaningError::Contradiction(error.to_string()))?;
        let touches = storage != StorageName::Null;
        let latencies = !is_said(options.no_latencies);
        Ok(Self {
            drive: drive::mean(options)?,
            durability: options.durability.or(of_preset).unwrap_or_default(),
            direct: is_said(options.direct),
            cache: options.cache.map_or(Cache::AsIs, Cache::from),
            settle: touches && !is_said(options.no_settle),
            check: touches && !is_said(options.no_check),
            verify: is_said(options.verify),
            on_error: options.on_error.map_or(OnError::Stop, |said| said.0),
            stuck_after: options
                .stuck_after
                .map_or(Duration::from_secs(60), |time| Duration::from_nanos(time.0)),
            latencies,
            steps: is_said(options.steps),
            slices: latencies && !is_said(options.no_slices),
            own_cost: !is_said(options.no_own_cost),
            pin: is_said(options.pin),
            keeping: Keeping {
                keep: is_said(options.keep),
                reuse: is_said(options.reuse),
            },
            journal: options.journal.clone(),
        })
    }

    /// Refuses what contradicts the work or the storage.
    pub(super) fn judge(&self, workload: &Workload, storage: StorageName) -> Result<(), MeaningError> {
        if self.stuck_after.is_zero() {
            return refuse("--stuck-after 0: every operation would be named: give a time like 60s");
        }
        if (self.cache, storage) == (Cache::ColdData, StorageName::Stdio) {
            return refuse(
                "--cache cold-data: the storage stdio, which the classic work has unless another is said, cannot advise the \
                 kernel file by file: add --storage posix or raw",
            );
        }
        drive::judge(&self.drive, self.keeping, workload)?;
        if self.journal.is_some() && self.drive.ladder.is_some() {
            return refuse(
                "--journal with --ladder: a journal proves what one run was told, and makes it wait: leave one out",
            );
        }
        let is_shared = matches!(workload.crew, Crew::Shared { .. });
        if self.keeping.keep && is_shared && workload.transactions() > 0 {
            return refuse(format!(
                "--keep with a shared pool and {} transactions: where its files then are depends on who was faster, and a later \
                 run could not take it: prepare it with --transactions 0 --keep, or give --workers instead of writers and readers",
                workload.transactions()
            ));
        }
        Ok(())
    }
}
