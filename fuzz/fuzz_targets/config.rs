//! Interprets bytes as an untrusted configuration file, with the function that
//! `crates/cli/tests/all/hostile.rs` calls.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cli/tests/all/configured.rs"]
mod configured;

fuzz_target!(|bytes: &[u8]| {
    configured::configure(bytes);
});
