//! The options of `bench replays`.

use std::path::PathBuf;

use crate::realism::applications::COMMANDS;
use crate::realism::setup::SetupOptions;
use crate::realism::volume::FILE_SYSTEMS;

#[derive(Clone, Debug, clap::Args)]
pub struct ReplaysOptions {
    /// Commands to run [default: all].
    #[arg(long, value_delimiter = ',', value_parser = COMMANDS.map(|one| one.name))]
    pub commands: Vec<String>,
    /// File systems to measure; ratios are relative to ext4.
    #[arg(long, value_delimiter = ',', value_parser = FILE_SYSTEMS)]
    #[arg(default_values = ["ext4", "xfs"])]
    pub on: Vec<String>,
    /// Number of rounds, including those that are in the data file.
    #[arg(long, default_value_t = 5)]
    pub rounds: u32,
    #[command(flatten)]
    pub setup: SetupOptions,
    /// Directory for traces, learned workloads, rounds and the tables.
    #[arg(long, default_value = "target/replays")]
    pub results: PathBuf,
    /// Write some of the learned workloads to this directory, with a page about them.
    #[arg(long)]
    pub models: Option<PathBuf>,
    /// Print the tables of the stored results, and measure nothing.
    #[arg(long)]
    pub table: bool,
    /// End with code 1 if a requirement is missed.
    #[arg(long)]
    pub check: bool,
}

impl ReplaysOptions {
    pub fn rounds_file(&self) -> PathBuf {
        self.results.join("replays.csv")
    }

    /// The trace of a command. Its learned workload is beside it.
    pub fn trace_file(&self, command: &str) -> PathBuf {
        let data = self.setup.data_name(self.setup.data);
        self.results.join(format!("{command}-{data}.strace"))
    }
}
