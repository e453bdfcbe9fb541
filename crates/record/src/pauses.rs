//! Pauses: times in which the program could have run, but did not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pauses of the program in a phase, detected by a thread that wakes up 50 times a second. A pause
/// is a late wake-up of this thread that a wait for a processor does not explain. The cause is a
/// stopped program (SIGSTOP, a debugger, a frozen control group) or a stopped virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    /// Time during which the thread was able to detect pauses, in nanoseconds: the duration of the
    /// phase.
    pub watched_ns: u64,
    /// Shortest delay that counts as a pause, in nanoseconds.
    pub shortest_ns: u64,
    /// Number of pauses, which are delays of at least `shortest_ns`.
    pub times: u64,
    /// Total duration of the pauses, in nanoseconds.
    pub total_ns: u64,
    /// Duration of the longest pause, in nanoseconds.
    pub longest_ns: u64,
}

impl Pauses {
    /// Returns the total duration of the pauses as a share of the phase's duration, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        (self.total_ns as f64 / self.watched_ns.max(1) as f64).min(1.0)
    }

    /// Returns `self` or `other`, whichever has the longer total duration.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.total_ns > self.total_ns {
            other
        } else {
            self
        }
    }
}
