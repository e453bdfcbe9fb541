//! The status of each worker during a run. The status is stored in memory that may outlive the
//! process: see [`crate::heartbeat`].

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use system::LineHandle;
use system::shared::LINE_WORDS;
use workload::names::NameKind;
use workload::{Action, Intent};

/// The status of one operation in flight of a worker. It occupies its own cache line, because the
/// worker writes it at every operation.
#[derive(Debug)]
pub struct Slot {
    line: LineHandle,
}

/// Indices of the 64-bit integers in a slot.
mod word {
    /// Progress of the current phase, in files or transactions: done (successfully or not), and
    /// total.
    pub(super) const DONE: usize = 0;
    pub(super) const TOTAL: usize = 1;
    /// Incremented at the beginning and at the end of each operation or aside (a call outside of
    /// the workload's operations). The value is therefore odd while an operation or aside is in
    /// flight.
    pub(super) const TICKET: usize = 2;
    /// The kind of the operation or aside in flight, and the location and number of its file or
    /// directory: see [`super::Slot::tell`].
    pub(super) const WHAT: usize = 3;
    pub(super) const PLACE: usize = 4;
    pub(super) const NUMBER: usize = 5;
    pub(super) const ASIDES: usize = 6;
    /// Time of the last completed operation by the run's clock; 0 if operations are not timed.
    pub(super) const STAMP: usize = 7;
    /// Number of files or transactions of the current phase that were completed successfully.
    pub(super) const COMPLETED: usize = 8;
    /// Names that failed operations left partly written, the most recent first: see
    /// [`super::packed`].
    pub(super) const FAILED: std::ops::Range<usize> = 9..super::LINE_WORDS;
}

/// Kind and running number that identify the name of a file in a pool.
pub type WrittenName = (NameKind, u64);

/// Names of partly written files, each with the worker that was writing the file. The worker is
/// needed because workers with private pools use the same names.
pub type PartlyWritten = BTreeSet<(WrittenName, u32)>;

/// Kinds of calls that a worker issues outside of the workload's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Aside {
    OpenSession,
    /// Makes a directory of the pool.
    MakeDirectory,
    /// Removes a directory of the pool.
    RemoveDirectory,
    /// Examines a name, to check a pool.
    Look,
    /// Reads contents, to check a pool.
    ReadToLook,
    /// Lists a directory, to check a pool.
    ListToLook,
    /// Reads a file into the page cache.
    Warm,
    /// Drops a file from the page cache.
    Cool,
    AckLog,
}

/// The phrase of each [`Aside`] in messages; a path follows it.
const ASIDES: [(Aside, &str); 9] = [
    (Aside::OpenSession, "open a session"),
    (Aside::MakeDirectory, "make directory"),
    (Aside::RemoveDirectory, "remove directory"),
    (Aside::Look, "check names"),
    (Aside::ReadToLook, "check contents"),
    (Aside::ListToLook, "check names (list)"),
    (Aside::Warm, "warm the cache"),
    (Aside::Cool, "drop from the cache"),
    (Aside::AckLog, "write the acknowledgement log"),
];

impl Aside {
    /// Returns a phrase for messages, which can be followed by a path.
    pub const fn name(self) -> &'static str {
        ASIDES[self as usize].1
    }
}

/// The operation or call that a worker has in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Operation(Action),
    /// A call outside of the workload's operations, on a name of this kind.
    Aside(Aside, NameKind),
}

/// An operation in flight, or a call outside of the workload's operations (an aside).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// A number that is unique among all operations and calls that this slot has recorded.
    pub ticket: u64,
    pub doing: Doing,
    /// Index of the file's directory, as in [`Intent::place`]; for a directory of the pool, the
    /// index of its location.
    pub place: u32,
    /// Running number of the file; for a directory of the pool, its index within the location.
    pub number: u64,
}

/// Values of [`word::WHAT`] below this constant are the actions of operations. All other values are
/// calls outside of the workload ([`Aside`]), such as the creation of a pool directory.
const ASIDES_FROM: u64 = 1 << 8;

impl Slot {
    pub fn new(line: LineHandle) -> Self {
        Self { line }
    }

    #[inline]
    fn get(&self, word: usize) -> u64 {
        self.line[word].load(Ordering::Relaxed)
    }

    #[inline]
    fn set(&self, word: usize, value: u64) {
        self.line[word].store(value, Ordering::Relaxed);
    }

    /// Records that an operation is about to be issued.
    #[inline]
    pub fn issue(&self, intent: &Intent) {
        self.tell(intent.action as u64, intent.place, intent.number);
    }

    /// Performs `act`, a call outside of the workload's operations, and returns its result. The
    /// slot shows the call while it is in flight.
    pub fn aside<A>(
        &self,
        aside: Aside,
        (place, kind, number): (u32, NameKind, u64),
        act: impl FnOnce() -> A,
    ) -> A {
        self.set(word::ASIDES, self.get(word::ASIDES) + 1);
        let what = ASIDES_FROM + (aside as u64 * ASIDES_FROM) + kind as u64;
        self.tell(what, place, number);
        let answer = act();
        self.over();
        answer
    }

    /// Records the operation or [`Aside`] in flight. `what` is the number of an action if it is
    /// below [`ASIDES_FROM`]. Otherwise it encodes an aside and the kind of a name.
    #[inline]
    fn tell(&self, what: u64, place: u32, number: u64) {
        self.set(word::WHAT, what);
        self.set(word::PLACE, place.into());
        self.set(word::NUMBER, number);
        // Only one thread writes to the slot, so no atomic exchange is needed.
        self.line[word::TICKET].store(self.get(word::TICKET) + 1, Ordering::Release);
    }

