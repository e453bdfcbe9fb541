//! Bytes as commands of the classic prompt: the function that `crates/cli/tests/all/hostile.rs`
//! gives its commands to.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cli/tests/all/commanded.rs"]
mod commanded;

fuzz_target!(|bytes: &[u8]| {
    commanded::command(bytes);
});
