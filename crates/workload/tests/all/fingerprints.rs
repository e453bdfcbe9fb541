//! Frozen fingerprints: what a workload intends must never change. A difference here is a defect, or a new
//! version of the generators that makes old results incomparable.

use workload::presets::{self, Machine};
use workload::{Planner, fingerprint};

const GOLDEN: &str = include_str!("../fingerprints.golden");

/// What the presets that are sized by the machine are frozen for. Never to be changed.
const MACHINE: Machine = Machine {
    memory_bytes: 8 << 30,
    processors: 4,
};

#[test]
fn presets_intend_what_they_always_did() {
    let mut lines = String::new();
    for preset in presets::all(&MACHINE) {
        let plan = Planner::new(&preset.workload).plan().unwrap();
        assert_eq!(
            fingerprint::fingerprint(&preset.workload).unwrap(),
            plan.fingerprint,
            "{}: the same by both ways",
            preset.name
        );
        lines.push_str(&format!("{} {} {}\n", preset.name, plan.fingerprint, plan.stream_hash));
    }
    assert_eq!(lines, GOLDEN);
}
