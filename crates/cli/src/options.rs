//! What was said: the arguments and the configuration file, word for word, with nothing filled in.

mod archive;
mod manual;
mod published;
mod refused;
mod similar;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{ArgMatches, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use document::Rendering;
use spec::{Options, TargetOption};
use workload::Edition;

pub use self::archive::{
    ArchiveArgument, DeleteArguments, ExportArguments, ExportFormat, ImportArguments, ListArguments, ListFormat,
    NoteArguments, ShowArguments, TagArguments,
};
pub use self::manual::{CompletionsArguments, ManArguments, Shell};
pub use self::published::{PublishedArguments, PublishedCommand};
pub use refused::refuse;
pub use similar::similar;

/// The benchmark for small files and metadata: PostMark, built anew.
#[derive(Debug, Parser)]
#[command(
    name = "postmark",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Without a command: the classic prompt, or the commands in FILE (./run for a file called run)."
)]
pub struct CommandLine {
    /// A command.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The edition of the classic prompt: 1.0 or 1.5 [default: 1.5].
    #[arg(long)]
    pub edition: Option<Edition>,
    /// Do not let the classic prompt refuse a target that has no room for the run.
    #[arg(long)]
    pub no_room_check: bool,
    /// As root, let the classic prompt use a target that other users can rename or replace.
    #[arg(long)]
    pub allow_unsafe_target: bool,
    /// A classic configuration file.
    pub file: Option<PathBuf>,
}

/// The whole command line.
pub fn command() -> clap::Command {
    let command = CommandLine::command().mut_subcommands(spec::with_switches);
    command.mut_subcommand("run", |run| {
        run.mut_args(|arg| {
            let is_first = arg.get_long().is_some_and(|name| FIRST.contains(&name));
            arg.hide_short_help(!is_first)
        })
        .after_help(format!("{EXAMPLES}\n'postmark run --help' has all options."))
        .before_long_help(EXAMPLES)
        .after_long_help("docs/specification.md defines every operation, policy and number.")
    })
}

/// The options that `run -h` shows.
const FIRST: [&str; 10] = [
    "preset",
    "target",
    "files",
    "size",
    "transactions",
    "for",
    "workers",
    "durability",
    "format",
    "full",
];

const EXAMPLES: &str = "Examples:
  postmark run --preset mail --for 60s --target /mnt/disk
  postmark run --files 20k --transactions 100k --workers 4 --target /mnt/disk
  postmark run --preset mail --sweep auto --slo 'p99<10ms' --target /mnt/disk
";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Perform a workload on a target and report.
    Run(RunArguments),
    /// Say what a run would do, without touching the target.
    Plan(PlanArguments),
    /// List the workloads that have a name, with where they come from.
    Presets,
    /// List the runs that were archived.
    List(ListArguments),
    /// Show the report of a run that was archived, or of a record in a file.
    Show(ShowArguments),
    /// Give words to a run, by which list and export find it.
    Tag(TagArguments),
    /// Note something of a run.
    Note(NoteArguments),
    /// Remove runs from the archive.
    Delete(DeleteArguments),
    /// Write runs that were archived for other programs, documents or machines.
    Export(ExportArguments),
    /// Add records of other machines to the archive.
    Import(ImportArguments),
    /// Print the JSON Schema of what `run --format json` writes.
    Schema,
    /// Show results that were published from 1997 to 2004, and what others have submitted.
    Published(PublishedArguments),
    /// Remove what killed runs have left in directories.
    Clean(CleanArguments),
    /// After a crash, compare an acknowledgement log with what is there.
    VerifyLog(VerifyArguments),
    /// Print the completions of a shell.
    Completions(CompletionsArguments),
    /// Print the manual page, or write the manual pages of all commands into a directory.
    Man(ManArguments),
}

/// How a report looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// The report as a document.
    Document(Rendering),
    /// The whole record with its summary.
    Json,
    /// The original's verbose report; no sync and no check, which its whole seconds would have in them.
    Classic,
    /// The original's terse report: one line of 13 numbers, likewise.
    Terse,
}

impl ReportFormat {
    /// Whether it is one of the original's.
    pub fn is_classic(self) -> bool {
        matches!(self, Self::Classic | Self::Terse)
    }
}

