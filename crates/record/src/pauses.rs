//! Times in which the program did not run, although it could have and the machine did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pauses of the program in a phase, as a thread saw them that wakes up 50 times a second: it woke
/// up late, and had not waited for a processor meanwhile. The program was stopped (SIGSTOP, a
/// debugger, a frozen control group), or the whole virtual machine was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    /// How long the thread watched, in nanoseconds: the time of the phase.
    pub watched_ns: u64,
    /// Pauses shorter than this are not counted, in nanoseconds.
    pub shortest_ns: u64,
    /// How many there were.
    pub times: u64,
    /// All of them together, in nanoseconds.
    pub total_ns: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
}

impl Pauses {
    /// Their share of the phase's time, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        (self.total_ns as f64 / self.watched_ns.max(1) as f64).min(1.0)
    }

    /// Those of the rank that paused more.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.total_ns > self.total_ns {
            other
        } else {
            self
        }
    }
}
