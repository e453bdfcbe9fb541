//! Tests of the crate's public interface: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod ack_log;
mod across;
mod corruptions;
mod depth;
mod driving;
mod faults;
#[path = "../../../cli/tests/all/support/heartbeats.rs"]
mod heartbeats;
mod keeping;
mod machine;
mod mixes;
mod namespace;
mod overhead;
mod ranks;
mod skips;
mod sleepy;
mod stalled;
mod steady;
mod told;

/// A temporary directory, on tmpfs if available: ext4 without a journal takes long to allocate a
/// new file after many deletions.
fn directory() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let place = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    tempfile::tempdir_in(place).unwrap()
}
