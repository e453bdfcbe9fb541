//! Finds the scratch file systems that killed programs left behind.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::directory::{Facts, MANIFEST, MadeDirectory, PREFIX, facts_of, maker_of};
use crate::error::MakeError;
use crate::manifest::{Account, FORMAT, Head, Manifest, Part, add};
use crate::owned::Owned;
use crate::removal::{self, MadeRemoved};

/// The state of a scratch file system, according to the manifest in its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadeState {
    /// The process that made the file system, or a program that it started, is still running.
    Active {
        /// Process ID of the maker; `None` if neither the manifest nor the directory's name
        /// contains it.
        process: Option<u32>,
    },
    /// The process that made the file system has ended.
    Abandoned,
    /// The maker was killed before its manifest was complete. The maker had made only the
    /// directory.
    Unfinished,
    /// The manifest is not trusted, so nothing is removed.
    Untrusted {
        /// The reason for the distrust, in one line.
        why: String,
    },
}

/// The directory of a scratch file system or of its external journal. If the maker has ended, this
/// value holds a lock on the directory, so that no other process removes it.
#[derive(Debug)]
pub struct FoundMade {
    pub directory: PathBuf,
    pub state: MadeState,
    /// The name that the maker gave the file system. `None` if the manifest is locked by its maker,
    /// incomplete, or not trusted.
    pub name: Option<String>,
    /// Canonical text of the file system's `MakeSpec`; `None` under the same conditions as `name`.
    pub spec: Option<String>,
    /// The open directory and its lock, if the maker has ended.
    held: Option<Look>,
}

/// Finds the directories of scratch file systems in `directory`, or `directory` itself if it is
/// such a directory. Changes nothing. A directory that does not exist contains none.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub fn find(directory: &Path) -> Result<Vec<FoundMade>, MakeError> {
    let real = match std::fs::canonicalize(directory) {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(MakeError::io("find", directory, error)),
    };
    let mut found: Vec<FoundMade> = found(real.clone())?.into_iter().collect();
    if found.is_empty() {
        for path in candidates(&real)? {
            found.extend(self::found(path)?);
        }
    }
    Ok(found)
}

/// Returns the entries of a directory whose names have the prefix of scratch file systems, sorted.
/// Preserves the directory's access time if the system permits it, because a search should change
/// nothing.
fn candidates(directory: &Path) -> Result<Vec<PathBuf>, MakeError> {
    let error = |errno: Errno| MakeError::io("list", directory, errno);
    let open = |flags| {
        rustix::fs::open(
            directory,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | flags,
            Mode::empty(),
        )
    };
    let opened = open(OFlags::NOATIME)
        .or_else(|_| open(OFlags::empty()))
        .map_err(error)?;
    let mut paths = Vec::new();
    for entry in Dir::new(opened).map_err(error)? {
        let entry = entry.map_err(error)?;
        let name = entry.file_name().to_bytes();
        if name.starts_with(PREFIX.as_bytes()) {
            paths.push(directory.join(OsStr::from_bytes(name)));
        }
    }
    paths.sort();
    Ok(paths)
}

fn found(path: PathBuf) -> Result<Option<FoundMade>, MakeError> {
    let Some(directory) = MadeDirectory::open(&path)? else {
        return Ok(None);
    };
    let mut found = FoundMade {
        directory: path,
        state: MadeState::Abandoned,
        name: None,
        spec: None,
        held: None,
    };
    match look(directory)? {
        Look::Nothing => return Ok(None),
        Look::Active(process) => found.state = MadeState::Active { process },
        Look::Untrusted(why) => found.state = MadeState::Untrusted { why },
        unfinished @ Look::Unfinished(..) => {
            found.state = MadeState::Unfinished;
            found.held = Some(unfinished);
        }
        Look::Abandoned(owned) => {
            let head = &owned.manifest.head;
            (found.name, found.spec) = (Some(head.name.clone()), Some(head.spec.clone()));
            // A program that the maker started, such as mkfs, may still use files in both
            // directories of the file system. The program holds the lock of only one of the two
            // manifests, so both directories are checked.
            match look_beside(&owned)? {
                Some(Look::Active(process)) => found.state = MadeState::Active { process },
                _ => found.held = Some(Look::Abandoned(owned)),
            }
        }
    }
    Ok(Some(found))
}

