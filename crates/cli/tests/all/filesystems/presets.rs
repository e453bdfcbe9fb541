//! Performs every preset, with few files and transactions.

use crate::mounted::{Mounted, on};
use crate::runs::Run;

/// Presets with mixes. Every read can be verified, because the contents identify the file and its
/// version.
const MIXES: [(&str, &str); 18] = [
    ("mail", "--files 100 --transactions 500"),
    ("mail-expunge", "--files 100 --transactions 300"),
    ("varmail", "--files 40 --transactions 60"),
    ("news", "--files 400 --transactions 500"),
    ("web-cache", "--files 300 --transactions 500"),
    ("photo-store", "--files 100 --transactions 300"),
    ("build", "--files 400 --transactions 300"),
    ("source-tree", "--files 400"),
    ("git", "--files 400"),
    ("package-install-link", "--files 400 --transactions 1000"),
    ("package-install-clone", "--files 400 --transactions 1000"),
    ("package-install-copy", "--files 400 --transactions 1000"),
    ("containers", "--files 200 --transactions 500"),
    ("agent", "--files 400 --for 500ms"),
    ("agent-clone", "--files 400 --for 500ms"),
    ("agent-link", "--files 400 --for 500ms"),
    ("ai-samples", "--files 100 --transactions 100"),
    ("mdtest-hard", "--files 400 --transactions 100"),
];

/// Classic presets, which represent twelve processes by twelve workers. All files have the same
/// text, so reads cannot be verified.
const MASSIVE: [(&str, &str); 3] = [
    ("veritas-massive-1", "--files 40 --transactions 100"),
    ("veritas-massive-2", "--files 80 --transactions 100"),
    ("veritas-massive-3", "--files 160 --transactions 100"),
];

fn mix_presets_are_complete_and_verified(mounted: Mounted) {
    // tmpfs and ext4 cannot share blocks.
    let can_clone = engines::probe_clone(&mounted.at).is_ok();
    let possible = MIXES
        .into_iter()
        .filter(|(name, _)| can_clone || !name.ends_with("clone"));
    for (name, small) in possible {
        let ran = Run::new(&mounted.at, small)
            .and("--verify")
            .with("--preset", name)
            .perform();
        ran.is_complete();
        match ran.record.actual.sweep_steps.is_empty() {
            true => drop(ran.has_all_phases()),
            false => drop(ran.leaves_nothing()),
        }
        ran.assert(ran.record.spec.verify, "nothing was verified");
    }
}
on!(mix_presets_are_complete_and_verified);

fn massive_presets_perform_equal_work_in_twelve_workers(mounted: Mounted) {
    for (name, small) in MASSIVE {
        let ran = Run::new(&mounted.at, small)
            .with("--preset", name)
            .perform();
        ran.is_complete().has_all_phases();
        for phase in &ran.record.actual.phases {
            ran.assert(phase.workers.len() == 12, "there are not twelve workers");
        }
        // All workers perform the same operations, like twelve processes with the same seed.
        let same = |phase: &record::PhaseRecord| {
            let of_each = |worker: &record::WorkerPhase| (worker.operations, worker.bytes);
            let first = of_each(&phase.workers[0]);
            phase.workers.iter().all(|worker| of_each(worker) == first)
        };
        ran.assert(
            ran.record.actual.phases.iter().all(same),
            "the workers have not all done the same",
        );
    }
}
on!(massive_presets_perform_equal_work_in_twelve_workers);
