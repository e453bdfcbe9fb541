//! What is said when what was said has no meaning.

use std::path::PathBuf;

use document::sanitize;
use spec::ConfigError;

use crate::args::WeightWithoutLocation;

/// What was said has no meaning.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no such preset.
    #[error("invalid value '{0}' for --preset: no preset has this name ({hint}'postmark presets' \
        lists them)", hint = meant(*.1))]
    NoPreset(String, Option<&'static str>),
    /// The configuration file cannot be read.
    #[error("cannot read the configuration file {}: {cause}", sanitize::path(.path))]
    CannotRead {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        cause: std::io::Error,
    },
    /// The configuration file is not as it should be. The text says line and column, and shows the
    /// line.
    #[error("invalid configuration file {}: {problem}", sanitize::path(.path))]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// The record of an earlier run cannot be read.
    #[error(
        "cannot read the run {run}: {cause} (use a run's number from 'postmark list', or a file \
         written by run --format json)"
    )]
    CannotReadRun {
        /// How it was called.
        run: String,
        /// What the system answered.
        cause: std::io::Error,
    },
    /// The record of an earlier run is none, or cannot be done again.
    #[error("cannot use the run {run}: {problem}")]
    Run {
        /// How it was called.
        run: String,
        /// What is wrong.
        problem: String,
    },
    /// A weight without a location.
    #[error(transparent)]
    Weight(#[from] WeightWithoutLocation),
    /// The run contradicts itself.
    #[error(transparent)]
    Contradictory(#[from] ConfigError),
    /// The same, with where its words may stand.
    #[error("{contradiction} (from {places})")]
    Said {
        /// What is contradicted.
        contradiction: ConfigError,
        /// Where the words come from.
        places: String,
    },
    /// Arguments that contradict one another, or the machine.
    #[error("{0}")]
    ConfigError(String),
    /// A plan has no classic layout.
    #[error("--dry-run cannot be used with --format classic or terse (use --format text or json)")]
    DryClassic,
    /// A path that TOML does not hold.
    #[error(
        "a configuration file cannot hold the path {0:?}, which is not UTF-8 (use --target or \
         --ack-log)"
    )]
    NoText(PathBuf),
    /// A file for the report, or for its lines, cannot be written.
    #[error("cannot write to {}: {cause} (use another file for {option})", sanitize::path(.path))]
    Output {
        /// The option.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system answered.
        cause: std::io::Error,
    },
}

/// The question whether another word was meant.
fn meant(known: Option<&str>) -> String {
    known.map_or_else(String::new, |known| format!("did you mean '{known}'? "))
}
