//! Functions that create archives and records for tests.

pub mod processes;

use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::{Archive, ArchiveError, Imported, JournalMode, Opening, Remarks};
use record::{Completed, CompletedPart, Origin, Outcome, Record, RunId};
pub use testkit::kept;

/// Returns the example record with an ID derived from `number`, as a run that began `number`
/// seconds after the epoch.
pub fn run(number: u64) -> Record {
    Record {
        id: RunId::new(u128::from(number) << 64 | 0xabcd_ef00),
        origin: Origin {
            unix_ns: number as i64 * 1_000_000_000,
            ..kept().origin
        },
        ..kept()
    }
}

/// Returns the initial record of a run, without any phase.
pub fn head(record: &Record) -> Record {
    let mut head = record.clone();
    head.actual.outcome = Outcome::Unfinished;
    head.actual.phases.clear();
    head
}

/// Returns the parts that a run adds to its record, one for each phase.
pub fn parts(record: &Record) -> Vec<Completed> {
    let part = |phase: &record::PhaseRecord| Completed {
        part: CompletedPart::Phase(Box::new(phase.clone())),
        during: record.during.clone(),
    };
    record.actual.phases.iter().map(part).collect()
}

/// Creates a directory that is removed at the end of the test.
pub fn directory() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("postmark-archive-")
        .tempdir()
        .unwrap()
}

pub fn file(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("archive.db")
}

/// Time limit for opening an archive: longer than any wait for a writer on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(3_600);

pub fn open_with(path: &Path, journal: JournalMode, make: bool) -> Result<Archive, ArchiveError> {
    open_within(path, journal, make, PATIENCE)
}

pub fn open_within(
    path: &Path,
    journal: JournalMode,
    make: bool,
    patience: Duration,
) -> Result<Archive, ArchiveError> {
    Archive::open(&Opening {
        path,
        journal,
        owner: None,
        make,
        patience,
    })
}

pub fn open(path: &Path) -> Archive {
    open_with(path, JournalMode::WriteAhead, true).unwrap()
}

/// Adds a method that imports a single record without remarks.
pub trait ImportOne {
    fn import(&mut self, record: &Record) -> Result<Imported, ArchiveError>;
}

impl ImportOne for Archive {
    fn import(&mut self, record: &Record) -> Result<Imported, ArchiveError> {
        let imported = self.import_all(&[(record, &Remarks::default())])?;
        Ok(imported[0])
    }
}
