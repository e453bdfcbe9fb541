//! The arguments of `compare` and `gate`.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use document::Format;
use study::{CrashRequirement, MayDiffer, Metric, PaperLayout, Requirement, RequirementError};

use super::{ArchiveArgument, format};

/// The option of all commands that compare runs.
#[derive(Debug, Args)]
pub struct ConditionArguments {
    /// Allow conditions to differ: all, or these.
    ///
    /// The conditions are workload, durability (tier), cache (state), host (name), medium (memory
    /// or not), image (of a scratch file system) and shares (of skipped or failed operations, by
    /// more than 1 %). Write a list with an equals sign: --unlike=host,medium. Other differences
    /// are refused.
    #[arg(
        long,
        value_name = "WHAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    pub unlike: Option<MayDiffer>,
}

#[derive(Debug, Args)]
#[command(after_help = "A SIDE is one of these:
  3,5,7 or 3..9   archived runs by their numbers
  STUDY:CELL      a cell of a study, by the study's name or identity
  CELL            a cell of the last study
  TAG             all archived runs with this tag
  last            the last run
  STUDY           a study of one configuration
  FILE            runs in a file of 'run --format json', 'export' or 'report'
With one SIDE only: a study by its name, its identity or a tag, or last for the
last one; a file with the runs of a study; or a tag of runs on several targets.

A METRIC is one of these, in the measured transactions of a run:
  transactions    rate: transactions a second
  create          rate of an operation: creates a second; also append, delete
                  and the others, except read
  create.p99      latency of an operation: mean, p50, p90, p95, p99, p99.9,
                  p99.99 or max, as in create.mean
  read, written   throughput: bytes that operations read or wrote, a second
  cpu             processor time of this program for a transaction
  messages        requests to servers for a transaction; without a server,
                  commands to the device

Example:
  postmark compare base new --metric create --metric create.p99

Exit status: 0 compared; 2 refused.")]
pub struct CompareArguments {
    /// A study, or the baseline and its candidates.
    #[arg(required = true, value_name = "SIDE")]
    pub sides: Vec<String>,
    /// Compare this metric, like create (rate) or create.p99.
    ///
    /// The name of an operation, like create, is its rate: operations of this kind a second. With a
    /// statistic, like create.mean or create.p99, it is a latency. Repeat the option for more
    /// [default: the study's, or transactions].
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<Metric>,
    #[command(flatten)]
    pub conditions: ConditionArguments,
    /// Show a study in the tables of a paper instead.
    ///
    /// The paper is tr3022, veritas, sessions, submissions or completion.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["metric", "unlike"])]
    pub layout: Option<PaperLayout>,
    /// Show the paper's own numbers, too (with --layout).
    ///
    /// They are beside the study's, with those of the paper's findings that still hold.
    #[arg(long, requires = "layout")]
    pub with_published: bool,
    /// Format of the comparison.
    #[arg(long, value_parser = format::one_of(format::COMPARISON), default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

/// A requirement of compared runs, or of crash rounds.
#[derive(Clone, Copy, Debug)]
pub enum GateRequirement {
    Ratio(Requirement),
    Crash(CrashRequirement),
}

impl FromStr for GateRequirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        match CrashRequirement::is_begun_by(text) {
            true => text.parse().map(Self::Crash),
            false => text.parse().map(Self::Ratio),
        }
    }
}

/// What a gate decides against, if not a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// The earlier runs of the same configuration.
    History,
}

#[derive(Debug, Args)]
#[command(after_help = "'postmark compare --help' says what a SIDE is.

Exit status: 0 passed; 2 refused, or a side is missing or INVALID; 4 failed; 5 undecided.

Examples:
  postmark gate last --require 'transactions >= 0.985'
  postmark gate crash.json --require 'lost == 0' --require 'lost.bound < 2%'
  postmark gate main change --require 'transactions >= 0.985' --format markdown
  postmark gate last --against history

A bound of 0.985 passes identical systems (95 %) and fails a loss of 3 % (80 %). That takes \
8 blocks at a standard deviation of 1 %, 22 at 2 % and 47 at 3 % (of a block's ratio, which \
'compare' prints). With an A/A control a block is three runs. Without blocks it takes 12 runs of \
each side at 1 %, 42 at 2 % and 93 at 3 % (of the runs, which 'run --repeat' prints). No number \
of blocks fails a loss of 3 % by a bound of 0.97: require 0.985.")]
pub struct GateArguments {
    /// A study, or the baseline and its candidates, or crash rounds.
    #[arg(required = true, value_name = "SIDE")]
    pub sides: Vec<String>,
    /// Ratio to the baseline, like 'create.p99 <= 1.10'.
    ///
    /// Another example is 'transactions >= 0.985'. For crash rounds: 'lost == 0', 'torn == 0',
    /// 'resurrected == 0', 'foreign == 0', or a bound of the share of crashes with a loss, like
    /// 'lost.bound < 2%'. Repeat the option for more: all must hold.
    #[arg(long, required_unless_present = "against", value_name = "REQUIREMENT")]
    pub require: Vec<GateRequirement>,
    /// Decide against the noise of earlier runs: history.
    ///
    /// The gate fails if the runs are worse than the earlier runs of the same workload, engine,
    /// target, durability and host explain. It passes only if their noise would hide a loss of at
    /// most 10 %.
    #[arg(
        long,
        value_enum,
        conflicts_with_all = ["require", "confirm", "unlike"]
    )]
    pub against: Option<Against>,
    /// With --against: decide on this metric [default: transactions].
    #[arg(long, value_name = "METRIC", requires = "against")]
    pub metric: Option<Metric>,
    /// Decide on the blocks after block N only.
    ///
    /// This confirms an earlier decision on the blocks up to N.
    #[arg(long, value_name = "N")]
    pub confirm: Option<u32>,
    /// Decide despite doubts: pass or fail.
    ///
    /// Doubts are: more than half of a configuration's runs are DOUBTFUL; runs drift whose sides do
    /// not alternate in blocks; the baseline differs from itself in the A/A control; or this
    /// control is too wide for a requirement. With --against: more than half of the new runs or of
    /// the earlier runs are DOUBTFUL, or the noise would hide a loss of more than 10 %. Without
    /// this option, doubts prevent a pass, and also a failure, except that of interleaved runs (one
    /// study of all sides, in random order): the gate is then undecided. What causes the doubts can
    /// look like a difference, so with this option the gate's error probabilities do not hold.
    #[arg(long)]
    pub allow_doubtful: bool,
    #[command(flatten)]
    pub conditions: ConditionArguments,
    /// Format of the decision.
    #[arg(long, value_parser = format::one_of(format::GATE), default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}
