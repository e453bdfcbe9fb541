//! Pauses: times in which the program could have run, but did not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pauses of the program in a phase, detected by a thread that wakes up 50 times a second. A pause
/// is a late wake-up without a wait for a processor. The program was stopped then (SIGSTOP, a
/// debugger, a frozen control group), or the whole virtual machine was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    /// Time that the thread watched, in nanoseconds: the duration of the phase.
    pub watched_ns: u64,
    /// Shortest delay that counts as a pause, in nanoseconds.
    pub shortest_ns: u64,
    /// Number of pauses.
    pub times: u64,
    /// Total duration of the pauses, in nanoseconds.
    pub total_ns: u64,
    /// Duration of the longest pause, in nanoseconds.
    pub longest_ns: u64,
}

impl Pauses {
    /// Share of the pauses in the phase's time, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        (self.total_ns as f64 / self.watched_ns.max(1) as f64).min(1.0)
    }

    /// Returns the pauses with the longer total duration.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.total_ns > self.total_ns {
            other
        } else {
            self
        }
    }
}
