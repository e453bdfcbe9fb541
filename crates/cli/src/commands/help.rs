//! `postmark help`: screens about tasks, and the help of commands.

use crate::args::groups::of_width;
use crate::args::short::short;
use crate::args::{self, HelpArguments};
use crate::ui::problem::{Problem, print, refuse};
use crate::ui::width;

/// A help screen about a task. `text` explains the task and gives examples.
pub struct Topic {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! topics {
    ($($name:literal),+) => {
        &[$(Topic { name: $name, text: include_str!(concat!("../../help/", $name, ".txt")) }),+]
    };
}

pub const TOPICS: &[Topic] = topics![
    "sweep",
    "nfs",
    "s3",
    "durability",
    "cache",
    "ci",
    "hosts",
    "study",
    "classic"
];

/// Prints the screen of a topic, the help of a command, or the list of commands and topics.
///
/// # Errors
/// Returns an error if there is no such topic and no such command, or if the help cannot be
/// written.
pub fn help(arguments: &HelpArguments) -> Result<u8, Problem> {
    let words = &arguments.words;
    if let [word] = &words[..] {
        if let Some(topic) = TOPICS.iter().find(|topic| topic.name == word) {
            return print(topic.text).map(|()| 0);
        }
    }
    let all = args::command();
    let below = words
        .iter()
        .try_fold(&all, |command, word| command.find_subcommand(word));
    if below.is_none() {
        return unknown(&words.join(" "));
    }
    // clap prints the help, so that it has the colours and the width of --help.
    let (command, option) = match words.is_empty() {
        true => (short(args::command()), "-h"),
        false => (args::command(), "--help"),
    };
    let words = ["postmark"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let parsed = of_width(command, width::of_screens()).try_get_matches_from(words.chain([option]));
    let printed = parsed.err().map_or(Ok(()), |help| help.print());
    printed.map_err(|cause| Problem::undelivered("standard output", &cause))?;
    Ok(0)
}

fn unknown(word: &str) -> Result<u8, Problem> {
    let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    let command = args::command();
    let commands: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    refuse(format_args!(
        "'{word}' is neither a topic nor a command (topics: {}; commands: {})",
        topics.join(", "),
        commands.join(", ")
    ))
}
