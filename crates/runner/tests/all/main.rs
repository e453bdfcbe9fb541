//! Tests of the crate's public interface. They are one program, with a module for each subject.

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

/// Returns a new temporary directory. It is on tmpfs if available, because ext4 without a journal
/// takes long to allocate a file after many deletions.
fn directory() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let place = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    tempfile::tempdir_in(place).unwrap()
}
