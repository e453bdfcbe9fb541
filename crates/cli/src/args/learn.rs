//! The arguments of `learn`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use document::Format;

use super::format;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("source").required(true).args(["directory", "trace"]),
    after_help = "The command reads the metadata of a tree and a sample of its contents. It \
                  writes nothing to the tree, and follows no links.

Examples:
  postmark learn /usr/lib/python3 -o workload.toml
  postmark run --config workload.toml --target /mnt/disk

Exit status: 0 learned; 1 an output could not be written; 2 refused."
)]
pub struct LearnArguments {
    /// Learn from this tree of files.
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Learn from a trace of operations.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Include file systems that are mounted in the tree.
    #[arg(long, conflicts_with = "trace")]
    pub cross_mounts: bool,
    /// Format of the fidelity report.
    ///
    /// The report compares the workload with what was observed.
    #[arg(long, value_parser = format::one_of(format::LEARN), default_value = "text")]
    pub format: Format,
    /// Write the workload to this file.
    ///
    /// 'postmark run --config' reads it. With -, the workload is written to standard output, and
    /// the report to standard error.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the fidelity report as an HTML page to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Overwrite existing output files.
    #[arg(long)]
    pub force: bool,
}
