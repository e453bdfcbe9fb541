//! The short help: one line for each option.

use clap::{Arg, Command};

use super::groups::positive;

/// Maximum length of an option's description in the short help, in characters. The line with the
/// option then fits a terminal of 80 columns.
const SENTENCE_MAX: usize = 51;

/// Returns the command and its subcommands with short help: each option has one line, the first
/// sentence of its help. An option that is on or off has one line for its two forms.
pub fn short(command: Command) -> Command {
    let of_both: Vec<String> = command
        .get_arguments()
        .filter_map(|option| option.get_long())
        .filter(|name| positive(name, &command).is_some())
        .map(str::to_owned)
        .collect();
    command
        .mut_args(|option| {
            let name = option.get_long().unwrap_or_default().to_owned();
            let option = one_line(option);
            if of_both.contains(&name) {
                option.hide(true)
            } else if of_both.contains(&format!("no-{name}")) {
                // The leaked string is never freed, which costs little: the help is printed once,
                // before the program ends.
                option.long(&*format!("[no-]{name}").leak())
            } else {
                option
            }
        })
        .mut_subcommands(short)
}

/// Returns the option with the first sentence of its help, and with its default if the line has
/// space.
fn one_line(option: Arg) -> Arg {
    let help = option
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let (text, default) = match help.split_once(" [default: ") {
        Some((text, default)) => (text, default.split(']').next()),
        None => (
            &*help,
            option
                .get_default_values()
                .first()
                .and_then(|value| value.to_str()),
        ),
    };
    let sentence = text
        .split(". ")
        .next()
        .unwrap_or_default()
        .trim_end_matches('.');
    let whole = default.map(|default| format!("{sentence} [default: {default}]"));
    let line = whole.filter(|whole| whole.chars().count() <= SENTENCE_MAX);
    let has_value = option.get_action().takes_values();
    option
        .help(line.unwrap_or_else(|| sentence.to_owned()))
        .hide_possible_values(has_value)
        .hide_default_value(has_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;
    use crate::args::groups::of_width;

    #[test]
    fn each_option_has_one_line_in_the_short_help() {
        let mut root = of_width(short(args::command()), 80);
        root.build();
        let names: Vec<String> = root
            .get_subcommands()
            .map(|of| of.get_name().to_owned())
            .collect();
        for name in names {
            let command = root.find_subcommand_mut(&name).unwrap();
            let help = command.render_help().to_string();
            let options = command
                .get_arguments()
                .filter(|option| !option.is_hide_set());
            let options = options.filter(|option| !option.is_positional()).count();
            let is_option =
                |line: &&str| line.starts_with("      --") || line.get(4..8) == Some(", --");
            let lines: Vec<&str> = help.lines().filter(is_option).collect();
            assert_eq!(lines.len(), options, "{name}: {help}");
            let is_continued = |line: &&str| line.starts_with(&" ".repeat(20));
            let continued: Vec<&str> = help.lines().filter(is_continued).collect();
            assert_eq!(continued, [""; 0], "{name}: shorten the first sentence");
            assert!(
                help.lines().all(|line| line.chars().count() <= 80),
                "{name}: {help}"
            );
        }
        let run = root
            .find_subcommand_mut("run")
            .unwrap()
            .render_help()
            .to_string();
        for line in [
            "--[no-]check ",
            "-o, --output <FILE>",
            "-q, --quiet",
            "-t, --target <PATH>",
        ] {
            assert!(run.contains(line), "{line}: {run}");
        }
        assert!(!run.contains("--no-check"), "{run}");
    }
}
