//! Presets: named workloads, each with a description and the source of its figures.
//!
//! Classic presets use published configurations. The mixes represent current applications. The
//! transactions of a mix end after [`RUN_FOR_S`] seconds. Its numbers of files and workers depend
//! on the machine. The pools of mixes fit into the page cache and are created within seconds on a
//! solid-state disk. To measure performance beyond the page cache, use a larger pool (`--files`) or
//! a cold cache.

mod classic;
mod mixes;
mod preset;

pub use self::preset::{Machine, Manner, Preset, RUN_FOR_S};

/// Returns all presets, sized for a machine: first those of the original PostMark, then the mixes.
pub fn all(machine: &Machine) -> Vec<Preset> {
    let mut presets = classic::all();
    presets.extend(mixes::all(machine));
    presets
}

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
    fn presets_are_valid_on_every_machine_and_have_unique_names() {
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
    fn pools_of_mixes_grow_with_memory_up_to_a_limit() {
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
