//! What is meant: from what was said, the complete workload with its locations and storage, and how it is done.
//!
//! Options hold over the configuration file (or the record of an earlier run, which is taken for one), the file over the preset,
//! the preset over the original's defaults.

mod classic;
mod config;
mod crew;
mod drive;
mod error;
mod how;
mod like;
mod mix;

use std::path::PathBuf;

use observe::{Host, Sources};
use record::read::LOCATIONS_MAX;
use record::{Sizing, harmless};
use runner::{Place, Refused, Request, RequestedLocation};
use workload::contents::{ContentKind, ContentSpec};
use workload::mix::Think;
use workload::presets::{self, Machine, Preset};
use workload::{Classic, Crew, InvalidWhole, Mix, Work, WorkerSeeds, Workload};

pub use config::{parse_config, to_config};
pub use error::MeaningError;
pub use how::How;
pub use like::options as options_like;

use crate::Problem;
use crate::earlier::{self, Called};
use crate::output::Input;
use crate::said::{Count, LocationSaid, Options, SizesSaid, StorageName, WorkArguments};
use crate::sizing;

/// What is meant.
#[derive(Clone, Debug)]
pub struct Meant {
    /// The complete workload.
    pub workload: Workload,
    /// Where the files go.
    pub locations: Vec<RequestedLocation>,
    /// How input and output are done.
    pub storage: StorageName,
    /// Whether that was said; else it is what goes with the work.
    pub storage_is_said: bool,
    /// How all else is done.
    pub how: How,
    /// The preset that it began with; of an earlier run's, where that one did.
    pub preset: Option<String>,
    /// How the number of files was chosen, where it was not said.
    pub sizing: Option<Sizing>,
    /// What was made of the words that might surprise.
    pub notes: Vec<String>,
    /// The files that they were read from.
    pub inputs: Vec<Input>,
}

/// The words, and where they come from.
struct Words<'a> {
    arguments: &'a WorkArguments,
    /// The configuration file, or the earlier run.
    file: Options,
    /// The shares of the earlier run's locations.
    weights: &'a [u32],
}

impl Words<'_> {
    /// Where the numbers of a workload come from, in words.
    fn places(&self) -> String {
        let mut places = "the options".to_owned();
        if let Some(path) = &self.arguments.config {
            places.push_str(&format!(" or {}", harmless::path(path)));
        }
        if let Some(run) = &self.arguments.like {
            places.push_str(&format!(" or the run {}", Called(run)));
        }
        if let Some(preset) = &self.arguments.preset {
            places.push_str(&format!(" or preset {preset}"));
        }
        places
    }

    fn wrong(&self, problem: InvalidWhole) -> MeaningError {
        MeaningError::Workload {
            problem,
            places: self.places(),
        }
    }
}

/// The meaning of what was said.
///
/// # Errors
/// What is wrong, where, and what would be right.
pub fn mean(arguments: &WorkArguments) -> Result<Meant, MeaningError> {
    let Some(run) = &arguments.like else {
        let file = arguments.config.as_deref().map(config::read).transpose()?;
        let mut meant = mean_over(arguments, file.unwrap_or_default(), &[])?;
        let config = arguments.config.as_deref();
        meant.inputs.extend(config.map(|path| Input::new("--config", path)));
        return Ok(meant);
    };
    let (options, like) = like::read(run, arguments.like_in.as_deref())?;
    let mut meant = mean_over(arguments, options, like.weights()).map_err(|error| match error {
        // The words of an option may stand in the record.
        MeaningError::Contradiction(text) => {
            MeaningError::Contradiction(format!("{text} (said in the options or the run {})", Called(run)))
        }
        other => other,
    })?;
    meant.notes.extend(like.differs(&meant.workload, &meant.how));
    meant.preset = like.preset();
    if earlier::name(run).is_none() {
        meant.inputs.push(Input::new("--like", run));
    }
    Ok(meant)
}

