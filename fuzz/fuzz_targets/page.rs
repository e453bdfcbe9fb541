//! Interprets bytes as an untrusted record, and creates the HTML page of the record and a
//! comparison of the record with itself. `paged::show` asserts a time limit, and is shared with
//! `crates/report/tests/all/hostile.rs`. This target also limits the memory.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

#[path = "../../crates/report/tests/all/paged.rs"]
mod paged;

#[path = "../changed.rs"]
mod changed;

/// Limit on the peak memory of the process that makes the page, in KiB.
const MEMORY_MAX: u64 = 300 << 10;

fuzz_target!(|bytes: &[u8]| {
    // Resets the peak memory of the process (proc(5)).
    let is_counted = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    if paged::show(bytes) && is_counted {
        let most = most_memory().expect("the kernel says how much memory a process has");
        assert!(most < MEMORY_MAX, "{most} KiB");
    }
});

/// The peak resident memory of this process, in KiB.
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
