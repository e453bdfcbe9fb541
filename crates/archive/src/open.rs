//! Opens and creates archives: sets the journal mode, checks small files, and migrates older
//! versions.

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

/// Maximum wait for another process's transaction once the archive is open. If the caller's time
/// limit for opening is longer, that limit is used instead.
const BUSY_MAX: Duration = Duration::from_secs(20);
/// Time limit of one attempt to open an archive with a rollback journal. Locks are released between
/// two attempts, so that two processes that create an archive at the same time do not block each
/// other.
const TRY_MAX: Duration = Duration::from_millis(400);
/// Pause between two attempts to open the archive.
const TRY_PAUSE: Duration = Duration::from_millis(20);
/// Time limit for switching to a write-ahead log. The switch is impossible while other processes
/// have the file open. Processes that only probe the file close it within this time.
const SWITCH_MAX: Duration = Duration::from_secs(3);
/// Files up to this size are checked completely when they are opened, which takes some
/// milliseconds. Damage in a larger file is reported when a damaged page is read.
const CHECKED_BYTES_MAX: u64 = 4 << 20;

/// The journal by which SQLite makes changes to the file atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalMode {
    /// A write-ahead log: readers and a writer do not wait for each other. The log requires memory
    /// shared by all processes, so it is safe on one machine only. A file that has a rollback
    /// journal keeps this journal.
    WriteAhead,
    /// A rollback journal, for network file systems. A file with a write-ahead log is converted, or
    /// not opened if it cannot be converted.
    Rollback,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub user: u32,
    pub group: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    pub path: &'a Path,
    pub journal: JournalMode,
    /// The owner of new files; `None` for the user of this process.
    pub owner: Option<Owner>,
    pub make: bool,
    /// Maximum wait for another process that has locked the archive.
    pub patience: Duration,
}

impl Archive {
    /// Opens an archive. With `make`, creates the archive and its directories if necessary. An
    /// archive of an older version is migrated to the newest version.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or created; with `make`, also if it cannot be
    /// written. Also returns an error if the file is not an archive, is damaged, or has a newer
    /// version. The contents of a file with an error are not changed.
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
        // SQLite gets the resolved path, for two reasons. SQLite interprets names like ":memory:"
        // and "file:…", and its journal must be beside the file, not beside a link to the file.
        let path = std::fs::canonicalize(said).map_err(|cause| failed("open", cause))?;
        let looked = look(&path)?;
        if looked == Look::Empty && !opening.make {
            return Err(ArchiveError::missing(said));
        }
        let archive = match Self::connect_in_time(&path, opening, looked) {
            // If no journal exists, no process seems to be writing, and the file contains all
            // changes. The file is then opened read-only and without locks.
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

    /// Sets the maximum wait for another process's transaction.
    ///
    /// # Errors
    /// Returns an error if SQLite rejects the limit.
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
        // The time limit of an attempt depends on the process ID. With equal limits, two processes
        // could block each other repeatedly.
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
                    // The process that had locked the file may have created the archive in the
                    // meantime.
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
            // The locking mode is set before the first read. SQLite then reads an existing
            // write-ahead log without shared memory, or fails.
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
                // SQLite applies the new locking mode at the next read.
                schema::version(&db).map_err(told)?;
            }
            // An existing file keeps its rollback journal, because another machine may have opened
            // the file. A new file also keeps its rollback journal if another process is already
            // using the file.
            JournalMode::WriteAhead
                if matches!(looked, Look::Empty | Look::Archive { has_log: true, .. }) =>
            {
                set_journal(&db, "wal", patience.min(SWITCH_MAX)).map_err(told)?;
            }
            JournalMode::WriteAhead => {}
        }
        Self::of(db, path)
    }

    /// Opens a file read-only, without locks and without journal files. No process may be changing
    /// the file.
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

    /// Checks that the archive is not open read-only.
    ///
    /// # Errors
    /// Returns an error if the archive is open read-only.
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

    /// Returns the absolute path of the file, with symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks all pages of the file.
    ///
    /// # Errors
    /// Returns an error if a page is damaged or cannot be read.
    pub fn check(&self) -> Result<(), ArchiveError> {
        check(&self.db, &self.path)
    }
}

pub(crate) fn file(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|facts| (facts.dev(), facts.ino()))
}

/// Returns the dangling symbolic link that makes a path unusable, and the link's target. The link
/// is the deepest existing component of the path.
fn dangling_link(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let there = path
        .ancestors()
        .find(|above| above.symlink_metadata().is_ok())?;
    let to = std::fs::read_link(there).ok()?;
    (!there.exists()).then(|| (there.to_owned(), to))
}

/// Creates an empty file, and the missing directories of its path.
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
        // New directories get mode 0700, because other programs of this user may also store data in
        // them. The XDG Base Directory Specification requires this mode.
        match DirBuilder::new().mode(0o700).create(directory) {
            Ok(()) => give(directory)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    match new_file(path) {
        // Sets the owner of the new file. SQLite creates its journals with the owner of the file.
        Ok(_) => give(path),
        // Another process created the file first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.exists() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a file. Fails if the name exists, also as a symbolic link.
pub(crate) fn new_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(path)
}

/// Configures a connection, and checks the file if it is small. Returns the file's version.
fn prepare(db: &Connection, path: &Path, looked: Look) -> Result<u32, ArchiveError> {
    let set = || {
        // The contents are untrusted, so the schema in the file must not be able to execute
        // anything.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        db.pragma_update(None, "cell_size_check", true)?;
        db.pragma_update(None, "foreign_keys", true)?;
        // A commit must be on the device when it returns, because the machine may crash. With a
        // rollback journal, the removal of the journal is the commit, so the directory must also be
        // synced.
        db.pragma_update(None, "synchronous", "EXTRA")
    };
    let told = |cause| ArchiveError::of(path, "open", cause);
    set().map_err(told)?;
    if let Look::Archive { bytes, .. } = looked
        && bytes <= CHECKED_BYTES_MAX
    {
        check(db, path)?;
    }
    let found = schema::version(db).map_err(told)?;
    if found > schema::VERSION {
        return Err(ArchiveError::newer(path, found));
    }
    Ok(found)
}

/// Returns the URI with which SQLite opens a file as immutable, without locks.
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

/// Begins a change and rolls it back, which fails if the journal files cannot be created or
/// removed.
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

/// Sets the locking mode: locks are kept from now on (`exclusive`), or released after each
/// transaction (`normal`).
fn lock(db: &Connection, mode: &str) -> rusqlite::Result<()> {
    db.pragma_update_and_check(None, "locking_mode", mode, |_| Ok(()))
}

/// Switches the journal mode. Returns `false` if other processes use the file and prevent the
/// switch.
fn set_journal(db: &Connection, wished: &str, patience: Duration) -> rusqlite::Result<bool> {
    let began = Instant::now();
    loop {
        let answer =
            db.pragma_update_and_check(None, "journal_mode", wished, |row| row.get::<_, String>(0));
        match answer {
            // If SQLite cannot switch the mode, it returns the present mode.
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
    fn special_characters_in_sqlite_uris_are_escaped() {
        let address = still_address(Path::new("/a b/50%?x#y&.db"));
        assert_eq!(address, "file:///a%20b/50%25%3Fx%23y%26.db?immutable=1");
    }
}
