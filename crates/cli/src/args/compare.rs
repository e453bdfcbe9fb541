//! The arguments of `compare` and `gate`.

use clap::Args;
use document::Format;
use study::{Metric, PaperLayout, Requirement};

use super::{ArchiveArgument, format};

#[derive(Debug, Args)]
#[command(after_help = "A SIDE is one of these:
  3,5,7 or 3..9   archived runs by their numbers
  STUDY:CELL      a cell of a study, by the study's name or identity
  CELL            a cell of the last study
  TAG             all archived runs with this tag
  last            the last run
With one SIDE only: a study by its name or identity, or last for the last one.

Exit status: 0 compared; 2 refused.")]
pub struct CompareArguments {
    /// A study, or the baseline and the sides to compare with it.
    #[arg(required = true, value_name = "SIDE")]
    pub sides: Vec<String>,
    /// Compare this metric of the runs: transactions, read, written, cpu, messages, an operation
    /// like create, or its latency like create.p99. Repeat the option for more [default: the
    /// study's, or transactions].
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<Metric>,
    /// Compare runs even if they differ in workload, durability tier, cache state or host, or if
    /// their shares of skipped or failed operations differ by more than 1 %.
    #[arg(long)]
    pub unlike: bool,
    /// Show a study in the tables of a paper instead: tr3022, veritas, sessions, submissions or
    /// completion.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["metric", "unlike"])]
    pub layout: Option<PaperLayout>,
    /// With --layout: show the paper's own numbers beside the study's, and which of the paper's
    /// findings still hold.
    #[arg(long, requires = "layout")]
    pub with_published: bool,
    /// Format of the comparison.
    #[arg(long, value_parser = format::one_of(format::COMPARISON), default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

#[derive(Debug, Args)]
#[command(after_help = "'postmark compare --help' says what a SIDE is.

Exit status: 0 passed; 2 refused, or the baseline is missing or INVALID; 4 failed; 5 undecided.

Examples:
  postmark gate last --require 'transactions >= 0.985' --require 'create.p99 <= 1.10'
  postmark gate main-branch pull-request --require 'transactions >= 0.985' --format markdown

A bound of 0.985 passes identical systems (95 %) and fails a loss of 3 % (80 %). That takes
8 blocks at a standard deviation of 1 %, 21 at 2 % and 45 at 3 %.
No number of blocks fails a loss of 3 % by a bound of 0.97.")]
pub struct GateArguments {
    /// A study, or the baseline and the sides to compare with it.
    #[arg(required = true, value_name = "SIDE")]
    pub sides: Vec<String>,
    /// Require a ratio to the baseline, like 'transactions >= 0.985' or 'create.p99 <= 1.10'.
    /// Repeat the option for more: all must hold.
    #[arg(long, required = true, value_name = "REQUIREMENT")]
    pub require: Vec<Requirement>,
    /// Decide on the blocks after block N only, to confirm an earlier decision on the blocks up to
    /// N.
    #[arg(long, value_name = "N")]
    pub confirm: Option<u32>,
    /// Pass a study that is DOUBTFUL because a baseline differs from its twin, which is the same
    /// system. Otherwise such a gate is undecided.
    #[arg(long)]
    pub allow_doubtful: bool,
    /// Compare runs even if they differ in workload, durability tier, cache state or host, or if
    /// their shares of skipped or failed operations differ by more than 1 %.
    #[arg(long)]
    pub unlike: bool,
    /// Format of the decision.
    #[arg(long, value_parser = format::one_of(format::GATE), default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}
