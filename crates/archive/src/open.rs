//! Opening and making an archive.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, lchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, Transaction, TransactionBehavior};

use crate::archive::Archive;
use crate::error::{ArchiveError, ArchiveErrorKind};
use crate::probe::{Look, has_journal, look};
use crate::schema;

/// Another process's transaction is waited for so long, once the archive is open; longer where
/// opening was to wait longer.
const BUSY_MAX: Duration = Duration::from_secs(20);
/// One try at opening a file that is used without shared memory takes so long: between two tries
/// nothing of it is kept, so that two who make an archive at once do not wait for one another until
/// both give up.
const TRY_MAX: Duration = Duration::from_millis(400);
/// Between two tries.
const TRY_PAUSE: Duration = Duration::from_millis(20);
/// Who only looks at a file is gone after this, and does not keep a new one from getting its log.
const SWITCH_MAX: Duration = Duration::from_secs(3);
/// Files up to this are checked as a whole when they are opened, which takes some milliseconds. Of
/// larger ones a damage is told where it is met.
const CHECKED_BYTES_MAX: u64 = 4 << 20;

/// How changes reach the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalMode {
    /// A write-ahead log: readers and a writer do not wait for one another. Needs memory that all
    /// processes share, so that it is safe on one machine only. A file that has a rollback
    /// journal keeps it.
    WriteAhead,
    /// A rollback journal, for file systems of a network. A file that has a write-ahead log loses
    /// it, or is not opened.
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
    pub journal: JournalMode,
    /// Who is to own what is made; nothing: whoever this process runs as.
    pub owner: Option<Owner>,
    /// Whether it is made where there is none.
    pub make: bool,
    /// How long another process that keeps it is waited for.
    pub patience: Duration,
}

impl Archive {
    /// Opens an archive, and makes it with its directories where that is wished. An older one is
    /// brought to the newest version.
    ///
    /// # Errors
    /// Where the file cannot be opened or made, or, if it was to be made where there is none, not
    /// written to; is not ours, damaged, or newer: then nothing in it was changed.
    pub fn open(opening: &Opening<'_>) -> Result<Self, ArchiveError> {
        let said = opening.path;
        let failed = |doing, cause| ArchiveError::file(doing, said, &cause);
        if !said.try_exists().map_err(|cause| failed("open", cause))? {
            if let Some((link, to)) = dangling_link(said) {
                return Err(ArchiveError::other(format!(
                    "cannot open the archive {}: the symbolic link {} points to {}, which does \
                     not exist (mount or create that, remove the link, or use another with \
                     --archive FILE)",
                    said.display(),
                    link.display(),
                    to.display()
                )));
            }
            if !opening.make {
                return Err(ArchiveError::missing(said));
            }
            make(said, opening.owner).map_err(|cause| failed("make", cause))?;
        }
        // SQLite takes names like ":memory:" and "file:…" for something else, and a journal lies
        // beside the file, not beside a link to it: it is given what the name leads to.
        let path = std::fs::canonicalize(said).map_err(|cause| failed("open", cause))?;
        let looked = look(&path)?;
        if looked == Look::Empty && !opening.make {
            return Err(ArchiveError::missing(said));
        }
        let archive = match Self::connect_in_time(&path, opening, looked) {
            // Nobody writes to it either, as far as can be seen: what is in the file is all there
            // is.
            Err(error)
                if error.kind == ArchiveErrorKind::NotWritable
                    && !opening.make
                    && !has_journal(&path) =>
            {
                Self::still(&path, looked)
            }
            connected => connected,
        }?;
        if opening.make {
            archive.writable()?;
            archive.wait_up_to(opening.patience)?;
            try_to_write(&archive.db).map_err(|cause| archive.failed("write to", cause))?;
        }
        archive.wait_up_to(opening.patience.max(BUSY_MAX))?;
        Ok(archive)
    }

    /// From now on another process's transaction is waited for so long.
    ///
    /// # Errors
    /// Where SQLite does not take it.
    pub fn wait_up_to(&self, patience: Duration) -> Result<(), ArchiveError> {
        self.db
            .busy_timeout(patience)
            .map_err(|cause| self.failed("open", cause))
    }

