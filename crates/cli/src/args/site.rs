//! The arguments of `site`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use document::Format;

use super::format;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "The site replaces the directory of -o: an earlier site, an empty directory, or
none. A directory with other files is refused.

Exit status: 0 written; 1 it cannot be written; 2 refused."
)]
pub struct SiteArguments {
    #[command(subcommand)]
    pub command: Option<SiteCommand>,
    /// Directory with records, archives and study files.
    #[arg(required = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Write the site to this directory.
    #[arg(short, long, value_name = "OUT", default_value = "site")]
    pub output: PathBuf,
    /// Title of the site.
    #[arg(long, value_name = "TEXT", default_value = "PostMark results")]
    pub title: String,
    /// Address at which the site is published.
    ///
    /// The feed needs it for its links: without it they are relative.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// What to do instead of building a site.
#[derive(Debug, Subcommand)]
pub enum SiteCommand {
    /// Check submissions: directories with submission.toml and records.
    #[command(
        after_help = "Exit status: 0 all submissions keep the rules; 1 one breaks a rule;
2 a file cannot be read, or there is no submission."
    )]
    Check {
        /// Directory of one or several submissions.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Format: text or json. JSON has one line for each submission.
        #[arg(long, value_parser = format::one_of(format::ANSWER), default_value = "text")]
        format: Format,
    },
}
