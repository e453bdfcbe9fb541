//! The arguments of the commands that describe the program: `completions` and `man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// Shell for which the completions are printed.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// A shell that completes the words of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU Bash.
    Bash,
    /// fish.
    Fish,
    /// Z shell.
    Zsh,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// Write postmark.1 and a page for each command into this directory, which is created if it is
    /// missing [default: print postmark.1].
    pub directory: Option<PathBuf>,
    /// Overwrite existing pages.
    #[arg(long, requires = "directory")]
    pub force: bool,
}
