//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;
use study::Metric;

use super::ArchiveArgument;

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
    /// Runs, a study, or the baseline and the sides to compare with it.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Compare single runs, too: the first one is the baseline.
    #[arg(long)]
    pub compare: bool,
    /// Compare this metric of the runs, as in 'postmark compare' [default: the study's, or
    /// transactions]. Repeat for more.
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<Metric>,
    /// Compare runs even if they differ in workload, durability tier, cache state or host, or if
    /// their shares of skipped or failed operations differ by more than 1 %.
    #[arg(long)]
    pub unlike: bool,
    /// Write the HTML file here ('-': standard output).
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Write each picture to this directory, too: SVG for one column (85 mm) and two columns (178
    /// mm) of a paper, CSV, and a caption.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Overwrite files that exist.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}
