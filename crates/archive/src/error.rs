//! What can go wrong with an archive.

use std::io::Read;
use std::path::{Path, PathBuf};

use record::ReadError;
use rusqlite::ErrorCode;

/// An archive could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "what is said of each says what its fields are")]
pub enum ArchiveError {
    /// There is none.
    #[error("there is no archive at {} (the first run creates it; --archive FILE names another)",
        .path.display())]
    Missing { path: PathBuf },
    /// A name of its path is a symbolic link that leads nowhere.
    #[error(
        "cannot open the archive {}: the symbolic link {} points to {}, which does not exist \
            (mount or create that, remove the link, or use another with --archive FILE)",
        .path.display(),
        .link.display(),
        .to.display()
    )]
    DanglingLink {
        path: PathBuf,
        link: PathBuf,
        to: PathBuf,
    },
    /// The file, or its directory, cannot be opened or made.
    #[error("cannot {doing} the archive {}: {cause} (use another with --archive FILE, or \
        --archive none)", .path.display())]
    File {
        doing: &'static str,
        path: PathBuf,
        cause: std::io::Error,
    },
    /// It is a file of somebody else's.
    #[error(
        "{} is not an archive of postmark: {what} (the file is unchanged; use another with \
            --archive FILE, or --archive none)",
        .path.display()
    )]
    Foreign { path: PathBuf, what: String },
    /// It is ours, and not whole.
    #[error(
        "the archive {} is damaged: {what}. Restore a copy, or move the file away: the next run \
            creates a new archive ('sqlite3 FILE .recover' saves what is readable; --archive FILE \
            or --archive none work without it)",
        .path.display()
    )]
    Damaged { path: PathBuf, what: String },
    /// A newer program has written it.
    #[error(
        "the archive {} has version {found}, and this program reads versions up to {} (use a \
            newer postmark, or another archive with --archive FILE)",
        .path.display(),
        crate::VERSION
    )]
    Newer { path: PathBuf, found: u32 },
    /// Somebody moved, replaced or removed it.
    #[error("the archive {} was moved, replaced or removed while it was open: the changes are lost",
        .path.display())]
    Gone { path: PathBuf },
    /// Another process did not let go of it.
    #[error("the archive {} is locked by another process (end that process, or try again)",
        .path.display())]
    Busy { path: PathBuf },
    /// The file, what lies beside it, or their file system cannot be written to.
    #[error(
        "cannot {doing} the archive {}: {cause} (free some space or get write permission; or copy \
            it, with its -wal or -journal file, and use the copy with --archive FILE)",
        .path.display()
    )]
    NotWritable {
        doing: &'static str,
        path: PathBuf,
        cause: String,
    },
    /// The device, or what leads to it, failed. That says nothing of what is in the file.
    #[error(
        "cannot {doing} the archive {}: {cause} (its device or file system fails: see the \
            kernel's log with dmesg; --archive FILE names another)",
        .path.display()
    )]
    InputOutput {
        doing: &'static str,
        path: PathBuf,
        cause: String,
    },
    /// What is to be added is there already.
    #[error(
        "cannot {doing} the archive {}: it already has a run or submission with the same identity \
            ('postmark list' shows the runs)",
        .path.display()
    )]
    There { doing: &'static str, path: PathBuf },
    /// SQLite could not do it.
    #[error(
        "cannot {doing} the archive {}: {cause} (try again, or use another with --archive FILE)",
        .path.display()
    )]
    Database {
        doing: &'static str,
        path: PathBuf,
        cause: String,
    },
    /// The record of a run that is not in the archive could not be left in a file beside it.
    #[error("cannot {doing} {}, for a record that the archive does not accept: {cause}",
        .path.display())]
    Beside {
        doing: &'static str,
        path: PathBuf,
        cause: std::io::Error,
    },
    /// No run has this name.
    #[error("there is no run '{name}' in the archive {} ('postmark list' shows the runs)",
        .path.display())]
    NoRun { name: String, path: PathBuf },
    /// A word cannot be the name of a run.
    #[error(
        "invalid run '{0}': expected its number, at least four hexadecimal digits of its identity, \
         or last ('postmark list' shows the numbers)"
    )]
    NoName(String),
    /// Several runs have it.
    #[error(
        "'{name}' is ambiguous: it is the beginning of run {first}, run {second} and maybe others \
         (write more digits, or the number)"
    )]
    Ambiguous {
        name: String,
        first: u64,
        second: u64,
    },
    /// Its run goes on.
    #[error("run {number} is still running (wait until it ends)")]
    Going { number: u64 },
    /// A word of a run's line is none that this program has.
    #[error(
        "run {number} of the archive {} has the unknown {what} '{}' (use a newer postmark)",
        .path.display(),
        document::sanitize::sanitize(word)
    )]
    Unknown {
        number: u64,
        path: PathBuf,
        what: &'static str,
        word: String,
    },
    /// A record in it cannot be read.
    #[error("run {number} of the archive {} cannot be read: {cause}", .path.display())]
    Record {
        number: u64,
        path: PathBuf,
        cause: ReadError,
    },
}

