//! The command line as clap parses it. Defaults that depend on other options are not set here.

mod archive;
mod check;
mod collect;
mod compare;
mod crash;
pub mod format;
pub mod groups;
mod history;
mod learn;
mod manual;
mod observe;
mod published;
mod repeat;
mod replay;
mod report;
pub mod short;
pub mod similar;
mod site;
mod study;
pub mod topics;
mod work;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use document::Format;
use spec::{Invocation, Options};
use workload::Edition;

use crate::ui::terminal;

pub use self::archive::{
    ArchiveArgument, DeleteArguments, ExportArguments, Filters, ImportArguments, ListArguments,
    NoteArguments, RemarkArguments, ShowArguments, TagArguments,
};
pub use self::check::CheckArguments;
pub use self::collect::CollectArguments;
pub use self::compare::{CompareArguments, GateArguments, GateRequirement};
pub use self::crash::CrashArguments;
pub use self::history::HistoryArguments;
pub use self::learn::{LearnArguments, TraceNames};
pub use self::manual::{CompletionsArguments, HelpArguments, ManArguments, Shell};
pub use self::observe::ObserveArguments;
pub use self::published::{PublishedArguments, PublishedCommand};
pub use self::repeat::RepeatArguments;
pub use self::report::ReportArguments;
pub use self::site::{SiteArguments, SiteCommand};
pub use self::study::StudyArguments;
pub use self::topics::Topic;
pub use self::work::WorkArguments;
pub use similar::command_meant;

/// Benchmark for file systems: many small files and their metadata.
#[derive(Debug, Parser)]
#[command(name = "postmark", version, args_conflicts_with_subcommands = true)]
pub struct CommandLine {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Version of the classic prompt: 1.0 or 1.5 [default: 1.5].
    #[arg(long, value_name = "VERSION")]
    pub compat: Option<Edition>,
    /// Let the prompt use a target without enough space.
    ///
    /// The prompt refuses a target whose free space does not suffice for the run.
    #[arg(long)]
    pub no_space_check: bool,
    /// Let root use targets that other users can replace.
    ///
    /// As root, the prompt keeps root's rights in a target that other users can rename or replace
    /// (unsafe).
    #[arg(long)]
    pub allow_unsafe_target: bool,
    /// Commands of the classic prompt.
    pub file: Option<PathBuf>,
}

impl CommandLine {
    /// Converts clap's matches. Values that depend on several options or on their order are
    /// completed: weights of targets, and options that are on or off.
    ///
    /// # Errors
    /// Returns an error if the arguments are invalid.
    pub fn read(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut read = Self::from_arg_matches(matches)?;
        let command = matches.subcommand();
        if let (Some((_, matches)), Some(Command::Run(RunArguments { work, .. })))
        | (
            Some((_, matches)),
            Some(Command::Replay(ReplayArguments {
                run: RunArguments { work, .. },
                ..
            })),
        )
        | (Some((_, matches)), Some(Command::Plan(PlanArguments { work, .. })))
        | (Some((_, matches)), Some(Command::Crash(CrashArguments { work, .. }))) =
            (command, &mut read.command)
        {
            work.complete(matches);
        }
        if let (Some((_, matches)), Some(Command::Study(study))) = (command, &mut read.command) {
            study.options.take_switches(matches);
        }
        Ok(read)
    }
}

/// The version, and which optional parts this program contains.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let parts = [
        ("MPI (ranks, --features mpi)", cfg!(feature = "mpi")),
        (
            "TLS (s3:// by https, --features tls)",
            cfg!(feature = "tls"),
        ),
        (
            "forget (crash --crash forget, --features forget)",
            cfg!(feature = "forget"),
        ),
    ];
    let lines = parts.map(|(part, is_built)| {
        let has = if is_built { "with" } else { "without" };
        format!("\n  built {has} {part}")
    });
    env!("CARGO_PKG_VERSION").to_owned() + &lines.concat()
});

