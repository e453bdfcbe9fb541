//! The classic prompt's runs: settings in, figures out, the runner in between.

use std::io::Write;
use std::path::PathBuf;

use record::{Outcome, Record};
use runner::{Clock, Place, Request, RequestedLocation};

use crate::classic::{Engine, Progress, RunEnd, Settings};
use crate::perform::{exit_code, perform};
use crate::said::StorageName;

/// Performs the prompt's runs with a clock: the machine's, or a test's.
#[derive(Debug)]
pub struct RunnerEngine<C> {
    clock: C,
    said: Vec<String>,
}

impl<C: Clock> RunnerEngine<C> {
    /// An engine of a session that was started with these words.
    pub fn new(clock: C, said: Vec<String>) -> Self {
        Self { clock, said }
    }
}

impl<C: Clock> Engine for RunnerEngine<C> {
    fn run(&mut self, settings: &Settings, output: &mut dyn Write, errors: &mut dyn Write) -> RunEnd {
        let mut complain = |text: String| {
            // A closed standard error is no reason to stop.
            let _ = writeln!(errors, "Error: {text}");
        };
        let workload = match settings.workload() {
            Ok(workload) => workload,
            Err(error) => {
                complain(error.to_string());
                return RunEnd::Failed;
            }
        };
        let mut paths: Vec<PathBuf> = settings.locations.iter().map(|location| location.path.clone()).collect();
        if paths.is_empty() {
            // The original's names then have no directory before them.
            paths.push(PathBuf::new());
        }
        let transactions = workload.transactions;
        let request = Request {
            said: self.said.clone(),
            workload,
            locations: paths.into_iter().map(|path| RequestedLocation { path }).collect(),
            place: Place::Location,
            latencies: true,
            room_check: true,
        };
        let storage = if settings.buffered { StorageName::Stdio } else { StorageName::Raw };
        let mut progress = Progress::new(transactions, output);
        match perform(&request, storage, &self.clock, &mut progress) {
            Ok(record) => end(&record, output, &mut complain),
            Err(refused) => {
                complain(refused.to_string());
                RunEnd::Failed
            }
        }
    }
}

/// What follows a run: figures for the report, or what there is of them, marked as partial.
fn end(record: &Record, output: &mut dyn Write, complain: &mut dyn FnMut(String)) -> RunEnd {
    if let Some(clean_up) = record.actual.clean_up.as_ref().filter(|clean_up| !clean_up.left.is_empty()) {
        for left in &clean_up.left {
            complain(format!("not removed: {}: {}", left.path, left.why));
        }
    }
    match &record.actual.outcome {
        Outcome::Complete => return RunEnd::Complete(record.actual.classic),
        Outcome::Failed { why } => complain(why.clone()),
        Outcome::Interrupted { signal } => complain(format!("interrupted by signal {signal}")),
    }
    let partial = report::classic::partial(&record.actual.classic);
    // What to do with a reader that has gone is for the session to decide.
    let _ = output.write_all(partial.as_bytes()).and_then(|()| output.flush());
    match &record.actual.outcome {
        Outcome::Interrupted { .. } => RunEnd::Interrupted(exit_code(record)),
        _ => RunEnd::Failed,
    }
}