/// Inspects the directory of the other part of the file system (image or external journal). Returns
/// `None` if there is no such directory.
fn look_beside(owned: &Owned) -> Result<Option<Look>, MakeError> {
    let Some(path) = owned.manifest.head.other.as_ref().map(Path::new) else {
        return Ok(None);
    };
    MadeDirectory::open(path)?.map(look).transpose()
}

/// Maximum number of bytes that are read: more than any manifest contains.
const BYTES_MAX: u64 = 4 << 20;

/// The result of inspecting a directory.
#[derive(Debug)]
enum Look {
    /// The directory does not belong to a scratch file system.
    Nothing,
    /// The process that made the directory, or a program that it started, is still running.
    Active(Option<u32>),
    /// The maker was killed before the manifest was complete, so it made nothing except the
    /// directory. The manifest, if it exists, is locked by this process.
    Unfinished(MadeDirectory, Option<File>),
    /// The maker has ended, and the manifest is locked by this process.
    Abandoned(Box<Owned>),
    /// The manifest is not trusted; contains the reason.
    Untrusted(String),
}

/// Inspects a directory by its name and by its manifest, because the directory may have been
/// renamed.
fn look(directory: MadeDirectory) -> Result<Look, MakeError> {
    let error = |errno: Errno| MakeError::io("look at", directory.path(), errno);
    let maker = directory.path().file_name().and_then(maker_of);
    let facts = directory.facts().map_err(error)?;
    let manifest = directory.facts_in(MANIFEST).map_err(error)?;
    if maker.is_none() && manifest.is_none() {
        return Ok(Look::Nothing);
    }
    let user = rustix::process::geteuid().as_raw();
    if facts.owner != user {
        // Mounting requires root, so a directory of another user is not a scratch file system. Any
        // user can create a directory with such a name, so it is ignored.
        return Ok(match facts.owner {
            0 => Look::Untrusted("it belongs to root (clean as root)".to_owned()),
            _ => Look::Nothing,
        });
    }
    if facts.mode & 0o022 != 0 {
        let why = "other users can write to the directory";
        return Ok(Look::Untrusted(why.to_owned()));
    }
    let process = maker.map(|(_, process)| process);
    let flags =
        OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::APPEND;
    let untrusted = |why: String| Ok(Look::Untrusted(format!("the manifest {why}")));
    let file = match rustix::fs::openat(directory.held(), MANIFEST, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) if process.is_some_and(is_alive) => return Ok(Look::Active(process)),
        Err(Errno::NOENT) => return Ok(Look::Unfinished(directory, None)),
        Err(errno) => return untrusted(format!("cannot be opened: {errno}")),
    };
    let of_file = facts_of(&file).map_err(error)?;
    let is_plain = of_file.kind == FileType::RegularFile && of_file.links == 1;
    if !is_plain || of_file.owner != user || of_file.mode & 0o022 != 0 {
        return untrusted("is not a regular file of this user's alone".to_owned());
    }
    read(directory, &facts, file, process)
}

