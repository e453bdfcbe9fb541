//! Interprets bytes as an untrusted configuration file, with the same function as
//! `crates/cli/tests/all/hostile.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cli/tests/all/configured.rs"]
mod configured;

fuzz_target!(|bytes: &[u8]| {
    configured::configure(bytes);
});
