//! Starts helper processes. Each helper process is this test program and executes only the test
//! function with the given full name. Threads would not suffice, because file locks belong to
//! processes.

use std::path::Path;
use std::process::{Command, Stdio};

use archive::JournalMode;

/// Environment variable with the archive of a helper process. Without the variable, the test
/// function does nothing.
pub const ARCHIVE: &str = "POSTMARK_TEST_ARCHIVE";
/// Environment variable with further arguments of a helper process.
pub const WITH: &str = "POSTMARK_TEST_WITH";

/// Returns the command of a helper process that executes a test function with an archive.
pub fn another(archive: &Path, test: &str) -> Command {
    of_program(&std::env::current_exe().unwrap(), archive, test)
}

/// Returns the command of a helper process like [`another`], for a copy of this test program.
pub fn of_program(program: &Path, archive: &Path, test: &str) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--exact", test, "--nocapture"])
        .env(ARCHIVE, archive)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// Parses the journal mode in the variable [`WITH`].
pub fn journal(word: &str) -> JournalMode {
    let all = [JournalMode::WriteAhead, JournalMode::Rollback];
    all.into_iter()
        .find(|journal| format!("{journal:?}") == word)
        .unwrap()
}
