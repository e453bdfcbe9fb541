//! What was said: the arguments and the configuration file, word for word, with nothing filled in.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgMatches, Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Deserializer};
use workload::Edition;
use workload::quantity::{self, InvalidQuantity};

/// The benchmark for small files and metadata: PostMark, built anew.
#[derive(Debug, Parser)]
#[command(
    name = "postmark",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Without a command: the classic prompt, or the commands in FILE (./run for a file called run)."
)]
pub struct Said {
    /// A command.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The edition of the classic prompt: 1.0 or 1.5 [default: 1.5].
    #[arg(long)]
    pub edition: Option<Edition>,
    /// Do not let the classic prompt refuse a target that has no room for the run.
    #[arg(long)]
    pub no_room_check: bool,
    /// A classic configuration file.
    pub file: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Perform a workload on a target and report.
    Run(RunArguments),
    /// Say what a run would do, without touching the target.
    Plan(PlanArguments),
    /// List the workloads that have a name, with where they come from.
    Presets,
    /// Remove what killed runs have left in directories.
    Clean(CleanArguments),
}

/// How a report looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    Text,
    /// The whole record with its summary.
    Json,
    /// The original's verbose report.
    Classic,
    /// The original's terse report: one line of 13 numbers.
    Terse,
}

/// How a plan looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Tables for people.
    Text,
    /// Everything, for programs.
    Json,
    /// The complete workload as a configuration file.
    Toml,
}

/// A way of doing input and output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StorageName {
    /// The C library's buffered streams, as the original by default.
    #[default]
    Stdio,
    /// System calls by path, as the original with `set buffering false`.
    Raw,
    /// System calls as a careful program makes them today: relative to a held directory.
    Posix,
    /// Nothing: the tool's own cost.
    Null,
}

impl StorageName {
    /// The name as options take it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Raw => "raw",
            Self::Posix => "posix",
            Self::Null => "null",
        }
    }
}

/// The arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// What is to be done, and where.
    #[command(flatten)]
    pub work: WorkArguments,
    /// Show what would be done and stop, as `plan`.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not refuse a target that has no room for the run.
    #[arg(long)]
    pub no_room_check: bool,
    /// Leave out the two clock readings of every operation: counts and phases only.
    #[arg(long)]
    pub no_latencies: bool,
    /// How the report looks.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the report to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show no progress.
    #[arg(long)]
    pub quiet: bool,
}

/// The arguments of `plan`.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// What would be done, and where.
    #[command(flatten)]
    pub work: WorkArguments,
    /// How the plan looks.
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub format: PlanFormat,
}

