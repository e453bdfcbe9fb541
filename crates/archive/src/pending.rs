//! Records of runs that could not be written to the archive: each in a file of its own beside it,
//! until somebody can write.
//!
//! A file is whole and on the device before it gets its name, and never takes the place of another
//! one. Its name is that of the archive, `.pending-`, the run's identity and `.json`; its contents
//! are what `export --format json` writes, so that `import` and `show` read it, too. Whoever opens
//! the archive for writing adds what waits, in one transaction, and removes the files after that:
//! where the process ends in between, the next one finds the runs in the archive and has only the
//! files to remove.
//!
//! Others may have put files there: one is read only where it has such a name, is a regular file of
//! this user's or of the archive's owner, is no longer than a record may be, and has the run in it
//! that its name says. What is not like that is left, and told.

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

/// What stands between the archive's name and the identity.
const MARK: &str = ".pending-";
const END: &str = ".json";
/// What the name of a file ends with that is being written.
const DRAFT_END: &str = ".part";
/// So many are added in one transaction, or fewer where their texts have so many bytes.
const AT_ONCE: usize = 64;
const BYTES_AT_ONCE: usize = 16 << 20;
/// When an archive is opened, no more are taken in: the next command takes the others.
const FILES_MAX: usize = 4_096;

/// What became of a file that waited.
#[derive(Debug)]
#[non_exhaustive]
pub enum Pending {
    /// Its run is in the archive, with this number, and the file is gone.
    Imported(u64),
    /// It was left as it is.
    Left {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A record that waits beside an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The file.
    pub path: PathBuf,
    id: RunId,
}

/// Writes a record and its remarks durably to a file beside an archive, and returns its path. The
/// file belongs to the archive's owner, or to `owner` if there is no archive yet.
///
/// # Errors
/// Where the file cannot be made or written, or there is one of its name.
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
        // What cannot be removed either has a name that nobody reads.
        let _ = std::fs::remove_file(&draft);
        failed("write", cause)
    })?;
    Ok(path)
}

/// Finds out whether a record could be left beside an archive: makes an empty file, and removes it.
///
/// # Errors
/// Why it could not.
pub fn may_leave_beside(archive: &Path) -> Result<(), ArchiveError> {
    // Of this moment: what a process of the same number left when it was killed here is not in the
    // way.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let path = path_of(archive, RunId::new(now.as_nanos()));
    let draft = draft_of(&path);
    let made = new_file(&draft).and_then(|mut file| {
        // A file system that is full often takes an empty file.
        let written = file.write_all(&[b' '; 4096]).and_then(|()| file.sync_all());
        std::fs::remove_file(&draft).and(written)
    });
    let directory = path.parent().unwrap_or(Path::new("/"));
    made.map_err(|cause| ArchiveError::beside("write a file in", directory, &cause))
}

/// The records that wait beside an archive, by their names: nothing of them is read. None where the
/// directory cannot be listed.
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
    /// Adds the records that wait beside the archive, and removes their files. Tells of each what
    /// became of it.
    ///
    /// # Errors
    /// Where nothing could be written: all of which nothing was told wait still.
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
                    // Another process was faster.
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

    /// The record in a file and its remarks; nothing where the file is gone.
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

/// A file that was read.
struct Facts {
    inode: (u64, u64),
    bytes: usize,
}

/// Removes the file of a record that is in the archive now.
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
    // Only the file that was read.
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

/// The archive itself, where its name leads to it by a link, or as it would be.
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

/// Gives a new file to the archive's owner, where this process is another one that may do so.
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

/// Gives a file its name, unless there is one of it.
fn name(draft: &Path, path: &Path) -> std::io::Result<()> {
    match renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE) {
        // A file system that cannot do it at once.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            match std::fs::hard_link(draft, path) {
                Ok(()) => std::fs::remove_file(draft),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
                // Nor make links: identities are never given twice, so that nothing of ours is
                // there.
                Err(_) if !path.try_exists()? => std::fs::rename(draft, path),
                Err(error) => Err(error),
            }
        }
        answer => answer.map_err(std::io::Error::from),
    }
}

/// Puts a name on the device, where the file system lets a directory be synced.
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
        // It is written, and whoever writes there need not be able to list it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        answer => answer,
    }
}
