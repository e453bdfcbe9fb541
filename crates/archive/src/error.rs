use std::fmt::Display;
use std::io::Read;
use std::path::Path;

use record::ReadError;
use rusqlite::ErrorCode;

/// An operation on an archive failed; contains the message for the user.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
#[non_exhaustive]
pub struct ArchiveError {
    pub kind: ArchiveErrorKind,
    text: String,
}

/// Kinds of failure that callers of the archive handle in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArchiveErrorKind {
    Missing,
    /// The archive or a record in it is damaged.
    Damaged,
    /// Another process did not release its lock on the archive.
    Busy,
    /// The archive file, its journal or their file system is not writable.
    NotWritable,
    Other,
}

impl ArchiveError {
    fn new(kind: ArchiveErrorKind, text: String) -> Self {
        Self { kind, text }
    }

    pub(crate) fn other(text: String) -> Self {
        Self::new(ArchiveErrorKind::Other, text)
    }

    pub(crate) fn missing(path: &Path) -> Self {
        let text = format!(
            "there is no archive at {} (the first run creates it; --archive FILE names another)",
            path.display()
        );
        Self::new(ArchiveErrorKind::Missing, text)
    }

    /// Returns the error for an archive file or directory that cannot be opened or created.
    pub fn file(doing: &str, path: &Path, cause: &std::io::Error) -> Self {
        Self::other(format!(
            "cannot {doing} the archive {}: {cause} (use another with --archive FILE, or \
             --archive none)",
            path.display()
        ))
    }

    pub(crate) fn damaged(path: &Path, what: impl Display) -> Self {
        let text = format!(
            "the archive {} is damaged: {what}. Restore a copy, or move the file away: the next \
             run creates a new archive ('sqlite3 FILE .recover' saves what is readable; --archive \
             FILE or --archive none work without it)",
            path.display()
        );
        Self::new(ArchiveErrorKind::Damaged, text)
    }

    /// Returns the error for an archive that a newer program wrote.
    pub(crate) fn newer(path: &Path, found: u32) -> Self {
        Self::other(format!(
            "the archive {} has version {found}, and this program reads versions up to {} (use a \
             newer postmark, or another archive with --archive FILE)",
            path.display(),
            crate::VERSION
        ))
    }

    pub(crate) fn busy(path: &Path) -> Self {
        let text = format!(
            "the archive {} is locked by another process (end that process, or try again)",
            path.display()
        );
        Self::new(ArchiveErrorKind::Busy, text)
    }

    pub(crate) fn not_writable(doing: &str, path: &Path, cause: &str) -> Self {
        let text = format!(
            "cannot {doing} the archive {}: {cause} (free some space or get write permission; or \
             copy it, with its -wal or -journal file, and use the copy with --archive FILE)",
            path.display()
        );
        Self::new(ArchiveErrorKind::NotWritable, text)
    }

    /// Returns the error for a failed device or network connection. The file may be undamaged.
    fn input_output(doing: &str, path: &Path, cause: &str) -> Self {
        Self::other(format!(
            "cannot {doing} the archive {}: {cause} (its device or file system fails: see the \
             kernel's log with dmesg; --archive FILE names another)",
            path.display()
        ))
    }

    /// Returns the error for a run or submission that the archive already contains.
    pub fn there(doing: &str, path: &Path) -> Self {
        Self::other(format!(
            "cannot {doing} the archive {}: it already has a run or submission with the same \
             identity ('postmark list' shows the runs)",
            path.display()
        ))
    }

    /// Returns the error for any other failure that SQLite reports.
    fn database(doing: &str, path: &Path, cause: &str) -> Self {
        Self::other(format!(
            "cannot {doing} the archive {}: {cause} (try again, or use another with --archive \
             FILE)",
            path.display()
        ))
    }

    /// Returns the error for a record that could be written neither to the archive nor to a file
    /// beside it.
    pub(crate) fn beside(doing: &str, path: &Path, cause: &std::io::Error) -> Self {
        Self::other(format!(
            "cannot {doing} {}, for a record that the archive does not accept: {cause}",
            path.display()
        ))
    }

