//! Interprets bytes as a kernel's message counters, with the function that
//! `crates/system/tests/all/messages.rs` calls.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/system/tests/all/counted.rs"]
mod counted;

fuzz_target!(|bytes: &[u8]| {
    counted::count(bytes);
});
