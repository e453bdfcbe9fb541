//! The manifest of a directory: proof that this program made what lies in it, and, by its lock,
//! that the maker lives.
//!
//! It is on disk before an image, a loop device or a mount is made, and is removed last. Its first
//! line says whose it is. Each other line says what is going to be made, what was made with its
//! identity, or what was removed; a file is empty until its identity is on disk. A manifest is
//! believed only where it is a regular file with one name in the directory that it was written for,
//! and both belong to this user and can be written by nobody else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::directory::{Facts, Identity, MANIFEST, MadeDirectory, facts_of};
use crate::error::MakeError;

/// What a directory has of a made file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// Its mounts and its image.
    FileSystem,
    /// The image of its external journal.
    Journal,
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// [`FORMAT`].
    pub(crate) format: String,
    /// The last part of the directory's name: one for all directories of a made file system.
    pub(crate) id: String,
    /// The maker's process.
    pub(crate) process: u32,
    /// What lies here.
    pub(crate) part: Part,
    /// What the maker calls it.
    pub(crate) name: String,
    /// The canonical word of what was asked.
    pub(crate) spec: String,
    /// The directory: a copy of it is not ours.
    pub(crate) directory: Option<Identity>,
    /// The path of the directory with the other part.
    pub(crate) other: Option<OsString>,
}

/// Another line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// This name is going to be given to something empty.
    Intended(String),
    /// It was made.
    Made(String, Identity),
    /// It was removed.
    Removed(String),
}

pub(crate) const FORMAT: &str = "postmark-made-2";
/// What was made in a directory, by name; without an identity where it may have been made.
pub(crate) type Account = BTreeMap<String, Option<Identity>>;

pub(crate) fn add(account: &mut Account, entry: Entry) {
    match entry {
        Entry::Intended(name) => drop(account.insert(name, None)),
        Entry::Made(name, identity) => drop(account.insert(name, Some(identity))),
        Entry::Removed(name) => drop(account.remove(&name)),
    }
}

/// A locked manifest with what it says.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) head: Head,
    pub(crate) account: Account,
    pub(crate) file: File,
}

impl Manifest {
    /// Writes it to a new directory, durably.
    pub(crate) fn create(directory: &MadeDirectory, mut head: Head) -> Result<Self, MakeError> {
        let error =
            |errno: Errno| MakeError::io("create the manifest", &directory.at(MANIFEST), errno);
        head.directory = Some(directory.facts().map_err(error)?.identity);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::APPEND;
        let mode = Mode::from_raw_mode(0o600);
        let file = rustix::fs::openat(directory.held(), MANIFEST, flags, mode).map_err(error)?;
        let file = File::from(file);
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(error)?;
        let manifest = Self {
            head,
            account: Account::new(),
            file,
        };
        let written = manifest
            .write(directory, &manifest.head)
            .and_then(|()| directory.sync());
        if written.is_err() {
            // The error that is told is the first one.
            let _ = remove(directory, &manifest.file);
        }
        written.map(|()| manifest)
    }

    /// Adds a line, durably.
    pub(crate) fn add(&mut self, directory: &MadeDirectory, entry: Entry) -> Result<(), MakeError> {
        self.write(directory, &entry)?;
        add(&mut self.account, entry);
        Ok(())
    }

    fn write(&self, directory: &MadeDirectory, line: &impl Serialize) -> Result<(), MakeError> {
        let write = || -> std::io::Result<()> {
            let mut text = serde_json::to_vec(line)?;
            text.push(b'\n');
            let before = self.file.metadata()?.len();
            let written = (&self.file)
                .write_all(&text)
                .and_then(|()| self.file.sync_all());
            // A part of a line would spoil the next one.
            written.or_else(|error| self.file.set_len(before).and(Err(error)))
        };
        write()
            .map_err(|answer| MakeError::io("write the manifest", &directory.at(MANIFEST), answer))
    }
}

/// Removes a manifest, if its name is still that of the open file.
pub(crate) fn remove(directory: &MadeDirectory, file: &File) -> Result<(), Errno> {
    let Some(there) = directory.facts_in(MANIFEST)? else {
        return Ok(());
    };
    if there.identity != facts_of(file)?.identity {
        return Err(Errno::EXIST);
    }
    rustix::fs::unlinkat(directory.held(), MANIFEST, AtFlags::empty())
}

/// Whether what has a name is what was made under it.
pub(crate) fn is_ours(recorded: Option<Identity>, there: &Facts) -> bool {
    match recorded {
        Some(identity) => identity == there.identity,
        // The maker was killed in between: nothing is in it by then.
        None => {
            let is_empty = there.kind == FileType::Directory || there.bytes == 0;
            is_empty && there.owner == rustix::process::geteuid().as_raw()
        }
    }
}
