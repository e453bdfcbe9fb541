//! Shows the progress of a study on standard error.

use campaign::study::{ATTEMPTS, StudyEvent, StudyProgress, StudyWatcher};
use document::units::grouped;
use runner::Events;
use study::Metric;
use verdict::{Level, Summary};

use crate::ui::problem::{self, tell};
use crate::ui::progress::Display;
use crate::ui::terminal;

/// Prints one line for each measured run of a study. `quiet` suppresses these lines.
pub struct StudyDisplay {
    pub quiet: bool,
    /// The compared metrics, until the first run was examined for missing percentiles.
    pub metrics: Vec<Metric>,
}

impl StudyDisplay {
    fn show(&self, text: &str) {
        if !self.quiet {
            problem::show(text);
        }
    }

    /// Warns if the first run is too short for a percentile that the study compares. The study
    /// could otherwise end without this comparison.
    fn warn_of_short_runs(&mut self, summary: &Summary) {
        for metric in std::mem::take(&mut self.metrics) {
            if let Some(seconds) = metric.needed_s(summary) {
                tell(format_args!(
                    "warning: the runs are too short for {metric}: at this rate it takes runs of \
                     {seconds} s (to compare it, end this study and start one with --for \
                     {seconds}s)"
                ));
            }
        }
    }

    /// Prints a temporary state, for example waiting, but only on a terminal: a log should contain
    /// only results.
    fn show_briefly(&self, text: &str) {
        if terminal::is_users(&std::io::stderr()) {
            self.show(text);
        }
    }
}

impl StudyWatcher for StudyDisplay {
    /// The progress within a run is shown only on a terminal: in a log, a study of many runs would
    /// fill pages with it.
    fn display(&self) -> Box<dyn Events> {
        let is_quiet = self.quiet || !terminal::is_users(&std::io::stderr());
        Box::new(Display::new(is_quiet))
    }

    fn tell(&mut self, event: StudyEvent<'_>) {
        match event {
            StudyEvent::Next(progress) => {
                self.show_briefly(&format!("{progress}{}", left(&progress)));
            }
            StudyEvent::Measured(progress, record) => {
                let summary = Summary::of(record);
                let rate = Metric::Transactions.of(&summary);
                let rate = rate.map_or_else(
                    || "no rate".to_owned(),
                    |rate| format!("{} transactions/s", grouped(rate.round() as u64)),
                );
                let level = match summary.verdict.level {
                    Level::Valid => String::new(),
                    level => format!(", {}", level.name()),
                };
                self.show(&format!("{progress}: {rate}{level}{}", left(&progress)));
                self.warn_of_short_runs(&summary);
            }
            StudyEvent::Repeating { block, attempt } => tell(format_args!(
                "block {block} has an INVALID run and is repeated (attempt {attempt} of {ATTEMPTS})"
            )),
            StudyEvent::Making => self.show_briefly("  preparing the target"),
            StudyEvent::Waiting => self.show_briefly("  waiting for a quiet machine"),
            StudyEvent::Churning => self.show_briefly("  churning the pool"),
        }
    }
}

/// The remaining time in parentheses; empty after the last run.
fn left(progress: &StudyProgress<'_>) -> String {
    let left = progress
        .left
        .filter(|left| !left.is_zero())
        .map(|left| report::study::length(left.as_secs_f64()));
    left.map_or_else(String::new, |left| format!(" ({left} left)"))
}
