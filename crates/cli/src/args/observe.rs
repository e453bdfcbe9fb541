//! The arguments of `observe`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use document::Format;

use super::format;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: that of COMMAND; 128 plus the signal's number if a signal ended \
                  it; 127 if it
was not found; 126 if it cannot be executed; 2 if the target or the output cannot be used.

Example:
  postmark observe --target /mnt/disk -- git clone /srv/project /mnt/disk/project"
)]
pub struct ObserveArguments {
    /// Directory on the file system to observe [default: .].
    #[arg(short, long, value_name = "PATH")]
    pub target: Option<PathBuf>,
    /// Do not sync the file system after the command.
    #[arg(long)]
    pub no_sync: bool,
    /// Format of the report.
    #[arg(long, value_parser = format::one_of(format::ANSWER), default_value = "text")]
    pub format: Format,
    /// Write the report to this file; - is standard output.
    ///
    /// The default is standard error.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing output file.
    #[arg(long)]
    pub force: bool,
    /// The command and its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
