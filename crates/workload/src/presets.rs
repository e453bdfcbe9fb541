//! Workloads with a name, each with what it stands for and where its figures come from.
//!
//! [`classic`](self) ones are numbers that somebody has published. The mixes are of today and are
//! sized by the machine that they run on, and end after [`RUN_FOR_S`]. Their pools are made in
//! seconds on a solid state disk, and fit the page cache. Whoever wants to measure beyond it gives
//! a larger pool (`--files`) or a cold cache.

mod classic;
mod mixes;

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

/// All presets on a machine, in the order in which they are listed.
pub fn all(machine: &Machine) -> Vec<Preset> {
    let mut presets = classic::all();
    presets.extend(mixes::all(machine));
    presets
}

/// The preset of this name, on a machine.
pub fn find(name: &str, machine: &Machine) -> Option<Preset> {
    all(machine).into_iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINES: [Machine; 4] = [
        Machine::SMALL,
        Machine {
            memory_bytes: 0,
            processors: 0,
        },
        Machine {
            memory_bytes: 24 << 30,
            processors: 2,
        },
        Machine {
            memory_bytes: u64::MAX,
            processors: u32::MAX,
        },
    ];

    #[test]
    fn presets_are_valid_on_every_machine_and_their_names_are_their_own() {
        for machine in &MACHINES {
            let presets = all(machine);
            for preset in &presets {
                assert_eq!(
                    preset.workload.validate(),
                    Ok(()),
                    "{} {machine:?}",
                    preset.name
                );
                let namesakes = presets
                    .iter()
                    .filter(|other| other.name == preset.name)
                    .count();
                assert_eq!(namesakes, 1, "{}", preset.name);
                for line in [preset.what, preset.source] {
                    assert!(!line.is_empty() && !line.contains('\n'), "{}", preset.name);
                }
            }
        }
    }

    #[test]
    fn mixes_stay_small_on_every_machine_and_grow_with_it() {
        let bytes = |preset: &Preset| {
            let mean = preset.workload.mix().map_or(0.0, |mix| mix.sizes.mean());
            (mean * preset.workload.files() as f64 * f64::from(preset.workload.streams())) as u64
        };
        for (small, large) in mixes::all(&MACHINES[1])
            .iter()
            .zip(mixes::all(&MACHINES[3]))
        {
            assert!(bytes(small) < bytes(&large), "{}", small.name);
            assert!(bytes(small) < 160 << 20, "{}: {}", small.name, bytes(small));
            assert!(
                bytes(&large) < 1100 << 20,
                "{}: {}",
                small.name,
                bytes(&large)
            );
        }
    }
}