    fn connect_in_time(
        path: &Path,
        opening: &Opening<'_>,
        looked: Look,
    ) -> Result<Self, ArchiveError> {
        let began = Instant::now();
        // Who tries for a different time does not meet the other again and again.
        let own = TRY_MAX / 4 * (std::process::id() % 4) / 4;
        let mut looked = looked;
        loop {
            let left = opening.patience.saturating_sub(began.elapsed());
            let patience = match opening.journal {
                JournalMode::WriteAhead => left,
                JournalMode::Rollback => left.min(TRY_MAX + own),
            };
            match Self::connect(path, opening.journal, looked, patience) {
                Err(error)
                    if error.kind == ArchiveErrorKind::Busy
                        && began.elapsed() < opening.patience =>
                {
                    std::thread::sleep(TRY_PAUSE + own / 4);
                    // Whoever kept it may have made it meanwhile.
                    looked = look(path)?;
                }
                connected => return connected,
            }
        }
    }

    fn connect(
        path: &Path,
        journal: JournalMode,
        looked: Look,
        patience: Duration,
    ) -> Result<Self, ArchiveError> {
        let told = |cause| ArchiveError::of(path, "open", cause);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = Connection::open_with_flags(path, flags).map_err(told)?;
        db.busy_timeout(patience).map_err(told)?;
        if journal == JournalMode::Rollback {
            // Before anything is read: a log is then used without memory that is shared, or not at
            // all.
            lock(&db, "exclusive").map_err(told)?;
        }
        let found = prepare(&db, path, looked)?;
        if found < schema::VERSION {
            set_journal(&db, "delete", patience).map_err(told)?;
            schema::migrate(&mut db).map_err(told)?;
        }
        match journal {
            JournalMode::Rollback => {
                if !set_journal(&db, "delete", patience).map_err(told)? {
                    return Err(ArchiveError::busy(path));
                }
                lock(&db, "normal").map_err(told)?;
                // Locks are let go with the next thing that is read.
                schema::version(&db).map_err(told)?;
            }
            // One with a rollback journal stays so: another machine may have it open. Where a new
            // one is already in use, it stays so, too.
            JournalMode::WriteAhead
                if matches!(looked, Look::Empty | Look::Archive { has_log: true, .. }) =>
            {
                set_journal(&db, "wal", patience.min(SWITCH_MAX)).map_err(told)?;
            }
            JournalMode::WriteAhead => {}
        }
        Self::of(db, path)
    }

    /// Opens for reading what nobody changes: without locks, and without anything beside it.
    fn still(path: &Path, looked: Look) -> Result<Self, ArchiveError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let db = Connection::open_with_flags(still_address(path), flags);
        let db = db.map_err(|cause| ArchiveError::of(path, "open", cause))?;
        prepare(&db, path, looked)?;
        Self::of(db, path)
    }

    fn of(db: Connection, path: &Path) -> Result<Self, ArchiveError> {
        let file = file(path).map_err(|cause| ArchiveError::file("open", path, &cause))?;
        Ok(Self {
            db,
            path: path.to_owned(),
            file,
        })
    }

    /// Whether it can be written to, as far as that is known without trying.
    ///
    /// # Errors
    /// Where it cannot.
    pub fn writable(&self) -> Result<(), ArchiveError> {
        match self.db.is_readonly(MAIN_DB) {
            Ok(false) => Ok(()),
            Ok(true) => Err(ArchiveError::not_writable(
                "write to",
                &self.path,
                "it is read-only",
            )),
            Err(cause) => Err(self.failed("write to", cause)),
        }
    }

    /// Where it lies: the file itself, as an absolute path.
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

/// The symbolic link that keeps a path from being there, and what it leads to: the last name of the
/// path that is there is one.
fn dangling_link(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let there = path
        .ancestors()
        .find(|above| above.symlink_metadata().is_ok())?;
    let to = std::fs::read_link(there).ok()?;
    (!there.exists()).then(|| (there.to_owned(), to))
}

