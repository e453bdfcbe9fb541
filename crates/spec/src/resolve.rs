//! From what was asked for, in layers, to the complete spec.
//!
//! Options hold over the configuration file (or an earlier run, which is taken for one), the file
//! over the preset, the preset over the original's defaults.

use std::path::PathBuf;
use std::time::Duration;

use engine::Durability;
use workload::presets::{self, Preset};
use workload::{Work, Workload};

use crate::config_error::ConfigError;
use crate::conflicts::{GIVEN, SOURCE, find};
use crate::draft::Draft;
use crate::engine_name::EngineName;
use crate::limits::LOCATIONS_MAX;
use crate::load_options::{check_sweep, ends_otherwise};
use crate::note::Note;
use crate::options::{Options, TargetOption};
use crate::run_spec::RunSpec;
use crate::settings::Place;
use crate::sizes::Read;
use crate::values::{Count, Time, WorkingSet};
use crate::work::{self, workers};

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
    /// The preset of the earlier run.
    pub earlier_preset: Option<String>,
    /// What the command says beside the options.
    pub invocation: Invocation,
    /// How a histogram's file is read.
    pub read: &'a Read<'a>,
}

/// What the command that performs a run says of it, beside the options.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// The arguments.
    pub command_line: Vec<String>,
    /// Whether the report is one of the original's: the original's number of transactions ends a
    /// run without another limit.
    pub has_classic_format: bool,
    /// Whether a target without enough free space is used.
    pub skips_room_check: bool,
    /// Whether root keeps its rights where other users may exchange the target.
    pub trusts_others: bool,
}

/// What it comes to.
pub struct Resolved {
    /// The complete description.
    pub spec: RunSpec,
    /// Whether a storage was said; else it is what goes with the work.
    pub engine_is_given: bool,
    /// What was made of the words that might surprise.
    pub notes: Vec<Note>,
}

/// Resolves what was asked for into a complete spec, which is checked last. `size` gives a workload
/// the number of files that a working set needs.
///
/// # Errors
/// What is contradicted, and why there is no such number of files.
pub fn resolve<E: From<ConfigError>>(
    asked: &Asked<'_>,
    size: impl FnOnce(WorkingSet, &Workload) -> Result<Workload, E>,
) -> Result<Resolved, E> {
    let mut notes = Vec::new();
    let (mut spec, options) = unsized_spec(asked, &mut notes)?;
    if let Some(working_set) = options.working_set {
        spec.check()?;
        spec.workload = size(working_set, &spec.workload)?;
    }
    spec.check()?;
    Ok(Resolved {
        spec,
        engine_is_given: options.engine.is_some(),
        notes,
    })
}

/// The spec, with the default number of files where a working set says how many there are.
fn unsized_spec(
    asked: &Asked<'_>,
    notes: &mut Vec<Note>,
) -> Result<(RunSpec, Options), ConfigError> {
    let mut options = merged(asked)?;
    let locations = locations(asked, &options)?;
    let preset = asked.preset.map(|preset| &preset.workload);
    let ranks = workers::ranks(&options)?;
    let all = workers::resolve(preset, [&asked.file, &asked.options], ranks)?;
    let workload = work::base(&mut options, preset, all, notes)?;
    let targets = locations.iter().map(|one| one.path.clone()).collect();
    let spec = RunSpec {
        ranks,
        ..base(asked, workload, targets)?
    };
    for source in [&asked.options, &asked.file] {
        find(SOURCE, source, &spec)?;
    }
    check_sweep(&options)?;
    find(GIVEN, &options, &spec)?;
    let mut draft = Draft {
        spec,
        options: &options,
        is_preset_mix: preset.is_some_and(|preset| preset.mix().is_some()),
        read: asked.read,
    };
    draft.set_options()?;
    let weights = locations.iter().map(|location| location.weight).collect();
    work::finish(&mut draft, weights, notes)?;
    let mut spec = draft.spec;
    spec.workload.validate()?;
    // A workload that options have changed has not the preset's name.
    let is_preset = |preset: &&Preset| preset.is_of(&spec.workload);
    let preset = asked.preset.filter(is_preset);
    spec.preset = match preset {
        Some(preset) => Some(preset.name.to_owned()),
        None => asked.earlier_preset.clone(),
    };
    if !spec.engine.makes_files() {
        spec.place = Place::Nowhere;
    }
    spec.check &= spec.engine.makes_files();
    spec.sync_phases &= spec.engine.uses_page_cache();
    spec.series &= spec.latencies;
    if asked.invocation.has_classic_format {
        // The original's whole seconds would include them, and its reports cannot show the
        // overhead.
        (spec.sync_phases, spec.check, spec.overhead) = (false, false, false);
    }
    Ok((spec, options))
}

/// The spec over which options are set.
fn base(
    asked: &Asked<'_>,
    workload: Workload,
    targets: Vec<PathBuf>,
) -> Result<RunSpec, ConfigError> {
    let of_work = || match workload.work {
        Work::Mix(_) => EngineName::POSIX,
        Work::Classic(_) => EngineName::STDIO,
    };
    let engine = EngineName::of_urls(&targets).unwrap_or_else(of_work);
    let durability = asked.preset.and_then(|preset| preset.how.durability);
    let durability = durability.map(str::parse::<Durability>).transpose()?;
    Ok(RunSpec {
        command_line: asked.invocation.command_line.clone(),
        engine,
        durability: durability.unwrap_or_default(),
        check: true,
        sync_phases: true,
        series: true,
        overhead: true,
        room_check: !asked.invocation.skips_room_check,
        trusts_others: asked.invocation.trusts_others,
        ..RunSpec::classic(workload, targets, Place::OwnDirectory)
    })
}

/// The options over those of the file, with the end of the run.
fn merged(asked: &Asked<'_>) -> Result<Options, ConfigError> {
    let (given, mut under) = (asked.options.clone(), asked.file.clone());
    // Either of these overrides the other in the file.
    if given.working_set.is_some() {
        under.files = None;
    }
    if given.files.is_some() {
        under.working_set = None;
    }
    let mut options = given.over(under);
    if options.transactions.is_none() {
        if !ends_otherwise(&options) {
            let by_time = (!asked.invocation.has_classic_format).then_some(presets::RUN_FOR_S);
            let seconds = asked.preset.map_or(by_time, |preset| preset.how.run_for_s);
            options.run_for = seconds.map(|seconds| Time::of(Duration::from_secs(seconds)));
        }
        if ends_otherwise(&options) {
            options.transactions = Some(Count(Workload::ENDLESS));
        }
    }
    Ok(options)
}

/// Where the files go, as said; the working directory where nothing was.
fn locations(asked: &Asked<'_>, options: &Options) -> Result<Vec<TargetOption>, ConfigError> {
    let mut locations = options.target.clone();
    if locations.len() > LOCATIONS_MAX {
        return Err(ConfigError::new(format!(
            "too many --target options: {} (at most {LOCATIONS_MAX})",
            locations.len()
        )));
    }
    // Somebody's variable that was not set is no wish to write here.
    if locations
        .iter()
        .any(|location| location.path.as_os_str().is_empty())
    {
        return Err(ConfigError::new(
            "invalid [[target]]: the path is empty (write a directory, or . for the working \
             directory)",
        ));
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
