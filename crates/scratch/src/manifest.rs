//! The manifest of a scratch file system's directory. The manifest proves that this program made
//! the files in the directory. The lock on the manifest shows that the maker is still running.
//!
//! The manifest is on disk before an image, a loop device or a mount is made, and it is removed
//! last. Its first line describes the directory and its maker. Each further line announces a file
//! to be made, records the identity of a file that was made, or records a removal. A new file stays
//! empty until its identity is on disk.
//!
//! A manifest is trusted only if it is a regular file with one link, in the directory for which it
//! was written. The directory and the manifest must belong to this user, and no other user may have
//! write permission.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::directory::{Facts, Identity, MANIFEST, MadeDirectory, facts_of};
use crate::error::MakeError;

/// The part of a scratch file system that is in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// The mount points and the image of the file system.
    FileSystem,
    /// The image of the external journal.
    Journal,
}

/// The first line of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    pub(crate) format: String,
    /// The end of the directory's name, such as `SECOND-PROCESS-N`. Both directories of a scratch
    /// file system have the same ID.
    pub(crate) id: String,
    /// Process ID of the program that made the directory.
    pub(crate) process: u32,
    pub(crate) part: Part,
    /// The name that the maker chose for the file system.
    pub(crate) name: String,
    /// Canonical text of the file system's `MakeSpec`.
    pub(crate) spec: String,
    /// Identity of the directory. A copy of the directory has another identity, so it is not
    /// trusted.
    pub(crate) directory: Option<Identity>,
    /// Path of the directory that contains the other part (file system or external journal); `None`
    /// if a single directory contains all parts.
    pub(crate) other: Option<OsString>,
}

/// A line of a manifest after the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// An empty file or directory with this name will be made.
    Intended(String),
    /// The file or directory was made, and has this identity.
    Made(String, Identity),
    /// The file or directory was removed, or could not be made.
    Removed(String),
}

pub(crate) const FORMAT: &str = "postmark-made-2";
/// The recorded files and directories, by name. The identity is `None` if the manifest announces
/// the file but does not record that it was made.
pub(crate) type Account = BTreeMap<String, Option<Identity>>;

pub(crate) fn add(account: &mut Account, entry: Entry) {
    match entry {
        Entry::Intended(name) => drop(account.insert(name, None)),
        Entry::Made(name, identity) => drop(account.insert(name, Some(identity))),
        Entry::Removed(name) => drop(account.remove(&name)),
    }
}

#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) head: Head,
    pub(crate) account: Account,
    pub(crate) file: File,
}

impl Manifest {
    /// Writes a manifest to a new directory, and syncs the file and the directory.
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
            // The error of the write is reported, not that of the removal.
            let _ = remove(directory, &manifest.file);
        }
        written.map(|()| manifest)
    }

    /// Adds a line and syncs the file.
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
            // Removes an incomplete line, because the next line would be appended to it.
            written.or_else(|error| self.file.set_len(before).and(Err(error)))
        };
        write()
            .map_err(|answer| MakeError::io("write the manifest", &directory.at(MANIFEST), answer))
    }
}

/// Removes a manifest if its name still belongs to the open file.
pub(crate) fn remove(directory: &MadeDirectory, file: &File) -> Result<(), Errno> {
    let Some(there) = directory.facts_in(MANIFEST)? else {
        return Ok(());
    };
    if there.identity != facts_of(file)?.identity {
        return Err(Errno::EXIST);
    }
    rustix::fs::unlinkat(directory.held(), MANIFEST, AtFlags::empty())
}

/// Whether a file or directory is the one that was recorded under its name.
pub(crate) fn is_ours(recorded: Option<Identity>, there: &Facts) -> bool {
    match recorded {
        Some(identity) => identity == there.identity,
        // The maker was killed between making the file and recording its identity. At this time the
        // file is still empty.
        None => {
            let is_empty = there.kind == FileType::Directory || there.bytes == 0;
            is_empty && there.owner == rustix::process::geteuid().as_raw()
        }
    }
}