/// The meaning of arguments over a file's options; with the shares that an earlier run's locations had.
fn mean_over(arguments: &WorkArguments, file: Options, weights: &[u32]) -> Result<Meant, MeaningError> {
    let preset = match &arguments.preset {
        None => None,
        Some(name) => {
            let preset = presets::find(name, &machine());
            Some(preset.ok_or_else(|| MeaningError::NoPreset(name.clone()))?)
        }
    };
    let words = Words {
        arguments,
        file,
        weights,
    };
    let inputs = [&words.arguments.options, &words.file].map(histograms).concat();
    let mut options = options_of(&words)?;
    if drive::ends_otherwise(&options) && options.transactions.is_none() {
        options.transactions = Some(Count(Workload::ENDLESS));
    }
    how::refuse_of_null(&options)?;
    let locations = locations(&words)?;
    let mut notes = Vec::new();
    let crew = crew::mean(preset.as_ref().map(|preset| preset.workload.crew), &words)?;
    let mut work = work(&options, preset.as_ref(), crew, &words, &mut notes)?;
    let weights: Vec<u32> = locations.iter().map(|location| location.weight).collect();
    match &mut work {
        Work::Classic(classic) => classic.weights = weights,
        Work::Mix(mix) => mix.location_weights = weights,
    }
    let paced_by = match (&options.ladder, options.rate.map(|rate| rate.0)) {
        (Some(ladder), _) => Some(format!("the ladder {ladder}")),
        (None, Some(rate)) => Some(format!("the rate of {rate} a second")),
        (None, None) => None,
    };
    if let (Work::Mix(mix), Some(paced_by)) = (&mut work, paced_by) {
        if mix.think != Think::None {
            // Said together they contradict one another; a preset's gives way.
            notes.push(format!(
                "The preset's think time ({}) gives way to {paced_by}",
                mix.think
            ));
            mix.think = Think::None;
        }
    }
    let is_mix = matches!(work, Work::Mix(_));
    let otherwise = if is_mix { StorageName::Posix } else { StorageName::Stdio };
    let storage = options.storage.unwrap_or(otherwise);
    let of_preset = preset.as_ref().map(|preset| &preset.workload);
    let mut workload = Workload {
        contents: if is_mix {
            Some(contents_of_mix(&options, of_preset))
        } else {
            classic::contents(&options)
        },
        work,
        crew,
        worker_seeds: match options.worker_seeds {
            Some(seeds) => seeds.into(),
            None => of_preset.map_or(WorkerSeeds::Offset, |workload| workload.worker_seeds),
        },
    };
    workload.validate().map_err(|problem| words.wrong(problem))?;
    let how = How::mean(&options, preset.map(|preset| preset.how).unwrap_or_default(), storage)?;
    how.judge(&workload, storage)?;
    let mut sizing = None;
    if let Some(factor) = options.beyond_cache {
        let (sized, chosen) = sizing::choose(factor, &workload)?;
        (workload, sizing) = (sized, Some(chosen));
    }
    Ok(Meant {
        workload,
        locations: locations
            .into_iter()
            .map(|location| RequestedLocation { path: location.path })
            .collect(),
        storage,
        storage_is_said: options.storage.is_some(),
        how,
        preset: arguments.preset.clone(),
        sizing,
        notes,
        inputs,
    })
}

/// The files with histograms that options name, those that others hold over, too.
fn histograms(options: &Options) -> Vec<Input> {
    let sizes = [
        ("--size", &options.size),
        ("--append-size", &options.append_size),
        ("--range-size", &options.range_size),
    ];
    let file = |(option, said): (&'static str, &Option<SizesSaid>)| match said {
        Some(SizesSaid::HistogramIn(path)) => Some(Input::new(option, path)),
        _ => None,
    };
    sizes.into_iter().filter_map(file).collect()
}

/// What was said in options, and in the file where they say nothing.
fn options_of(words: &Words<'_>) -> Result<Options, MeaningError> {
    let (said, mut under) = (words.arguments.options.clone(), words.file.clone());
    for options in [&said, &under] {
        if let (Some(factor), Some(files)) = (options.beyond_cache, options.files) {
            return error::refuse(format!(
                "--beyond-cache {factor} and --files {}: one chooses what the other says: leave one out",
                files.0
            ));
        }
    }
    // Either holds over the other in the file.
    if said.beyond_cache.is_some() {
        under.files = None;
    }
    if said.files.is_some() {
        under.beyond_cache = None;
    }
    let options = said.over(under);
    if let (Some(factor), Some(true)) = (options.beyond_cache, options.reuse) {
        return error::refuse(format!(
            "--beyond-cache {factor} and --reuse: the pool of an earlier run is as large as it is: leave one out"
        ));
    }
    Ok(options)
}

/// Where the files go, as said; the working directory where nothing was.
fn locations(words: &Words<'_>) -> Result<Vec<LocationSaid>, MeaningError> {
    let mut locations = words.arguments.locations.clone()?;
    if locations.is_empty() {
        locations.clone_from(&words.file.at);
    }
    if locations.len() > LOCATIONS_MAX {
        return error::refuse(format!(
            "--at: {} locations are more than {LOCATIONS_MAX}: give fewer",
            locations.len()
        ));
    }
    if locations.is_empty() {
        locations.push(LocationSaid {
            path: PathBuf::new(),
            weight: 1,
        });
    }
    // Shares are a part of the work, places are not.
    if words.arguments.weight.is_empty() && locations.len() == words.weights.len() {
        for (location, weight) in locations.iter_mut().zip(words.weights) {
            location.weight = *weight;
        }
    }
    Ok(locations)
}

