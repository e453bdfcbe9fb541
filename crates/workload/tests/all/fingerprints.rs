//! Frozen fingerprints: what a workload intends must never change. A difference here is a defect,
//! or a new version of the generators that makes old results incomparable.

use workload::presets::{self, Machine};
use workload::{Planner, Workload, fingerprint};

const GOLDEN: &str = include_str!("../fingerprints.golden");

/// What the presets that are sized by the machine are frozen for. Never to be changed.
const MACHINE: Machine = Machine {
    memory_bytes: 8 << 30,
    processors: 4,
};

/// Transactions of each worker whose hash is frozen where time ends them.
const BEGINNING: u64 = 10_000;

#[test]
fn presets_intend_what_they_always_did() {
    let mut lines = String::new();
    for preset in presets::all(&MACHINE) {
        let fingerprint = fingerprint::fingerprint(&preset.workload).unwrap();
        let has_end = preset.workload.transactions() < Workload::ENDLESS;
        let planned = if has_end {
            preset.workload.clone()
        } else {
            preset.workload.with_transactions(BEGINNING)
        };
        let plan = Planner::new(&planned).plan().unwrap();
        if has_end {
            assert_eq!(
                fingerprint, plan.fingerprint,
                "{}: the same by both ways",
                preset.name
            );
        }
        lines.push_str(&format!(
            "{} {} {}\n",
            preset.name, fingerprint, plan.stream_hash
        ));
    }
    assert_eq!(lines, GOLDEN);
}
