//! Detects pauses of the program: times in which the program is ready to run but is stopped. A
//! thread wakes up every 20 ms. The program was stopped if this thread wakes up late without having
//! waited for a processor.
//!
//! The time in the run queue distinguishes a pause from a busy machine. On a busy machine a thread
//! may wake up hundreds of milliseconds late, and the kernel counts this time as waiting in the run
//! queue. A stopped thread is not in the run queue. Without run queue times from the kernel, only
//! delays of at least a second count as pauses. Load alone does not cause such long delays.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use record::Pauses;
use system::Sources;
use system::run_queue::RunQueue;

/// Interval between wake-ups, short enough to detect a stop of 50 ms.
const TICK: Duration = Duration::from_millis(20);
/// Shortest delay of a wake-up that counts as a pause. Timers and run queue times are exact to a
/// few milliseconds.
const SHORTEST: Duration = Duration::from_millis(30);
/// Shortest delay of a wake-up that counts as a pause if run queue times are not available.
const SHORTEST_WITHOUT_QUEUE: Duration = Duration::from_secs(1);
const NONE: Pauses = Pauses {
    watched_ns: 0,
    shortest_ns: SHORTEST.as_nanos() as u64,
    times: 0,
    total_ns: 0,
    longest_ns: 0,
};
/// Maximum time that the end of a phase waits for the watching thread, if that thread should
/// already have woken up.
const LAST_LOOK: Duration = Duration::from_millis(200);

/// Pauses since [`PausesSeen::take`] was last called.
struct PausesSeen {
    /// All counts are under one lock, so that a reader gets consistent values.
    pauses: Mutex<Pauses>,
    /// Time at which the thread is due to wake up, in nanoseconds since the watch started.
    due_ns: AtomicU64,
}

/// Owns the background thread that detects pauses. Dropping this value ends the thread.
pub(crate) struct PauseWatch {
    seen: Arc<PausesSeen>,
    began: Instant,
    phase_began: Instant,
    _until_dropped: Sender<()>,
}

impl PauseWatch {
    /// Starts the watching thread; `None` if the system cannot start one.
    pub(crate) fn start() -> Option<Self> {
        let (until_dropped, end) = mpsc::channel::<()>();
        let (seen, began) = (Arc::new(PausesSeen::default()), Instant::now());
        let sees = Arc::clone(&seen);
        let watching = thread::Builder::new()
            .name("pauses".to_owned())
            .spawn(move || {
                let run_queue = RunQueue::of_this_thread(&Sources::default()).ok();
                let waited = || run_queue.as_ref().and_then(|queue| queue.waited_ns().ok());
                let mut waited_before = waited();
                loop {
                    let due = began.elapsed() + TICK;
                    sees.due_ns.store(ns(due), Ordering::Relaxed);
                    if end.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                        return;
                    }
                    let late = began.elapsed().saturating_sub(due);
                    let waited_now = waited();
                    sees.late(late, waited_before.zip(waited_now));
                    waited_before = waited_now;
                }
            });
        watching.ok().map(|_| Self {
            seen,
            began,
            phase_began: began,
            _until_dropped: until_dropped,
        })
    }

    /// Starts a phase: discards earlier pauses.
    pub(crate) fn begin(&mut self) {
        self.phase_began = Instant::now();
        self.seen.take();
    }

    /// Returns the pauses since the phase started.
    pub(crate) fn end(&self) -> Pauses {
        let watched_ns = ns(self.phase_began.elapsed());
        let asked = self.began.elapsed();
        // A pause that ends together with the phase is counted only after the watching thread has
        // woken up.
        let is_late =
            || Duration::from_nanos(self.seen.due_ns.load(Ordering::Relaxed)) + SHORTEST < asked;
        while is_late() && self.began.elapsed() < asked + LAST_LOOK {
            thread::sleep(Duration::from_millis(1));
        }
        Pauses {
            watched_ns,
            ..self.seen.take()
        }
    }
}

impl Default for PausesSeen {
    fn default() -> Self {
        Self {
            pauses: Mutex::new(NONE),
            due_ns: AtomicU64::new(0),
        }
    }
}

impl PausesSeen {
    /// Counts a late wake-up. `waited_ns` contains the total run queue time of the thread before
    /// and after the sleep.
    fn late(&self, late: Duration, waited_ns: Option<(u64, u64)>) {
        let (shortest, in_queue) = match waited_ns {
            Some((before, after)) => (SHORTEST, Duration::from_nanos(after.saturating_sub(before))),
            None => (SHORTEST_WITHOUT_QUEUE, Duration::ZERO),
        };
        let mut pauses = self.pauses();
        pauses.shortest_ns = pauses.shortest_ns.max(ns(shortest));
        let paused = late.saturating_sub(in_queue);
        if paused >= shortest {
            pauses.times += 1;
            pauses.total_ns = pauses.total_ns.saturating_add(ns(paused));
            pauses.longest_ns = pauses.longest_ns.max(ns(paused));
        }
    }

    fn take(&self) -> Pauses {
        std::mem::replace(&mut self.pauses(), NONE)
    }

    fn pauses(&self) -> MutexGuard<'_, Pauses> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn delay_in_run_queue_is_not_a_pause() {
        let seen = PausesSeen::default();
        let late = |ms, waited| seen.late(Duration::from_millis(ms), waited);
        late(29, Some((0, 0)));
        late(900, Some((5 * MS, 880 * MS)));
        assert_eq!(seen.take().times, 0);
        late(180, Some((0, 10 * MS)));
        late(40, Some((10 * MS, 10 * MS)));
        let pauses = seen.take();
        assert_eq!(
            (
                pauses.times,
                pauses.total_ns,
                pauses.longest_ns,
                pauses.shortest_ns
            ),
            (2, 210 * MS, 170 * MS, 30 * MS)
        );
        assert_eq!(seen.take().times, 0, "they were taken");
        // If run queue times are not available, only delays of at least a second are pauses.
        late(999, None);
        late(1_000, None);
        let pauses = seen.take();
        assert_eq!((pauses.times, pauses.shortest_ns), (1, 1_000 * MS));
    }

    #[test]
    fn pauses_include_watched_time_of_the_phase() {
        let mut watch = PauseWatch::start().unwrap();
        watch.begin();
        thread::sleep(Duration::from_millis(70));
        let pauses = watch.end();
        assert!(pauses.watched_ns >= 70 * MS, "{pauses:?}");
        assert!(pauses.shortest_ns >= 30 * MS, "{pauses:?}");
    }
}
