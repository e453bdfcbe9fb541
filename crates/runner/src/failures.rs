//! What went wrong, counted by operation, step and error number; and when that is too much.

use std::collections::HashSet;

use observe::Fact;
use record::ErrorRecord;
use storage::Failure;
use workload::contents::{Mismatch, MismatchKind};
use workload::{Action, Intent};

use crate::control::Control;
use crate::request::OnError;

/// Before this many operations no share of errors is judged.
const JUDGED_FROM: u64 = 100;

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub operation: &'static str,
    pub path: String,
    pub step: &'static str,
    pub errno: Option<i32>,
    pub message: String,
    /// Bytes moved before it: nothing where the storage does not know.
    pub moved_bytes: Option<u64>,
}

impl Failed {
    /// An operation that failed.
    pub(crate) fn operation(operation: &'static str, path: String, failure: Failure) -> Self {
        Self {
            operation,
            path,
            step: failure.step.name(),
            errno: failure.errno(),
            message: failure.cause.to_string(),
            moved_bytes: failure.moved_bytes,
        }
    }

    /// An operation that was done and whose result is wrong.
    pub(crate) fn verification(operation: &'static str, path: String, message: String) -> Self {
        Self {
            operation,
            path,
            step: "verify",
            errno: None,
            message,
            moved_bytes: Some(0),
        }
    }

    /// Contents that are not what they must be.
    pub(crate) fn content(operation: &'static str, path: String, mismatch: &Mismatch) -> Self {
        let kind = match mismatch.kind {
            MismatchKind::Old { version } => format!("the contents of version {version}, which are old"),
            MismatchKind::Torn { version } => format!("torn contents, in part of version {version}"),
            MismatchKind::OtherFile { file } => format!("the contents of another file (number {file})"),
            MismatchKind::Zeros => "zeros".to_owned(),
            MismatchKind::Wrong => "wrong contents".to_owned(),
        };
        let message = format!(
            "read {kind}: at offset {} byte {:#04x} was found where {:#04x} was written",
            mismatch.offset, mismatch.found, mismatch.expected
        );
        Self::verification(operation, path, message)
    }

    /// In words: what was being done, to what, and what was answered.
    pub(crate) fn describe(&self) -> String {
        let preposition = match self.operation {
            "append" => " to",
            _ => "",
        };
        format!(
            "cannot {}{preposition} {} (step {}): {}",
            self.operation, self.path, self.step, self.message
        )
    }

    fn record(&self) -> ErrorRecord {
        ErrorRecord {
            operation: self.operation.to_owned(),
            step: self.step.to_owned(),
            errno: self.errno.map_or(Fact::NotApplicable, Fact::Known),
            message: self.message.clone(),
            count: 1,
            first_path: self.path.clone(),
            moved_bytes: match self.moved_bytes {
                Some(bytes) => Fact::Known(bytes),
                None => Fact::Unavailable("the stream does not tell what it has written".to_owned()),
            },
        }
    }
}

/// One worker's errors.
#[derive(Debug)]
pub(crate) struct Failures {
    on_error: OnError,
    control: Control,
    pub records: Vec<ErrorRecord>,
    /// Files whose state is not known since an operation on them failed: nothing more is sent to them.
    spoiled: HashSet<u64>,
}

impl Failures {
    pub(crate) fn new(on_error: OnError, control: Control) -> Self {
        Self {
            on_error,
            control,
            records: Vec::new(),
            spoiled: HashSet::new(),
        }
    }

    /// Whether nothing is to be sent to the file of an intent any more.
    #[inline]
    pub(crate) fn skips(&self, intent: &Intent) -> bool {
        !self.spoiled.is_empty() && self.is_spoiled(intent.file)
    }

    /// Whether what has become of a file is not known.
    pub(crate) fn is_spoiled(&self, file: u64) -> bool {
        self.spoiled.contains(&file)
    }

    /// Whether there is any such file.
    pub(crate) fn any_spoiled(&self) -> bool {
        !self.spoiled.is_empty()
    }

    /// Counts a failure. Gives it back where it ends the run.
    pub(crate) fn count(&mut self, failed: Failed) -> Result<(), Failed> {
        let same = |known: &&mut ErrorRecord| {
            known.operation == failed.operation
                && known.step == failed.step
                && known.errno == failed.errno.map_or(Fact::NotApplicable, Fact::Known)
        };
        match self.records.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => self.records.push(failed.record()),
        }
        let errors = self.control.count_error();
        let too_many = match self.on_error {
            OnError::Stop => true,
            OnError::Count(allowed) => errors > allowed,
            OnError::Percent(percent) => {
                let done = self.control.operations();
                done >= JUDGED_FROM && errors as f64 * 100.0 > percent * done as f64
            }
        };
        if too_many { Err(failed) } else { Ok(()) }
    }

    /// The operation of an intent failed.
    pub(crate) fn spoil(&mut self, intent: &Intent) {
        let has_a_file = !matches!(
            intent.action,
            Action::RemoveLink
                | Action::RemoveSymbolicLink
                | Action::MakeDirectory
                | Action::RemoveDirectory
                | Action::Link
                | Action::SymbolicLink
        );
        if has_a_file && !intent.action.reads() {
            self.spoiled.insert(intent.file);
        }
    }
}

/// Adds up errors of several workers.
pub(crate) fn merge(all: &mut Vec<ErrorRecord>, more: Vec<ErrorRecord>) {
    for error in more {
        let same = |known: &&mut ErrorRecord| {
            (&known.operation, &known.step, &known.errno) == (&error.operation, &error.step, &error.errno)
        };
        match all.iter_mut().find(same) {
            Some(known) => known.count += error.count,
            None => all.push(error),
        }
    }
}
