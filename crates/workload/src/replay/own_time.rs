//! The time of threads between their operations, and the threads for which they waited.

use std::collections::{HashMap, VecDeque};

use super::order::Turn;
use super::traced::TracedOwnTime;
use crate::intent::Pause;

/// The number of operations that are remembered of all threads.
const RECENT_MAX: usize = 64;

/// The time of all workers since their last operations, and the last operations of all threads.
#[derive(Clone, Debug, Default)]
pub struct OwnTimes {
    since: HashMap<u32, TracedOwnTime>,
    of_threads: HashMap<u32, Turn>,
    recent: VecDeque<Turn>,
}

impl OwnTimes {
    /// Adds the time of a worker before an operation of the trace, which may have no operation in
    /// the replay.
    pub fn spend(&mut self, worker: u32, own: TracedOwnTime) {
        let since = self.since.entry(worker).or_default();
        since.pause.think_ns = since.pause.think_ns.saturating_add(own.pause.think_ns);
        since.pause.compute_ns = since.pause.compute_ns.saturating_add(own.pause.compute_ns);
        since.awaited = own.awaited.or(since.awaited);
    }

    /// Adds an operation of the replay. Returns the time of its worker before it, and the operation
    /// that the worker awaited.
    pub fn perform(&mut self, thread: u32, turn: Turn) -> (Pause, Option<Turn>) {
        let own = self.since.remove(&turn.worker).unwrap_or_default();
        let awaited = own
            .awaited
            .and_then(|awaited| self.awaited(turn.worker, awaited));
        self.of_threads.insert(thread, turn);
        if self.recent.len() >= RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(turn);
        (own.pause, awaited)
    }

    /// The last operation of the thread for which a worker waited until a position of the trace. If
    /// the trace does not show the thread, the operation of another worker that ended last before
    /// this position.
    fn awaited(&self, worker: u32, (order, thread): (u64, Option<u32>)) -> Option<Turn> {
        if let Some(thread) = thread {
            return self.of_threads.get(&thread).copied();
        }
        let others = self.recent.iter().filter(|turn| turn.worker != worker);
        let ended = others.filter(|turn| turn.end <= order);
        ended.max_by_key(|turn| turn.end).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(worker: u32, completed: u32, end: u64) -> Turn {
        Turn {
            worker,
            completed,
            begin: end,
            end,
        }
    }

    fn own(compute_ns: u64, awaited: Option<(u64, Option<u32>)>) -> TracedOwnTime {
        TracedOwnTime {
            pause: Pause {
                think_ns: 0,
                compute_ns,
            },
            awaited,
        }
    }

    #[test]
    fn time_before_an_operation_that_is_left_out_is_that_of_the_next_one() {
        let mut all = OwnTimes::default();
        all.spend(0, own(5, Some((9, Some(7)))));
        all.spend(0, own(6, None));
        assert_eq!(all.perform(1, turn(0, 1, 10)), (own(11, None).pause, None));
        assert_eq!(all.perform(1, turn(0, 2, 11)), (Pause::NONE, None));
    }

    #[test]
    fn awaited_operation_is_that_of_the_thread_or_the_last_one_of_another_worker() {
        let mut all = OwnTimes::default();
        for (thread, turn) in [(1, turn(1, 1, 3)), (2, turn(2, 1, 5)), (2, turn(2, 2, 8))] {
            all.perform(thread, turn);
        }
        for (awaited, expected) in [
            ((6, Some(1)), Some(turn(1, 1, 3))),
            ((6, None), Some(turn(2, 1, 5))),
            ((9, None), Some(turn(2, 2, 8))),
            ((2, None), None),
            ((9, Some(4)), None),
        ] {
            all.spend(0, own(0, Some(awaited)));
            assert_eq!(all.perform(9, turn(0, 1, 1)).1, expected, "{awaited:?}");
        }
    }
}
