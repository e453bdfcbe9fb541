//! What passes between a run's workers and everybody else while it goes on: a wish to stop, and counters.
//! Neither side ever waits for the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

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
    counters: Counters,
}

/// On a line of cache of their own: the worker writes them at every operation.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counters {
    done: AtomicU64,
    total: AtomicU64,
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

    pub(crate) fn begin(&self, total: u64) {
        self.shared.counters.done.store(0, Ordering::Relaxed);
        self.shared.counters.total.store(total, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn publish(&self, done: u64) {
        self.shared.counters.done.store(done, Ordering::Relaxed);
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress {
            done: self.shared.counters.done.load(Ordering::Relaxed),
            total: Some(self.shared.counters.total.load(Ordering::Relaxed)),
        }
    }
}
