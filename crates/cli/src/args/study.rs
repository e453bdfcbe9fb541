//! The arguments of `study`.

use std::path::PathBuf;

use clap::Args;
use document::Format;
use spec::{Options, Time};
use study::PaperLayout;

use super::{RemarkArguments, format};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 when all blocks are there; 1 if a run failed or a file system of \
                  the study could not be removed, 2 if the study was refused, 130 or 143 if a \
                  signal ended it. 'postmark study --resume' continues a study that did not end.

Most options of a run are options of a study, too ('postmark study --help' lists them): they apply \
                  to all configurations. --axis gives one of them several values.

Examples:
  postmark study --preset mail --target make:ext4 --target make:xfs
  postmark study --preset mail --target /mnt/a --target /mnt/b --time-limit 10m
  postmark study --preset mail --axis workers=1,4 --target /mnt/disk
  postmark study --resume"
)]
pub struct StudyArguments {
    /// Number of processes that the launcher has started. Each run has this number of ranks, unless
    /// the study sets another number.
    #[arg(skip)]
    pub ranks: Option<u32>,
    /// Whether the study repeats a single configuration, for 'run --repeat'.
    #[arg(skip)]
    pub is_repetition: bool,
    /// Study file in TOML: workloads, axes and targets.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Run this preset on each target. Repeat the option for more presets.
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    pub preset: Vec<String>,
    /// Read options of the runs from a TOML file.
    ///
    /// Its keys are the names of the options; the command line overrides them.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "preset"])]
    pub config: Option<PathBuf>,
    /// Use the options of an earlier run.
    ///
    /// RUN is its number in the archive, its identity, last, or a file written by run --format
    /// json. Options of single runs and --target are not repeated.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["file", "preset", "config"])]
    pub like: Option<PathBuf>,
    /// Directory, make:KIND or URL; first the baseline.
    ///
    /// make:KIND is a file system that the study makes and removes, like make:ext4?size=4GiB (as
    /// root). A server is like nfs://server/export. Repeat the option for each target. With a study
    /// file, the targets are added to those of the file.
    #[arg(short, long, value_name = "[NAME=]TARGET")]
    pub target: Vec<String>,
    /// Option with several values, like workers=1,4.
    ///
    /// Each value is a cell. The option is one of the runs, or age or fullness. Repeat --axis for
    /// more options.
    #[arg(long, value_name = "OPTION=VALUES", conflicts_with = "file")]
    pub axis: Vec<String>,
    /// Churn the pool this many times before a run [default: 0].
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub age: Option<u32>,
    /// Fill made file systems to this percentage.
    #[arg(long, value_name = "PERCENT", conflicts_with = "file")]
    pub fullness: Option<u32>,
    /// Name of the study [default: its presets].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Number of blocks; each has one run of every cell [default: 10].
    ///
    /// With fewer than 5 blocks there are no intervals.
    #[arg(long, value_name = "N")]
    pub blocks: Option<u32>,
    /// Run as many blocks as this time allows.
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<Time>,
    /// Add blocks until intervals are this narrow.
    ///
    /// Every confidence interval then deviates from its ratio by at most this percentage. At least
    /// 10 blocks are run; --blocks [default: 100] and --time-limit limit their number.
    #[arg(long, value_name = "P%")]
    pub until: Option<String>,
    /// Seed of the order of runs [default: 1].
    #[arg(long, value_name = "N")]
    pub order_seed: Option<u64>,
    /// Run baselines twice in each block [default: on].
    ///
    /// The second run is the A/A control: it shows how much the same system differs from itself
    /// (A/A noise).
    #[arg(long, overrides_with = "no_twin")]
    pub twin: bool,
    /// Turn --twin off.
    #[arg(long, overrides_with = "twin")]
    pub no_twin: bool,
    /// The value with which others are compared.
    ///
    /// It is a target, an axis value like files=1000, or a workload [default: the first target].
    #[arg(long, value_name = "VALUE")]
    pub baseline: Option<String>,
    /// What is compared, like create (rate) or create.p99.
    ///
    /// 'postmark compare --help' explains metrics. Repeat the option for more [default:
    /// transactions].
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,
    /// Compare cells of different conditions.
    ///
    /// Their shares of skipped or failed operations may differ by more than 1 %.
    #[arg(long)]
    pub unlike: bool,
    /// Longest wait for a quiet machine [default: 10s].
    ///
    /// The study waits before each run; 0s is no wait.
    #[arg(long, value_name = "TIME")]
    pub quiet_time: Option<Time>,
    /// Show the results in the tables of a paper, too.
    ///
    /// The paper is tr3022, veritas, sessions, submissions or completion.
    #[arg(long, value_name = "NAME")]
    pub layout: Option<PaperLayout>,
    /// Show the paper's own numbers, too (with --layout).
    ///
    /// They are beside the study's, with those of the paper's findings that still hold.
    #[arg(long)]
    pub with_published: bool,
    /// Continue a study that did not end.
    ///
    /// STUDY is its identity, its name or last [default: last].
    #[arg(long, value_name = "STUDY", num_args = 0..=1, default_missing_value = "last",
        conflicts_with_all = ["file", "preset", "config", "like", "target", "axis", "age",
            "fullness", "name", "order_seed", "twin", "no_twin", "baseline", "metric",
            "quiet_time", "side"])]
    pub resume: Option<String>,
    /// Measure one side only, like one of two kernels.
    ///
    /// This is for systems that cannot be measured in turns, like kernels between which the machine
    /// restarts. NAME is the side that is measured now. Repeat the command for each side and each
    /// --block, with the same --tag, which joins the runs, and the same other options. The side
    /// that is measured first is the baseline: --side old --block 1 --tag kernels, --side new
    /// --block 1 --tag kernels, then --block 2 of both.
    #[arg(long, value_name = "NAME", requires_all = ["block", "tag"])]
    pub side: Option<String>,
    /// The block that --side measures, from 1.
    #[arg(long, value_name = "N", requires = "side",
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub block: Option<u32>,
    /// Show what the study would do, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Run on targets without enough free space.
    #[arg(long)]
    pub no_space_check: bool,
    /// Let root use targets that other users can replace.
    ///
    /// As root, the study keeps root's rights in targets that other users can rename or replace
    /// (unsafe).
    #[arg(long)]
    pub allow_unsafe_target: bool,
    /// Format of the report: text, markdown, csv or json.
    #[arg(long, value_parser = format::one_of(format::COMPARISON), default_value = "text")]
    pub format: Format,
    /// Write an HTML page about the study to this file.
    ///
    /// The page is that of 'postmark report'.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Overwrite the file of --report if it exists.
    #[arg(long)]
    pub force: bool,
    /// Archive that keeps the runs.
    ///
    /// The default is $POSTMARK_ARCHIVE, or postmark/archive.db in the user's data directory.
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    #[command(flatten)]
    pub remarks: RemarkArguments,
    /// Exit with status 3 if a run is INVALID.
    #[arg(long)]
    pub strict: bool,
    /// Show neither plan nor progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// File that gets the report instead of standard output, for 'run --repeat'.
    #[arg(skip)]
    pub output: Option<PathBuf>,
    /// Options of the runs.
    #[command(flatten)]
    pub options: Options,
}
