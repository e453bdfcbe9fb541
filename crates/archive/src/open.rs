//! Opening and making an archive.

use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, lchown};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::ArchiveError;
use crate::look::{Look, look};
use crate::{Archive, schema};

/// Another process's transaction is waited for so long.
const BUSY_MAX: Duration = Duration::from_secs(20);
/// Files up to this are checked as a whole when they are opened, which takes some milliseconds. Of larger ones a damage is told where
/// it is met.
const CHECKED_BYTES_MAX: u64 = 4 << 20;

/// How changes reach the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    /// A write-ahead log: readers and a writer do not wait for one another. Needs memory that all processes share, so that it is
    /// safe on one machine only.
    WriteAhead,
    /// A rollback journal, for file systems of a network.
    Rollback,
}

/// A user and a group, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub user: u32,
    /// The user's group.
    pub group: u32,
}

/// Which archive, and how.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The file.
    pub path: &'a Path,
    /// How changes reach it.
    pub journal: Journal,
    /// Who is to own what is made; nothing: whoever this process runs as.
    pub owner: Option<Owner>,
    /// Whether it is made where there is none.
    pub make: bool,
}

impl Archive {
    /// Opens an archive, and makes it with its directories where that is wished. An older one is brought to the newest version.
    ///
    /// # Errors
    /// Where the file cannot be opened or made; is not ours, damaged, or newer: then nothing in it was changed.
    pub fn open(opening: &Opening<'_>) -> Result<Self, ArchiveError> {
        let path = opening.path;
        let failed = |doing, cause| ArchiveError::File {
            doing,
            path: path.to_owned(),
            cause,
        };
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) if opening.make => make(path, opening.owner).map_err(|cause| failed("make", cause))?,
            Ok(false) => {
                return Err(ArchiveError::Missing { path: path.to_owned() });
            }
            Err(cause) => return Err(failed("open", cause)),
        }
        let looked = look(path)?;
        let told = |cause| ArchiveError::of(path, "open", cause);
        let mut db = connect(path).map_err(told)?;
        if let Look::Archive { bytes } = looked {
            if bytes <= CHECKED_BYTES_MAX {
                check(&db, path)?;
            }
        }
        let found = schema::version(&db).map_err(told)?;
        if found > schema::VERSION {
            return Err(ArchiveError::Newer {
                path: path.to_owned(),
                found,
            });
        }
        if found < schema::VERSION {
            set_journal(&db, Journal::Rollback).map_err(told)?;
            schema::migrate(&mut db).map_err(told)?;
        }
        set_journal(&db, opening.journal).map_err(told)?;
        Ok(Self {
            db,
            path: path.to_owned(),
            file: file(path).map_err(|cause| failed("open", cause))?,
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// Where something is not as it should be.
    pub fn check(&self) -> Result<(), ArchiveError> {
        check(&self.db, &self.path)
    }
}

/// Device and inode of what a path leads to.
pub(crate) fn file(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|facts| (facts.dev(), facts.ino()))
}

/// Makes an empty file, and the directories that it needs.
fn make(path: &Path, owner: Option<Owner>) -> std::io::Result<()> {
    let give = |path: &Path| owner.map_or(Ok(()), |owner| lchown(path, Some(owner.user), Some(owner.group)));
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let missing: Vec<&Path> = parent
        .into_iter()
        .flat_map(Path::ancestors)
        .take_while(|directory| !directory.as_os_str().is_empty() && !directory.exists())
        .collect();
    for directory in missing.into_iter().rev() {
        // Others of the user's programs may find their data below it: it is theirs alone, as the XDG specification has it.
        match DirBuilder::new().mode(0o700).create(directory) {
            Ok(()) => give(directory)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o644).open(path) {
        // SQLite gives its journals the owner of the file.
        Ok(_) => give(path),
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.exists() => Ok(()),
        Err(error) => Err(error),
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY_MAX)?;
    // What is in the file is data: nothing in its schema is to do anything.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.pragma_update(None, "foreign_keys", true)?;
    // A commit is on the device when it returns: the machine may be what goes down.
    db.pragma_update(None, "synchronous", "FULL")?;
    Ok(db)
}

fn check(db: &Connection, path: &Path) -> Result<(), ArchiveError> {
    let answer: rusqlite::Result<String> = db.pragma_query_value(None, "quick_check", |row| row.get(0));
    match answer {
        Ok(answer) if answer == "ok" => Ok(()),
        Ok(answer) => Err(ArchiveError::Damaged {
            path: path.to_owned(),
            what: answer.lines().next().unwrap_or_default().to_owned(),
        }),
        Err(cause) => Err(ArchiveError::of(path, "check", cause)),
    }
}

/// Has changes reach the file so from now on, where they do not yet. That asks for the file alone: where others do not let go of it, or
/// it cannot be written to, it stays as it is, which is safe for as long as they agree, and they do: the file says it to all.
fn set_journal(db: &Connection, journal: Journal) -> rusqlite::Result<()> {
    let wished = match journal {
        Journal::WriteAhead => "wal",
        Journal::Rollback => "delete",
    };
    let current: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let began = Instant::now();
    let mut is_set = current == wished;
    while !is_set {
        let answer = db.pragma_update_and_check(None, "journal_mode", wished, |row| row.get::<_, String>(0));
        is_set = match answer {
            // Where it cannot be had, the answer is what there is.
            Ok(_) => true,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => true,
            Err(error) if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => return Err(error),
            Err(_) if began.elapsed() < BUSY_MAX / 4 => {
                std::thread::sleep(Duration::from_millis(20));
                false
            }
            Err(_) => true,
        };
    }
    Ok(())
}
