//! The time of a thread that is not part of its operations on files.

use std::iter::Sum;
use std::ops::Add;

/// The time of a thread that is not part of its operations on files, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnTime {
    /// Time in which the thread computed, or made calls on other files. Less than 0 as long as
    /// calls were shorter than the estimated cost of the tracer.
    pub compute_ns: i64,
    /// Time in sleeps, and in waits that ended by their time limit.
    pub idle_ns: u64,
    /// Time in waits for other threads and processes, and for messages.
    pub wait_ns: u64,
    /// The order of the last line in which such a wait ended, and the process whose end was
    /// awaited; `None` without a wait.
    pub awaited: Option<Awaited>,
}

/// The end of a wait for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    pub order: u64,
    /// The thread that was awaited; `None` if the trace does not show it.
    pub thread: Option<u32>,
}

impl OwnTime {
    /// Adds time in which the thread computed.
    pub fn compute(&mut self, ns: i64) {
        self.compute_ns = self.compute_ns.saturating_add(ns);
    }
}

impl Add for OwnTime {
    type Output = Self;

    fn add(self, later: Self) -> Self {
        Self {
            compute_ns: self.compute_ns.saturating_add(later.compute_ns),
            idle_ns: self.idle_ns.saturating_add(later.idle_ns),
            wait_ns: self.wait_ns.saturating_add(later.wait_ns),
            awaited: later.awaited.or(self.awaited),
        }
    }
}

impl Sum for OwnTime {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
