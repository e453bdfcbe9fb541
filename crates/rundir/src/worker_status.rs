//! What each worker says of itself while a run goes on, on a line of memory that may outlive the
//! process: see [`crate::heartbeat`].

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use system::LineHandle;
use system::shared::LINE_WORDS;
use workload::names::NameKind;
use workload::{Action, Intent};

/// What one worker says of itself, on a line of cache of its own: it writes here at every
/// operation. The line outlives the process where the run's signs of life do
/// ([`crate::run_directory`]).
#[derive(Debug)]
pub struct Slot {
    line: LineHandle,
}

/// The words of a slot.
mod word {
    /// What was done so far, and is to be done, of the stage that goes on.
    pub(super) const DONE: usize = 0;
    pub(super) const TOTAL: usize = 1;
    /// Twice the operations that were issued, and one more while one is under way.
    pub(super) const TICKET: usize = 2;
    /// Which thing is done what to: see [`super::Slot::tell`].
    pub(super) const WHAT: usize = 3;
    pub(super) const PLACE: usize = 4;
    pub(super) const NUMBER: usize = 5;
    /// What was done besides operations.
    pub(super) const ASIDES: usize = 6;
    /// When the last operation was completed, by the run's clock; 0 where that is not recorded.
    pub(super) const STAMP: usize = 7;
    /// What was completed so far of the stage that goes on.
    pub(super) const COMPLETED: usize = 8;
    /// Names that operations have written in part and failed, the last first: see
    /// [`super::packed`].
    pub(super) const FAILED: std::ops::Range<usize> = 9..super::LINE_WORDS;
}

/// A name of a file that an operation writes: its kind and its running number.
pub type WrittenName = (NameKind, u64);

/// Names of files that were written in part, each with a worker that was writing it: workers with a
/// pool each give the same names.
pub type PartlyWritten = BTreeSet<(WrittenName, u32)>;

/// What a worker does besides operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Aside {
    /// A session is opened.
    OpenSession,
    /// A directory of the pool is made.
    MakeDirectory,
    /// A directory of the pool is removed.
    RemoveDirectory,
    /// A name is looked at, for the check of a pool.
    Look,
    /// Contents are read for it.
    ReadToLook,
    /// A directory is listed for it.
    ListToLook,
    /// A file is read into the cache.
    Warm,
    /// A file is dropped from the cache.
    Cool,
    /// The acknowledgement log is written.
    AckLog,
}

/// What is done, in words that a thing's path can follow.
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
    /// What is done, in words that a thing's path can follow.
    pub const fn name(self) -> &'static str {
        ASIDES[self as usize].1
    }
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// An operation.
    Operation(Action),
    /// Something else, to a name of this kind.
    Aside(Aside, NameKind),
}

/// Something under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Differs from operation to operation.
    pub ticket: u64,
    /// What it is.
    pub doing: Doing,
    /// Of a directory of the pool itself: its location.
    pub place: u32,
    /// Of a directory of the pool itself: its place among those of its location.
    pub number: u64,
}

/// A number of [`Slot::what`] from this on is an aside with a kind of name.
const ASIDES_FROM: u64 = 1 << 8;

impl Slot {
    /// On a line of its own.
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

    /// An operation is about to be issued.
    #[inline]
    pub fn issue(&self, intent: &Intent) {
        self.tell(intent.action as u64, intent.place, intent.number);
    }

    /// Something else is about to be done; what it gives is given.
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

    /// What is under way: the number of an action; or, from [`ASIDES_FROM`] on, of an aside and a
    /// kind of name.
    #[inline]
    fn tell(&self, what: u64, place: u32, number: u64) {
        self.set(word::WHAT, what);
        self.set(word::PLACE, place.into());
        self.set(word::NUMBER, number);
        // One writer: no exchange is needed.
        self.line[word::TICKET].store(self.get(word::TICKET) + 1, Ordering::Release);
    }

    /// It is completed, at a moment of the run's clock.
    #[inline]
    pub fn complete(&self, now_ns: u64) {
        self.set(word::STAMP, now_ns);
        self.over();
    }

    /// An operation has failed, and left these names written in part. Those of the last few are
    /// kept.
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

    /// The operation that is under way.
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

    /// When the last operation was completed, of a line that a run has left; 0 where nobody knows.
    pub fn last_stamp_ns(line: &[u64; LINE_WORDS]) -> u64 {
        line[word::STAMP]
    }

    /// The names that were written in part, of a line that a run has left: by the operation under
    /// way, and by the last ones that failed.
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

    /// Operations that were issued.
    pub fn operations(&self) -> u64 {
        self.get(word::TICKET)
            .div_ceil(2)
            .saturating_sub(self.get(word::ASIDES))
    }

    /// A stage begins, in which so much is to be done.
    pub fn begin(&self, total: u64) {
        self.set(word::DONE, 0);
        self.set(word::COMPLETED, 0);
        self.set(word::TOTAL, total);
    }

    /// So much of the stage is done, well or not, and so much of it was completed.
    #[inline]
    pub fn publish(&self, done: u64, completed: u64) {
        self.set(word::DONE, done);
        self.set(word::COMPLETED, completed);
    }

    /// What was completed of the stage: what is done, less what failed or was skipped.
    pub fn completed(&self) -> u64 {
        self.get(word::COMPLETED)
    }

    /// What is done of the stage.
    pub fn done(&self) -> u64 {
        self.get(word::DONE)
    }

    /// What is to be done in the stage.
    pub fn total(&self) -> u64 {
        self.get(word::TOTAL)
    }
}

/// The names of files that an operation writes: what it leaves there when it does not come to its
/// end is not known.
pub fn written_names(action: Action, number: u64) -> Vec<WrittenName> {
    match action {
        Action::Replace | Action::Deliver => {
            vec![(NameKind::Temporary, number), (NameKind::File, number)]
        }
        Action::Create | Action::Append | Action::Overwrite | Action::Truncate => {
            vec![(NameKind::File, number)]
        }
        _ => Vec::new(),
    }
}

/// A name in one word, which is not 0: numbers stay far below 2^56.
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
    // Numbers are written by `Slot` alone.
    Doing::Aside(aside.unwrap_or(Aside::Look), kind.unwrap_or(NameKind::File))
}
