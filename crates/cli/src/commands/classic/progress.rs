//! Prints the progress of a classic run: the lines and dots of the original PostMark, flushed
//! immediately.
//!
//! Reports and error messages are printed by the caller. If a stage of the run is aborted,
//! its line of output is ended, so that an error message starts on a new line.

use std::io::Write;

use document::sanitize;
use runner::{Event, Events, Stage};
use workload::{End, Phase};

use crate::ui::progress::{is_first_told, stalled_line};

/// Text after the dots in place of `Done`, if no file was left to read or delete.
const OUT_OF_FILES: &str = "out of files!\nFor this workload, either increase the number of files \
                            or\ndecrease the number of transactions.\n";

/// Writes the progress of the original PostMark. Write errors are ignored, so that a closed output
/// does not stop a run.
pub struct ClassicProgress<'a> {
    output: &'a mut dyn Write,
    /// Number of transactions per dot. A dot is printed after the first transaction of each such
    /// group.
    tenth: u64,
    dots: u64,
}

impl<'a> ClassicProgress<'a> {
    pub fn new(transactions: u64, output: &'a mut dyn Write) -> Self {
        Self {
            output,
            // At least 1: with fewer than ten transactions, the original PostMark divides by zero.
            tenth: (transactions / 10).max(1),
            dots: 0,
        }
    }

    /// Prints a dot for each completed transaction whose index, from 0, is a multiple of `tenth`.
    fn dots(&mut self, done: u64) {
        let due = done.div_ceil(self.tenth);
        while self.dots < due {
            self.write(".");
            self.dots += 1;
        }
    }

    fn write(&mut self, text: &str) {
        // A write error is ignored here: the session handles a closed output after the run.
        let _ = self
            .output
            .write_all(text.as_bytes())
            .and_then(|()| self.output.flush());
    }
}

impl Events for ClassicProgress<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::PhaseStarted(stage, _) => self.write(beginning(stage)),
            Event::PhaseProgress(Stage::Phase(Phase::Transactions), progress) => {
                self.dots(progress.done)
            }
            Event::PhaseProgress(..)
            | Event::Second(_)
            | Event::Load(..)
            | Event::WorkloadPhase(..)
            | Event::RecordOpened(_)
            | Event::PhaseRecorded(_)
            | Event::RecordMerged(_) => {}
            Event::PhaseEnded(stage, progress, end) => {
                if stage == Stage::Phase(Phase::Transactions) {
                    self.dots(progress.done);
                }
                self.write(match (stage, end) {
                    (stage, _) if beginning(stage).is_empty() => "",
                    (_, End::Complete) => "Done\n",
                    (_, End::OutOfFiles | End::OutOfReach | End::NothingPossible) => OUT_OF_FILES,
                });
            }
            Event::PhaseAborted(stage, _) if beginning(stage).is_empty() => {}
            Event::PhaseAborted(stage, progress) => {
                if stage == Stage::Phase(Phase::Transactions) {
                    self.dots(progress.done);
                }
                self.write("\n");
            }
            Event::OtherUser(other_user) if is_first_told() => warn(other_user),
            Event::OtherUser(_) => {}
            Event::Stalled(stalled) => warn(stalled_line(&stalled)),
        }
    }
}

/// Prints a warning on standard error, because standard output contains only text of the original
/// PostMark.
fn warn(what: impl std::fmt::Display) {
    // If standard error is closed, the warning is lost and the run continues.
    let _ = writeln!(std::io::stderr(), "Warning: {}", sanitize::shown(what));
}

/// Text at the start of a stage; empty for stages that the original does not have.
fn beginning(stage: Stage) -> &'static str {
    match stage {
        Stage::MakeDirectories => "Creating subdirectories...",
        Stage::Phase(Phase::Prepare) => "Creating files...",
        Stage::Phase(Phase::Transactions) => "Performing transactions",
        Stage::Phase(Phase::Delete) => "Deleting files...",
        Stage::RemoveDirectories => "Deleting subdirectories...",
        Stage::Take
        | Stage::PhaseSync
        | Stage::FreeSpace
        | Stage::Warm
        | Stage::Cool
        | Stage::Check
        | Stage::CheckAcross
        | Stage::CleanUp => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(transactions: u64, done: u64, end: End) -> String {
        let mut output = Vec::new();
        let mut progress = ClassicProgress::new(transactions, &mut output);
        let at = |done| runner::Progress {
            done,
            completed: done,
            total: Some(transactions),
        };
        let stage = Stage::Phase(Phase::Transactions);
        progress.event(Event::PhaseStarted(stage, at(0)));
        progress.event(Event::PhaseProgress(stage, at(done / 3)));
        progress.event(Event::PhaseProgress(stage, at(done / 2)));
        progress.event(Event::PhaseEnded(stage, at(done), end));
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn each_tenth_of_the_transactions_prints_a_dot() {
        for (transactions, dots) in [
            (500, 10),
            (10, 10),
            (11, 11),
            (25, 13),
            (19, 19),
            (99, 11),
            (100, 10),
            (3, 3),
        ] {
            let expected = format!("Performing transactions{}Done\n", ".".repeat(dots));
            assert_eq!(
                told(transactions, transactions, End::Complete),
                expected,
                "{transactions}"
            );
        }
    }

    #[test]
    fn message_out_of_files_follows_the_dots() {
        assert_eq!(
            told(10, 5, End::OutOfFiles),
            "Performing transactions.....out of files!\nFor this workload, either increase the \
             number of files or\ndecrease the number of transactions.\n"
        );
    }

    #[test]
    fn aborted_stage_ends_its_line() {
        let mut output = Vec::new();
        let mut progress = ClassicProgress::new(100, &mut output);
        let nothing = runner::Progress::default();
        progress.event(Event::PhaseStarted(Stage::MakeDirectories, nothing));
        progress.event(Event::PhaseEnded(
            Stage::MakeDirectories,
            nothing,
            End::Complete,
        ));
        progress.event(Event::PhaseStarted(Stage::Phase(Phase::Prepare), nothing));
        progress.event(Event::PhaseAborted(Stage::Phase(Phase::Prepare), nothing));
        progress.event(Event::PhaseStarted(Stage::CleanUp, nothing));
        progress.event(Event::PhaseEnded(Stage::CleanUp, nothing, End::Complete));
        assert_eq!(
            output,
            b"Creating subdirectories...Done\nCreating files...\n"
        );
    }
}
