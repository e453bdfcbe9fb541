//! What a preset is.

use crate::whole::{Work, Workload};

/// What the size of a preset depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Memory that can hold contents of files, in bytes.
    pub memory_bytes: u64,
    /// Processors that can be used.
    pub processors: u32,
}

impl Machine {
    /// A small machine: what presets are sized for where the real one is not known.
    pub const SMALL: Self = Self {
        memory_bytes: 8 << 30,
        processors: 4,
    };
}

/// How a preset's operations are done, where that is a part of what it stands for, in the words
/// that options take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// The policy of durability.
    pub durability: Option<&'static str>,
    /// How long the transactions are performed, in seconds, where no option says when they end;
    /// nothing where the workload's number ends them.
    pub run_for_s: Option<u64>,
}

impl Preset {
    /// Whether a workload is this one, however large it is, however long it goes on and wherever
    /// its files lie.
    pub fn is_of(&self, workload: &Workload) -> bool {
        let mut own = self.workload.work.clone();
        match (&mut own, &workload.work) {
            (Work::Classic(own), Work::Classic(other)) => {
                (own.files, own.transactions, own.seed) =
                    (other.files, other.transactions, other.seed);
                own.weights.clone_from(&other.weights);
            }
            (Work::Mix(own), Work::Mix(other)) => {
                (own.files, own.transactions, own.seed) =
                    (other.files, other.transactions, other.seed);
                own.location_weights.clone_from(&other.location_weights);
                // Arrivals take its place.
                own.think = other.think;
            }
            _ => return false,
        }
        own == workload.work && self.workload.contents == workload.contents
    }
}

/// How long a run measures where nothing says when it ends, in seconds.
pub const RUN_FOR_S: u64 = 10;

/// A workload that has a name.
#[derive(Clone, Debug)]
pub struct Preset {
    /// The name that options take.
    pub name: &'static str,
    /// What it stands for, in one line.
    pub what: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
    /// The workload, on the machine that was given.
    pub workload: Workload,
    /// How it is done.
    pub how: Manner,
}
