//! What passes between a run's workers and everybody else while it goes on: a wish to stop, counters, and what
//! each worker is about to do. Neither side ever waits for the other.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use workload::Intent;

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
    /// Errors of all workers.
    errors: AtomicU64,
    /// One for every worker; taken once, before the workers begin.
    slots: Mutex<Vec<Arc<Slot>>>,
}

/// What one worker says of itself, on a line of cache of its own: it writes here at every operation.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Slot {
    done: AtomicU64,
    total: AtomicU64,
    /// Twice the operations that were issued, and one more while one is under way.
    ticket: AtomicU64,
    action: AtomicU64,
    place: AtomicU64,
    number: AtomicU64,
}

/// An operation under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnderWay {
    /// Differs from operation to operation.
    pub ticket: u64,
    /// The action's number.
    pub action: u64,
    pub place: u32,
    pub number: u64,
}

impl Slot {
    /// An operation is about to be issued.
    #[inline]
    pub(crate) fn issue(&self, intent: &Intent) {
        self.action.store(intent.action as u64, Ordering::Relaxed);
        self.place.store(intent.place.into(), Ordering::Relaxed);
        self.number.store(intent.number, Ordering::Relaxed);
        // One writer: no exchange is needed.
        self.ticket
            .store(self.ticket.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// It is completed.
    #[inline]
    pub(crate) fn complete(&self) {
        self.ticket
            .store(self.ticket.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// The operation that is under way.
    pub(crate) fn under_way(&self) -> Option<UnderWay> {
        let ticket = self.ticket.load(Ordering::Acquire);
        let seen = UnderWay {
            ticket,
            action: self.action.load(Ordering::Relaxed),
            place: self.place.load(Ordering::Relaxed) as u32,
            number: self.number.load(Ordering::Relaxed),
        };
        (ticket % 2 == 1 && self.ticket.load(Ordering::Acquire) == ticket).then_some(seen)
    }

    pub(crate) fn begin(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn publish(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }
}

impl Control {
    /// A handle for a run that ends when a signal's number appears in `signal`, where there is 0 before.
    pub fn stopped_by(signal: Arc<AtomicUsize>) -> Self {
        Self {
            signal,
            ..Self::default()
        }
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

    /// Counts an error. Gives how many there are with it.
    pub(crate) fn count_error(&self) -> u64 {
        self.shared.errors.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Operations that all workers together have issued.
    pub(crate) fn operations(&self) -> u64 {
        self.slots()
            .iter()
            .map(|slot| slot.ticket.load(Ordering::Relaxed) / 2)
            .sum()
    }

    /// Slots for so many workers.
    pub(crate) fn engage(&self, workers: u32) -> Vec<Arc<Slot>> {
        let slots: Vec<Arc<Slot>> = (0..workers).map(|_| Arc::default()).collect();
        self.slots().clone_from(&slots);
        slots
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Slot>>> {
        self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn progress(&self) -> Progress {
        let slots = self.slots();
        let sum = |part: fn(&Slot) -> &AtomicU64| slots.iter().map(|slot| part(slot).load(Ordering::Relaxed)).sum();
        Progress {
            done: sum(|slot| &slot.done),
            total: Some(sum(|slot| &slot.total)),
        }
    }
}
