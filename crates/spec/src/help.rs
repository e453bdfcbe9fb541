//! Additions to the command line that the option table does not define. Options that are on or off
//! get their second form `--no-OPTION`, and help texts get the defaults. The defaults are taken
//! from two run specs to which no option was applied: a classic workload and a mix.

use std::collections::BTreeMap;

use clap::builder::{Resettable, StyledStr};
use clap::{Arg, ArgAction, Command};

use crate::config_error::ConfigError;
use crate::options::{Options, SWITCHES, Switch};
use crate::resolve::{Asked, Invocation, resolve};

/// The text in an option's help that is replaced by the default.
const PLACE: &str = "[default: _";

/// Adds the form `--no-OPTION` of options that are on or off, and inserts all defaults into help
/// texts.
pub fn with_help(command: Command) -> Command {
    let defaults = Defaults::new();
    command.mut_subcommands(|command| {
        let command = command.mut_args(|option| defaults.in_help(option));
        with_switches(command)
    })
}

fn with_switches(command: Command) -> Command {
    SWITCHES.iter().fold(command, |command, switch| {
        let is_it = |option: &&Arg| option.get_id() == switch.id;
        let Some(option) = command.get_arguments().find(is_it) else {
            return command;
        };
        let negative = negative(switch, option);
        command
            .mut_arg(switch.id, |option| {
                let option = option.action(ArgAction::SetTrue).num_args(0);
                option.overrides_with(switch.negative.as_str())
            })
            .arg(negative)
    })
}

fn negative(switch: &'static Switch, option: &Arg) -> Arg {
    option
        .clone()
        .id(switch.negative.as_str())
        .long(switch.negative.as_str())
        .action(ArgAction::SetTrue)
        .num_args(0)
        .overrides_with(switch.id)
        .help(format!("Turn --{} off", switch.name))
        .long_help(Resettable::<StyledStr>::Reset)
}

/// The defaults of the classic workload and of mixes, by option name.
struct Defaults {
    classic: BTreeMap<String, String>,
    mix: BTreeMap<String, String>,
}

impl Defaults {
    fn new() -> Self {
        let mix = Options {
            mix: Some("read=1".parse().expect("weights of a mix")),
            ..Options::default()
        };
        Self {
            classic: unchanged(Options::default()),
            mix: unchanged(mix),
        }
    }

    /// Replaces the placeholder `[default: _` in an option's help by the actual default.
    fn in_help(&self, option: Arg) -> Arg {
        let with = |help: &StyledStr| {
            // `StyledStr::to_string` looks for colours in each character, which takes a third of
            // the time of a start. These texts have no colours.
            let (help, name) = (help.ansi().to_string(), option.get_long()?);
            help.contains(PLACE)
                .then(|| help.replace(PLACE, &format!("[default: {}", self.of(name))))
        };
        let (short, long) = (
            option.get_help().and_then(with),
            option.get_long_help().and_then(with),
        );
        let option = match short {
            Some(help) => option.help(help),
            None => option,
        };
        match long {
            Some(help) => option.long_help(help),
            None => option,
        }
    }

    fn of(&self, name: &str) -> String {
        match (self.classic.get(name), self.mix.get(name)) {
            (Some(classic), Some(mix)) if classic != mix => format!("{classic}; for mixes {mix}"),
            (Some(default), _) | (None, Some(default)) => default.clone(),
            (None, None) => unreachable!("the help of --{name} has the place of a default"),
        }
    }
}

/// Resolves `options` and returns all options of the resulting run spec.
fn unchanged(options: Options) -> BTreeMap<String, String> {
    let asked = Asked {
        options,
        file: Options::default(),
        preset: None,
        weights: &[],
        earlier_preset: None,
        invocation: Invocation::default(),
        read: &|_| unreachable!("no option names a file"),
        replayed: None,
    };
    let resolved = resolve::<ConfigError>(&asked, |_, _| unreachable!("no working set"));
    let spec = resolved.expect("defaults go together").spec;
    spec.to_options().given()
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    fn run() -> Command {
        let run = Options::augment_args(Command::new("run"));
        with_help(Command::new("postmark").subcommand(run))
    }

    fn options(line: &str) -> Options {
        let words = ["postmark", "run"]
            .into_iter()
            .chain(line.split_whitespace());
        let matches = run().try_get_matches_from(words).unwrap();
        let (_, of_run) = matches.subcommand().unwrap();
        let mut options = Options::from_arg_matches(of_run).unwrap();
        options.take_switches(of_run);
        options
    }

    /// Options whose help states the default as a fixed text. The second text contains other
    /// options that the option requires to have an effect.
    const BESIDE: &[(&str, &str)] = &[
        ("align", "--mix read=1"),
        ("arrivals", "--rate 1000"),
        ("contents", ""),
        ("dedup", "--mix read=1"),
        ("depth", ""),
        ("for", ""),
        ("read-block", ""),
        ("readers", "--mix read=1,create=1 --writers 2"),
        ("round", "--steady snia"),
        ("warm-up", ""),
        ("write-block", ""),
        ("writers", "--mix read=1 --readers 2"),
    ];

    #[test]
    fn default_in_help_equals_the_actual_default() {
        let command = run();
        let run = command.find_subcommand("run").unwrap();
        let mut given = 0;
        for option in run.get_arguments() {
            let help = option
                .get_long_help()
                .or(option.get_help())
                .unwrap()
                .to_string();
            let name = option.get_long().unwrap();
            assert!(!help.contains(PLACE), "{help}");
            let Some((_, default)) = help.split_once("[default") else {
                continue;
            };
            let (_, value) = default.split_once(": ").unwrap();
            let value = value.split([',', ';', ']', ' ']).next().unwrap();
            let beside = BESIDE.iter().find(|(of, _)| *of == name);
            // Other defaults are inserted from a resolved spec, so they are correct by
            // construction.
            let Some((_, beside)) = beside else { continue };
            let with = format!("{beside} --{name} {value}");
            assert_eq!(
                unchanged(options(beside)),
                unchanged(options(&with)),
                "{with}"
            );
            given += 1;
        }
        assert_eq!(given, BESIDE.len());
    }
}
