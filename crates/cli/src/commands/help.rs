//! `postmark help`: screens about tasks, and the help of commands.

use campaign::similar::most_similar;

use crate::args::groups::of_width;
use crate::args::short::short;
use crate::args::topics::{TOPICS, Topic};
use crate::args::{self, HelpArguments};
use crate::commands::presets::is_preset;
use crate::ui::problem::{Problem, print, refuse};
use crate::ui::width;

/// Maximum number of suggestions for an unknown word.
const SUGGESTIONS_MAX: usize = 3;

/// Prints the screen of a topic, the help of a command, or the list of commands and topics.
///
/// # Errors
/// Returns an error if there is no such topic and no such command, or if the help cannot be
/// written.
pub fn help(arguments: &HelpArguments) -> Result<u8, Problem> {
    let words = &arguments.words;
    if let [word] = &words[..]
        && let Some(topic) = Topic::find(word)
    {
        return print(&topic.text()).map(|()| 0);
    }
    let all = args::command();
    let below = words
        .iter()
        .try_fold(&all, |command, word| command.find_subcommand(word));
    if below.is_none() {
        return unknown(words);
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

fn unknown(words: &[String]) -> Result<u8, Problem> {
    let commands = args::command_names();
    let known = TOPICS.iter().flat_map(|topic| {
        [topic.name]
            .into_iter()
            .chain(topic.aliases.iter().copied())
    });
    let known = known.chain(commands.split(", "));
    let first = words.first().map_or("", |word| word.as_str());
    let mut nearest = most_similar(first, known);
    nearest.truncate(SUGGESTIONS_MAX);
    // The topic of an alias is named, because the list of topics contains it.
    let nearest = nearest
        .into_iter()
        .map(|word| Topic::find(word).map_or(word, |topic| topic.name));
    let mut named: Vec<String> = Vec::new();
    for word in nearest {
        let command = format!("'postmark help {word}'");
        if !named.contains(&command) {
            named.push(command);
        }
    }
    let meant = match &named[..] {
        _ if is_preset(first) => format!(": 'postmark presets {first}' explains the preset"),
        [] => String::new(),
        named => format!(": did you mean {}?", named.join(" or ")),
    };
    refuse(format_args!(
        "'{}' is neither a topic nor a command{meant} (topics: {}; commands: {commands})",
        words.join(" "),
        Topic::names(),
    ))
}
