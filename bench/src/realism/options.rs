//! The options of `bench realism`.

use std::path::PathBuf;

use super::applications::APPLICATIONS;
use super::setup::SetupOptions;
use super::volume::FILE_SYSTEMS;

#[derive(Clone, Debug, clap::Args)]
pub struct RealismOptions {
    /// Applications to run [default: all].
    #[arg(long, value_delimiter = ',', value_parser = APPLICATIONS.map(|one| one.name))]
    pub apps: Vec<String>,
    /// File systems to measure.
    #[arg(long, value_delimiter = ',', value_parser = FILE_SYSTEMS)]
    #[arg(default_values = FILE_SYSTEMS)]
    pub on: Vec<String>,
    /// Number of rounds, including those that are in the data file.
    #[arg(long, default_value_t = 10)]
    pub rounds: u32,
    /// Duration of each run of a preset.
    #[arg(long = "for", default_value = "1500ms")]
    pub run_for: String,
    #[command(flatten)]
    pub setup: SetupOptions,
    /// Directory for rounds, traces and the table.
    #[arg(long, default_value = "target/realism")]
    pub results: PathBuf,
    /// Do not trace applications and presets. The table lacks mixes and sizes that were not traced
    /// before.
    #[arg(long)]
    pub no_trace: bool,
    /// Print the table of the stored results, and measure nothing.
    #[arg(long)]
    pub table: bool,
    /// End with code 1 if a requirement is missed.
    #[arg(long)]
    pub check: bool,
}

impl RealismOptions {
    pub fn rounds_file(&self) -> PathBuf {
        self.results.join("rounds.csv")
    }

    pub fn traces_file(&self) -> PathBuf {
        self.results.join("traces.json")
    }
}
