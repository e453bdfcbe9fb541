//! The groups of commands and of options in the help.

use clap::builder::{Resettable, StyledStr};
use clap::{Arg, ArgAction, Command};

/// The commands by task, in the order of the help.
pub const COMMANDS: [(&str, &[&str]); 6] = [
    (
        "Measure",
        &[
            "run", "plan", "study", "crash", "observe", "learn", "replay", "presets", "engines",
        ],
    ),
    ("Compare", &["compare", "gate", "history"]),
    (
        "Results",
        &[
            "list", "show", "report", "tag", "note", "delete", "export", "import", "check",
            "schema",
        ],
    ),
    ("Published", &["published", "site"]),
    ("Maintenance", &["clean", "verify-log", "collect"]),
    ("Shell", &["completions", "man", "help"]),
];

/// The commands below `published`.
const PUBLISHED: [&str; 4] = ["list", "show", "submissions", "beside"];

/// The headings of options, in the order of the help.
pub const HEADINGS: [&str; 13] = [
    "What to run",
    "Load",
    "Workload",
    "Mix",
    "Concurrency",
    "Engine and durability",
    "Cache",
    "Checks and instruments",
    "Output",
    "Archive",
    "Many hosts",
    "Safety",
    "Expert",
];

/// The options that are not in the option table (crate `spec`), by their headings.
const OPTIONS: [(&str, &[&str]); 9] = [
    (
        "What to run",
        &[
            "preset",
            "target",
            "weight",
            "config",
            "like",
            "axis",
            "name",
            "side",
            "block",
            "resume",
            "age",
            "trace",
            "below",
            "cpu-time",
            "names",
            "cross-mounts",
            "fullness",
            "crash",
            "kill-server",
            "restore",
            "dry-run",
        ],
    ),
    (
        "Load",
        &[
            "repeat",
            "blocks",
            "rounds",
            "crash-within",
            "survivors",
            "aim",
            "restore-timeout",
            "time-limit",
            "until",
        ],
    ),
    ("Engine and durability", &["ack-log", "no-sync"]),
    (
        "Checks and instruments",
        &[
            "metric",
            "baseline",
            "compare",
            "require",
            "against",
            "confirm",
            "allow-doubtful",
            "unlike",
            "twin",
            "no-twin",
            "quiet-time",
        ],
    ),
    (
        "Output",
        &[
            "format",
            "full",
            "output",
            "title",
            "url",
            "live",
            "report",
            "figures",
            "layout",
            "with-published",
            "force",
            "strict",
            "quiet",
            "verbose",
            "help",
        ],
    ),
    (
        "Archive",
        &[
            "archive",
            "tag",
            "note",
            "remove",
            "delete",
            "submission",
            "by",
            "system",
        ],
    ),
    ("Many hosts", &["parts", "monitor-host"]),
    ("Safety", &["no-space-check", "allow-unsafe-target"]),
    ("Expert", &["order-seed"]),
];

/// The options of `list`, `export` and `history` that choose archived runs.
const FILTERS: [&str; 8] = [
    "since",
    "until",
    "host",
    "file-system",
    "preset",
    "tag",
    "verdict",
    "limit",
];

/// Groups all commands, and the options of each.
pub fn grouped(command: Command) -> Command {
    let command = command
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(help_option());
    let names = COMMANDS.iter().flat_map(|(_, names)| *names);
    names.fold(command, |command, name| match *name {
        "published" => command.mut_subcommand("published", |published| {
            let published = published.arg(help_option().help_heading("Output"));
            PUBLISHED.iter().fold(published, |published, name| {
                published.mut_subcommand(name, |command| with_headings(name, &command))
            })
        }),
        "site" => command.mut_subcommand("site", |site| {
            let check = site.find_subcommand("check");
            let check = check.map(|check| with_headings("check", check));
            with_headings("site", &site)
                .subcommands(check)
                .args_conflicts_with_subcommands(true)
                .subcommand_negates_reqs(true)
        }),
        name => command.mut_subcommand(name, |command| with_headings(name, &command)),
    })
}

/// Wraps all help to a width, and lists the commands of the program by their tasks.
pub fn of_width(command: Command, width: usize) -> Command {
    let tasks = tasks(&command, width);
    command.term_width(width).help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{tasks}Classic \
         prompt:\n{{positionals}}\n{{options}}{{after-help}}"
    ))
}

