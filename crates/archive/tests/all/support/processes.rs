//! Starts other processes: this test program with a single test, by its full name. File locks
//! belong to processes, so threads would not show their effects.

use std::path::Path;
use std::process::{Command, Stdio};

use archive::JournalMode;

/// The variable with the archive of such a process; without it the test does nothing.
pub const ARCHIVE: &str = "POSTMARK_TEST_ARCHIVE";
/// The variable with further arguments.
pub const WITH: &str = "POSTMARK_TEST_WITH";

/// A process that performs a test with an archive.
pub fn another(archive: &Path, test: &str) -> Command {
    of_program(&std::env::current_exe().unwrap(), archive, test)
}

/// A process that performs a test with an archive, started from a copy of this program.
pub fn of_program(program: &Path, archive: &Path, test: &str) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--exact", test, "--nocapture"])
        .env(ARCHIVE, archive)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// Parses the journal mode in [`WITH`].
pub fn journal(word: &str) -> JournalMode {
    let all = [JournalMode::WriteAhead, JournalMode::Rollback];
    all.into_iter()
        .find(|journal| format!("{journal:?}") == word)
        .unwrap()
}
