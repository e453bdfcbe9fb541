//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use super::ArchiveArgument;

/// The arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Runs: their numbers, at least four digits of their identities, the word last, or files with records.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Write the HTML file here ('-': standard output).
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Overwrite the file of --output if it exists.
    #[arg(long)]
    pub force: bool,
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveArgument,
}
