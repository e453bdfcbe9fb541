//! Assigns the threads of a trace to workers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::traced::TracedOperation;

/// The workers of all threads.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    of_threads: HashMap<u32, u32>,
    pub workers: u32,
}

impl Lanes {
    /// Assigns each thread to a worker. A worker performs the operations of several threads if
    /// each of them began after the one before it had ended, because a trace of many short
    /// processes would otherwise have thousands of workers.
    pub fn new(operations: &[TracedOperation]) -> Self {
        let mut spans: HashMap<u32, (u64, u64)> = HashMap::new();
        for one in operations {
            let span = spans.entry(one.thread).or_insert((one.begin, one.end));
            *span = (span.0.min(one.begin), span.1.max(one.end));
        }
        let mut spans: Vec<(u64, u64, u32)> = spans
            .into_iter()
            .map(|(thread, (first, last))| (first, last, thread))
            .collect();
        spans.sort_unstable();
        let mut lanes = Self::default();
        let mut free: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
        for (first, last, thread) in spans {
            let ended = free.peek().is_some_and(|Reverse((end, _))| *end < first);
            let before = if ended { free.pop() } else { None };
            let worker = match before {
                Some(Reverse((_, worker))) => worker,
                None => {
                    lanes.workers += 1;
                    lanes.workers - 1
                }
            };
            free.push(Reverse((last, worker)));
            lanes.of_threads.insert(thread, worker);
        }
        lanes
    }

    pub fn of_thread(&self, thread: u32) -> u32 {
        self.of_threads.get(&thread).copied().unwrap_or(0)
    }

    pub fn threads(&self) -> u64 {
        self.of_threads.len() as u64
    }
}
