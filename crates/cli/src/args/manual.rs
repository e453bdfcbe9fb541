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
    /// fish.
    Fish,
    /// Z shell.
    Zsh,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// Write the pages of all commands into this directory.
    ///
    /// They are postmark.1 and a page for each command. The directory is created if it is missing.
    /// Without it, postmark.1 is printed.
    pub directory: Option<PathBuf>,
    /// Overwrite existing pages.
    #[arg(long, requires = "directory")]
    pub force: bool,
}
