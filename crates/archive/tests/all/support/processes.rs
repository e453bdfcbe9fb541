//! Other processes: this test program again, with one test, by its full name, that does what they
//! are to do. Locks of files are a process's, so that threads in the place of processes would not
//! show what becomes of those.

use std::path::Path;
use std::process::{Command, Stdio};

use archive::JournalMode;

/// The variable that has the archive of such a process; without it the test has nothing to do.
pub const ARCHIVE: &str = "POSTMARK_TEST_ARCHIVE";
/// The variable with what else it has to know.
pub const WITH: &str = "POSTMARK_TEST_WITH";

/// A process that does what a test does with an archive.
pub fn another(archive: &Path, test: &str) -> Command {
    of_program(&std::env::current_exe().unwrap(), archive, test)
}

/// The same, of a copy of this program.
pub fn of_program(program: &Path, archive: &Path, test: &str) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--exact", test, "--nocapture"])
        .env(ARCHIVE, archive)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// The journal that a word of [`WITH`] is.
pub fn journal(word: &str) -> JournalMode {
    let all = [JournalMode::WriteAhead, JournalMode::Rollback];
    all.into_iter()
        .find(|journal| format!("{journal:?}") == word)
        .unwrap()
}
