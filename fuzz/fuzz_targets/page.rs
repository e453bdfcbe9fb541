//! Bytes as a record of others whose page somebody makes, by itself and compared with itself: the
//! function that
//! `crates/report/tests/all/hostile.rs` gives its records to, which asserts how long that takes;
//! and the memory that it takes.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

#[path = "../../crates/report/tests/all/paged.rs"]
mod paged;

#[path = "../changed.rs"]
mod changed;

/// The program with the page in it, in KiB.
const MEMORY_MAX: u64 = 300 << 10;

fuzz_target!(|bytes: &[u8]| {
    // The greatest size counts from here (proc(5)).
    let is_counted = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    if paged::show(bytes) && is_counted {
        let most = most_memory().expect("the kernel says how much memory a process has");
        assert!(most < MEMORY_MAX, "{most} KiB");
    }
});

/// The greatest size of this process in memory, in KiB.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    changed::change(data, size, max_size, seed)
        .unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});
