//! Performs runs with the real program, and reads their records.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::{Action, Fact, Outcome, Phase, Record, Role};
use verdict::{OperationSummary, PhaseSummary, Summary};

use crate::support::interface::program;
use crate::support::{Ended, Running, names};

/// The command line of a run, built option by option.
#[derive(Clone, Debug)]
pub struct Run {
    program: PathBuf,
    words: Vec<OsString>,
    at: PathBuf,
}

impl Run {
    /// `postmark run` with a target and options, whose values contain no blanks.
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

    pub fn and(mut self, options: &str) -> Self {
        self.words
            .extend(options.split_whitespace().map(OsString::from));
        self
    }

    /// Adds an option whose value may contain blanks.
    pub fn with(mut self, option: &str, value: impl AsRef<OsStr>) -> Self {
        self.words
            .extend([option.into(), value.as_ref().to_owned()]);
        self
    }

    pub fn command(&self) -> Command {
        let mut command = Running::command(&self.program);
        command.args(&self.words);
        command
    }

    pub fn start(&self) -> Running {
        Running::start(self.command(), &self.at)
    }

    /// Runs the program until it ends, without expecting a record.
    pub fn end(&self) -> Ended {
        self.start().finish()
    }

    /// Performs the run, which must write a record.
    pub fn perform(&self) -> Ran {
        let before = names(&self.at).unwrap();
        Ran::of(self.end(), before)
    }

    /// Performs a run that may take up to half an hour.
    pub fn perform_long(&self) -> Ran {
        let before = names(&self.at).unwrap();
        Ran::of(self.start().of_long_patience().finish(), before)
    }
}

/// Runs another command of the program, for example `clean`.
pub fn postmark(place: &Path, words: &[&OsStr]) -> Ended {
    let mut command = Running::command(program());
    command.args(words);
    Running::run_to_end(command, place)
}

/// A run that has ended and written a record.
#[derive(Debug)]
pub struct Ran {
    pub ended: Ended,
    pub record: Record,
    pub summary: Summary,
    /// The names in the target before the run, to find files that the run left.
    before: Vec<OsString>,
}

impl Ran {
    /// Reads the record from standard output. `before` are the names in the target before the run.
    pub fn of(ended: Ended, before: Vec<OsString>) -> Self {
        let record = Record::from_json(&ended.output).unwrap_or_else(|error| {
            panic!("there is no record on standard output: {error}\n{ended}")
        });
        Self::with_record(ended, record, before)
    }

    /// A run whose record was not written to standard output.
    pub fn with_record(ended: Ended, record: Record, before: Vec<OsString>) -> Self {
        let summary = Summary::of(&record);
        Self {
            ended,
            record,
            summary,
            before,
        }
    }

    /// Asserts a condition. The failure message contains the output of the run.
    pub fn assert(&self, holds: bool, what: impl fmt::Display) -> &Self {
        assert!(holds, "{what}\n{self}");
        self
    }

    /// Asserts that the run is complete without errors, that its files were checked and synced, and
    /// that no files remain.
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

    /// Asserts that all phases were performed, that the record states how long the space of deleted
    /// files took to become free, and that no files remain.
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

    /// Asserts that the target contains the same names as before the run.
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

    /// The summary of a phase, which must exist.
    pub fn phase(&self, phase: Phase) -> &PhaseSummary {
        self.summary
            .phase(phase)
            .unwrap_or_else(|| panic!("there is no phase {}\n{self}", phase.name()))
    }

    /// Number of completed operations of one action, by the workers of one role, in the
    /// transactions phase.
    pub fn count(&self, role: Role, action: Action) -> u64 {
        let is_meant =
            |operation: &&OperationSummary| operation.role == role && operation.action == action;
        let operations = self.phase(Phase::Transactions).operations.iter();
        operations
            .filter(is_meant)
            .map(|operation| operation.operations.count)
            .sum()
    }

    /// For the reads of the transactions phase: the bytes that came from the device, and all bytes
    /// read.
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
                    "  {:?} {}: {}, failed {}, calls [{}]",
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