    /// Records that the operation was completed at `now_ns` of the run's clock.
    #[inline]
    pub fn complete(&self, now_ns: u64) {
        self.set(word::STAMP, now_ns);
        self.over();
    }

    /// Records names that a failed operation left partly written. Older names are dropped if the
    /// slot is full.
    #[cold]
    pub fn failed(&self, names: &[WrittenName]) {
        for name in names {
            for word in word::FAILED.rev() {
                let moved = if word == word::FAILED.start {
                    packed(*name)
                } else {
                    self.get(word - 1)
                };
                self.set(word, moved);
            }
        }
    }

    #[inline]
    fn over(&self) {
        self.line[word::TICKET].store(self.get(word::TICKET) + 1, Ordering::Release);
    }

    /// Returns the operation or [`Aside`] in flight; `None` if none is in flight, or if it changed
    /// during the call.
    pub fn under_way(&self) -> Option<UnderWay> {
        let ticket = self.line[word::TICKET].load(Ordering::Acquire);
        let seen = UnderWay {
            ticket,
            doing: doing(self.get(word::WHAT)),
            place: self.get(word::PLACE) as u32,
            number: self.get(word::NUMBER),
        };
        (ticket % 2 == 1 && self.line[word::TICKET].load(Ordering::Acquire) == ticket)
            .then_some(seen)
    }

    /// Returns the time of the last completed operation; 0 if not available. `line` is the slot's
    /// line in the heartbeat file of an ended run.
    pub fn last_stamp_ns(line: &[u64; LINE_WORDS]) -> u64 {
        line[word::STAMP]
    }

    /// Returns names that may be partly written: those of the operation in flight and of the last
    /// failed operations. `line` is the slot's line in the heartbeat file of an ended run.
    pub fn partly_written(line: &[u64; LINE_WORDS]) -> Vec<WrittenName> {
        let mut names = match doing(line[word::WHAT]) {
            Doing::Operation(action) if line[word::TICKET] % 2 == 1 => {
                written_names(action, line[word::NUMBER])
            }
            Doing::Operation(_) | Doing::Aside(..) => Vec::new(),
        };
        names.extend(line[word::FAILED].iter().filter_map(|word| unpacked(*word)));
        names
    }

    /// Returns the number of operations that were issued.
    pub fn operations(&self) -> u64 {
        self.get(word::TICKET)
            .div_ceil(2)
            .saturating_sub(self.get(word::ASIDES))
    }

    /// Begins a phase with `total` files or transactions.
    pub fn begin(&self, total: u64) {
        self.set(word::DONE, 0);
        self.set(word::COMPLETED, 0);
        self.set(word::TOTAL, total);
    }

    /// Publishes the progress of the phase: done (successfully or not), and completed successfully.
    #[inline]
    pub fn publish(&self, done: u64, completed: u64) {
        self.set(word::DONE, done);
        self.set(word::COMPLETED, completed);
    }

    /// Returns the number of files or transactions completed in the phase, without failed and
    /// skipped ones.
    pub fn completed(&self) -> u64 {
        self.get(word::COMPLETED)
    }

    /// Returns the number of files or transactions done in the phase, successfully or not.
    pub fn done(&self) -> u64 {
        self.get(word::DONE)
    }

    /// Returns the total number of files or transactions in the phase.
    pub fn total(&self) -> u64 {
        self.get(word::TOTAL)
    }
}

/// Returns the names of the files that an operation writes. If the operation is interrupted, the
/// contents of these files are undefined.
pub fn written_names(action: Action, number: u64) -> Vec<WrittenName> {
    match action {
        Action::Replace | Action::Deliver => {
            vec![(NameKind::Temporary, number), (NameKind::File, number)]
        }
        Action::LockFile => vec![(NameKind::Temporary, number)],
        // All files of the tree may be partly written.
        Action::CopyTree | Action::CloneTree => vec![(NameKind::Tree, number)],
        Action::Append | Action::Overwrite | Action::Truncate | Action::Rewrite => {
            vec![(NameKind::File, number)]
        }
        action if action.changes_count() == Some(true) => vec![(NameKind::File, number)],
        _ => Vec::new(),
    }
}

/// Packs a name into one word, which is never 0. Running numbers stay far below 2^56, so they fit.
fn packed((kind, number): WrittenName) -> u64 {
    number << 8 | (kind as u64 + 1)
}

fn unpacked(word: u64) -> Option<WrittenName> {
    let kind = (word & 0xff).checked_sub(1)?;
    NameKind::ALL
        .get(kind as usize)
        .map(|kind| (*kind, word >> 8))
}

fn doing(what: u64) -> Doing {
    let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let Some(aside) = what.checked_sub(ASIDES_FROM) else {
        let action = Action::ALL.get(index(what)).copied();
        return Doing::Operation(action.unwrap_or(Action::Nothing));
    };
    let kind = NameKind::ALL.get(index(aside % ASIDES_FROM)).copied();
    let aside = ASIDES.get(index(aside / ASIDES_FROM)).map(|row| row.0);
    // Only `Slot` writes these codes, so the default values are never used.
    Doing::Aside(aside.unwrap_or(Aside::Look), kind.unwrap_or(NameKind::File))
}
