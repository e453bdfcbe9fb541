//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;
use study::Metric;

use super::ArchiveArgument;
use super::compare::ConditionArguments;

#[derive(Debug, Args)]
#[command(after_help = "A RUN is one of these:
  12, last   an archived run by its number, or the last one
  9f3a       at least four digits of a run's identity
  run.json   a file with records, or a page that this command wrote
  STUDY      a study by its name or identity, with all of its runs
Cells of a study, tags and several runs (3..9) are compared, as
'postmark compare' does; the first one is the baseline.

Exit status: 0 written; 2 refused.")]
pub struct ReportArguments {
    /// Runs, a study, or the baseline and its candidates.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Compare single runs with the first one.
    ///
    /// It is the baseline.
    #[arg(long)]
    pub compare: bool,
    /// Compare this metric, as 'postmark compare' does.
    ///
    /// The default is that of the study, or transactions. Repeat the option for more.
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<Metric>,
    #[command(flatten)]
    pub conditions: ConditionArguments,
    /// Write the HTML file here; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Write each chart to this directory, too.
    ///
    /// The files are SVG for one column (85 mm) and two columns (178 mm) of a paper, CSV, and a
    /// caption.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Overwrite files that exist.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}
