//! Notices when the program does not run although it could: a thread wakes up every 20 ms, and
//! where it is late without having waited for a processor, the program was stopped.
//!
//! The time in the run queue is what makes the difference: beside many busy programs a thread wakes
//! up hundreds of milliseconds late, and the kernel counts all of that as waiting; a stopped thread
//! is not in the queue. Where the kernel does not count it, only delays of at least a second are
//! pauses, which no load of others makes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use record::Pauses;
use system::Sources;
use system::run_queue::RunQueue;

/// How often the thread wakes up: often enough that a stop of 50 ms is seen.
const TICK: Duration = Duration::from_millis(20);
/// A shorter delay is no pause: timers and the run queue are exact to a few milliseconds.
const SHORTEST: Duration = Duration::from_millis(30);
/// The same where waiting for a processor is not known.
const SHORTEST_WITHOUT_QUEUE: Duration = Duration::from_secs(1);
/// What was seen at first.
const NONE: Pauses = Pauses {
    watched_ns: 0,
    shortest_ns: SHORTEST.as_nanos() as u64,
    times: 0,
    total_ns: 0,
    longest_ns: 0,
};
/// At the end of a phase the thread is waited for so long, if it is late.
const LAST_LOOK: Duration = Duration::from_millis(200);

/// What was seen since it was last taken.
struct PausesSeen {
    /// All numbers together, so that they are of the same pauses whenever they are taken.
    pauses: Mutex<Pauses>,
    /// When the thread is to wake up, since the watch began.
    due_ns: AtomicU64,
}

/// Watches until it is dropped.
pub(crate) struct PauseWatch {
    seen: Arc<PausesSeen>,
    began: Instant,
    phase_began: Instant,
    _until_dropped: Sender<()>,
}

impl PauseWatch {
    /// Nothing where the system has no thread for it.
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

    /// A phase begins.
    pub(crate) fn begin(&mut self) {
        self.phase_began = Instant::now();
        self.seen.take();
    }

    /// What was seen since the phase began.
    pub(crate) fn end(&self) -> Pauses {
        let watched_ns = ns(self.phase_began.elapsed());
        let asked = self.began.elapsed();
        // A stop that ends with the phase is seen when the thread has woken up, too.
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
    /// The thread woke up so late, and had waited for a processor so long before and after that.
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
    fn a_delay_in_the_run_queue_is_no_pause() {
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
        // Where waiting is not counted, a second is the least.
        late(999, None);
        late(1_000, None);
        let pauses = seen.take();
        assert_eq!((pauses.times, pauses.shortest_ns), (1, 1_000 * MS));
    }

    #[test]
    fn a_phase_has_the_time_that_was_watched() {
        let mut watch = PauseWatch::start().unwrap();
        watch.begin();
        thread::sleep(Duration::from_millis(70));
        let pauses = watch.end();
        assert!(pauses.watched_ns >= 70 * MS, "{pauses:?}");
        assert!(pauses.shortest_ns >= 30 * MS, "{pauses:?}");
    }
}
