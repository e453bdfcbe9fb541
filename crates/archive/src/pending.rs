//! Files beside the archive with the records of runs that could not be written to the archive. Each
//! file contains one record and exists until a process imports it.
//!
//! A file is complete and on the device before it gets its name, and it never replaces another
//! file. The name consists of the archive's name, `.pending-`, the run's ID and `.json`. The
//! contents are those that `export --format json` writes, so `import` and `show` can read them. A
//! process that opens the archive for writing imports the waiting records, at most 64 in one
//! transaction. After each transaction, the process removes the files of the imported records. If
//! the process ends in between, the next process detects that the runs are in the archive, and only
//! removes the files.
//!
//! Other users may put files into the same directory, so a file is imported only if:
//! - its name has this form;
//! - it is a regular file of this user or of the archive's owner;
//! - it is not longer than a record can be;
//! - it contains the run of its name.
//!
//! Other files are left and reported.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use record::read::BYTES_MAX;
use record::{Record, RunId};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::open::{Owner, new_file};
use crate::remarks::Remarks;
use crate::write::Imported;

/// Separates the archive's name and the run's ID in a file name.
const MARK: &str = ".pending-";
const END: &str = ".json";
/// Suffix of the name of a file that is being written.
const DRAFT_END: &str = ".part";
/// Limits of one transaction: maximum number of records, and number of bytes after which no further
/// record is added.
const AT_ONCE: usize = 64;
const BYTES_AT_ONCE: usize = 16 << 20;
/// Maximum number of files that one command imports; the next command imports the rest.
const FILES_MAX: usize = 4_096;

/// The result of importing one waiting file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Pending {
    /// The run is in the archive under this number, and the file was removed.
    Imported(u64),
    /// The file was not removed, for the reason `why`.
    Left { path: PathBuf, why: String },
}

/// A record in a file beside an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub path: PathBuf,
    id: RunId,
}

/// Writes a record and its remarks durably to a file beside an archive, and returns the file's
/// path. The file belongs to the archive's owner, or to `owner` if the archive does not exist yet.
///
/// # Errors
/// Returns an error if the file cannot be created or written, or already exists.
pub fn leave_beside(
    archive: &Path,
    owner: Option<Owner>,
    record: &Record,
    remarks: &Remarks,
) -> Result<PathBuf, ArchiveError> {
    let path = path_of(archive, record.id);
    let failed = |doing, cause| ArchiveError::beside(doing, &path, &cause);
    let draft = draft_of(&path);
    let mut file = new_file(&draft).map_err(|cause| failed("make", cause))?;
    let written = give(&file, archive, owner)
        .and_then(|()| file.write_all(remarks.document(record).as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| name(&draft, &path))
        .and_then(|()| sync_directory_of(&path));
    written.map_err(|cause| {
        // A draft that cannot be removed does no harm, because files whose names end with `.part`
        // are never imported.
        let _ = std::fs::remove_file(&draft);
        failed("write", cause)
    })?;
    Ok(path)
}

/// Checks that a record could be written beside an archive: creates a small file and removes it.
///
/// # Errors
/// Returns the reason if the file cannot be created, written or removed.
pub fn may_leave_beside(archive: &Path) -> Result<(), ArchiveError> {
    // The ID contains the time. The file's name therefore differs from the name of a file that a
    // killed process left, even if both processes have the same process ID.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let path = path_of(archive, RunId::new(now.as_nanos()));
    let draft = draft_of(&path);
    let made = new_file(&draft).and_then(|mut file| {
        // A full file system often still accepts an empty file, so the test file gets contents.
        let written = file.write_all(&[b' '; 4096]).and_then(|()| file.sync_all());
        std::fs::remove_file(&draft).and(written)
    });
    let directory = path.parent().unwrap_or(Path::new("/"));
    made.map_err(|cause| ArchiveError::beside("write a file in", directory, &cause))
}

/// Lists the files with waiting records beside an archive by their names, without reading them. The
/// list is empty if the directory cannot be listed.
pub fn waiting(archive: &Path) -> Vec<Waiting> {
    let archive = whole(archive);
    let (Some(directory), Some(name)) = (archive.parent(), archive.file_name()) else {
        return Vec::new();
    };
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let begin = [name.as_encoded_bytes(), MARK.as_bytes()].concat();
    let mut found: Vec<Waiting> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let id = name.as_encoded_bytes().strip_prefix(&begin[..])?;
            let id = std::str::from_utf8(id.strip_suffix(END.as_bytes())?).ok()?;
            Some(Waiting {
                id: id
                    .parse()
                    .ok()
                    .filter(|parsed: &RunId| parsed.to_string() == id)?,
                path: directory.join(&name),
            })
        })
        .take(FILES_MAX)
        .collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

