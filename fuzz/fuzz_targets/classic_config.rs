//! Interprets bytes as commands of the classic prompt, with the function that
//! `crates/cli/tests/all/hostile.rs` calls.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cli/tests/all/commanded.rs"]
mod commanded;

fuzz_target!(|bytes: &[u8]| {
    commanded::command(bytes);
});
