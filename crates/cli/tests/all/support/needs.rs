//! Checks whether the machine has what a test needs. Tests of other crates include this file.

use std::io::Write as _;

/// Whether all tests must run. If so, a test whose need is not met fails instead of being skipped.
pub fn everything() -> bool {
    std::env::var_os("CI").is_some()
        || std::env::var_os("POSTMARK_TEST_ALL").is_some_and(|all| all == "1")
}

/// Returns whether a need of the test is met. If not, prints that the test is skipped.
///
/// # Panics
/// Panics if the need is not met and all tests must run.
pub fn is_met(met: bool, need: &str) -> bool {
    if met {
        return true;
    }
    assert!(!everything(), "this test needs {need}");
    // The test framework would capture `eprintln!` and hide it for a test that passes.
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {name}: it needs {need}");
    false
}

/// Whether the test runs as root. If not, prints that the test is skipped.
pub fn is_root() -> bool {
    is_met(rustix::process::geteuid().is_root(), "root")
}
