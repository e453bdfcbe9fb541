//! Counts failures by operation, call and error number, and decides whether they end the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Failure, Step};
use record::ErrorRecord;
use rundir::NotLogged;
use spec::{OnError, RunSpec};
use system::Fact;
use workload::contents::mismatch::{Mismatch, MismatchKind};
use workload::names::NameKind;
use workload::{Action, Intent, Kept};

use crate::acknowledged::SpoiledThings;
use crate::control::Control;
use rundir::worker_status::{WrittenName, written_names};

/// Number of operations from which on the run is ended if too large a share of its operations
/// failed.
const JUDGED_FROM: u64 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub operation: &'static str,
    pub path: String,
    pub step: &'static str,
    pub errno: Option<i32>,
    pub message: String,
    /// Bytes that the operation read or wrote before it failed; `None` if the I/O engine does not
    /// report them.
    pub moved_bytes: Option<u64>,
}

impl From<NotLogged> for Failed {
    fn from(not_logged: NotLogged) -> Self {
        Self {
            operation: "write operations to the acknowledgement log",
            path: not_logged.path,
            step: not_logged.step,
            errno: not_logged.errno,
            message: not_logged.message,
            moved_bytes: None,
        }
    }
}

impl Failed {
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

    /// A failure of an operation that completed with a wrong result.
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

    pub(crate) fn content(operation: &'static str, path: String, mismatch: &Mismatch) -> Self {
        let kind = match mismatch.kind {
            MismatchKind::Old { version } => format!("old contents (version {version})"),
            MismatchKind::Torn { version } => format!("torn contents (in part version {version})"),
            MismatchKind::OtherFile { file } => {
                format!("the contents of another file (number {file})")
            }
            MismatchKind::Zeros => "zeros".to_owned(),
            MismatchKind::Wrong => "wrong contents".to_owned(),
        };
        let message = format!(
            "the read returned {kind}: the byte at offset {} is {:#04x} instead of {:#04x}",
            mismatch.offset, mismatch.found, mismatch.expected
        );
        Self::verification(operation, path, message)
    }

    /// Describes the failure in words: operation, path, call and cause.
    pub(crate) fn describe(&self) -> String {
        let preposition = match self.operation {
            "append" => " to",
            _ => "",
        };
        format!(
            "cannot {}{preposition} {} ({}): {}",
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
                None => Fact::Unavailable(
                    "the C library's stream does not tell how much it has written".to_owned(),
                ),
            },
        }
    }
}

/// Files and names of a pool whose state is unknown because operations failed.
#[derive(Debug, Default)]
pub(crate) struct Spoiled {
    any: AtomicBool,
    inner: Mutex<SpoiledThings>,
}

