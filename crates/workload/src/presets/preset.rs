//! The description, source and workload of a preset, and the machine that determines its size.

use crate::whole::{Work, Workload};

/// The properties of a machine that determine the size of presets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Memory that can cache contents of files, in bytes.
    pub memory_bytes: u64,
    /// The number of usable processors.
    pub processors: u32,
}

impl Machine {
    /// A small machine, which determines the size of presets if the actual machine is unknown.
    pub const SMALL: Self = Self {
        memory_bytes: 8 << 30,
        processors: 4,
    };
}

/// Options of a preset in addition to its workload, in the text form of the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// The value of `--durability`; `None` for the default.
    pub durability: Option<&'static str>,
    /// The duration of the transactions in seconds, unless a command-line option sets another end.
    /// `None` if the workload's number of transactions ends the run.
    pub run_for_s: Option<u64>,
}

impl Preset {
    /// Returns whether the work and the contents of a workload equal those of this preset. Ignores
    /// the workers, the number of files and transactions, the seed, the targets and the think time.
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
                // In a run with a limited rate, arrivals replace the think time. So the think time
                // is ignored.
                own.think = other.think;
            }
            _ => return false,
        }
        own == workload.work && self.workload.contents == workload.contents
    }
}

/// The default duration of a preset's measurement, in seconds.
pub const RUN_FOR_S: u64 = 10;

/// A workload that users select by its name instead of by single options.
#[derive(Clone, Debug)]
pub struct Preset {
    pub name: &'static str,
    /// A one-line description.
    pub what: &'static str,
    /// The source of the preset's figures.
    pub source: &'static str,
    /// The workload, sized for the machine.
    pub workload: Workload,
    pub how: Manner,
}