/// Reads and locks the manifest of a directory. `process` is the maker's process ID in the
/// directory's name.
fn read(
    directory: MadeDirectory,
    facts: &Facts,
    file: File,
    process: Option<u32>,
) -> Result<Look, MakeError> {
    let is_locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
    let mut text = Vec::new();
    (&file)
        .take(BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(|error| MakeError::io("read", &directory.at(MANIFEST), error))?;
    let (first, rest) = match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (&text[..], None),
    };
    let head: Option<Head> = serde_json::from_slice(first).ok();
    if is_locked {
        return Ok(Look::Active(head.map(|head| head.process).or(process)));
    }
    let of_other = |why: &str| Ok(Look::Untrusted(format!("the manifest {why}")));
    let Some((head, rest)) = head.zip(rest) else {
        return match rest {
            None if process.is_some_and(is_alive) => Ok(Look::Active(process)),
            None if process.is_some() && is_cut_short(first) => {
                Ok(Look::Unfinished(directory, Some(file)))
            }
            _ => of_other("is not one of this version of the program"),
        };
    };
    if head.format != FORMAT {
        return of_other("was written by another version of the program");
    }
    if head.directory != Some(facts.identity) {
        return of_other("was written for another directory: this one is a copy");
    }
    let mut account = Account::new();
    // The last line may be incomplete. An incomplete line is ignored, because the maker makes a
    // change only after the line that announces the change is complete.
    let lines = rest.split_inclusive(|byte| *byte == b'\n');
    for line in lines.filter(|line| line.ends_with(b"\n")) {
        match serde_json::from_slice(line) {
            Ok(entry) => add(&mut account, entry),
            Err(_) => return of_other("has a line that is not understood"),
        }
    }
    let manifest = Manifest {
        head,
        account,
        file,
    };
    Ok(Look::Abandoned(Box::new(Owned {
        directory,
        manifest,
    })))
}

/// Whether a text may be the incomplete first line of a manifest.
fn is_cut_short(text: &[u8]) -> bool {
    let error = serde_json::from_slice::<serde_json::Value>(text).err();
    error.is_none_or(|error| error.is_eof())
}

fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process).ok();
    process
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|process| rustix::process::test_kill_process(process) != Err(Errno::SRCH))
}

impl FoundMade {
    /// Removes the scratch file system and the directories of both its parts: mounts, loop devices,
    /// images and manifests. Keeps the file system if its maker is still running, and keeps
    /// directories whose manifest is not trusted.
    pub fn remove(self) -> MadeRemoved {
        match (self.state, self.held) {
            (MadeState::Active { process }, _) => {
                let process =
                    process.map_or_else(String::new, |process| format!(" (process {process})"));
                MadeRemoved::left(&self.directory, format!("in use by its maker{process}"))
            }
            (MadeState::Untrusted { why }, _) => MadeRemoved::left(&self.directory, why),
            (_, Some(Look::Abandoned(owned))) => remove_parts(*owned),
            // Without a complete manifest, the maker made only the directory. Other files in the
            // directory are reported and kept.
            (_, Some(Look::Unfinished(directory, lock))) => {
                removal::remove_unfinished(&directory, lock.as_ref())
            }
            _ => MadeRemoved::left(&self.directory, "it is not held"),
        }
    }
}

fn remove_parts(mut own: Owned) -> MadeRemoved {
    let (path, head) = (own.directory.path().to_owned(), own.manifest.head.clone());
    // Inspects the directory of the other part (image or external journal), if this directory still
    // exists. If the other part is in use or not trusted, nothing is removed, because the file
    // system uses the journal.
    let mut other = match look_beside(&own) {
        Ok(Some(Look::Abandoned(other))) => {
            let of_other = &other.manifest.head;
            let is_other_part = of_other.id == head.id && of_other.part != head.part;
            is_other_part.then_some(*other)
        }
        Ok(None | Some(Look::Nothing)) => None,
        Ok(Some(Look::Unfinished(directory, lock))) => {
            // The maker was killed after it had made this directory, and before it made anything
            // else.
            let removed = removal::remove_unfinished(&directory, lock.as_ref());
            if !removed.left.is_empty() {
                return removed;
            }
            None
        }
        Ok(Some(Look::Active(_))) => {
            return MadeRemoved::left(&path, "the directory of its other part is in use");
        }
        Ok(Some(Look::Untrusted(why))) => {
            let beside = head.other.map_or(path, PathBuf::from);
            return MadeRemoved::left(&beside, why);
        }
        Err(error) => return MadeRemoved::left(&path, error.to_string()),
    };
    match head.part {
        Part::FileSystem => removal::remove(Some(&mut own), other.as_mut()),
        Part::Journal => removal::remove(other.as_mut(), Some(&mut own)),
    }
}
