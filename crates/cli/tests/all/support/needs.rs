//! What a test needs of the machine: also of the tests of other crates.

use std::io::Write as _;

/// Whether everything is to be tested: then nothing is skipped.
pub fn everything() -> bool {
    std::env::var_os("CI").is_some()
        || std::env::var_os("POSTMARK_TEST_ALL").is_some_and(|all| all == "1")
}

/// Whether a need of the test's is met; where it is not, says that the test is skipped.
///
/// # Panics
/// Where everything is to be tested and the need is not met.
pub fn is_met(met: bool, need: &str) -> bool {
    if met {
        return true;
    }
    assert!(!everything(), "this test needs {need}");
    // Not with `eprintln!`: what that writes is kept from whoever looks at tests that pass.
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {name}: it needs {need}");
    false
}

/// Whether the test may do what root may.
pub fn is_root() -> bool {
    is_met(rustix::process::geteuid().is_root(), "root")
}