/// The arguments of `clean`.
#[derive(Debug, Args)]
pub struct CleanArguments {
    /// Directories that runs were performed in.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// What is to be done, and where: a preset, a file, options; what is more particular holds.
#[derive(Debug, Args)]
pub struct WorkArguments {
    /// Begin with a workload that has a name (see `postmark presets`).
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Take what the options do not say from a configuration file in TOML, with the options' names.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The numbers.
    #[command(flatten)]
    pub options: Options,
    /// A directory to work in; with several, each --at can be followed by its --weight
    /// [default: the working directory].
    #[arg(long, value_name = "PATH")]
    pub at: Vec<PathBuf>,
    /// The share of the files that the --at before it gets [default: 1].
    #[arg(long, value_name = "N")]
    pub weight: Vec<u32>,
    /// Locations with their weights, paired in the order of the words.
    #[arg(skip = Ok(Vec::new()))]
    pub locations: Result<Vec<LocationSaid>, WeightWithoutLocation>,
}

/// The numbers, in options and in configuration files alike. Everything may be left out.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Options {
    /// Whose rules hold: 1.0 (generator and units of 1997) or 1.5 (those of 2001) [default: 1.5].
    #[arg(long)]
    pub edition: Option<Edition>,
    /// Files in the initial pool, like 20k [default: 500].
    #[arg(long, value_name = "N")]
    pub files: Option<Count>,
    /// Transactions, like 100k [default: 500].
    #[arg(long, value_name = "N")]
    pub transactions: Option<Count>,
    /// Sizes of new files, like 500..10000 or 4KiB [default: 500..10000].
    #[arg(long, value_name = "LOW..HIGH")]
    pub size: Option<Sizes>,
    /// Bytes of one read call, like 4KiB [default: 512].
    #[arg(long, value_name = "BYTES")]
    pub read_block: Option<Bytes>,
    /// Bytes of one write call, like 4KiB [default: 512].
    #[arg(long, value_name = "BYTES")]
    pub write_block: Option<Bytes>,
    /// Subdirectories in each location; 1 means none [default: 1].
    #[arg(long, visible_alias = "subdirectories", value_name = "N")]
    #[serde(alias = "subdirectories")]
    pub subdirs: Option<Count>,
    /// The chance of reading over appending, 0 to 10; -1 leaves out both [default: 5].
    #[arg(long, value_name = "0..10", allow_negative_numbers = true)]
    pub bias_read: Option<i64>,
    /// The chance of creating over deleting, 0 to 10; -1 leaves out both [default: 5].
    #[arg(long, value_name = "0..10", allow_negative_numbers = true)]
    pub bias_create: Option<i64>,
    /// Where the generator's sequence starts [default: 42].
    #[arg(long)]
    pub seed: Option<u32>,
    /// How input and output are done [default: stdio].
    #[arg(long, value_enum)]
    pub storage: Option<StorageName>,
    /// In files: `[[at]]` tables with `path` and `weight`.
    #[arg(skip)]
    #[serde(default)]
    pub at: Vec<LocationSaid>,
}

/// A location with its weight.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationSaid {
    /// The directory.
    pub path: PathBuf,
    /// Its share of the files.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// A `--weight` stands where no `--at` does before it, or a second one behind the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--weight {0} has no --at of its own before it: say --at PATH --weight {0}")]
pub struct WeightWithoutLocation(u32);

impl WorkArguments {
    /// Pairs every `--weight` with the `--at` before it, by their places among the words.
    pub fn take_weights(&mut self, matches: &ArgMatches) {
        let places = |id: &str| -> Vec<usize> { matches.indices_of(id).map(Iterator::collect).unwrap_or_default() };
        let at = places("at");
        let mut locations: Vec<LocationSaid> = self
            .at
            .iter()
            .map(|path| LocationSaid {
                path: path.clone(),
                weight: 1,
            })
            .collect();
        let mut taken = vec![false; locations.len()];
        for (weight, place) in self.weight.iter().zip(places("weight")) {
            match at.iter().rposition(|at| *at < place).filter(|index| !taken[*index]) {
                Some(index) => {
                    locations[index].weight = *weight;
                    taken[index] = true;
                }
                None => {
                    self.locations = Err(WeightWithoutLocation(*weight));
                    return;
                }
            }
        }
        self.locations = Ok(locations);
    }
}

/// A number that may be written with a unit, or in TOML as a plain integer.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $of:ty, $parse:path, $from_integer:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub $of);

        impl FromStr for $name {
            type Err = InvalidQuantity;

            fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
                $parse(text).map(Self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a whole number, or a text with a number and a unit")
                    }

                    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<$name, E> {
                        let value = u64::try_from(value).map_err(|_| E::custom(format!("{value} is negative")))?;
                        Ok($name($from_integer(value)))
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_any(Visitor)
            }
        }
    };
}

quantity!(
    /// How many of something.
    Count, u64, quantity::count, |value| value
);
quantity!(
    /// How many bytes.
    Bytes, u64, quantity::bytes, |value| value
);
quantity!(
    /// A size, or a range of sizes.
    Sizes, (u64, u64), quantity::byte_range, |value| (value, value)
);