/// The work: classic, a mix, or, on a shared pool, the classic pairs as a mix.
fn work(
    options: &Options,
    preset: Option<&Preset>,
    crew: Crew,
    words: &Words<'_>,
    notes: &mut Vec<String>,
) -> Result<Work, MeaningError> {
    let base = preset.map(|preset| &preset.workload.work);
    if let Some(Work::Mix(mix)) = base {
        mix::refuse_classic_options(options, true)?;
        let mut mix = mix.clone();
        mix::apply(options, &mut mix, true)?;
        return Ok(Work::Mix(mix));
    }
    let mut classic = match base {
        Some(Work::Classic(classic)) => classic.clone(),
        _ => Classic::default(),
    };
    if options.mix.is_some() {
        mix::refuse_classic_options(options, true)?;
        let mut mix = base.map_or_else(Mix::default, |_| mix::of_classic(&classic));
        mix::apply(options, &mut mix, false)?;
        return Ok(Work::Mix(mix));
    }
    let biases = |classic: &mut Classic| classic::apply_biases(options, classic).map_err(|wrong| words.wrong(wrong));
    if crew.is_shared() {
        mix::refuse_classic_options(options, false)?;
        biases(&mut classic)?;
        let mut mix = mix::of_classic(&classic);
        mix::apply(options, &mut mix, false)?;
        notes.push(format!(
            "The pool is shared, so the classic pairs became the mix {}: a transaction is one operation, and no \
             edition's generator draws them",
            mix.weights
        ));
        return Ok(Work::Mix(mix));
    }
    classic::refuse_mix_options(options)?;
    classic::apply(options, &mut classic)?;
    biases(&mut classic)?;
    Ok(Work::Classic(classic))
}

fn contents_of_mix(options: &Options, preset: Option<&Workload>) -> ContentSpec {
    let mut spec = preset.and_then(|workload| workload.contents).unwrap_or(ContentSpec {
        kind: ContentKind::Incompressible,
        dedup: 1.0,
    });
    set(options.contents, &mut spec.kind);
    set(options.dedup, &mut spec.dedup);
    spec
}

/// The machine that presets are sized for: this one, as far as it is known.
pub fn machine() -> Machine {
    let host = Host::read(&Sources::default());
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

fn set<T>(value: Option<T>, field: &mut T) {
    if let Some(value) = value {
        *field = value;
    }
}

impl Meant {
    /// Where the files of a run go.
    pub fn place(&self) -> Place {
        match self.storage {
            StorageName::Null => Place::Nowhere,
            StorageName::Stdio | StorageName::Raw | StorageName::Posix => Place::OwnDirectory,
        }
    }

    /// A refusal in words for whoever has said nothing of a storage.
    pub fn explain(&self, refused: Refused) -> Problem {
        match refused {
            Refused::Unsupported(lack) if !self.storage_is_said => Problem::Lacking {
                lack,
                default: self.storage.name(),
            },
            Refused::NoRoom(lack) => Refused::NoRoom(self.with_sizing(lack)).into(),
            Refused::NoMemory(lack) => Refused::NoMemory(self.with_sizing(lack)).into(),
            other => other.into(),
        }
    }

    /// What is lacking, with the number of files that was chosen, where one was.
    fn with_sizing(&self, lack: String) -> String {
        match &self.sizing {
            Some(sizing) => format!(
                "{lack}. {} Give a smaller --beyond-cache than {}, too",
                sizing.sentence, sizing.beyond_cache
            ),
            None => lack,
        }
    }

    /// The run that is meant.
    pub fn request(&self, said: Vec<String>) -> Request {
        let how = self.how.clone();
        Request {
            said,
            drive: how.drive,
            durability: how.durability,
            direct: how.direct,
            cache: how.cache,
            settle: how.settle,
            check: how.check,
            verify: how.verify,
            on_error: how.on_error,
            stuck_after: how.stuck_after,
            latencies: how.latencies,
            steps: how.steps,
            slices: how.slices,
            own_cost: how.own_cost,
            pin: how.pin,
            keeping: how.keeping,
            journal: how.journal,
            ..Request::classic(self.workload.clone(), self.locations.clone(), self.place())
        }
    }
}
