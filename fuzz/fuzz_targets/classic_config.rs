//! Interprets bytes as commands of the classic prompt, with the same function as
//! `crates/cli/tests/all/hostile.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cli/tests/all/commanded.rs"]
mod commanded;

fuzz_target!(|bytes: &[u8]| {
    commanded::command(bytes);
});
