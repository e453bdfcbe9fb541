//! The arguments of `learn`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use document::Format;
use spec::Time;

use super::format;

/// How names of a trace are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceNames {
    /// As numbers.
    Hashed,
    /// As in the trace.
    Plain,
}

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
    /// Learn only from files of the trace below DIR.
    ///
    /// The default is the deepest directory that contains 95 % of all changes.
    #[arg(long, value_name = "DIR", conflicts_with = "directory")]
    pub below: Option<PathBuf>,
    /// CPU time of the command without strace.
    ///
    /// The time of computing is adapted to it, because strace also slows what happens between
    /// calls. Give the sum of user and sys that time(1) shows without strace.
    #[arg(long, value_name = "TIME", conflicts_with = "directory")]
    pub cpu_time: Option<Time>,
    /// How names of a trace are shown.
    ///
    /// With hashed, the report contains no names of files: they are replaced by numbers that differ
    /// between reports.
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value = "hashed",
        conflicts_with = "directory"
    )]
    pub names: TraceNames,
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