    pub(crate) fn unreadable(number: u64, path: &Path, cause: &ReadError) -> Self {
        let path = path.display();
        let text = format!("run {number} of the archive {path} cannot be read: {cause}");
        Self::new(ArchiveErrorKind::Damaged, text)
    }

    pub(crate) fn no_run(name: impl Display, path: &Path) -> Self {
        Self::other(format!(
            "there is no run '{name}' in the archive {} ('postmark list' shows the runs)",
            path.display()
        ))
    }

    /// Converts an error of SQLite. SQLite's texts are meant for programmers, so this program's own
    /// texts replace them.
    pub(crate) fn of(path: &Path, doing: &'static str, cause: rusqlite::Error) -> Self {
        let code = cause.sqlite_error().map(|error| error.extended_code);
        let (Some(code), Some(kind)) = (code, cause.sqlite_error_code()) else {
            return Self::of_another(path, doing, &cause);
        };
        let damaged = |what| Self::damaged(path, what);
        let not_writable = |why| Self::not_writable(doing, path, why);
        let database = |why| Self::database(doing, path, why);
        match kind {
            ErrorCode::DatabaseCorrupt => damaged("its pages are inconsistent"),
            ErrorCode::NotADatabase => damaged("it does not begin like an SQLite database"),
            ErrorCode::Unknown => {
                damaged("a table or a column differs from what the program created")
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::busy(path),
            ErrorCode::ConstraintViolation => Self::there(doing, path),
            ErrorCode::SystemIoFailure => match beside(code) {
                Some(cause) => not_writable(cause),
                None => Self::input_output(doing, path, &answer(path, call(code))),
            },
            ErrorCode::ReadOnly => not_writable("it is read-only"),
            ErrorCode::CannotOpen => not_writable("one of its files cannot be opened or created"),
            ErrorCode::DiskFull => not_writable("its file system is full"),
            ErrorCode::PermissionDenied => not_writable("the system does not permit it"),
            ErrorCode::OutOfMemory => database("the system is out of memory"),
            ErrorCode::TooBig => database("a record is longer than SQLite allows"),
            ErrorCode::OperationInterrupted => database("it was interrupted"),
            _ => database(&format!("SQLite returned error code {code}")),
        }
    }

    /// Converts an error that the Rust library for SQLite (rusqlite) detects, not SQLite itself. In
    /// most cases, a value does not have the expected type.
    fn of_another(path: &Path, doing: &str, cause: &rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        match cause {
            FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..) => Self::damaged(path, "a value has another type than its column"),
            other => Self::database(doing, path, &format!("SQLite's library answered: {other}")),
        }
    }

    /// Converts the result of a failed check. SQLite reports unreadable pages in the same way as
    /// malformed ones, so this function reads the file to distinguish them.
    pub(crate) fn of_check(path: &Path, answer_of_check: &str) -> Self {
        let lines = answer_of_check.lines().map(str::trim);
        let lines: Vec<&str> = lines
            .filter(|line| !line.is_empty() && !line.starts_with("***"))
            .collect();
        // The lowest byte of an SQLite error code is the kind of error.
        let is_unread = lines.iter().any(|line| {
            let code = line
                .split_once("error code")
                .map(|(_, code)| code.trim_start_matches([' ', '=']));
            let code = code.and_then(|code| code.parse::<i32>().ok());
            code.is_some_and(|code| code & 0xff == rusqlite::ffi::SQLITE_IOERR)
        });
        let unread = read_through(path).err();
        if is_unread || unread.is_some() {
            let cause = unread.map_or_else(
                || "a page could not be read".to_owned(),
                |error| error.to_string(),
            );
            return Self::input_output("check", path, &cause);
        }
        let page = |line: &&str| {
            let (_, number) = line.rsplit_once("page ")?;
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            (!digits.is_empty()).then_some(digits)
        };
        let what = match lines.iter().find_map(page) {
            Some(number) => format!("page {number} is malformed"),
            None => "its pages are inconsistent".to_owned(),
        };
        Self::damaged(path, what)
    }
}

