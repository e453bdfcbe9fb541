//! From what was said, in layers, to the complete description, and back.
//!
//! Options hold over the configuration file (or an earlier run, which is taken for one), the file
//! over the preset, the preset over the original's defaults.

use std::path::PathBuf;
use std::time::Duration;

use workload::Workload;
use workload::presets::Preset;

use crate::config_error::{ConfigError, refuse_any};
use crate::limits::LOCATIONS_MAX;
use crate::load;
use crate::note::Note;
use crate::options::{Options, TargetOption};
use crate::run_spec::{self, RunSpec};
use crate::settings::Cache;
use crate::values::{Count, Time, WorkingSet};
use crate::work::{self, Read};

/// What was asked for, layer by layer.
pub struct Asked<'a> {
    /// The options.
    pub options: Options,
    /// The configuration file, or the earlier run.
    pub file: Options,
    /// The preset.
    pub preset: Option<&'a Preset>,
    /// The shares of the earlier run's locations: they are a part of the work, places are not.
    pub weights: &'a [u32],
    /// How long the transactions are performed, in seconds, where neither options nor a preset say
    /// when they end; nothing where the original's number ends them.
    pub run_for_s: Option<u64>,
    /// How a histogram's file is read.
    pub read: &'a Read<'a>,
}

/// What it comes to.
pub struct Resolved {
    /// The complete description.
    pub spec: RunSpec,
    /// Whether a storage was said; else it is what goes with the work.
    pub storage_is_given: bool,
    /// The bytes that the pool is to hold; its files are still to be counted.
    pub working_set: Option<WorkingSet>,
    /// What was made of the words that might surprise.
    pub notes: Vec<Note>,
}

/// The complete description of what was asked for.
///
/// # Errors
/// What is contradicted.
pub fn resolve(asked: &Asked<'_>) -> Result<Resolved, ConfigError> {
    let mut options = options_of(asked)?;
    if options.transactions.is_none() {
        if !load::ends_otherwise(&options) {
            let seconds = asked
                .preset
                .map_or(asked.run_for_s, |preset| preset.how.run_for_s);
            options.run_for = seconds.map(|seconds| Time::of(Duration::from_secs(seconds)));
        }
        if load::ends_otherwise(&options) {
            options.transactions = Some(Count(Workload::ENDLESS));
        }
    }
    refuse_of_null(&options)?;
    let locations = locations(asked, &options)?;
    let mut notes = Vec::new();
    let weights = locations.iter().map(|location| location.weight).collect();
    let of_preset = asked.preset.map(|preset| &preset.workload);
    let workers = work::workers(
        of_preset,
        [&asked.file, &asked.options],
        run_spec::ranks(&options)?,
    )?;
    let workload = work::mean(
        &options, of_preset, workers, weights, asked.read, &mut notes,
    )?;
    workload.validate()?;
    let targets = locations
        .into_iter()
        .map(|location| location.path)
        .collect();
    let mut spec = RunSpec::mean(&options, asked.preset, workload, targets)?;
    // A workload that options have changed has not the preset's name.
    if asked
        .preset
        .is_some_and(|preset| !preset.is_of(&spec.workload))
    {
        spec.preset = None;
    }
    spec.check()?;
    Ok(Resolved {
        spec,
        storage_is_given: options.storage.is_some(),
        working_set: options.working_set,
        notes,
    })
}

/// Refuses what has no sense where no file system is touched.
fn refuse_of_null(options: &Options) -> Result<(), ConfigError> {
    let Some(storage) = options.storage.filter(|storage| !storage.touches()) else {
        return Ok(());
    };
    let is_given = |flag: Option<bool>| flag.unwrap_or(false);
    let said = [
        ("--verify", is_given(options.verify)),
        (
            "--cache",
            options.cache.is_some_and(|cache| cache != Cache::AsIs),
        ),
        ("--direct", is_given(options.direct)),
        ("--keep", is_given(options.keep)),
        ("--reuse", is_given(options.reuse)),
        ("--ack-log", options.ack_log.is_some()),
        ("--working-set", options.working_set.is_some()),
    ];
    refuse_any(&said, |option| ConfigError::Null(option, storage))
}

/// What was said in options, and in the file where they say nothing.
fn options_of(asked: &Asked<'_>) -> Result<Options, ConfigError> {
    let (said, mut under) = (asked.options.clone(), asked.file.clone());
    for options in [&said, &under] {
        if let (Some(working_set), Some(Count(files))) = (options.working_set, options.files) {
            return Err(ConfigError::WorkingSetAndFiles { working_set, files });
        }
    }
    // Either holds over the other in the file.
    if said.working_set.is_some() {
        under.files = None;
    }
    if said.files.is_some() {
        under.working_set = None;
    }
    let options = said.over(under);
    match (options.working_set, options.reuse) {
        (Some(working_set), Some(true)) => Err(ConfigError::WorkingSetAndReuse(working_set)),
        _ => Ok(options),
    }
}

/// Where the files go, as said; the working directory where nothing was.
fn locations(asked: &Asked<'_>, options: &Options) -> Result<Vec<TargetOption>, ConfigError> {
    let mut locations = options.target.clone();
    if locations.len() > LOCATIONS_MAX {
        return Err(ConfigError::Locations(locations.len()));
    }
    // Somebody's variable that was not set is no wish to write here.
    if locations
        .iter()
        .any(|location| location.path.as_os_str().is_empty())
    {
        return Err(ConfigError::LocationWithoutPath);
    }
    if locations.is_empty() {
        locations.push(TargetOption {
            path: PathBuf::new(),
            weight: 1,
        });
    }
    if locations.len() == asked.weights.len() {
        for (location, weight) in locations.iter_mut().zip(asked.weights) {
            location.weight = *weight;
        }
    }
    Ok(locations)
}
