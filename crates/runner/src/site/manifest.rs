//! The mark that a run leaves before its first file: what it may make, so that anybody can remove it later.
//!
//! A manifest is made exclusively, is on disk (with its directory) before the first file, and stays locked as
//! long as its run lives. One that is locked belongs to a run that goes on; one that is not, to a run that was killed.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, RenameFlags, flock, fstat, fsync, linkat, openat, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use workload::layout::Layout;
use workload::names::Names;

use super::before::{Before, for_each_name};
use super::removal::Birth;

/// The manifest's name, in the directory that holds the files.
pub const NAME: &str = ".postmark-manifest.json";
/// What the names of manifests that are being written begin with; the process's number follows.
const DRAFT_PREFIX: &str = ".postmark-manifest.json.";

/// The version of the manifests that this program writes.
const VERSION: u32 = 1;

/// What kind of directory a manifest lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A directory that the run made for itself.
    OwnDirectory,
    /// The user's own directory: the files lie beside whatever else is there.
    Location,
}

/// What a run says of itself before it makes its first file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub postmark_manifest: u32,
    pub tool: String,
    pub kind: Kind,
    pub process: u32,
    pub host: String,
    pub began_unix_ns: u64,
    /// The files have running numbers from 1 to this as names.
    pub numbers_max: u64,
    /// With more than one, the files lie in `s0` and so on, which the run makes.
    pub subdirectories: u32,
    /// With more than one, each has a directory of its own: `w0` and so on.
    #[serde(default)]
    pub workers: u32,
    /// How the files and directories of a mix are called; nothing in a classic run.
    #[serde(default)]
    pub mix: Option<MixNames>,
    /// What every file begins with, as far as it reaches, where they lie beside the user's own; nothing where that is not the same
    /// for all.
    #[serde(default)]
    pub begins: Option<String>,
    /// The birth of the first manifest, where this one was written later in its place.
    #[serde(default)]
    pub born: Option<Birth>,
    /// Whether the pool was left for a later run, and how far its workers had come.
    #[serde(default)]
    pub kept: Option<Kept>,
    /// The user's directory before the run.
    pub before: Before,
    /// The directories that the same run uses besides.
    pub others: Vec<String>,
}

/// How a mix calls what it makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MixNames {
    pub layout: Layout,
    pub names: Names,
}

/// A pool that was left for a later run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// What the pool was made of, in a fixed form: seed and all.
    pub pool: String,
    /// The workload without its number of transactions, in a fixed form.
    pub workload: String,
    /// How much of each worker's stream the pool has behind it.
    pub positions: Vec<Position>,
    /// How many files, links and directories there are.
    pub names: u64,
}

/// How far a worker's stream was performed when its pool was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// Transactions that had begun.
    pub transactions: u64,
    /// Intents of transactions that were performed.
    pub intents: u64,
}

/// A manifest that is there.
#[derive(Debug)]
pub(crate) enum Found {
    /// Whole, and its lock is ours now.
    Abandoned(Manifest, File),
    /// Its run goes on.
    Active(Option<Manifest>),
    /// Not whole: its run was killed before it had made anything.
    Unfinished(File),
    /// Whole, but not one that this program understands.
    Foreign(String),
}

impl Manifest {
    pub(crate) fn version() -> u32 {
        VERSION
    }

