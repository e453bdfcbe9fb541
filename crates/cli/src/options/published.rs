//! What was said to `published`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use published::PublishedFormat;

use super::archive::ArchiveArgument;

/// The arguments of `published`.
#[derive(Debug, Args)]
pub struct PublishedArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: PublishedCommand,
}

/// What to do with published results.
#[derive(Debug, Subcommand)]
pub enum PublishedCommand {
    /// List the sources and their tables, with the names that `show` takes.
    List,
    /// Show a source or a table, or all of them: every cell, which edition made each row, printed improvements computed anew.
    Show {
        /// The name of a source or a table [default: all].
        name: Option<String>,
        /// How it looks: text, csv, json or markdown.
        #[arg(long, default_value_t)]
        format: PublishedFormat,
    },
    /// Put submissions into one table for each configuration, beside what was published of it.
    Submissions {
        /// Files with submissions, one or several in each; `-` is standard input [default: those that were imported into the
        /// archive].
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Remove the submission with this number (S3 has number 3) from the archive, and show nothing.
        #[arg(long, value_name = "NUMBER", conflicts_with = "files", value_parser = super::whole)]
        delete: Option<u64>,
        /// Which archive.
        #[command(flatten)]
        archive: ArchiveArgument,
        /// How it looks: text, csv, json or markdown.
        #[arg(long, default_value_t)]
        format: PublishedFormat,
    },
    /// Set a run beside the published rows of the same configuration.
    Beside {
        /// The run: its number, at least four digits of its identity, last, or a file with its record in JSON.
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// Which archive.
        #[command(flatten)]
        archive: ArchiveArgument,
        /// How it looks: text, csv, json or markdown.
        #[arg(long, default_value_t)]
        format: PublishedFormat,
    },
}
