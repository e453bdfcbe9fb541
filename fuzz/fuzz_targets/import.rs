//! Interprets bytes as an untrusted file of records and submissions, with the function that
//! `crates/cli/tests/all/hostile.rs` calls.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

#[path = "../../crates/cli/tests/all/handed.rs"]
mod handed;

#[path = "../changed.rs"]
mod changed;

fuzz_target!(|bytes: &[u8]| {
    handed::hand_over(bytes);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    changed::change(data, size, max_size, seed)
        .unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});
