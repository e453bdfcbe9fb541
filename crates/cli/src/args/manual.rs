//! The arguments of the commands that describe the program: `completions`, `help` and `man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// Shell for which the completions are printed.
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct HelpArguments {
    /// A topic or a command; without it, the commands are listed.
    #[arg(value_name = "TOPIC|COMMAND")]
    pub words: Vec<String>,
}

/// A shell that completes the words of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU Bash.
    Bash,
    /// The fish shell.
    Fish,
    /// Z shell.
    Zsh,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// Print the page of this command [default: of postmark].
    ///
    /// 'postmark man study | man -l -' shows it like other pages.
    #[arg(value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Write the pages of all commands to this directory.
    ///
    /// They are postmark.1 and a page for each command. The directory is created if it is missing.
    #[arg(short, long, value_name = "DIR", conflicts_with = "words")]
    pub output: Option<PathBuf>,
    /// Overwrite existing pages.
    #[arg(long, requires = "output")]
    pub force: bool,
}
