//! What was said to `history`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use history::Format;

/// The arguments of `history`.
#[derive(Debug, Args)]
pub struct HistoryArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: HistoryCommand,
}

/// What to do with published results.
#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// List the sources and their tables, with the names that `show` takes.
    List,
    /// Show a source or a table, or all of them: every cell, which edition made each row, printed improvements computed anew.
    Show {
        /// The name of a source or a table [default: all].
        name: Option<String>,
        /// How it looks: text, csv, json or markdown.
        #[arg(long, default_value_t)]
        format: Format,
    },
    /// Put submissions of others into one table for each configuration, beside what was published of it.
    Submissions {
        /// The submissions.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// How it looks: text, csv, json or markdown.
        #[arg(long, default_value_t)]
        format: Format,
    },
    /// Set a run beside the published rows of the same configuration.
    Beside {
        /// The run's record in JSON, as `run --format json` writes it.
        #[arg(value_name = "FILE")]
        record: PathBuf,
        /// How it looks: text, csv, json or markdown.
        #[arg(long, default_value_t)]
        format: Format,
    },
}