/// Returns the message for an error code that means that the archive is not writable: a read-only
/// file cannot be locked, or the shared memory of its write-ahead log cannot be created.
fn beside(code: i32) -> Option<&'static str> {
    use rusqlite::ffi::{
        SQLITE_IOERR_LOCK, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE,
    };
    match code {
        SQLITE_IOERR_LOCK => Some("it cannot be locked"),
        SQLITE_IOERR_SHMMAP | SQLITE_IOERR_SHMOPEN | SQLITE_IOERR_SHMSIZE => {
            Some("the shared-memory file of its log cannot be created beside it")
        }
        _ => None,
    }
}

/// Describes the action of SQLite that failed with a system error.
fn call(code: i32) -> &'static str {
    use rusqlite::ffi;
    match code {
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_MMAP => {
            "reading it failed"
        }
        ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE => "writing to it failed",
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => "syncing it failed",
        ffi::SQLITE_IOERR_FSTAT | ffi::SQLITE_IOERR_ACCESS => "examining it failed",
        ffi::SQLITE_IOERR_DELETE => "removing its journal failed",
        _ => "its I/O failed",
    }
}

/// Adds the system's error text if reading the file also fails. The file is read because SQLite
/// does not return the error number.
fn answer(path: &Path, what: &str) -> String {
    match read_through(path) {
        Err(error) => format!("{what}: {error}"),
        Ok(()) => format!("{what} with an I/O error"),
    }
}

/// Maximum number of bytes that are read to check that a file is readable.
const READ_BYTES_MAX: u64 = 64 << 20;

fn read_through(path: &Path) -> std::io::Result<()> {
    let file = std::fs::File::open(path)?;
    std::io::copy(&mut file.take(READ_BYTES_MAX), &mut std::io::sink()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: i32) -> ArchiveError {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("archive.db");
        std::fs::write(&path, "x").unwrap();
        let message = Some("*** in database main ***: UNIQUE constraint failed: run.id".to_owned());
        let cause = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), message);
        ArchiveError::of(&path, "write a run to", cause)
    }

    #[test]
    fn messages_do_not_contain_texts_of_sqlite() {
        use rusqlite::ffi;
        for code in [
            ffi::SQLITE_ERROR,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_CONSTRAINT_UNIQUE,
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR_SHMOPEN,
            ffi::SQLITE_FULL,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_NOMEM,
            ffi::SQLITE_TOOBIG,
            ffi::SQLITE_MISUSE,
        ] {
            let told = of(code).to_string();
            assert!(!told.contains("***") && !told.contains("UNIQUE"), "{told}");
            // The message has the form "action: error (remedy)", or reports that the archive is
            // damaged or locked.
            assert!(
                told.matches(": ").count() >= 1
                    || told.contains("damaged")
                    || told.contains("locked"),
                "{told}"
            );
        }
        let there = of(ffi::SQLITE_CONSTRAINT_UNIQUE).to_string();
        assert!(there.contains("already has a run"), "{there}");
    }

    #[test]
    fn io_error_is_not_reported_as_damage() {
        use rusqlite::ffi;
        for code in [
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR,
        ] {
            let error = of(code).to_string();
            assert!(
                error.contains("see the kernel's log") && !error.contains("damaged"),
                "{error}"
            );
        }
        // `/proc/self/mem` can be opened but not read. The same is true of a file on a failing
        // device.
        let unread = Path::new("/proc/self/mem");
        for told_by_check in [
            "*** in database main ***\nTree 5 page 7: btreeInitPage() returns error code 11",
            "*** in database main ***\nFreelist: size is 1 but should be 0",
        ] {
            let error = ArchiveError::of_check(unread, told_by_check);
            assert!(error.to_string().contains("Input/output error"), "{error}");
        }
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("archive.db");
        std::fs::write(&path, "x").unwrap();
        let told = |answer: &str| ArchiveError::of_check(&path, answer).to_string();
        let unread = told(
            "*** in database main ***\nTree 5 page 7 cell 0: unable to get the page. error \
             code=266",
        );
        assert!(
            !unread.contains("damaged") && unread.contains("could not be read"),
            "{unread}"
        );
        let damaged =
            told("*** in database main ***\nTree 5 page 7: btreeInitPage() returns error code 11");
        assert!(
            damaged.contains("is damaged: page 7 is malformed"),
            "{damaged}"
        );
        assert!(told("*** in database main ***\nnonsense").contains("inconsistent"));
    }
}
