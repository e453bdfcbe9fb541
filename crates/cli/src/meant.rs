//! What is meant: from what was said, the complete workload with its locations and storage.
//!
//! Options hold over the configuration file, the file over the preset, the preset over the original's defaults.

use std::path::{Path, PathBuf};

use runner::{Place, RequestedLocation};
use workload::{Bias, Classic, InvalidWorkload, presets};

use crate::said::{LocationSaid, Options, StorageName, WeightWithoutLocation, WorkArguments};

/// What is meant.
#[derive(Clone, Debug)]
pub struct Meant {
    /// The complete workload.
    pub workload: Classic,
    /// Where the files go.
    pub locations: Vec<RequestedLocation>,
    /// How input and output are done.
    pub storage: StorageName,
}

/// What was said has no meaning.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeaningError {
    /// There is no such preset.
    #[error("there is no preset '{0}': 'postmark presets' lists them")]
    NoPreset(String),
    /// The configuration file cannot be read.
    #[error("cannot read the configuration file {}: {cause}", .path.display())]
    CannotRead {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        cause: std::io::Error,
    },
    /// The configuration file is not as it should be. The text says line and column.
    #[error("in the configuration file {}: {problem}", .path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// A weight without a location.
    #[error(transparent)]
    Weight(#[from] WeightWithoutLocation),
    /// The numbers make no workload.
    #[error("{problem} (said in {places})")]
    Workload {
        /// What is wrong.
        problem: InvalidWorkload,
        /// Where the numbers come from.
        places: String,
    },
    /// More subdirectories than can be numbered.
    #[error("{0} subdirectories are too many: give at most 4294967295")]
    Subdirectories(u64),
    /// A plan has no classic layout.
    #[error("--dry-run has no classic or terse format: give --format text or json")]
    DryClassic,
    /// A path that TOML does not hold.
    #[error("the path {0:?} is no text, and a configuration file holds nothing else: give it with --at")]
    NoText(PathBuf),
    /// A file for the report cannot be written.
    #[error("cannot write to {}: {cause}: give another --output", .path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        cause: std::io::Error,
    },
}

/// The meaning of what was said.
///
/// # Errors
/// What is wrong, where, and what would be right.
pub fn mean(arguments: &WorkArguments) -> Result<Meant, MeaningError> {
    let mut workload = match &arguments.preset {
        None => Classic::default(),
        Some(name) => {
            presets::find(name)
                .ok_or_else(|| MeaningError::NoPreset(name.clone()))?
                .workload
        }
    };
    let from_file = arguments
        .config
        .as_deref()
        .map(read_config)
        .transpose()?
        .unwrap_or_default();
    let mut locations = arguments.locations.clone()?;
    if locations.is_empty() {
        locations.clone_from(&from_file.at);
    }
    if locations.is_empty() {
        locations.push(LocationSaid {
            path: PathBuf::new(),
            weight: 1,
        });
    }
    workload.weights = locations.iter().map(|location| location.weight).collect();
    let wrong = |problem| MeaningError::Workload {
        problem,
        places: places(arguments),
    };
    for options in [&from_file, &arguments.options] {
        if let Some(count) = options.subdirs.filter(|count| u32::try_from(count.0).is_err()) {
            return Err(MeaningError::Subdirectories(count.0));
        }
        apply(options, &mut workload).map_err(wrong)?;
    }
    workload.validate().map_err(wrong)?;
    Ok(Meant {
        workload,
        locations: locations
            .into_iter()
            .map(|location| RequestedLocation { path: location.path })
            .collect(),
        storage: arguments.options.storage.or(from_file.storage).unwrap_or_default(),
    })
}

impl Meant {
    /// Where the files of a run go.
    pub fn place(&self) -> Place {
        match self.storage {
            StorageName::Null => Place::Nowhere,
            StorageName::Stdio | StorageName::Raw | StorageName::Posix => Place::OwnDirectory,
        }
    }
}

fn read_config(path: &Path) -> Result<Options, MeaningError> {
    let text = std::fs::read_to_string(path).map_err(|cause| MeaningError::CannotRead {
        path: path.to_owned(),
        cause,
    })?;
    toml::from_str(&text).map_err(|error| MeaningError::Config {
        path: path.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })
}

/// Where the numbers of a workload come from, in words.
fn places(arguments: &WorkArguments) -> String {
    let mut places = "the options".to_owned();
    if let Some(path) = &arguments.config {
        places.push_str(&format!(" or {}", path.display()));
    }
    if let Some(preset) = &arguments.preset {
        places.push_str(&format!(" or preset {preset}"));
    }
    places
}

fn apply(options: &Options, workload: &mut Classic) -> Result<(), InvalidWorkload> {
    fn set<T>(value: Option<T>, field: &mut T) {
        if let Some(value) = value {
            *field = value;
        }
    }
    let bias = |value: i64| Bias::new(value).ok_or(InvalidWorkload::Bias(value));
    set(options.edition, &mut workload.edition);
    set(options.files.map(|count| count.0), &mut workload.files);
    set(options.transactions.map(|count| count.0), &mut workload.transactions);
    set(options.size.map(|sizes| sizes.0.0), &mut workload.size_low_bytes);
    set(options.size.map(|sizes| sizes.0.1), &mut workload.size_high_bytes);
    set(options.read_block.map(|bytes| bytes.0), &mut workload.read_block_bytes);
    set(
        options.write_block.map(|bytes| bytes.0),
        &mut workload.write_block_bytes,
    );
    set(
        options.subdirs.and_then(|count| u32::try_from(count.0).ok()),
        &mut workload.subdirectories,
    );
    set(options.bias_read.map(bias).transpose()?, &mut workload.bias_read);
    set(options.bias_create.map(bias).transpose()?, &mut workload.bias_create);
    set(options.seed, &mut workload.seed);
    Ok(())
}

/// What is meant as a configuration file that means the same.
///
/// # Errors
/// Where a path is no text.
pub fn to_config(meant: &Meant) -> Result<String, MeaningError> {
    let workload = &meant.workload;
    let mut text = format!(
        "edition = \"{}\"\nfiles = {}\ntransactions = {}\nsize = \"{}..{}\"\nread-block = {}\nwrite-block = {}\n\
         subdirs = {}\nbias-read = {}\nbias-create = {}\nseed = {}\nstorage = \"{}\"\n",
        workload.edition,
        workload.files,
        workload.transactions,
        workload.size_low_bytes,
        workload.size_high_bytes,
        workload.read_block_bytes,
        workload.write_block_bytes,
        workload.subdirectories,
        i64::from(workload.bias_read),
        i64::from(workload.bias_create),
        workload.seed,
        meant.storage.name(),
    );
    for (location, weight) in meant.locations.iter().zip(&workload.weights) {
        if !location.path.as_os_str().is_empty() {
            let path = location
                .path
                .to_str()
                .ok_or_else(|| MeaningError::NoText(location.path.clone()))?;
            let path = toml::Value::String(path.to_owned());
            text.push_str(&format!("\n[[at]]\npath = {path}\nweight = {weight}\n"));
        }
    }
    Ok(text)
}