pub fn command() -> clap::Command {
    // `Auto` uses colours if standard output is a terminal and the environment permits. It cannot
    // detect whether a user reads this terminal, so `may_have_colour` checks this.
    let colour = match terminal::may_have_colour() {
        true => clap::ColorChoice::Auto,
        false => clap::ColorChoice::Never,
    };
    let command = CommandLine::command()
        .color(colour)
        .long_version(LONG_VERSION.as_str());
    let command = command.after_help(format!(
        "{AFTER_COMMANDS}\n\nTopics ('postmark help TOPIC' shows examples):\n{}",
        Topic::list().trim_end()
    ));
    let command = spec::with_help(command);
    let command = command.mut_subcommand("run", |run| {
        let about = run.get_about().map(ToString::to_string).unwrap_or_default();
        run.after_help(format!("{RUN_STATUS}\n{EXAMPLES}\n{AFTER_SHORT}"))
            .long_about(format!("{about}\n\n{RUN_STATUS}\n{}", EXAMPLES.trim_end()))
            .after_long_help(AFTER_OPTIONS)
    });
    let command = command.mut_subcommand("study", |study| {
        study.mut_args(|arg| {
            let name = arg.get_long().unwrap_or_default();
            let is_of_runs_alone = Options::of_runs_alone().iter().any(|alone| alone == name);
            arg.hide(is_of_runs_alone)
        })
    });
    let command = command.mut_subcommand("crash", crash::for_rounds);
    let command = command.mut_subcommand("replay", replay::for_replays);
    groups::grouped(command.mut_subcommand("plan", |plan| {
        let about = plan
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default();
        plan.after_help(AFTER_SHORT)
            .long_about(format!("{about}\n\n{}", PLAN_STATUS.trim_end()))
            .after_long_help(AFTER_OPTIONS)
    }))
}

/// Returns the names of all commands, separated by commas.
pub fn command_names() -> String {
    let command = command();
    let names: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    names.join(", ")
}

/// Help text after the list of commands, before the topics.
const AFTER_COMMANDS: &str = "\
Without a command, postmark starts the classic prompt or performs the commands in FILE.
Write ./run for a file with the name run.

'postmark COMMAND -h' lists the options of a command, --help explains them.";

/// Text after the short help of commands with options that are on or off.
const AFTER_SHORT: &str = "--[no-]OPTION stands for --OPTION (on) and --no-OPTION (off).";

/// Help text about numbers and sizes, after the options.
const AFTER_OPTIONS: &str = "Numbers and sizes:
  Counts and sizes take a unit: k (or K), M, G and T are powers of 1000;
  Ki, Mi, Gi and Ti are powers of 1024. B may follow: 10kB is 10000 bytes,
  4KiB is 4096 bytes.
  Times need a unit: ns, us, ms, s, m (minutes) or h.

The book defines every operation, policy and number.";

/// Help text of `plan`, after its description.
const PLAN_STATUS: &str = "Exit status: 0 if the run would begin; 2 if it would be refused here, \
                           or by this build.
If a server does not answer, the plan is shown without the facts about the server.
";

/// Exit statuses of `run`.
const RUN_STATUS: &str = "Exit status: 0 complete, INVALID or not; 1 the run failed; 2 refused: \
                          nothing was changed; 3 INVALID with --strict; 130 or 143 if a signal \
                          ended it.
";

const EXAMPLES: &str = "Examples:
  postmark run --preset mail --for 60s --target /mnt/disk
  postmark run --files 20k --transactions 100k --workers 4 --target /mnt/disk
  postmark run --preset mail --sweep auto --slo 'p99<10ms' --target /mnt/disk
