//! What can go wrong with an archive.

use std::path::{Path, PathBuf};

use record::ReadError;
use rusqlite::ErrorCode;

/// An archive could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// There is none.
    #[error("there is no archive at {}: the first run makes it (--archive names another)", .path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file, or its directory, cannot be opened or made.
    #[error("cannot {doing} the archive {}: {cause}: give another with --archive FILE, or --archive none", .path.display())]
    File {
        /// Open, or make.
        doing: &'static str,
        /// The archive.
        path: PathBuf,
        /// What the system answered.
        cause: std::io::Error,
    },
    /// It is a file of somebody else's.
    #[error(
        "{} is no archive of postmark ({what}); nothing in it was changed: give another with --archive FILE, or --archive none",
        .path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// It is ours, and not whole.
    #[error(
        "the archive {} is damaged ({what}): take a copy of it that is whole, or move it away, and the next run makes a new one; \
         'sqlite3 FILE .recover' saves what can be read; --archive FILE or --archive none do without it",
        .path.display()
    )]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// What is not as it should be.
        what: String,
    },
    /// A newer program has written it.
    #[error(
        "the archive {} has version {found}, and this program knows up to {}; nothing in it was changed: use a newer postmark, or \
         give another with --archive FILE",
        .path.display(),
        crate::VERSION
    )]
    Newer {
        /// The archive.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Somebody moved, replaced or removed it.
    #[error("the archive {} was moved, replaced or removed while it was open: what was written is not in it", .path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// Another process did not let go of it.
    #[error("the archive {} is locked by another process: end that, or try again", .path.display())]
    Busy {
        /// The archive.
        path: PathBuf,
    },
    /// The file, what lies beside it, or their file system cannot be written to.
    #[error(
        "cannot {doing} the archive {}: {cause}: make room there, or get the right to write; or copy it, with its -wal or -journal \
         where there is one, and give the copy with --archive FILE",
        .path.display()
    )]
    NotWritable {
        /// What was being done.
        doing: &'static str,
        /// The archive.
        path: PathBuf,
        /// What is in the way.
        cause: String,
    },
    /// SQLite could not do it.
    #[error("cannot {doing} the archive {}: {cause}", .path.display())]
    Database {
        /// What was being done.
        doing: &'static str,
        /// The archive.
        path: PathBuf,
        /// What it answered.
        cause: rusqlite::Error,
    },
    /// No run has this name.
    #[error("there is no run '{name}' in the archive {}: 'postmark list' shows them", .path.display())]
    NoRun {
        /// The name.
        name: String,
        /// The archive.
        path: PathBuf,
    },
    /// Several runs have it.
    #[error("'{name}' may be run {first} or run {second}, or others: give more digits, or the number")]
    Ambiguous {
        /// The name.
        name: String,
        /// One of them.
        first: u64,
        /// Another.
        second: u64,
    },
    /// Its run goes on.
    #[error("run {number} goes on: wait for its end")]
    Going {
        /// Its number.
        number: u64,
    },
    /// A word of a run's line is none that this program has.
    #[error(
        "run {number} of the archive {} has the {what} '{}', which this program does not know: use a newer postmark",
        .path.display(),
        record::harmless::harmless(word)
    )]
    Unknown {
        /// The run's number.
        number: u64,
        /// The archive.
        path: PathBuf,
        /// What the word is of.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// A record in it cannot be read.
    #[error("run {number} of the archive {} cannot be read: {cause}", .path.display())]
    Record {
        /// The run's number.
        number: u64,
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        cause: ReadError,
    },
}

impl ArchiveError {
    /// What an answer of SQLite's comes to.
    pub(crate) fn of(path: &Path, doing: &'static str, cause: rusqlite::Error) -> Self {
        let path = path.to_owned();
        // Memory for a log cannot be had beside the file; and what can only be read cannot be locked.
        let is_bound = cause.sqlite_error().is_some_and(|error| {
            use rusqlite::ffi::{SQLITE_IOERR_LOCK, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE};
            [
                SQLITE_IOERR_LOCK,
                SQLITE_IOERR_SHMMAP,
                SQLITE_IOERR_SHMOPEN,
                SQLITE_IOERR_SHMSIZE,
            ]
            .contains(&error.extended_code)
        });
        if is_bound {
            return Self::NotWritable {
                doing,
                path,
                cause: cause.to_string(),
            };
        }
        match cause.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                path,
                what: cause.to_string(),
            },
            // A table or a column of ours is not there.
            Some(ErrorCode::Unknown) => Self::Damaged {
                path,
                what: cause.to_string(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::DiskFull | ErrorCode::PermissionDenied) => {
                Self::NotWritable {
                    doing,
                    path,
                    cause: cause.to_string(),
                }
            }
            _ => Self::Database { doing, path, cause },
        }
    }
}