/// The commands by task, with their descriptions.
fn tasks(command: &Command, width: usize) -> String {
    let mut text = String::new();
    for (task, names) in COMMANDS {
        text.push_str(&format!("{task}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let mut line = format!("  {name:<11} ");
            for word in about.split_whitespace() {
                if line.len() + 1 + word.len() > width {
                    text.push_str(&line);
                    line = format!("\n{:14}", "");
                }
                line = format!("{line} {word}");
            }
            text.push_str(&line);
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

fn help_option() -> Arg {
    Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help("Print a line for each option; --help explains them")
}

/// Returns the same command, with its options in the order of their headings. clap prints headings
/// in the order in which they first occur.
fn with_headings(name: &'static str, command: &Command) -> Command {
    let options = command.get_arguments().cloned().chain([help_option()]);
    let mut placed: Vec<(Place, Arg)> = options
        .enumerate()
        .map(|(index, option)| {
            let place = Place::of(name, command, (index, &option));
            (
                place,
                place
                    .heading()
                    .map_or(option.clone(), |heading| option.help_heading(heading)),
            )
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    Command::new(name)
        .about(text(command.get_about()))
        .long_about(text(command.get_long_about()))
        .before_help(text(command.get_before_help()))
        .before_long_help(text(command.get_before_long_help()))
        .after_help(text(command.get_after_help()))
        .after_long_help(text(command.get_after_long_help()))
        .args(placed.into_iter().map(|(_, option)| option))
        .groups(command.get_groups().cloned())
}

fn text(text: Option<&StyledStr>) -> Resettable<StyledStr> {
    text.cloned().into()
}

/// Sort key of an option: its position in the help.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// Index of the heading; `None` for an argument without a name, which precedes all options.
    heading: Option<usize>,
    /// Position in [`OPTIONS`]; 0 for an option of the option table (crate `spec`).
    below: usize,
    /// Position among all options of the command. A form `--no-OPTION` has the position of
    /// `--OPTION`.
    index: usize,
    is_negative: bool,
}

impl Place {
    fn of(command_name: &str, command: &Command, (index, option): (usize, &Arg)) -> Self {
        let Some(name) = option.get_long() else {
            return Self {
                heading: None,
                below: 0,
                index,
                is_negative: false,
            };
        };
        let is_filter =
            ["list", "export", "history"].contains(&command_name) && FILTERS.contains(&name);
        let mut known = OPTIONS.iter();
        let of_command = known.find(|(_, names)| !is_filter && names.contains(&name));
        let (heading, below) = match (option.get_help_heading(), of_command) {
            (Some(of_table), _) => (of_table, 0),
            (None, Some((heading, names))) => {
                let below = names.iter().position(|known| *known == name);
                (*heading, below.map_or(0, |below| below + 1))
            }
            (None, None) if is_filter => ("Archive", 0),
            (None, None) => ("", 0),
        };
        let positive = positive(name, command);
        Self {
            heading: HEADINGS.iter().position(|known| *known == heading),
            below,
            index: positive.unwrap_or(index),
            is_negative: positive.is_some(),
        }
    }

    fn heading(self) -> Option<&'static str> {
        self.heading.map(|index| HEADINGS[index])
    }
}

/// Returns the position of `--OPTION` in the command, for the name `no-OPTION`.
pub fn positive(name: &str, command: &Command) -> Option<usize> {
    let positive = name.strip_prefix("no-")?;
    command
        .get_arguments()
        .position(|option| option.get_long() == Some(positive))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    /// All commands with options, without the program itself.
    fn commands() -> Vec<Command> {
        let root = args::command();
        let below = |command: &Command| command.get_subcommands().cloned().collect::<Vec<_>>();
        let all = below(&root);
        let deeper = all.iter().flat_map(below).collect::<Vec<_>>();
        [all, deeper].concat()
    }

    #[test]
    fn each_command_has_one_task() {
        let root = args::command();
        let mut known: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = COMMANDS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn each_option_has_a_heading_and_they_are_in_order() {
        for command in commands() {
            let mut last = 0;
            for option in command
                .get_arguments()
                .filter(|option| !option.is_positional())
            {
                let (name, of) = (option.get_long().unwrap_or_default(), command.get_name());
                if of == "published" {
                    continue;
                }
                let heading = option.get_help_heading();
                let rank = HEADINGS.iter().position(|known| Some(*known) == heading);
                let Some(rank) = rank else {
                    panic!("{of}: --{name} has no heading (add it to a list in groups.rs)");
                };
                assert!(rank >= last, "{of}: --{name} is after a later heading");
                last = rank;
            }
        }
    }
}
