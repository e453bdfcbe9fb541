//! The arguments of `published`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use document::Format;

use super::archive::ArchiveArgument;
use super::format;

#[derive(Debug, Args)]
pub struct PublishedArguments {
    #[command(subcommand)]
    pub command: PublishedCommand,
}

/// What to do with published results.
#[derive(Debug, Subcommand)]
pub enum PublishedCommand {
    /// List the sources and their tables, with the names for 'published show'.
    List,
    /// Show a source or a table: every cell, the edition behind each row, and printed improvements
    /// recalculated.
    Show {
        /// Name of a source or a table [default: all].
        name: Option<String>,
        /// Format: text, csv, json or markdown.
        #[arg(long, value_parser = format::published, default_value = "text")]
        format: Format,
    },
    /// Compare submissions with published results, one table for each configuration.
    Submissions {
        /// Files with submissions; - is standard input.
        ///
        /// Without a file: the submissions in the archive.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Delete the submission with this number.
        ///
        /// It is deleted from the archive; S3 in the tables is number 3.
        #[arg(long, value_name = "NUMBER", conflicts_with = "files", value_parser = super::whole)]
        delete: Option<u64>,
        #[command(flatten)]
        archive: ArchiveArgument,
        /// Format: text, csv, json or markdown.
        #[arg(long, value_parser = format::published, default_value = "text")]
        format: Format,
    },
    /// Compare a run with the published results of the same configuration.
    Beside {
        /// Number, identity (at least 4 digits), last, or file.
        ///
        /// The file has the run's record in JSON.
        #[arg(value_name = "RUN")]
        run: PathBuf,
        #[command(flatten)]
        archive: ArchiveArgument,
        /// Format: text, csv, json or markdown.
        #[arg(long, value_parser = format::published, default_value = "text")]
        format: Format,
    },
}
