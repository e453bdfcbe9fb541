//! Interprets bytes as a kernel's message counters, with the same function as
//! `crates/system/tests/all/messages.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/system/tests/all/counted.rs"]
mod counted;

fuzz_target!(|bytes: &[u8]| {
    counted::count(bytes);
});
