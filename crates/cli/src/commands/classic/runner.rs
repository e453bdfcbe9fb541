//! Performs the runs of the classic prompt. Converts the settings of the prompt to a run spec, and
//! the record of the run to the figures of the prompt's report.

use std::io::Write;

use campaign::classic::{ClassicRunner, PromptSettings, RunEnd};
use campaign::{exit_status, left_something};
use document::{Format, sanitize};
use record::{Classic, Outcome, Record};
use runner::{Events, Place, Refused, RunSpec};
use spec::EngineName;

use super::progress::ClassicProgress;

/// Performs the runs of the prompt. `perform` is [`crate::ui::perform::perform`]; tests use another
/// function.
#[derive(Debug)]
pub struct PromptRunner<P> {
    perform: P,
    command_line: Vec<String>,
    /// Whether a run is refused if its target does not have enough free space.
    pub room_check: bool,
    /// Whether root keeps its rights in a target that other users can rename or replace.
    pub trusts_others: bool,
}

impl<P> PromptRunner<P> {
    /// `command_line` is the command line of the program. Each record contains it.
    pub fn new(perform: P, command_line: Vec<String>) -> Self {
        Self {
            perform,
            command_line,
            room_check: true,
            trusts_others: false,
        }
    }
}

impl<P> ClassicRunner for PromptRunner<P>
where
    P: FnMut(&RunSpec, &mut dyn Events) -> Result<Record, Refused>,
{
    fn run(
        &mut self,
        settings: &PromptSettings,
        workload: Classic,
        output: &mut dyn Write,
        errors: &mut dyn Write,
    ) -> RunEnd {
        let mut complain = |text: String| {
            // A closed standard error must not stop the session.
            let _ = writeln!(errors, "Error: {}", sanitize::shown(text));
        };
        let transactions = workload.transactions;
        let targets = settings.paths().into_iter().map(|(path, _)| path).collect();
        let spec = RunSpec {
            command_line: self.command_line.clone(),
            engine: if settings.buffered {
                EngineName::STDIO
            } else {
                EngineName::RAW
            },
            room_check: self.room_check,
            trusts_others: self.trusts_others,
            ..RunSpec::classic(workload.into(), targets, Place::Location)
        };
        let mut progress = ClassicProgress::new(transactions, output);
        match (self.perform)(&spec, &mut progress) {
            Ok(record) => end(&record, output, &mut complain),
            Err(refused) => {
                complain(refused.to_string());
                RunEnd::Failed
            }
        }
    }
}

/// Converts a record to the figures of a complete run. For an incomplete run, prints a partial
/// report instead.
fn end(record: &Record, output: &mut dyn Write, complain: &mut dyn FnMut(String)) -> RunEnd {
    if let Some(clean_up) = &record.actual.clean_up {
        for left in &clean_up.left {
            complain(format!("not removed: {}: {}", left.path, left.why));
        }
    }
    let leave = || RunEnd::Leave(exit_status(record));
    let (why, end) = match &record.actual.outcome {
        Outcome::Complete => match record.actual.classic {
            Some(figures) if left_something(record) => return RunEnd::NotRemoved(figures),
            Some(figures) => return RunEnd::Complete(figures),
            None => unreachable!("a run of the classic work has the classic figures"),
        },
        Outcome::Failed { why } => (why.clone(), RunEnd::Failed),
        Outcome::PlaceGone { why } => (why.clone(), leave()),
        Outcome::Interrupted { signal } => (format!("interrupted by signal {signal}"), leave()),
        Outcome::Unfinished => unreachable!("a run that was performed has ended"),
    };
    complain(why);
    let partial = report::classic::of_record(record, Format::Classic);
    // A write error is ignored here: the session handles a closed output after the run.
    let _ = output
        .write_all(partial.as_bytes())
        .and_then(|()| output.flush());
    end
}
