//! Runs of the program with what they came to.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::{Action, Fact, Outcome, Phase, Record, Role};
use verdict::{OperationSummary, PhaseSummary, Summary};

use crate::support::interface::program;
use crate::support::{Ended, Running, names};

/// A run that is asked for.
#[derive(Clone, Debug)]
pub struct Run {
    program: PathBuf,
    words: Vec<OsString>,
    at: PathBuf,
}

impl Run {
    /// `postmark run` in a directory with options, which have no spaces in them.
    pub fn new(at: &Path, options: &str) -> Self {
        let fixed = ["run", "--format", "json", "--target"].map(OsString::from);
        Self {
            program: program().to_owned(),
            words: fixed
                .into_iter()
                .chain([at.as_os_str().to_owned()])
                .collect(),
            at: at.to_owned(),
        }
        .and(options)
    }

    /// The same with more options.
    pub fn and(mut self, options: &str) -> Self {
        self.words
            .extend(options.split_whitespace().map(OsString::from));
        self
    }

    /// The same with an option whose value may hold anything.
    pub fn with(mut self, option: &str, value: impl AsRef<OsStr>) -> Self {
        self.words
            .extend([option.into(), value.as_ref().to_owned()]);
        self
    }

    /// The command.
    pub fn command(&self) -> Command {
        let mut command = Running::command(&self.program);
        command.args(&self.words);
        command
    }

    /// Begins it.
    pub fn start(&self) -> Running {
        Running::start(self.command(), &self.at)
    }

    /// Performs it to its end; no record is expected.
    pub fn end(&self) -> Ended {
        self.start().finish()
    }

    /// Performs it to its end.
    pub fn perform(&self) -> Ran {
        let before = names(&self.at).unwrap();
        Ran::of(self.end(), before)
    }

    /// Performs it to its end, which may take long.
    pub fn perform_long(&self) -> Ran {
        let before = names(&self.at).unwrap();
        Ran::of(self.start().of_long_patience().finish(), before)
    }
}

/// `postmark clean`, `postmark verify-log` and the like, on a directory.
pub fn postmark(place: &Path, words: &[&OsStr]) -> Ended {
    let mut command = Running::command(program());
    command.args(words);
    Running::run_to_end(command, place)
}

/// A run that has ended and left a record.
#[derive(Debug)]
pub struct Ran {
    pub ended: Ended,
    pub record: Record,
    pub summary: Summary,
    /// The names in its target before it began.
    before: Vec<OsString>,
}

impl Ran {
    /// What ended, with the record on its standard output; `before` it there were these names in
    /// its target.
    pub fn of(ended: Ended, before: Vec<OsString>) -> Self {
        let record = Record::from_json(&ended.output).unwrap_or_else(|error| {
            panic!("there is no record on standard output: {error}\n{ended}")
        });
        Self::with_record(ended, record, before)
    }

    /// The same with a record from elsewhere.
    pub fn with_record(ended: Ended, record: Record, before: Vec<OsString>) -> Self {
        let summary = Summary::of(&record);
        Self {
            ended,
            record,
            summary,
            before,
        }
    }

    /// Asserts something.
    ///
    /// # Panics
    /// Where it does not hold.
    pub fn assert(&self, holds: bool, what: impl fmt::Display) -> &Self {
        assert!(holds, "{what}\n{self}");
        self
    }

