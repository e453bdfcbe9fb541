//! What the crate does, as others see it: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod ack_log;
mod corruptions;
mod depth;
mod driving;
mod faults;
mod home;
mod keeping;
mod machine;
mod mixes;
mod overhead;
mod ranks;
#[path = "../../../cli/tests/all/support/signs.rs"]
mod signs;
mod sleepy;
mod stalled;
mod steady;
mod told;

/// A directory that goes with the test, in memory where there is a file system for that: ext4 without a journal looks long for a
/// place for a new file where many were deleted a moment ago.
fn directory() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let place = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    tempfile::tempdir_in(place).unwrap()
}

/// Removes the signs of life of runs whose files stay in a directory. `clean` would, once their process is gone, which is this one.
fn remove_signs_of_life(at: &std::path::Path) {
    let manifests = std::fs::read_dir(at).unwrap().flatten();
    let manifests = manifests.filter_map(|run| std::fs::read(run.path().join(".postmark-manifest.json")).ok());
    for manifest in manifests {
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        let others = manifest["ranks"].as_array().into_iter().flatten();
        let names = std::iter::once(&manifest).chain(others);
        for name in names.filter_map(|one| one["life"].as_str()) {
            std::fs::remove_file(std::path::Path::new("/dev/shm").join(name)).unwrap();
        }
    }
}