/// Makes an empty file, and the directories that it needs.
fn make(path: &Path, owner: Option<Owner>) -> std::io::Result<()> {
    let give = |path: &Path| {
        owner.map_or(Ok(()), |owner| {
            lchown(path, Some(owner.user), Some(owner.group))
        })
    };
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let missing: Vec<&Path> = parent
        .into_iter()
        .flat_map(Path::ancestors)
        .take_while(|directory| !directory.as_os_str().is_empty() && !directory.exists())
        .collect();
    for directory in missing.into_iter().rev() {
        // Others of the user's programs may find their data below it: it is theirs alone, as the
        // XDG specification has it.
        match DirBuilder::new().mode(0o700).create(directory) {
            Ok(()) => give(directory)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    match new_file(path) {
        // SQLite gives its journals the owner of the file.
        Ok(_) => give(path),
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.exists() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a file where nothing is, nor a link.
pub(crate) fn new_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(path)
}

/// Makes a connection ready, and looks through a file that is not large. Gives its version.
fn prepare(db: &Connection, path: &Path, looked: Look) -> Result<u32, ArchiveError> {
    let set = || {
        // What is in the file is data: nothing in its schema is to do anything.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        db.pragma_update(None, "cell_size_check", true)?;
        db.pragma_update(None, "foreign_keys", true)?;
        // A commit is on the device when it returns: the machine may be what goes down. With a
        // rollback journal it is the journal's removal that commits, and the directory must
        // be on the device for that.
        db.pragma_update(None, "synchronous", "EXTRA")
    };
    let told = |cause| ArchiveError::of(path, "open", cause);
    set().map_err(told)?;
    if let Look::Archive { bytes, .. } = looked {
        if bytes <= CHECKED_BYTES_MAX {
            check(db, path)?;
        }
    }
    let found = schema::version(db).map_err(told)?;
    if found > schema::VERSION {
        return Err(ArchiveError::newer(path, found));
    }
    Ok(found)
}

/// What SQLite takes for a file that does not change.
fn still_address(path: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            address.push(char::from(*byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address.push_str("?immutable=1");
    address
}

/// Begins a change and gives it up. What must lie beside the file for that, is made and removed.
fn try_to_write(db: &Connection) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    transaction.pragma_update(None, "user_version", schema::VERSION)?;
    transaction.rollback()
}

fn check(db: &Connection, path: &Path) -> Result<(), ArchiveError> {
    let answer: rusqlite::Result<String> =
        db.pragma_query_value(None, "quick_check", |row| row.get(0));
    match answer {
        Ok(answer) if answer == "ok" => Ok(()),
        Ok(answer) => Err(ArchiveError::of_check(path, &answer)),
        Err(cause) => Err(ArchiveError::of(path, "check", cause)),
    }
}

/// From now on keeps its locks (`exclusive`), or lets them go after each transaction (`normal`).
fn lock(db: &Connection, mode: &str) -> rusqlite::Result<()> {
    db.pragma_update_and_check(None, "locking_mode", mode, |_| Ok(()))
}

/// Has changes reach the file so from now on. Says whether they do: not where others do not let go
/// of it.
fn set_journal(db: &Connection, wished: &str, patience: Duration) -> rusqlite::Result<bool> {
    let began = Instant::now();
    loop {
        let answer =
            db.pragma_update_and_check(None, "journal_mode", wished, |row| row.get::<_, String>(0));
        match answer {
            // Where it cannot be had, the answer is what there is.
            Ok(answer) => return Ok(answer == wished),
            Err(error) if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => {
                return Err(error);
            }
            Err(_) if began.elapsed() < patience => std::thread::sleep(Duration::from_millis(20)),
            Err(_) => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_no_character_that_means_something_in_it() {
        let address = still_address(Path::new("/a b/50%?x#y&.db"));
        assert_eq!(address, "file:///a%20b/50%25%3Fx%23y%26.db?immutable=1");
    }
}