";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a workload on a target and report the results.
    Run(RunArguments),
    /// Show what a run would do, without writing to the target.
    Plan(PlanArguments),
    /// Compare targets or options in blocks of random order.
    ///
    /// A study runs every combination in each block, and reports ratios with confidence intervals.
    Study(StudyArguments),
    /// List the presets: workloads with a name, and their sources.
    ///
    /// With a name, show all values of this preset, and the source of each.
    Presets(PresetsArguments),
    /// List the I/O engines: targets, depth, operations, durability.
    Engines(EnginesArguments),
    /// List archived runs.
    ///
    /// The rate and the p99 of a sweep are those of its sustained level with the highest rate.
    List(ListArguments),
    /// Show the report of an archived run or of a record in a file.
    Show(ShowArguments),
    /// Write an HTML page about runs, a study or a comparison.
    ///
    /// The page is one file with charts and the records of the runs.
    Report(ReportArguments),
    /// Add tags to an archived run, or remove them.
    Tag(TagArguments),
    /// Set the note of an archived run.
    Note(NoteArguments),
    /// Delete archived runs.
    Delete(DeleteArguments),
    /// Export archived runs as JSON, CSV or Markdown.
    Export(ExportArguments),
    /// Import records from other machines into the archive.
    Import(ImportArguments),
    /// Compare archived runs or a study: ratios with intervals.
    Compare(CompareArguments),
    /// Decide whether runs meet requirements, relative to a baseline.
    ///
    /// The decision is passed, failed or undecided.
    Gate(GateArguments),
    /// Show a metric over archived runs, and when it changed.
    ///
    /// The runs are of one workload, engine, target, durability and host. Each change has its size
    /// with a 95 % interval, and the runs before and after it.
    History(HistoryArguments),
    /// Print the JSON Schema of records, or of results of crash rounds.
    ///
    /// Both are written with --format json, by 'run' and by 'crash'.
    Schema {
        /// Document: run or crash.
        #[arg(default_value = "run", value_name = "DOCUMENT", value_parser = ["run", "crash"])]
        document: String,
    },
    /// Show published results (1997 to 2004) and submissions.
    Published(PublishedArguments),
    /// Build a static site out of records, or check submissions.
    ///
    /// The site has a page for each run, system, workload and study, and needs no server.
    Site(SiteArguments),
    /// Remove what killed runs and killed studies left.
    ///
    /// These are the files of runs, and the file systems that studies made.
    Clean(CleanArguments),
    /// After a crash, check a directory against an acknowledgement log.
    VerifyLog(VerifyArguments),
    /// Crash a target in rounds, and verify acknowledged writes.
    ///
    /// Each round runs a workload, crashes the target by a command, restores it, and verifies the
    /// acknowledged operations. The result includes the share of crashes that may lose one.
    Crash(CrashArguments),
    /// Make one record of the parts that ranks left on disk.
    ///
    /// Each rank of a run that failed has left its part.
    Collect(CollectArguments),
    /// Check records: derive summary and verdict, and compare.
    Check(CheckArguments),
    /// Run any command, and report what devices and servers did.
    ///
    /// These are the devices and servers of a target.
    Observe(ObserveArguments),
    /// Learn a workload from a tree of files or from a trace.
    ///
    /// The workload is a configuration file of 'run'. A report compares it with what was observed.
    Learn(LearnArguments),
    /// Replay a trace: its operations, in their order.
    ///
    /// A run performs the operations of the trace with their dependencies, on files of its own.
    Replay(ReplayArguments),
    /// Print the completions of a shell.
    Completions(CompletionsArguments),
    /// Print the manual page of a command, or write all pages.
    Man(ManArguments),
    /// Show examples for a task, or the help of a command.
    Help(HelpArguments),
}