impl ValueEnum for ReportFormat {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ReportFormat>> = LazyLock::new(|| {
            let others = [ReportFormat::Json, ReportFormat::Classic, ReportFormat::Terse];
            Rendering::ALL
                .iter()
                .copied()
                .map(ReportFormat::Document)
                .chain(others)
                .collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, about) = match self {
            Self::Document(format) => (format.name(), format.about().trim()),
            Self::Json => ("json", "The whole record with its summary"),
            Self::Classic => (
                "classic",
                "The original's verbose report; no sync and no check, which its whole seconds would have in them",
            ),
            Self::Terse => ("terse", "The original's terse report: one line of 13 numbers, likewise"),
        };
        Some(PossibleValue::new(name).help(about))
    }
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
    /// As root, use a target that other users can rename or replace.
    #[arg(long)]
    pub allow_unsafe_target: bool,
    /// How the report looks.
    #[arg(long, value_enum, default_value_t = ReportFormat::Document(Rendering::Text))]
    pub format: ReportFormat,
    /// Report everything in text and Markdown, not only what fits on one screen.
    #[arg(long)]
    pub full: bool,
    /// Write the report to this file instead of standard output (which - is).
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a line of JSON for each second to this file or pipe, or to standard output with -.
    #[arg(long, value_name = "FILE")]
    pub live: Option<PathBuf>,
    /// Write over the files that options for output name, where they exist already.
    #[arg(long)]
    pub force: bool,
    /// Keep the run in this archive, or with none in none [default: $POSTMARK_ARCHIVE, or postmark/archive.db in the user's data
    /// folder].
    #[arg(long, value_name = "FILE|none")]
    pub archive: Option<PathBuf>,
    /// Exit with status 3 where the verdict is INVALID. A run that failed exits with 1 all the same, and one that a signal
    /// ended with 128 and its number.
    #[arg(long)]
    pub strict: bool,
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
    /// Where the run of --like is looked for.
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

/// The arguments of `clean`.
#[derive(Debug, Args)]
pub struct CleanArguments {
    /// Directories that runs were performed in.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// The arguments of `verify-log`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// The directory that the run was performed in.
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The run's acknowledgement log.
    #[arg(long, value_name = "FILE")]
    pub ack_log: PathBuf,
    /// How the answer looks.
    #[arg(long, value_enum, default_value_t = VerifyFormat::Text)]
    pub format: VerifyFormat,
}

/// How the answer of `verify-log` looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VerifyFormat {
    /// Lines for people.
    Text,
    /// Everything, for programs.
    Json,
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
    /// Do what an earlier run did, in the same way, but for what the options say. RUN is its number in the archive, at
    /// least four digits of its identity, last, the file that it wrote with --format json, or - for standard input. The place is not taken over, nor is a --ack-log: give them anew.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["preset", "config"])]
    pub like: Option<PathBuf>,
    /// In which archive it is looked for; what the command says of archives.
    #[arg(skip)]
    pub like_in: Option<PathBuf>,
    /// Whether the original's number of transactions ends a run where nothing else does.
    #[arg(skip)]
    pub by_number: bool,
    /// The rest.
    #[command(flatten)]
    pub options: Options,
    /// A directory to work in; with several, each --target can be followed by its --weight
    /// [default: the working directory].
    #[arg(long, value_name = "PATH")]
    pub target: Vec<PathBuf>,
    /// The share of the files that the --target before it gets [default: 1].
    #[arg(long, value_name = "N", value_parser = weight)]
    pub weight: Vec<u32>,
    /// Locations with their weights, paired in the order of the words.
    #[arg(skip = Ok(Vec::new()))]
    pub locations: Result<Vec<TargetOption>, WeightWithoutLocation>,
}

/// The share of a location.
fn weight(text: &str) -> Result<u32, &'static str> {
    text.trim()
        .parse()
        .map_err(|_| "expected a whole number from 1 to 4294967295")
}

/// How many of something that is listed, or which.
fn whole(text: &str) -> Result<u64, &'static str> {
    text.trim().parse().map_err(|_| "expected a whole number, like 20")
}

/// A `--weight` stands where no `--target` does before it, or a second one behind the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--weight {0} has no --target of its own before it: say --target PATH --weight {0}")]
pub struct WeightWithoutLocation(u32);

impl WorkArguments {
    /// Pairs every `--weight` with the `--target` before it, by their places among the words.
    pub fn take_weights(&mut self, matches: &ArgMatches) {
        let places = |id: &str| -> Vec<usize> { matches.indices_of(id).map(Iterator::collect).unwrap_or_default() };
        let targets = places("target");
        let mut locations: Vec<TargetOption> = self
            .target
            .iter()
            .map(|path| TargetOption {
                path: path.clone(),
                weight: 1,
            })
            .collect();
        let mut taken = vec![false; locations.len()];
        for (weight, place) in self.weight.iter().zip(places("weight")) {
            match targets
                .iter()
                .rposition(|target| *target < place)
                .filter(|index| !taken[*index])
            {
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
