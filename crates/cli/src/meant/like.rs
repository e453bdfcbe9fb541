//! The work of an earlier run, to be done again.
//!
//! A record says what was done and how, as completely as the configuration file that `plan --format toml` writes. So it is
//! taken for that file: what is said beside holds over the one as over the other. Its place is not taken over: not its
//! locations, and not its journal. Records may be anybody's.

use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use contract::Durability;
use record::{Climb, Driven, How as HowDone, LadderAsked, Record};
use runner::{Cache, Drive, Keeping, Ladder, Pace, Stop};
use workload::arrivals::ArrivalProcess;
use workload::fingerprint::{self, GENERATORS_VERSION};
use workload::{Crew, Workload};

use super::{How, MeaningError, Meant, to_config};
use crate::earlier::{find, wrong};
use crate::said::{CacheName, OnErrorSaid, Options};

/// An earlier run.
pub(super) struct Like(Record);

/// Reads the run that is called so, and says how it was done as a configuration file would.
pub(super) fn read(run: &Path, archive: Option<&Path>) -> Result<(Options, Like), MeaningError> {
    let record = find(run, archive)?;
    let options = options(&record).map_err(|problem| wrong(run, problem))?;
    Ok((options, Like(record)))
}

/// What a configuration file would say of a run, its place left out.
///
/// # Errors
/// What has no meaning.
pub fn options(record: &Record) -> Result<Options, String> {
    let text = to_config(&meant(record)?).map_err(|error| error.to_string())?;
    toml::from_str(&text).map_err(|error| error.message().to_owned())
}

/// What a record means, its place left out. The error says what has no meaning.
fn meant(record: &Record) -> Result<Meant, String> {
    Ok(Meant {
        workload: record.workload.clone(),
        locations: Vec::new(),
        storage: named("storage", &record.storage)?,
        storage_is_said: true,
        how: how(&record.how, record.latencies)?,
        preset: record.preset.clone(),
        // What it came to is in the workload.
        sizing: None,
        notes: Vec::new(),
        inputs: Vec::new(),
    })
}

/// One of the names that an option has.
fn named<T: ValueEnum>(what: &str, name: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let all: Vec<String> = T::value_variants()
            .iter()
            .filter_map(|value| value.to_possible_value())
            .map(|value| value.get_name().to_owned())
            .collect();
        format!("{what} {name:?}: there are {}", all.join(", "))
    })
}

fn how(done: &HowDone, latencies: bool) -> Result<How, String> {
    Ok(How {
        drive: drive(&done.driven)?,
        durability: done
            .durability
            .parse::<Durability>()
            .map_err(|error| error.to_string())?,
        direct: done.direct,
        cache: Cache::from(named::<CacheName>("cache", &done.cache)?),
        settle: done.settle,
        check: done.check,
        verify: done.verify,
        on_error: done
            .on_error
            .parse::<OnErrorSaid>()
            .map_err(|error| error.to_string())?
            .0,
        stuck_after: Duration::from_nanos(done.stuck_after_ns),
        latencies,
        steps: done.steps,
        slices: done.slices,
        own_cost: done.own_cost,
        pin: done.pinned,
        keeping: Keeping {
            keep: done.kept,
            reuse: done.reused,
        },
        journal: None,
    })
}

fn drive(driven: &Driven) -> Result<Drive, String> {
    let arrivals = |form: &str| form.parse::<ArrivalProcess>().map_err(|error| error.to_string());
    let ladder = |asked: &LadderAsked| -> Result<Ladder, String> {
        Ok(Ladder {
            asked: asked.clone(),
            arrivals: arrivals(&asked.arrivals)?,
        })
    };
    Ok(Drive {
        warm_up: Duration::from_nanos(driven.warm_up_ns),
        stop: match (driven.steady, driven.for_ns) {
            (Some(asked), _) => Stop::Steady(asked),
            (None, Some(ns)) => Stop::After(Duration::from_nanos(ns)),
            (None, None) => Stop::Transactions,
        },
        pace: match &driven.arrivals {
            None => Pace::Closed,
            Some(asked) => Pace::Open {
                rate: asked.per_second,
                arrivals: arrivals(&asked.form)?,
            },
        },
        ladder: driven.ladder.as_ref().map(ladder).transpose()?,
    })
}

impl Like {
    /// The shares of its locations.
    pub(super) fn weights(&self) -> &[u32] {
        self.0.workload.location_weights()
    }

    /// The preset that it began with.
    pub(super) fn preset(&self) -> Option<String> {
        self.0.preset.clone()
    }

    /// What of the earlier run this one, with what is said beside, does not do.
    pub(super) fn differs(&self, workload: &Workload, how: &How) -> Vec<String> {
        let mut notes = Vec::new();
        // What has no fingerprint is refused elsewhere.
        let fingerprint = fingerprint::fingerprint(&first_work(workload, &how.drive)).ok();
        if fingerprint.is_some_and(|fingerprint| fingerprint != self.0.fingerprint) {
            let theirs = self.0.tool.generators;
            let why = if theirs == GENERATORS_VERSION {
                String::new()
            } else {
                format!(
                    ": its operations were drawn by generators of version {theirs}, these are of version {GENERATORS_VERSION}"
                )
            };
            notes.push(format!(
                "This is other work than that of the run that --like names (the fingerprints differ){why}"
            ));
        }
        if self.0.how.journal.is_some() && how.journal.is_none() {
            notes.push(
                "The run that --like names kept a journal, which made it wait; this one has none without --journal FILE".to_owned(),
            );
        }
        if self.0.how.prepared {
            notes.push(
                "The run that --like names had its operations drawn before it began; this one draws them as it goes"
                    .to_owned(),
            );
        }
        notes
    }
}

/// The work whose fingerprint a record has: on a ladder of workers that of its first rung.
fn first_work(workload: &Workload, drive: &Drive) -> Workload {
    let mut workload = workload.clone();
    if let Some(Climb::Workers(counts)) = drive.ladder.as_ref().map(|ladder| &ladder.asked.climb) {
        if let Some(workers) = counts.first() {
            workload.crew = Crew::Private { workers: *workers };
        }
    }
    workload
}
