//! The arguments of `history`.

use std::path::PathBuf;

use campaign::history::Order;
use clap::Args;
use document::Format;
use study::Metric;

use super::archive::Filters;
use super::{ArchiveArgument, format};

#[derive(Debug, Args)]
#[command(after_help = "RUNS are one of these:
  last, 12      a run: all runs of its workload, engine, target, durability and host
  3,5,7, 3..9   runs by their numbers
  TAG           runs with this tag
Without RUNS, the options choose the runs. Runs of several series are refused,
and the message lists the series.

'postmark compare --help' lists the metrics.

Examples:
  postmark history last
  postmark history last --metric create.p99 --by tag:commit
  postmark history nightly --output history.html

Exit status: 0 shown; 2 refused.")]
pub struct HistoryArguments {
    /// A run of the series, or runs: 3,5,7, 3..9 or a tag.
    #[arg(value_name = "RUNS")]
    pub runs: Option<String>,
    /// Show this metric, like create (rate) or create.p99.
    #[arg(long, value_name = "METRIC", default_value = "transactions")]
    pub metric: Metric,
    /// Order of the runs: time, note or tag:NAME.
    ///
    /// tag:commit orders by tags like commit:9f3a. Values that are all version numbers are ordered
    /// as such, other values by their first run. Runs without the tag are left out.
    #[arg(long, value_name = "ORDER", default_value = "time")]
    pub by: Order,
    #[command(flatten)]
    pub filters: Filters,
    /// Format of the history.
    #[arg(long, value_parser = format::one_of(format::HISTORY), default_value = "text")]
    pub format: Format,
    /// Write the history to this file [default: standard output].
    ///
    /// A name that ends in .html selects the format html.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file of --output if it exists.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}
