//! What tests need from the machine. Tests of other crates include this file, too.

use std::io::Write as _;

/// Whether all tests must run: then an unmet need is a failure.
pub fn everything() -> bool {
    std::env::var_os("CI").is_some()
        || std::env::var_os("POSTMARK_TEST_ALL").is_some_and(|all| all == "1")
}

/// Whether a need of the test is met. If not, it prints that the test is skipped.
///
/// # Panics
/// Panics if the need is not met and all tests must run.
pub fn is_met(met: bool, need: &str) -> bool {
    if met {
        return true;
    }
    assert!(!everything(), "this test needs {need}");
    // `eprintln!` would be captured, and not shown for a test that passes.
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {name}: it needs {need}");
    false
}

/// Whether the test runs as root.
pub fn is_root() -> bool {
    is_met(rustix::process::geteuid().is_root(), "root")
}
