//! Compares fingerprints with stored ones, because the intents of a workload must never change. A
//! different fingerprint is a defect, unless a new version of the generators is meant to make
//! earlier results incomparable.

use workload::presets;
use workload::{Planner, Workload, fingerprint};

const GOLDEN: &str = include_str!("../fingerprints.golden");

/// The number of transactions of each worker that the stored hash includes, for presets that end by
/// time.
const BEGINNING: u64 = 10_000;

#[test]
fn fingerprints_of_presets_are_unchanged() {
    let mut lines = String::new();
    for preset in presets::all() {
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
            preset.full_name(),
            fingerprint,
            plan.stream_hash
        ));
    }
    assert_eq!(lines, GOLDEN);
}
