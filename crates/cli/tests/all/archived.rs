//! Tests the archive with the real program: its content after a run, after a killed run, and with
//! two writers. The module `commands` tests the archive commands. The module `pending` tests runs
//! whose archive cannot be used.
//!
//! `POSTMARK_KILLS` sets how many times a run is killed (default 20). The tests before a release
//! use a higher number.

mod commands;
mod killed;
mod pending;
mod places;
mod runs;
mod submissions;
mod together;

use std::path::{Path, PathBuf};
use std::process::Command;

use archive::{Archive, ArchiveError, ArchiveErrorKind, Filter, JournalMode, Opening};
use record::Record;
use verdict::ListedRun;

use crate::support::interface::postmark;
use crate::support::{Ended, Running, TestDir};

/// A user who has a data directory for the archive, and a target directory.
struct Home {
    test_dir: TestDir,
    target: PathBuf,
}

/// A run that takes a few milliseconds.
const LITTLE: &str =
    "run --quiet --no-overhead --engine posix --files 40 --transactions 100 --seed 7";

impl Home {
    fn new() -> Self {
        let test_dir = TestDir::in_memory();
        let target = test_dir.directory("target");
        Self { test_dir, target }
    }

    /// Path of the default archive.
    fn archive(&self) -> PathBuf {
        self.test_dir.path().join("data/postmark/archive.db")
    }

    /// A command that starts the program with the arguments in `words`, separated by blanks. The
    /// command `run` gets the target directory of this user.
    fn command(&self, words: &str) -> Command {
        let mut command = postmark(words);
        if words.starts_with("run ") {
            command.arg("--target").arg(&self.target);
        }
        command
            .env_remove("POSTMARK_ARCHIVE")
            .env("XDG_DATA_HOME", self.test_dir.path().join("data"))
            .current_dir(self.test_dir.path());
        command
    }

    fn end(&self, command: Command) -> Ended {
        Running::run_to_end(command, self.test_dir.path())
    }

    /// Runs the program to its end.
    fn shows(&self, words: &str) -> Ended {
        self.end(self.command(words))
    }

    /// Runs the command at the start of `row`. Asserts the exit status and the output: in `row`,
    /// the status and texts of the output follow the command, separated by ` | `.
    fn row(&self, row: &str) {
        let (words, expected) = row.split_once(" | ").unwrap();
        self.shows(words).ends(expected);
    }

    /// Runs a command, which must succeed, and returns its standard output.
    fn answer(&self, words: &str) -> String {
        let ended = self.shows(words);
        ended.code(0);
        ended.output
    }

    /// The runs in the archive. Empty if the archive does not exist or is just being created.
    fn entries(&self) -> Vec<ListedRun> {
        match opened(&self.archive()) {
            Err(error) if error.kind == ArchiveErrorKind::Missing => Vec::new(),
            archive => archive.unwrap().list(&Filter::default()).unwrap(),
        }
    }

    /// Locks the archive for writing until the connection is dropped.
    fn held(&self) -> rusqlite::Connection {
        let writer = rusqlite::Connection::open(self.archive()).unwrap();
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        writer
    }

    fn until_its_row_is_there(&self, running: &mut Running) {
        running.until("that it is archived", |_| !self.entries().is_empty());
    }

    /// Waits until the archive contains a phase of the run. The transactions phase has then
    /// started.
    fn until_a_phase_is_there(&self, running: &mut Running) {
        running.until("that the transactions go on", |_| {
            let entries = self.entries();
            entries
                .first()
                .is_some_and(|entry| !self.record(entry).actual.phases.is_empty())
        });
    }

    fn record(&self, entry: &ListedRun) -> Record {
        open(&self.archive()).record(entry.number.unwrap()).unwrap()
    }
}

fn open(path: &Path) -> Archive {
    opened(path).unwrap()
}

fn opened(path: &Path) -> Result<Archive, ArchiveError> {
    let opening = Opening {
        path,
        journal: JournalMode::WriteAhead,
        owner: None,
        make: false,
        // Another process never locks the archive for this long, even on a slow disk.
        patience: std::time::Duration::from_secs(3_600),
    };
    Archive::open(&opening)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