impl Archive {
    /// Imports the records that wait beside the archive, removes their files, and reports the
    /// result of each file to `tell`.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written. Files without a reported result then
    /// remain, and are imported later.
    pub fn take_waiting(&mut self, tell: &mut dyn FnMut(Pending)) -> Result<(), ArchiveError> {
        let all = waiting(&self.path);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let (mut files, mut runs) = (Vec::new(), Vec::new());
            let mut bytes = 0;
            while let [first, others @ ..] = rest {
                if runs.len() == AT_ONCE || bytes >= BYTES_AT_ONCE {
                    break;
                }
                rest = others;
                match self.read_waiting(first) {
                    Ok(Some((record, remarks, facts))) => {
                        bytes += facts.bytes;
                        files.push((first, facts));
                        runs.push((record, remarks));
                    }
                    // Another process imported the record first.
                    Ok(None) => {}
                    Err(why) => tell(Pending::Left {
                        path: first.path.clone(),
                        why,
                    }),
                }
            }
            if runs.is_empty() {
                continue;
            }
            let imported = self.import_all(&runs)?;
            for ((waiting, facts), imported) in files.iter().zip(imported) {
                tell(taken(waiting, facts, imported));
            }
        }
        Ok(())
    }

    /// Reads a record and its remarks from a file. Returns `None` if the file no longer exists.
    fn read_waiting(&self, waiting: &Waiting) -> Result<Option<(Record, Remarks, Facts)>, String> {
        let flags = rustix::fs::OFlags::NOFOLLOW
            | rustix::fs::OFlags::NONBLOCK
            | rustix::fs::OFlags::NOCTTY;
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(&waiting.path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err("it is a symbolic link".to_owned());
            }
            Err(error) => return Err(format!("cannot open it: {error}")),
        };
        let facts = file
            .metadata()
            .map_err(|error| format!("cannot examine it: {error}"))?;
        if !facts.is_file() {
            return Err("it is not a regular file".to_owned());
        }
        let owners = [
            Some(rustix::process::geteuid().as_raw()),
            std::fs::metadata(&self.path).ok().map(|facts| facts.uid()),
        ];
        if !owners.contains(&Some(facts.uid())) {
            return Err(format!("user {} owns it", facts.uid()));
        }
        let mut text = Vec::new();
        let read = file.take(BYTES_MAX as u64 + 1).read_to_end(&mut text);
        read.map_err(|error| format!("cannot read it: {error}"))?;
        if text.len() > BYTES_MAX {
            return Err(format!(
                "it is larger than a record can be ({BYTES_MAX} bytes)"
            ));
        }
        let bytes = text.len();
        let text = String::from_utf8(text).map_err(|_| "it is not UTF-8".to_owned())?;
        let record = Record::from_json(&text)
            .map_err(|error| format!("its record cannot be read: {error}"))?;
        if record.id != waiting.id {
            return Err(format!("it has the record of another run, {}", record.id));
        }
        let remarks = Remarks::of_document(&text)
            .map_err(|error| format!("its tags or its note cannot be read: {error}"))?;
        let inode = (facts.dev(), facts.ino());
        Ok(Some((record, remarks, Facts { inode, bytes })))
    }
}

struct Facts {
    inode: (u64, u64),
    bytes: usize,
}

/// Removes the file of a record that the archive now contains.
fn taken(waiting: &Waiting, facts: &Facts, imported: Imported) -> Pending {
    let left = |why: String| Pending::Left {
        path: waiting.path.clone(),
        why,
    };
    let number = match imported {
        Imported::New(number) | Imported::There(number) | Imported::Completed(number) => number,
        Imported::Conflict(number) => {
            return left(format!(
                "run {number} of the archive has the same identity but another record"
            ));
        }
        Imported::Unreadable(number) => {
            return left(format!(
                "run {number} of the archive has the same identity but cannot be read"
            ));
        }
    };
    // Removes the file only if no other file has replaced it since it was read.
    let is_same = |facts_now: std::fs::Metadata| (facts_now.dev(), facts_now.ino()) == facts.inode;
    let removed = match std::fs::symlink_metadata(&waiting.path).map(is_same) {
        Ok(true) => std::fs::remove_file(&waiting.path),
        Ok(false) => {
            return left(format!(
                "run {number} is in the archive, and another process replaced the file"
            ));
        }
        Err(error) => Err(error),
    };
    match removed {
        Ok(()) => Pending::Imported(number),
        Err(error) if error.kind() == ErrorKind::NotFound => Pending::Imported(number),
        Err(error) => left(format!(
            "run {number} is in the archive; the file cannot be removed: {error}"
        )),
    }
}

/// Returns the archive's path with symbolic links resolved, or its absolute path if it does not
/// exist.
fn whole(archive: &Path) -> PathBuf {
    std::fs::canonicalize(archive)
        .or_else(|_| std::path::absolute(archive))
        .unwrap_or_else(|_| archive.to_owned())
}

fn path_of(archive: &Path, id: RunId) -> PathBuf {
    let mut name = whole(archive).into_os_string();
    name.push(format!("{MARK}{id}{END}"));
    name.into()
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}{DRAFT_END}", std::process::id()));
    name.into()
}

/// Sets the owner of a new file to the archive's owner, if this process is root.
fn give(file: &File, archive: &Path, owner: Option<Owner>) -> std::io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let owner = std::fs::metadata(archive)
        .ok()
        .map(|facts| Owner {
            user: facts.uid(),
            group: facts.gid(),
        })
        .or(owner);
    owner.map_or(Ok(()), |owner| {
        fchown(file, Some(owner.user), Some(owner.group))
    })
}

/// Renames the draft. Fails if the new name exists already.
fn name(draft: &Path, path: &Path) -> std::io::Result<()> {
    match renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE) {
        // The file system does not support a rename that fails if the new name exists.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            match std::fs::hard_link(draft, path) {
                Ok(()) => std::fs::remove_file(draft),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
                // The file system does not support hard links either. IDs are unique, so no other
                // record has the new name.
                Err(_) if !path.try_exists()? => std::fs::rename(draft, path),
                Err(error) => Err(error),
            }
        }
        answer => answer.map_err(std::io::Error::from),
    }
}

/// Syncs the directory that contains a file, if the file system supports syncing directories.
fn sync_directory_of(path: &Path) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        Err(error)
            if [Errno::INVAL, Errno::OPNOTSUPP]
                .iter()
                .any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) =>
        {
            Ok(())
        }
        // The file itself is on disk, so the error is ignored. A user may have permission to write
        // to the directory, but not to open it for a sync.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        answer => answer,
    }
}