    /// Asserts that everything was done, nothing went wrong, all was looked at and on the device,
    /// and nothing is left.
    pub fn is_complete(&self) -> &Self {
        self.ended.code(0);
        let actual = &self.record.actual;
        self.assert(
            actual.outcome == Outcome::Complete,
            "the outcome is not 'complete'",
        )
        .assert(!self.summary.partial, "the summary calls it partial")
        .assert(actual.errors.is_empty(), "there are errors")
        .assert(actual.stalled.is_empty(), "somebody was stalled")
        .assert(
            actual.clean_up.is_none(),
            "something was left to be cleaned up",
        );
        let checked = actual.check.known().is_some_and(|check| check.names > 0);
        self.assert(checked, "the names were not checked");
        for phase in &actual.phases {
            let name = phase.phase.name();
            self.assert(phase.complete, format_args!("{name} is not complete"))
                .assert(phase.sync.is_some(), format_args!("{name} did not sync"))
                .assert(
                    phase.skipped().after_failure == 0,
                    format_args!("{name} has skipped operations"),
                );
        }
        let failed = |phase: &PhaseSummary| {
            phase
                .operations
                .iter()
                .any(|operation| operation.failed > 0)
        };
        self.assert(
            !self.summary.phases.iter().any(failed),
            "operations have failed",
        )
    }

    /// Asserts that all phases were begun, and that the space was seen to come back.
    pub fn has_all_phases(&self) -> &Self {
        let phases: Vec<Phase> = self
            .record
            .actual
            .phases
            .iter()
            .map(|phase| phase.phase)
            .collect();
        let space_back = self.phase(Phase::Delete).space_back_ns.as_ref();
        self.assert(phases == Phase::ALL, "there is not every phase")
            .assert(
                matches!(space_back, Some(Fact::Known(_))),
                format_args!("the space was not seen to come back: {space_back:?}"),
            )
            .leaves_nothing()
    }

    /// Asserts that the target has the names that it had before.
    pub fn leaves_nothing(&self) -> &Self {
        let now = names(&self.ended.place).unwrap();
        self.assert(
            now == self.before,
            format_args!(
                "the names in the target were {:?} and are {now:?}",
                self.before
            ),
        )
    }

    /// A phase.
    pub fn phase(&self, phase: Phase) -> &PhaseSummary {
        self.summary
            .phase(phase)
            .unwrap_or_else(|| panic!("there is no phase {}\n{self}", phase.name()))
    }

    /// Completed operations of a kind and a role in the transactions.
    pub fn count(&self, role: Role, action: Action) -> u64 {
        let is_meant =
            |operation: &&OperationSummary| operation.role == role && operation.action == action;
        let operations = self.phase(Phase::Transactions).operations.iter();
        operations
            .filter(is_meant)
            .map(|operation| operation.operations.count)
            .sum()
    }

    /// Bytes that the transactions' reads got from the device, and bytes that they read.
    pub fn served_by(&self) -> (u64, u64) {
        let reads = self.summary.reads.as_ref();
        match reads.map(|reads| (&reads.fetched_bytes, reads.read_bytes)) {
            Some((Fact::Known(device_bytes), read_bytes)) => (*device_bytes, read_bytes),
            _ => panic!("it is not known what was fetched\n{self}"),
        }
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let actual = &self.record.actual;
        write!(f, "{}", self.ended)?;
        writeln!(f, "==== the record:\noutcome {:?}", actual.outcome)?;
        writeln!(f, "errors {:#?}", actual.errors)?;
        writeln!(f, "stalled {:?}\ncheck {:?}", actual.stalled, actual.check)?;
        writeln!(
            f,
            "clean-up {:?}\nfetched {:?}",
            actual.clean_up, self.summary.reads
        )?;
        for phase in &self.summary.phases {
            writeln!(
                f,
                "{}: complete {}, {:.3} s, sync {:?} ns, space back {:?}, skipped {:?}",
                phase.phase.name(),
                phase.complete,
                phase.duration_ns as f64 / 1e9,
                phase.sync_ns,
                phase.space_back_ns,
                phase.skipped
            )?;
            for operation in &phase.operations {
                let steps: Vec<String> = operation
                    .steps
                    .iter()
                    .map(|step| format!("{} {}", step.step, step.count))
                    .collect();
                writeln!(
                    f,
                    "  {:?} {}: {}, failed {}, steps [{}]",
                    operation.role,
                    operation.action.name(),
                    operation.operations.count,
                    operation.failed,
                    steps.join(", ")
                )?;
            }
        }
        Ok(())
    }
}
