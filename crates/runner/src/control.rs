//! What passes between a run's workers and everybody else while it goes on: a wish to stop, counters, and what
//! each worker is about to do. Neither side ever waits for the other.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use observe::LineHandle;
use observe::shared::LINE_WORDS;
use workload::names::NameKind;
use workload::{Action, Intent, Workload};

use crate::events::Progress;

/// The handle by which a run is stopped and watched. Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Shared>,
    signal: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    /// The transactions have lasted for as long as they were to.
    over: AtomicBool,
    /// When all began with the phase, by the run's clock.
    phase_began_ns: AtomicU64,
    /// Which segment of the transactions goes on, from 0.
    segment: AtomicU32,
    /// Transactions a second that arrive, as the bits of an `f64`; 0: none by themselves.
    rate: AtomicU64,
    /// Errors of all workers.
    errors: AtomicU64,
    /// One for every worker; taken once, before the workers begin.
    slots: Mutex<Vec<Arc<Slot>>>,
}

/// What one worker says of itself, on a line of cache of its own: it writes here at every operation. The line outlives the
/// process where the run's signs of life do ([`crate::site`]).
#[derive(Debug)]
pub(crate) struct Slot {
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
    /// Names that operations have written in part and failed, the last first: see [`super::packed`].
    pub(super) const FAILED: std::ops::Range<usize> = 8..super::LINE_WORDS;
}

/// A name of a file that an operation writes: its kind and its running number.
pub(crate) type WrittenName = (NameKind, u64);

/// What a worker does besides operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Aside {
    OpenSession,
    MakeDirectory,
    RemoveDirectory,
    Look,
    ReadToLook,
    ListToLook,
    Warm,
    Cool,
    Journal,
}

impl Aside {
    const ALL: [Self; 9] = [
        Self::OpenSession,
        Self::MakeDirectory,
        Self::RemoveDirectory,
        Self::Look,
        Self::ReadToLook,
        Self::ListToLook,
        Self::Warm,
        Self::Cool,
        Self::Journal,
    ];

    /// What is done, in words that a thing's path can follow.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OpenSession => "open a session",
            Self::MakeDirectory => "make directory",
            Self::RemoveDirectory => "remove directory",
            Self::Look => "check names",
            Self::ReadToLook => "check contents",
            Self::ListToLook => "check names (list)",
            Self::Warm => "warm the cache",
            Self::Cool => "drop from the cache",
            Self::Journal => "write the journal",
        }
    }
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Operation(Action),
    /// Something else, to a name of this kind.
    Aside(Aside, NameKind),
}

/// Something under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnderWay {
    /// Differs from operation to operation.
    pub ticket: u64,
    pub doing: Doing,
    /// Of a directory of the pool itself: its location.
    pub place: u32,
    /// Of a directory of the pool itself: its place among those of its location.
    pub number: u64,
}

/// A number of [`Slot::what`] from this on is an aside with a kind of name.
const ASIDES_FROM: u64 = 1 << 8;