impl ArchiveError {
    /// What an answer of SQLite's comes to. Its own texts are for programmers: what they say is
    /// said here in words of ours.
    pub(crate) fn of(path: &Path, doing: &'static str, cause: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let Some(code) = cause.sqlite_error().map(|error| error.extended_code) else {
            return Self::of_another(path, doing, &cause);
        };
        match cause.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                what: "its pages are inconsistent".to_owned(),
            },
            Some(ErrorCode::NotADatabase) => Self::Damaged {
                path,
                what: "it does not begin like an SQLite database".to_owned(),
            },
            Some(ErrorCode::Unknown) => Self::Damaged {
                path,
                what: "a table or a column differs from what the program created".to_owned(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::ConstraintViolation) => Self::There { doing, path },
            Some(ErrorCode::SystemIoFailure) => match beside(code) {
                Some(cause) => Self::NotWritable {
                    doing,
                    path,
                    cause: cause.to_owned(),
                },
                None => {
                    let cause = answer(&path, call(code));
                    Self::InputOutput { doing, path, cause }
                }
            },
            Some(known) => match denied(known) {
                Some(cause) => Self::NotWritable {
                    doing,
                    path,
                    cause: cause.to_owned(),
                },
                None => Self::Database {
                    doing,
                    path,
                    cause: match known {
                        ErrorCode::OutOfMemory => "the system is out of memory".to_owned(),
                        ErrorCode::TooBig => "a record is longer than SQLite allows".to_owned(),
                        ErrorCode::OperationInterrupted => "it was interrupted".to_owned(),
                        _ => format!("SQLite returned error code {code}"),
                    },
                },
            },
            None => Self::of_another(path, doing, &cause),
        }
    }

    /// What does not come of SQLite itself: a value has another type than its column.
    fn of_another(path: PathBuf, doing: &'static str, cause: &rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        match cause {
            FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..) => Self::Damaged {
                path,
                what: "a value has another type than its column".to_owned(),
            },
            other => Self::Database {
                doing,
                path,
                cause: format!("SQLite's library answered: {other}"),
            },
        }
    }

    /// What a check of SQLite's that did not say "ok" comes to: it tells pages that it could not
    /// read like pages that are wrong.
    pub(crate) fn of_check(path: &Path, answer_of_check: &str) -> Self {
        let path = path.to_owned();
        let lines = answer_of_check.lines().map(str::trim);
        let lines: Vec<&str> = lines
            .filter(|line| !line.is_empty() && !line.starts_with("***"))
            .collect();
        // The lowest byte of SQLite's codes is the kind of the error.
        let is_unread = lines.iter().any(|line| {
            let code = line
                .split_once("error code")
                .map(|(_, code)| code.trim_start_matches([' ', '=']));
            let code = code.and_then(|code| code.parse::<i32>().ok());
            code.is_some_and(|code| code & 0xff == rusqlite::ffi::SQLITE_IOERR)
        });
        let unread = read_through(&path).err();
        if is_unread || unread.is_some() {
            let cause = unread.map_or_else(
                || "a page could not be read".to_owned(),
                |error| error.to_string(),
            );
            return Self::InputOutput {
                doing: "check",
                path,
                cause,
            };
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
        Self::Damaged { path, what }
    }
}

/// What is in the way of writing.
fn denied(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::ReadOnly => Some("it is read-only"),
        ErrorCode::CannotOpen => Some("one of its files cannot be opened or created"),
        ErrorCode::DiskFull => Some("its file system is full"),
        ErrorCode::PermissionDenied => Some("the system does not permit it"),
        _ => None,
    }
}

/// Memory for a log cannot be had beside the file; and what can only be read cannot be locked.
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

/// What SQLite was doing when the system answered with an error.
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

/// SQLite keeps the number of the error to itself: where reading fails, too, the system's own
/// answer is had by that.
fn answer(path: &Path, what: &str) -> String {
    match read_through(path) {
        Err(error) => format!("{what}: {error}"),
        Ok(()) => format!("{what} with an I/O error"),
    }
}

/// So much of a file is read to see whether it can be.
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
    fn no_text_of_sqlites_is_shown() {
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
            // What was being done, the answer, and what to do.
            assert!(
                told.matches(": ").count() >= 1
                    || told.contains("damaged")
                    || told.contains("locked"),
                "{told}"
            );
        }
        assert!(matches!(
            of(ffi::SQLITE_CONSTRAINT_UNIQUE),
            ArchiveError::There { .. }
        ));
    }

    #[test]
    fn an_error_of_input_and_output_is_no_damage() {
        use rusqlite::ffi;
        for code in [
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR,
        ] {
            let error = of(code);
            assert!(matches!(error, ArchiveError::InputOutput { .. }), "{error}");
            assert!(!error.to_string().contains("damaged"), "{error}");
        }
        // A file that the system does not let be read, as a device that fails.
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