impl Spoiled {
    /// Adds files and names whose state is unknown because operations of another worker of this
    /// pool failed.
    pub(crate) fn add(&self, more: SpoiledThings) {
        if more == SpoiledThings::default() {
            return;
        }
        let mut things = self.lock();
        things.files.extend(more.files);
        for (place, names) in more.names {
            things.names.entry(place).or_default().extend(names);
        }
        things.written.extend(more.written);
        drop(things);
        self.any.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, SpoiledThings> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts and records the failed operations of one worker, and decides whether the run continues.
#[derive(Debug)]
pub(crate) struct Failures {
    on_error: OnError,
    control: Control,
    pub records: Vec<ErrorRecord>,
    /// Files and names with unknown state in the worker's own pool, or in the shared pool.
    spoiled: Arc<Spoiled>,
    /// The number of pool directories in a tree.
    places_of_tree: u32,
}

impl Failures {
    pub(crate) fn new(request: &RunSpec, control: Control, spoiled: Arc<Spoiled>) -> Self {
        let mix = request.workload.mix();
        let places_of_tree = mix.map_or(1, |mix| mix.layout.places_of_tree(mix.tree_levels));
        Self {
            on_error: request.on_error,
            control,
            records: Vec::new(),
            spoiled,
            places_of_tree,
        }
    }

    /// Whether an operation must be skipped, because the state of a file or name that it uses is
    /// unknown.
    #[inline]
    pub(crate) fn skips(&self, intent: &Intent) -> bool {
        self.any_spoiled() && self.uses_spoiled(intent)
    }

    fn uses_spoiled(&self, intent: &Intent) -> bool {
        let is_spoiled = |place, kind, number| self.is_spoiled(place, kind, (number, intent.file));
        let other_place = intent.second_place();
        // For a copy, `other` is the number of the source file. The source may itself be the result
        // of a failed copy.
        is_spoiled(intent.place, intent.action.named(), intent.number)
            || (intent.action.copies() && is_spoiled(other_place, NameKind::File, intent.other))
            // A copy of a directory with a file of unknown state is not what the stream expects.
            || (intent.action.makes_tree() && self.is_any_file_spoiled(intent.place))
    }

    /// Whether the state of a file is unknown in one of the pool directories that a tree copies;
    /// `first` is the first of them. Copies contain nothing else.
    fn is_any_file_spoiled(&self, first: u32) -> bool {
        let spoiled = self.spoiled.lock();
        let mut copied = spoiled.names.range(first..first + self.places_of_tree);
        copied.any(|(_, names)| names.iter().any(|(kind, _)| *kind == NameKind::File))
    }

    pub(crate) fn is_uncertain(&self, kept: &Kept) -> bool {
        self.any_spoiled() && self.is_spoiled(kept.place, kept.kind, (kept.number, kept.file))
    }

    fn is_spoiled(&self, place: u32, kind: NameKind, (number, file): (u64, u64)) -> bool {
        let spoiled = self.spoiled.lock();
        // A copy has the same file number as its source, because its contents are generated from
        // this number. A failed copy is therefore found by its name.
        (kind == NameKind::File && spoiled.files.contains(&file))
            || spoiled
                .names
                .get(&place)
                .is_some_and(|names| names.contains(&(kind, number)))
    }

    /// Whether any file or name has unknown state. Takes no lock, so that it is fast for every
    /// intent.
    #[inline]
    pub(crate) fn any_spoiled(&self) -> bool {
        self.spoiled.any.load(Ordering::Acquire)
    }

    /// Names that may or may not exist, by directory index.
    pub(crate) fn uncertain_names(&self) -> BTreeMap<u32, BTreeSet<(NameKind, u64)>> {
        self.spoiled.lock().names.clone()
    }

    /// All files and names with unknown state in the pool that this worker currently uses.
    pub(crate) fn spoiled_things(&self) -> SpoiledThings {
        self.spoiled.lock().clone()
    }

    /// Changes to another pool. `spoiled` contains the files and names of that pool whose state is
    /// unknown. Returns the same value for the previous pool.
    pub(crate) fn turn_to(&mut self, spoiled: Arc<Spoiled>) -> Arc<Spoiled> {
        std::mem::replace(&mut self.spoiled, spoiled)
    }

    /// Names of files whose last write failed. Such a file may contain only a part of the written
    /// data.
    pub(crate) fn partly_written(&self) -> BTreeSet<WrittenName> {
        self.spoiled.lock().written.clone()
    }

    /// Records a failure and counts it.
    ///
    /// # Errors
    /// Returns the failure if it ends the run.
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
        let is_early = |done| matches!(self.on_error, OnError::Percent(_)) && done < JUDGED_FROM;
        let operations = self.control.operations();
        if !is_early(operations) && self.on_error.is_exceeded(errors, operations) {
            Err(failed)
        } else {
            Ok(())
        }
    }

    /// Called for an intent whose operation was skipped. Marks its names as uncertain, because the
    /// pool may list a name that does not exist on the target.
    pub(crate) fn skipped(&mut self, intent: &Intent) {
        self.spoil(intent, Step::Open);
    }

    /// Called after a failed operation. Marks the state of the files and names that the operation
    /// would have changed as unknown. Returns the names whose files may be partly written.
    pub(crate) fn spoil(&mut self, intent: &Intent, step: Step) -> Vec<WrittenName> {
        if intent.action.reads() {
            return Vec::new();
        }
        let (place, other) = (intent.place, intent.second_place());
        let mut names = vec![(place, intent.action.named(), intent.number)];
        match intent.action {
            Action::Rename => names.push((other, NameKind::File, intent.other)),
            Action::Replace | Action::Deliver => {
                names.push((place, NameKind::Temporary, intent.number));
            }
            // Linking leaves the file itself unchanged.
            Action::Link | Action::InstallLink => {
                names = vec![(other, NameKind::Link, intent.other)];
            }
            Action::SymbolicLink => names = vec![(place, NameKind::SymbolicLink, intent.other)],
            _ => {}
        }
        let mut spoiled = self.spoiled.lock();
        // A failed copy does not change its source, which has the same file number.
        let is_of_file = names[0].1 == NameKind::File && !intent.action.copies();
        // A lock file has the same name as the file's temporary file. If the lock file remains,
        // later operations on the temporary file may fail, so the file counts as unknown.
        if is_of_file || intent.action == Action::LockFile {
            spoiled.files.insert(intent.file);
        }
        for (place, kind, number) in names {
            spoiled
                .names
                .entry(place)
                .or_default()
                .insert((kind, number));
        }
        let mut written = written_names(intent.action, intent.number);
        // A rename gives the final name only to a complete file. Only the temporary file can be
        // partly written.
        let is_by_rename = matches!(intent.action, Action::Replace | Action::Deliver);
        // If opening the file failed, nothing was written.
        written.retain(|(kind, _)| {
            step != Step::Open && (!is_by_rename || *kind == NameKind::Temporary)
        });
        spoiled.written.extend(&written);
        drop(spoiled);
        self.spoiled.any.store(true, Ordering::Release);
        written
    }
}