impl Slot {
    pub(crate) fn new(line: LineHandle) -> Self {
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
    pub(crate) fn issue(&self, intent: &Intent) {
        self.tell(intent.action as u64, intent.place, intent.number);
    }

    /// Something else is about to be done; what it gives is given.
    pub(crate) fn aside<A>(
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

    /// What is under way: the number of an action; or, from [`ASIDES_FROM`] on, of an aside and a kind of name.
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
    pub(crate) fn complete(&self, now_ns: u64) {
        self.set(word::STAMP, now_ns);
        self.over();
    }

    /// An operation has failed, and left these names written in part. Those of the last few are kept.
    #[cold]
    pub(crate) fn failed(&self, names: &[WrittenName]) {
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
    pub(crate) fn under_way(&self) -> Option<UnderWay> {
        let ticket = self.line[word::TICKET].load(Ordering::Acquire);
        let seen = UnderWay {
            ticket,
            doing: doing(self.get(word::WHAT)),
            place: self.get(word::PLACE) as u32,
            number: self.get(word::NUMBER),
        };
        (ticket % 2 == 1 && self.line[word::TICKET].load(Ordering::Acquire) == ticket).then_some(seen)
    }

    /// When the last operation was completed, of a line that a run has left; 0 where nobody knows.
    pub(crate) fn last_stamp_ns(line: &[u64; LINE_WORDS]) -> u64 {
        line[word::STAMP]
    }

    /// The names that were written in part, of a line that a run has left: by the operation under way, and by the last ones
    /// that failed.
    pub(crate) fn partly_written(line: &[u64; LINE_WORDS]) -> Vec<WrittenName> {
        let mut names = match doing(line[word::WHAT]) {
            Doing::Operation(action) if line[word::TICKET] % 2 == 1 => written_names(action, line[word::NUMBER]),
            Doing::Operation(_) | Doing::Aside(..) => Vec::new(),
        };
        names.extend(line[word::FAILED].iter().filter_map(|word| unpacked(*word)));
        names
    }

    pub(crate) fn begin(&self, total: u64) {
        self.set(word::DONE, 0);
        self.set(word::TOTAL, total);
    }

    #[inline]
    pub(crate) fn publish(&self, done: u64) {
        self.set(word::DONE, done);
    }
}

/// The names of files that an operation writes: what it leaves there when it does not come to its end is not known.
pub(crate) fn written_names(action: Action, number: u64) -> Vec<WrittenName> {
    match action {
        Action::Replace | Action::Deliver => vec![(NameKind::Temporary, number), (NameKind::File, number)],
        Action::Create | Action::Append | Action::Overwrite | Action::Truncate => vec![(NameKind::File, number)],
        _ => Vec::new(),
    }
}

/// A name in one word, which is not 0: numbers stay far below 2^56.
fn packed((kind, number): WrittenName) -> u64 {
    number << 8 | (kind as u64 + 1)
}

fn unpacked(word: u64) -> Option<WrittenName> {
    let kind = (word & 0xff).checked_sub(1)?;
    NameKind::ALL.get(kind as usize).map(|kind| (*kind, word >> 8))
}

fn doing(what: u64) -> Doing {
    let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let Some(aside) = what.checked_sub(ASIDES_FROM) else {
        let action = Action::ALL.get(index(what)).copied();
        return Doing::Operation(action.unwrap_or(Action::Nothing));
    };
    let kind = NameKind::ALL.get(index(aside % ASIDES_FROM)).copied();
    let aside = Aside::ALL.get(index(aside / ASIDES_FROM)).copied();
    // Numbers are written by `Slot` alone.
    Doing::Aside(aside.unwrap_or(Aside::Look), kind.unwrap_or(NameKind::File))
}

impl Control {
    /// A handle for a run that ends when a signal's number appears in `signal`, where there is 0 before.
    pub fn stopped_by(signal: Arc<AtomicUsize>) -> Self {
        Self {
            signal,
            ..Self::default()
        }
    }

    /// A handle for another run that ends with the same signal.
    pub(crate) fn for_another(&self) -> Self {
        Self::stopped_by(Arc::clone(&self.signal))
    }

    /// The signal that is to end the run.
    pub fn signal_caught(&self) -> Option<i32> {
        let signal = self.signal.load(Ordering::Relaxed);
        (signal != 0).then_some(signal as i32)
    }

    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the workers are to stop before their next operation.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed) || self.signal.load(Ordering::Relaxed) != 0
    }

    /// A phase begins now.
    pub(crate) fn begin_phase(&self, now_ns: u64) {
        self.shared.phase_began_ns.store(now_ns, Ordering::Relaxed);
    }

    /// When the phase that goes on began.
    pub(crate) fn phase_began_ns(&self) -> u64 {
        self.shared.phase_began_ns.load(Ordering::Relaxed)
    }

    /// The transactions end well: workers end those that they have begun.
    pub(crate) fn end_transactions(&self) {
        self.shared.over.store(true, Ordering::Relaxed);
    }

    /// Whether no transaction is to be begun any more.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }

    /// The segment of the transactions that goes on.
    #[inline]
    pub(crate) fn segment(&self) -> u32 {
        self.shared.segment.load(Ordering::Relaxed)
    }

    /// Transactions begin, in their first segment: so many a second, or in a closed loop.
    pub(crate) fn begin_transactions(&self, rate: Option<f64>) {
        self.shared
            .rate
            .store(rate.unwrap_or_default().to_bits(), Ordering::Relaxed);
        self.shared.over.store(false, Ordering::Relaxed);
        self.begin_segment(0);
    }

    /// Transactions a second that arrive; nothing in a closed loop.
    pub(crate) fn rate(&self) -> Option<f64> {
        let rate = f64::from_bits(self.shared.rate.load(Ordering::Relaxed));
        (rate > 0.0).then_some(rate)
    }

    pub(crate) fn begin_segment(&self, number: u32) {
        self.shared.segment.store(number, Ordering::Relaxed);
    }

    /// Counts an error. Gives how many there are with it.
    pub(crate) fn count_error(&self) -> u64 {
        self.shared.errors.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Errors of all workers.
    pub(crate) fn errors(&self) -> u64 {
        self.shared.errors.load(Ordering::Relaxed)
    }

    /// Operations that all workers together have issued.
    pub(crate) fn operations(&self) -> u64 {
        let of_a_slot = |slot: &Arc<Slot>| {
            let all = slot.get(word::TICKET).div_ceil(2);
            all.saturating_sub(slot.get(word::ASIDES))
        };
        self.slots().iter().map(of_a_slot).sum()
    }

    /// Takes the slots of the run's workers.
    pub(crate) fn engage(&self, slots: &[Arc<Slot>]) {
        *self.slots() = slots.to_vec();
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Slot>>> {
        self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn progress(&self) -> Progress {
        let slots = self.slots();
        let sum = |word| slots.iter().map(|slot| slot.get(word)).sum();
        let total: u64 = sum(word::TOTAL);
        Progress {
            done: sum(word::DONE),
            total: (total < Workload::ENDLESS / 2).then_some(total),
        }
    }
}