#[derive(Debug, Args)]
pub struct PresetsArguments {
    /// Show this preset, like mail or mail-1.
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct EnginesArguments {
    /// Format of the list.
    #[arg(long, value_parser = format::one_of(format::LIST), default_value = "text")]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub work: WorkArguments,
    #[command(flatten)]
    pub repetition: RepeatArguments,
    /// Print what the run would do, as 'plan' does.
    ///
    /// Nothing is run, and nothing is written to the target.
    #[arg(long)]
    pub dry_run: bool,
    /// Run on a target without enough free space.
    #[arg(long)]
    pub no_space_check: bool,
    /// Let root use targets that other users can replace.
    ///
    /// As root, the run keeps root's rights in a target that other users can rename or replace
    /// (unsafe).
    #[arg(long)]
    pub allow_unsafe_target: bool,
    /// Format of the report.
    #[arg(long, value_parser = format::one_of(&format::RUN), default_value = "text")]
    pub format: Format,
    /// Print the complete report, not only one screen.
    ///
    /// The option applies to text and Markdown.
    #[arg(long)]
    pub full: bool,
    /// Write the report to this file [default: -].
    ///
    /// The file - is standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a line of JSON for each second to this file.
    ///
    /// The file may be a pipe; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub live: Option<PathBuf>,
    /// Write an HTML page about the run to this file.
    ///
    /// The page is that of 'postmark report'.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Overwrite existing output files.
    #[arg(long)]
    pub force: bool,
    /// Archive that keeps the run; none for no archive.
    ///
    /// The default is $POSTMARK_ARCHIVE, or postmark/archive.db in the user's data directory.
    #[arg(long, value_name = "FILE|none")]
    pub archive: Option<PathBuf>,
    #[command(flatten)]
    pub remarks: RemarkArguments,
    /// Exit with status 3 if the verdict is INVALID.
    ///
    /// A failed run exits with status 1; a run that a signal ended exits with status 128 plus the
    /// signal's number.
    #[arg(long)]
    pub strict: bool,
    /// Do not show progress.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print progress as lines, even without a terminal.
    #[arg(short, long)]
    pub verbose: bool,
    /// Directory for the parts of the ranks.
    ///
    /// Each rank writes what it completed to a file there, and 'postmark collect' makes one record
    /// of them after a failure [default: a directory beside the archive, removed at the end of the
    /// run].
    #[arg(long, value_name = "DIR")]
    pub parts: Option<PathBuf>,
    /// Hosts that only report their counters.
    ///
    /// The ranks on these hosts perform no work and read the counters of their machine while the
    /// others work: processor time, devices, calls to its NFS server, interfaces. They must be the
    /// last ranks. Names are those of the hosts or of the launcher's host file, or addresses.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub monitor_host: Vec<String>,
}

impl RunArguments {
    /// Returns the options that are not in `work`, and the words of the command line. For a plan
    /// (`--dry-run`), only `skips_space_check` is set.
    pub fn invocation(&self, words: Vec<String>) -> Invocation {
        let is_run = !self.dry_run;
        Invocation {
            command_line: if is_run { words } else { Vec::new() },
            skips_space_check: self.no_space_check,
            trusts_others: is_run && self.allow_unsafe_target,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = replay::AFTER_HELP)]
pub struct ReplayArguments {
    /// Replay this trace.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub run: RunArguments,
}

impl ReplayArguments {
    /// Returns the arguments of a run with the option `--replay`.
    pub fn into_run(self) -> RunArguments {
        let mut run = self.run;
        run.work.options.replay = Some(self.file);
        run
    }
}

#[derive(Debug, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    pub work: WorkArguments,
    /// Plan for a target without enough free space.
    #[arg(long)]
    pub no_space_check: bool,
    /// Format of the plan.
    #[arg(long, value_parser = format::one_of(format::PLAN), default_value = "text")]
    pub format: Format,
    /// The archive with the run of --like.
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

#[derive(Debug, Args)]
pub struct CleanArguments {
    /// Targets of killed runs, and directories with images.
    ///
    /// A target is a directory or a URL like nfs://server/export. Images of killed studies are in
    /// /var/tmp by default.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Target directory of the run, or its URL.
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The run's acknowledgement log.
    #[arg(long, value_name = "FILE")]
    pub ack_log: PathBuf,
    /// Format of the answer.
    #[arg(long, value_parser = format::one_of(format::ANSWER), default_value = "text")]
    pub format: Format,
}

/// Parses a whole number: a count or the number of an entry.
fn whole(text: &str) -> Result<u64, &'static str> {
    text.trim()
        .parse()
        .map_err(|_| "expected a whole number, like 20")
}
