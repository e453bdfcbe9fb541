//! Resolves command-line options into the complete run spec.
//!
//! Options take precedence over the configuration file, the file over the preset, and the preset
//! over the original's defaults. The record of an earlier run is treated like a configuration file.

mod config;
mod like;
mod specified;

use std::path::PathBuf;

use document::sanitize;

use record::Record;
use spec::{Asked, ConfigError, Invocation, Options, RunSpec, SizesOption, TargetOption};
use workload::presets::{self, Preset};

pub use config::{no_text, options_text, parse_config, text_of, to_config};
pub use specified::Specified;

use crate::input::Input;
use crate::record_source::{self, Called};
use crate::similar::similar;
use crate::{Error, User};

/// The options and arguments of a run, as the user typed them.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Name of the preset that supplies default values.
    pub preset: Option<String>,
    pub config: Option<PathBuf>,
    /// Name or file of the earlier run that is to be repeated.
    pub like: Option<PathBuf>,
    /// The archive that contains the earlier run; `None` for the user's archive.
    pub like_in: Option<PathBuf>,
    /// Settings that are not options of the run, for example the command line for the record.
    pub invocation: Invocation,
    /// The options of the run, without the targets.
    pub options: Options,
    /// The targets, or the reason why they cannot be parsed.
    pub locations: Result<Vec<TargetOption>, String>,
    /// Whether the user typed weights of the targets.
    pub has_weights: bool,
}

/// Resolves a request into a run spec.
///
/// # Errors
/// Returns the problem, the option or file that contains it, and what would be correct.
pub fn specify(request: &RunRequest, user: User) -> Result<Specified, Error> {
    let Some(run) = &request.like else {
        let file = request.config.as_deref().map(config::read).transpose()?;
        let mut specified = specify_over(request, file.unwrap_or_default(), None)?;
        let config = request.config.as_deref();
        specified
            .inputs
            .extend(config.map(|path| Input::new("--config", path)));
        return Ok(specified);
    };
    let earlier = record_source::find(run, request.like_in.as_deref(), user)?;
    let options = record::options_again(&earlier.spec);
    let mut specified = specify_over(request, options, Some(&earlier))?;
    specified
        .notes
        .extend(like::differs(&earlier, &specified.spec));
    if record_source::name(run).is_none() {
        specified.inputs.push(Input::new("--like", run));
    }
    Ok(specified)
}

/// Resolves a request whose result is the same on every host. Returns `None` if the result depends
/// on a file, an earlier run, or the size of a working set.
pub fn specify_anywhere(request: &RunRequest) -> Option<Result<RunSpec, Error>> {
    let options = &request.options;
    let is_of_others =
        request.like.is_some() || request.config.is_some() || options.replay.is_some();
    if is_of_others || options.working_set.is_some() || !histograms(options).is_empty() {
        return None;
    }
    let specified = specify_over(request, Options::default(), None);
    Some(specified.map(|specified| specified.spec))
}