    /// Writes the manifest into a directory, durably, and keeps it locked by the file that is given back. It is
    /// whole and locked before it gets its name, so that nobody ever finds it otherwise.
    pub(crate) fn write(&self, directory: impl AsFd) -> Result<File, Errno> {
        let draft = format!("{DRAFT_PREFIX}{}", self.process);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&directory, &draft, flags, Mode::from_raw_mode(0o644))?);
        let written = self
            .fill(&mut file)
            .and_then(|()| name(&directory, &draft))
            .and_then(|()| sync_directory(&directory));
        if let Err(errno) = written {
            // Nothing was made yet: no manifest is needed. Where it cannot be removed either, `clean` will.
            let _ = unlinkat(&directory, &draft, AtFlags::empty());
            return Err(errno);
        }
        Ok(file)
    }

    /// Writes the manifest in the place of the one that is there, durably; it stays locked by the file that is given back.
    pub(crate) fn rewrite(&self, directory: impl AsFd) -> Result<File, Errno> {
        let draft = format!("{DRAFT_PREFIX}{}", self.process);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&directory, &draft, flags, Mode::from_raw_mode(0o644))?);
        let written = self
            .fill(&mut file)
            .and_then(|()| renameat(&directory, &draft, &directory, NAME))
            .and_then(|()| sync_directory(&directory));
        if let Err(errno) = written {
            // The manifest that was there is there still.
            let _ = unlinkat(&directory, &draft, AtFlags::empty());
            return Err(errno);
        }
        Ok(file)
    }

    fn fill(&self, file: &mut File) -> Result<(), Errno> {
        if matches!(lock(file)?, Lock::Others) {
            return Err(Errno::WOULDBLOCK);
        }
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        file.write_all(&text)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        fsync(file)
    }

    /// The manifest of a directory, if it has one.
    pub(crate) fn find(directory: impl AsFd) -> Result<Option<Found>, Errno> {
        let mut tries_left = 10;
        let (mut file, locked) = loop {
            let file = match open(&directory, NAME) {
                Ok(file) => file,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(errno),
            };
            let locked = lock(&file)?;
            tries_left -= 1;
            // Else another one was put in its place meanwhile. Some file systems number their files anew all the time.
            if tries_left == 0 || is_named(&directory, &file)? {
                break (file, locked);
            }
        };
        let mut text = String::new();
        let read = (&mut file).take(1 << 20).read_to_string(&mut text);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let parsed = serde_json::from_str::<Self>(&text);
        let is_active = match locked {
            Lock::Ours => false,
            Lock::Others => true,
            Lock::Unknown => parsed.as_ref().is_ok_and(Self::seems_alive),
        };
        if is_active {
            return Ok(Some(Found::Active(parsed.ok())));
        }
        Ok(Some(match parsed {
            Ok(manifest) if manifest.postmark_manifest == VERSION => Found::Abandoned(manifest, file),
            Ok(manifest) => Found::Foreign(format!("it has version {}", manifest.postmark_manifest)),
            Err(error) if error.is_eof() => Found::Unfinished(file),
            Err(error) => Found::Foreign(error.to_string()),
        }))
    }

    /// Whether the run may still go on, where locks cannot tell: its process is there, or was on another machine.
    fn seems_alive(&self) -> bool {
        let here = rustix::system::uname().nodename().to_string_lossy() == self.host;
        let process = i32::try_from(self.process)
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        !here || process.is_some_and(|process| rustix::process::test_kill_process(process) != Err(Errno::SRCH))
    }
}

/// Gives a draft its name, unless there is a manifest already.
fn name(directory: impl AsFd, draft: &str) -> Result<(), Errno> {
    match renameat_with(&directory, draft, &directory, NAME, RenameFlags::NOREPLACE) {
        // A file system that cannot rename like that can have two names for a file.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            linkat(&directory, draft, &directory, NAME, AtFlags::empty())?;
            unlinkat(&directory, draft, AtFlags::empty())
        }
        answer => answer,
    }
}

/// Whether the manifest's name still leads to this file.
fn is_named(directory: impl AsFd, file: &File) -> Result<bool, Errno> {
    let held = fstat(file)?;
    match statat(&directory, NAME, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) => Ok((named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Opens a manifest for locking: network file systems give exclusive locks to writers only.
fn open(directory: impl AsFd, name: &str) -> Result<File, Errno> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = match openat(&directory, name, OFlags::RDWR | flags, Mode::empty()) {
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
            openat(&directory, name, OFlags::RDONLY | flags, Mode::empty())
        }
        opened => opened,
    };
    opened.map(File::from)
}

/// Whether a name is one of the marks that runs leave: a manifest, or the draft of one.
pub(crate) fn is_mark(name: &[u8]) -> bool {
    name == NAME.as_bytes() || name.starts_with(DRAFT_PREFIX.as_bytes())
}

/// Removes the drafts of runs that were killed before they had made anything.
pub(crate) fn remove_drafts(directory: impl AsFd) -> Result<(), Errno> {
    let mut drafts = Vec::new();
    for_each_name(&directory, |name| {
        if name.starts_with(DRAFT_PREFIX.as_bytes()) {
            drafts.extend(std::str::from_utf8(name).map(str::to_owned));
        }
        Ok(())
    })?;
    for draft in drafts {
        // What cannot be opened or is locked belongs to somebody who is about to begin.
        if let Ok(file) = open(&directory, &draft) {
            if matches!(lock(&file), Ok(Lock::Ours)) {
                unlinkat(&directory, draft.as_str(), AtFlags::empty())?;
            }
        }
    }
    Ok(())
}

/// Whose a manifest's lock is.
enum Lock {
    Ours,
    Others,
    /// The file system has no locks.
    Unknown,
}

fn lock(file: &File) -> Result<Lock, Errno> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock::Ours),
        Err(Errno::WOULDBLOCK) => Ok(Lock::Others),
        Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::BADF) => Ok(Lock::Unknown),
        Err(errno) => Err(errno),
    }
}

/// Puts a directory's names on disk, where its file system lets a directory be synced.
pub(crate) fn sync_directory(directory: impl AsFd) -> Result<(), Errno> {
    match fsync(directory) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        answer => answer,
    }
}
