//! Resolves layers of options into a complete run spec.
//!
//! The command line overrides the configuration file, or the earlier run that is used instead of a
//! file. The file overrides the preset, and the preset overrides the defaults of the original
//! PostMark.

use std::path::PathBuf;
use std::time::Duration;

use engine::Policies;
use workload::Workload;
use workload::presets::{self, Preset};

use crate::config_error::ConfigError;
use crate::conflicts::{GIVEN, SOURCE, find};
use crate::draft::Draft;
use crate::engine_name::EngineName;
use crate::limits::LOCATIONS_MAX;
use crate::load_options::{check_sweep, ends_otherwise};
use crate::note::Note;
use crate::options::{Options, TargetOption};
use crate::phases;
use crate::replay::{self, Replayed};
use crate::run_spec::RunSpec;
use crate::settings::Place;
use crate::sizes::Read;
use crate::values::{Count, Time, WorkingSet};
use crate::work::{self, workers};

/// The layers of options that describe a run.
pub struct Asked<'a> {
    /// Options on the command line.
    pub options: Options,
    /// Options of the configuration file, or of the earlier run that is used instead.
    pub file: Options,
    pub preset: Option<&'a Preset>,
    /// Weights of the earlier run's targets. These weights replace those of the given targets if
    /// both runs have the same number of targets.
    pub weights: &'a [u32],
    /// Preset of the earlier run. The spec contains this name if `preset` is `None` or does not
    /// match the workload.
    pub earlier_preset: Option<String>,
    pub invocation: Invocation,
    /// Reads a histogram from a file.
    pub read: &'a Read<'a>,
    /// The trace of the option `--replay`, if it was read.
    pub replayed: Option<Replayed>,
}

/// Settings of the command that performs a run. They are not in the option table.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    pub command_line: Vec<String>,
    /// Whether the run may start although the target does not have enough free space.
    pub skips_space_check: bool,
    /// Whether the run keeps root rights on a target that other users could replace.
    pub trusts_others: bool,
}

pub struct Resolved {
    pub spec: RunSpec,
    /// Whether an option or the file sets the engine. Otherwise the engine follows from the targets
    /// or the workload.
    pub engine_is_given: bool,
    pub notes: Vec<Note>,
}

/// Resolves layers of options into a complete spec, and checks the spec. If `--working-set` is
/// given, `size` returns the workload with the required number of files.
///
/// # Errors
/// Returns the first contradiction, or the error of `size`.
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

/// Resolves the spec without the working set, which later changes the number of files.
fn unsized_spec(
    asked: &Asked<'_>,
    notes: &mut Vec<Note>,
) -> Result<(RunSpec, Options), ConfigError> {
    let mut options = merged(asked)?;
    let locations = locations(asked, &options)?;
    let preset = asked.preset.map(|preset| &preset.workload);
    let ranks = workers::ranks(&options)?;
    let workload = match replay::workload(&options, asked.replayed.as_ref())? {
        Some(workload) => workload,
        None => {
            let all = workers::resolve(preset, [&asked.file, &asked.options], ranks)?;
            work::base(&mut options, preset, all, notes)?
        }
    };
    let targets = locations.iter().map(|one| one.path.clone()).collect();
    let spec = RunSpec {
        ranks,
        ..base(asked, &options, workload, targets)?
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
    phases::set(&mut draft)?;
    let weights = locations.iter().map(|location| location.weight).collect();
    work::finish(&mut draft, weights)?;
    let mut spec = draft.spec;
    spec.workload.validate()?;
    if options.durability.is_none() {
        // The policies are the preset's, and --mix may leave out actions of the preset.
        let performed = spec.performed_actions();
        spec.durability.retain(|action| performed.contains(&action));
    }
    // A preset whose workload was changed by options is not named in the spec.
    let is_preset = |preset: &&Preset| preset.is_of(&spec.workload);
    let preset = asked.preset.filter(is_preset);
    spec.preset = match preset {
        Some(preset) => Some(preset.full_name()),
        None => asked.earlier_preset.clone(),
    };
    if !spec.engine.makes_files() {
        spec.place = Place::Nowhere;
    }
    spec.check &= spec.engine.makes_files();
    spec.sync_phases &= spec.engine.uses_page_cache();
    spec.series &= spec.latencies;
    Ok((spec, options))
}

/// Returns the spec to which options are applied.
fn base(
    asked: &Asked<'_>,
    options: &Options,
    workload: Workload,
    targets: Vec<PathBuf>,
) -> Result<RunSpec, ConfigError> {
    // Without `--compat`, the run also syncs the file systems and checks the files. The original
    // PostMark does neither.
    let does_more = options.compat.is_none();
    let of_work = || EngineName::of_work(&workload.work);
    let engine = EngineName::of_urls(&targets).unwrap_or_else(of_work);
    let durability = asked.preset.and_then(|preset| preset.how.durability);
    let durability = durability.map(str::parse::<Policies>).transpose()?;
    let replayed = asked.replayed.as_ref();
    let durability = durability.or_else(|| replayed?.durability.clone());
    Ok(RunSpec {
        command_line: asked.invocation.command_line.clone(),
        engine,
        durability: durability.unwrap_or_default(),
        check: does_more,
        sync_phases: does_more,
        series: true,
        overhead: does_more && workload.replay().is_none(),
        room_check: !asked.invocation.skips_space_check,
        trusts_others: asked.invocation.trusts_others,
        ..RunSpec::classic(workload, targets, Place::OwnDirectory)
    })
}

/// Merges the options of the command line over those of the file, and determines the condition that
/// ends the run.
fn merged(asked: &Asked<'_>) -> Result<Options, ConfigError> {
    let (given, mut under) = (asked.options.clone(), asked.file.clone());
    // `--working-set` and `--files` both set the number of files. Either option on the command line
    // therefore overrides both options in the file.
    if given.working_set.is_some() {
        under.files = None;
    }
    if given.files.is_some() {
        under.working_set = None;
    }
    // A mix replaces the phases of the file or of the preset.
    if given.mix.is_some() {
        under.phase.clear();
    }
    let mut options = given.over(under);
    if options.replay.is_some() {
        return match asked.preset {
            None => Ok(options),
            Some(_) => Err(ConfigError::new(
                "--preset and --replay cannot be combined: both set the workload",
            )),
        };
    }
    if options.mix.is_none() && options.phase.is_empty() {
        options.phase = phases::of_preset(asked.preset)?;
    }
    if options.transactions.is_none() {
        if !ends_otherwise(&options) {
            let by_time = options.compat.is_none().then_some(presets::RUN_FOR_S);
            let seconds = asked.preset.map_or(by_time, |preset| preset.how.run_for_s);
            options.run_for = seconds.map(|seconds| Time::of(Duration::from_secs(seconds)));
        }
        if ends_otherwise(&options) {
            options.transactions = Some(Count(Workload::ENDLESS));
        }
    }
    Ok(options)
}

/// Returns the targets. If no target is given, returns the working directory.
fn locations(asked: &Asked<'_>, options: &Options) -> Result<Vec<TargetOption>, ConfigError> {
    let mut locations = options.target.clone();
    if locations.len() > LOCATIONS_MAX {
        return Err(ConfigError::new(format!(
            "too many --target options: {} (at most {LOCATIONS_MAX})",
            locations.len()
        )));
    }
    // An empty path probably comes from an unset shell variable. Such a path is not a request to
    // use the working directory.
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
