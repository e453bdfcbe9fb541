//! Bytes as what a kernel wrote about messages: the function that
//! `crates/system/tests/all/messages.rs` gives captures to.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/system/tests/all/counted.rs"]
mod counted;

fuzz_target!(|bytes: &[u8]| {
    counted::count(bytes);
});
