//! The arguments of `collect`.

use std::path::PathBuf;

use clap::Args;
use document::Format;

use super::{RemarkArguments, format};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 the parts of all ranks are complete; 1 a part is missing,
unreadable or incomplete; 2 refused."
)]
pub struct CollectArguments {
    /// Directories with the parts of one run.
    ///
    /// They have the files rank-*.jsonl: copy those of all hosts to this machine.
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Format of the report.
    #[arg(long, value_parser = format::one_of(&format::REPORT), default_value = "text")]
    pub format: Format,
    /// Print the complete report, not only one screen.
    ///
    /// The option applies to text and Markdown.
    #[arg(long)]
    pub full: bool,
    /// Write the report to this file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file of --output if it exists.
    #[arg(long)]
    pub force: bool,
    /// Archive that keeps the record; none for no archive.
    ///
    /// The default is $POSTMARK_ARCHIVE, or postmark/archive.db in the user's data directory.
    #[arg(long, value_name = "FILE|none")]
    pub archive: Option<PathBuf>,
    #[command(flatten)]
    pub remarks: RemarkArguments,
}
