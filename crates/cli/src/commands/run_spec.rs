//! What is meant: from what was said, the complete description of the run.
//!
//! Options hold over the configuration file (or the record of an earlier run, which is taken for
//! one), the file over the preset, the preset over the original's defaults.

mod config;
pub mod error;
mod like;

use document::sanitize;
use record::Sizing;
use runner::Refused;
use spec::{Asked, Note, Options, RunSpec, SizesOption};
use system::{Host, Sources};
use workload::presets::{self, Machine};

pub use config::{parse_config, text_of, to_config};
pub use error::SpecError;
use like::Like;

use crate::args::{WorkArguments, similar};
use crate::commands::record_source::{self, Called};
use crate::ui::output::Input;
use crate::ui::problem::Problem;

/// What is meant.
#[derive(Clone, Debug)]
pub struct Specified {
    /// The complete description.
    pub spec: RunSpec,
    /// Whether a storage was said; else it is what goes with the work.
    pub storage_is_given: bool,
    /// How the number of files was chosen, where it was not said.
    pub sizing: Option<Sizing>,
    /// What was made of the words that might surprise.
    pub notes: Vec<Note>,
    /// The files that they were read from.
    pub inputs: Vec<Input>,
}

/// The meaning of what was said.
///
/// # Errors
/// What is wrong, where, and what would be right.
pub fn specify(arguments: &WorkArguments) -> Result<Specified, SpecError> {
    let machine = machine();
    let Some(run) = &arguments.like else {
        let file = arguments.config.as_deref().map(config::read).transpose()?;
        let mut specified = specify_over(arguments, file.unwrap_or_default(), None, &machine)?;
        let config = arguments.config.as_deref();
        specified
            .inputs
            .extend(config.map(|path| Input::new("--config", path)));
        return Ok(specified);
    };
    let (options, like) = like::read(run, arguments.like_in.as_deref())?;
    let mut specified = specify_over(arguments, options, Some(&like), &machine)?;
    specified.notes.extend(like.differs(&specified.spec));
    if record_source::name(run).is_none() {
        specified.inputs.push(Input::new("--like", run));
    }
    Ok(specified)
}

/// The meaning of arguments on a machine; nothing where it depends on a file, an earlier run, or
/// the room for a working set.
pub fn specify_on(arguments: &WorkArguments, host: &Host) -> Option<Result<RunSpec, SpecError>> {
    let options = &arguments.options;
    let is_of_others = arguments.like.is_some() || arguments.config.is_some();
    if is_of_others || options.working_set.is_some() || !histograms(options).is_empty() {
        return None;
    }
    let specified = specify_over(arguments, Options::default(), None, &machine_of(host));
    Some(specified.map(|specified| specified.spec))
}

/// The meaning of arguments over the options of a file, or of an earlier run.
fn specify_over(
    arguments: &WorkArguments,
    file: Options,
    like: Option<&Like>,
    machine: &Machine,
) -> Result<Specified, SpecError> {
    let preset = match &arguments.preset {
        None => None,
        Some(name) => {
            let preset = presets::find(name, machine);
            Some(preset.ok_or_else(|| {
                let all = presets::all(machine);
                SpecError::NoPreset(
                    name.clone(),
                    similar(name, all.iter().map(|preset| preset.name)),
                )
            })?)
        }
    };
    let said = Options {
        target: arguments.locations.clone()?,
        ..arguments.options.clone()
    };
    let inputs = [&said, &file].map(histograms).concat();
    let asked = Asked {
        options: said,
        file,
        preset: preset.as_ref(),
        weights: like
            .filter(|_| arguments.weight.is_empty())
            .map_or(&[], Like::weights),
        earlier_preset: like.and_then(Like::preset),
        invocation: arguments.invocation.clone(),
        read: &config::text_of,
    };
    let mut sizing = None;
    let resolved = spec::resolve(&asked, |working_set, workload| {
        let (sized, chosen) =
            campaign::sizing::choose(working_set, workload).map_err(SpecError::ConfigError)?;
        sizing = Some(chosen);
        Ok(sized)
    });
    let resolved = resolved.map_err(|error| match error {
        // The words of an option may stand in the record, and numbers anywhere.
        SpecError::Contradictory(contradiction)
            if arguments.like.is_some() || contradiction.is_of_numbers() =>
        {
            SpecError::Said {
                contradiction,
                places: places(arguments),
            }
        }
        error => error,
    })?;
    Ok(Specified {
        spec: resolved.spec,
        storage_is_given: resolved.storage_is_given,
        sizing,
        notes: resolved.notes,
        inputs,
    })
}

/// Where the words of a run come from, in words.
fn places(arguments: &WorkArguments) -> String {
    let mut places = "the options".to_owned();
    if let Some(path) = &arguments.config {
        places.push_str(&format!(" or {}", sanitize::path(path)));
    }
    if let Some(run) = &arguments.like {
        places.push_str(&format!(" or the run {}", Called(run)));
    }
    if let Some(preset) = &arguments.preset {
        places.push_str(&format!(" or preset {preset}"));
    }
    places
}

/// The files with histograms that options name, those that others hold over, too.
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

/// The machine that presets are sized for: this one, as far as it is known.
pub fn machine() -> Machine {
    machine_of(&Host::read(&Sources::default()))
}

fn machine_of(host: &Host) -> Machine {
    let usable = host.processors.usable.known().copied();
    Machine {
        memory_bytes: host
            .cache_limit_bytes()
            .known()
            .copied()
            .unwrap_or(Machine::SMALL.memory_bytes),
        processors: usable
            .and_then(|usable| u32::try_from(usable).ok())
            .unwrap_or(Machine::SMALL.processors),
    }
}

impl Specified {
    /// A refusal in words for whoever has said nothing of a storage.
    pub fn explain(&self, refused: Refused) -> Problem {
        match refused {
            Refused::Unsupported(lack)
                if !self.storage_is_given && !self.spec.storage.calls_server() =>
            {
                Problem::Lacking {
                    lack,
                    default: self.spec.storage.name(),
                }
            }
            Refused::NoRoom(lack) => Refused::NoRoom(self.with_sizing(lack)).into(),
            Refused::NoMemory(lack) => Refused::NoMemory(self.with_sizing(lack)).into(),
            other => other.into(),
        }
    }

    /// What is lacking, with the number of files that was chosen, where one was.
    fn with_sizing(&self, lack: String) -> String {
        match &self.sizing {
            Some(sizing) => format!(
                "{lack}. {} A --working-set smaller than {} may fit.",
                report::sizing::sentence(sizing, &self.spec.workload, &self.spec.drive),
                sizing.working_set
            ),
            None => lack,
        }
    }
}