/// Resolves a request, with `file` as the options of a configuration file or of an earlier run.
fn specify_over(
    request: &RunRequest,
    file: Options,
    earlier: Option<&Record>,
) -> Result<Specified, Error> {
    let preset = request.preset.as_deref();
    let preset = preset.map(preset_called).transpose()?;
    let said = Options {
        target: request.locations.clone().map_err(Error::refused)?,
        ..request.options.clone()
    };
    let mut inputs = [&said, &file].map(histograms).concat();
    let replayed = crate::replay::read(&said.clone().over(file.clone()))?;
    inputs.extend(replayed.iter().map(|(_, input)| input.clone()));
    let asked = Asked {
        options: said,
        file,
        preset: preset.as_ref(),
        weights: earlier
            .filter(|_| !request.has_weights)
            .map_or(&[], |earlier| earlier.spec.workload.location_weights()),
        earlier_preset: earlier.and_then(|earlier| earlier.spec.preset.clone()),
        invocation: request.invocation.clone(),
        read: &config::text_of,
        replayed: replayed.map(|(replayed, _)| replayed),
    };
    let mut sizing = None;
    let resolved = spec::resolve(&asked, |working_set, workload| {
        let (sized, chosen) = crate::sizing::choose(working_set, workload)?;
        sizing = Some(chosen);
        Ok::<_, Wrong>(sized)
    });
    let resolved = resolved.map_err(|wrong| match wrong {
        // A rejected option may come from the earlier run's record, and a rejected number from any
        // source of options. The message therefore lists all sources.
        Wrong::Config(error) if request.like.is_some() || error.is_of_numbers() => {
            Error::refused(format_args!("{error} (from {})", places(request)))
        }
        wrong => Error::refused(wrong),
    })?;
    refuse_scratch(&resolved.spec)?;
    Ok(Specified {
        spec: resolved.spec,
        engine_is_given: resolved.engine_is_given,
        sizing,
        notes: resolved.notes,
        inputs,
    })
}

/// Refuses a scratch file system like `make:ext4` as the target of a run, because only a study
/// makes file systems. An existing directory with such a name is accepted.
fn refuse_scratch(spec: &RunSpec) -> Result<(), Error> {
    let is_scratch = |target: &&PathBuf| {
        let text = target.to_string_lossy();
        text.starts_with("make:") && !target.exists()
    };
    let Some(target) = spec.targets.iter().find(is_scratch) else {
        return Ok(());
    };
    let preset = spec.preset.as_ref();
    let preset = preset.map_or_else(String::new, |preset| format!("--preset {preset} "));
    Err(Error::refused(format_args!(
        "cannot use --target {}: a run makes no file systems; a study makes, compares and removes \
         them (as root: postmark study {preset}--target make:ext4 --target make:xfs), and a run \
         needs a directory of a mounted file system",
        sanitize::path(target)
    )))
}

/// The reason why a request cannot be resolved.
#[derive(Debug, thiserror::Error)]
enum Wrong {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{0}")]
    Size(String),
}

impl From<String> for Wrong {
    fn from(why: String) -> Self {
        Self::Size(why)
    }
}

fn preset_called(name: &str) -> Result<Preset, Error> {
    preset(name)
        .map_err(|why| Error::refused(format_args!("invalid value '{name}' for --preset: {why}")))
}

/// Returns the preset with this name. The name may include a version, as in `mail-1`.
///
/// # Errors
/// Returns an error message with the most similar name if no preset has the name.
pub fn preset(name: &str) -> Result<Preset, String> {
    presets::find(name).ok_or_else(|| {
        let all = presets::all();
        let known = similar(name, all.iter().map(|preset| preset.name));
        let hint = known.map_or_else(String::new, |known| format!("did you mean '{known}'? "));
        format!("no preset has this name ({hint}'postmark presets' lists them)")
    })
}

/// Lists the sources of a run's options, for messages.
fn places(request: &RunRequest) -> String {
    let mut places = "the options".to_owned();
    if let Some(path) = &request.config {
        places.push_str(&format!(" or {}", sanitize::path(path)));
    }
    if let Some(run) = &request.like {
        places.push_str(&format!(" or the run {}", Called(run)));
    }
    if let Some(preset) = &request.preset {
        places.push_str(&format!(" or preset {preset}"));
    }
    places
}

/// Returns the histogram files in these options, even if other options override them.
fn histograms(options: &Options) -> Vec<Input> {
    let sizes = [
        ("--size", &options.size),
        ("--append-size", &options.append_size),
        ("--range-size", &options.range_size),
    ];
    let file = |(option, said): (&'static str, &Option<SizesOption>)| match said {
        Some(SizesOption::HistogramIn(path)) => Some(Input::new(option, path)),
        _ => None,
    };
    sizes.into_iter().filter_map(file).collect()
}
