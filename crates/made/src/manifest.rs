//! The manifest of a directory: proof that this program made what lies in it, and, by its lock, that the maker lives.
//!
//! It is on disk before an image, a loop device or a mount is made, and is removed last. A manifest is believed only where it is
//! a regular file with one name in the directory that it was written for, and both belong to this user and can be written by
//! nobody else.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};
use serde::{Deserialize, Serialize};

use crate::directory::{MadeDirectory, maker_of};
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

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
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
    /// The inode of the directory: a copy of it is not ours.
    pub(crate) directory_inode: u64,
    /// The directory with the other part.
    pub(crate) other: Option<PathBuf>,
}

pub(crate) const FORMAT: &str = "postmark-made-1";
/// More than a manifest has.
const BYTES_MAX: u64 = 64 << 10;

impl Manifest {
    /// Writes it to a new directory, durably; gives the file, locked.
    pub(crate) fn create(&self, directory: &MadeDirectory) -> Result<File, MakeError> {
        let path = directory.manifest();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| MakeError::io("create the manifest", &path, error))?;
        let error = |answer: std::io::Error| MakeError::io("write the manifest", &path, answer);
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|errno| error(errno.into()))?;
        let text = serde_json::to_vec_pretty(self).map_err(|answer| error(answer.into()))?;
        file.write_all(&text).map_err(error)?;
        file.sync_all().map_err(error)?;
        sync_directory(directory.path())?;
        if let Some(above) = directory.path().parent() {
            sync_directory(above)?;
        }
        Ok(file)
    }
}

fn sync_directory(path: &Path) -> Result<(), MakeError> {
    let synced = File::open(path).and_then(|directory| directory.sync_all());
    synced.map_err(|error| MakeError::io("sync the directory", path, error))
}

/// What a look into a directory finds.
pub(crate) enum Look {
    /// It is gone, or not a directory of this form.
    Nothing,
    /// The maker lives, or a program that it started does.
    Active(Option<u32>),
    /// The maker was killed before the manifest was whole: nothing was made after it. The file is locked, where there is one.
    Unfinished(Option<File>),
    /// The maker is gone. The file is locked.
    Abandoned(Box<Manifest>, File),
    /// It is not believed: why not.
    Untrusted(String),
}

/// Looks at a directory by its manifest.
pub(crate) fn look(directory: &MadeDirectory) -> Result<Look, MakeError> {
    let Some(process) = directory.path().file_name().and_then(|name| maker_of(name.to_str()?)) else {
        return Ok(Look::Nothing);
    };
    let user = rustix::process::geteuid().as_raw();
    let facts = match std::fs::symlink_metadata(directory.path()) {
        Ok(facts) if facts.is_dir() => facts,
        Ok(_) => return Ok(Look::Nothing),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Look::Nothing),
        Err(error) => return Err(MakeError::io("look at", directory.path(), error)),
    };
    if facts.uid() != user {
        // Mounting needs root, so those of others are only called so: anybody can make a directory of any name.
        let is_roots = facts.uid() == 0;
        let why = "it belongs to root (clean as root)".to_owned();
        return Ok(if is_roots { Look::Untrusted(why) } else { Look::Nothing });
    }
    if facts.mode() & 0o022 != 0 {
        return Ok(Look::Untrusted("other users can write to the directory".into()));
    }
    let path = directory.manifest();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(&path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(if is_alive(process) {
                Look::Active(Some(process))
            } else {
                Look::Unfinished(None)
            });
        }
        Err(error) => return Ok(Look::Untrusted(format!("the manifest cannot be opened: {error}"))),
    };
    let of_file = file
        .metadata()
        .map_err(|error| MakeError::io("look at", &path, error))?;
    if !of_file.is_file() || of_file.nlink() != 1 || of_file.uid() != user || of_file.mode() & 0o022 != 0 {
        let why = "the manifest is not a regular file of this user's alone";
        return Ok(Look::Untrusted(why.into()));
    }
    let is_locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
    let mut text = Vec::new();
    (&file)
        .take(BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(|error| MakeError::io("read", &path, error))?;
    let manifest: Option<Manifest> = serde_json::from_slice(&text).ok();
    if is_locked {
        return Ok(Look::Active(manifest.map(|manifest| manifest.process)));
    }
    Ok(match manifest {
        None if is_alive(process) => Look::Active(Some(process)),
        None if is_cut_short(&text) => Look::Unfinished(Some(file)),
        None => Look::Untrusted("the manifest is not one of this version of the program".into()),
        Some(manifest) if manifest.format != FORMAT || !directory.source().ends_with(&manifest.id) => {
            Look::Untrusted("the manifest was written for another directory or by another version".into())
        }
        Some(manifest) if manifest.directory_inode != facts.ino() => {
            Look::Untrusted("the directory is a copy: its manifest was written for another one".into())
        }
        Some(manifest) => Look::Abandoned(Box::new(manifest), file),
    })
}

/// Whether a text can be the beginning of a manifest that was not written to its end.
fn is_cut_short(text: &[u8]) -> bool {
    let error = serde_json::from_slice::<serde_json::Value>(text).err();
    error.is_some_and(|error| error.is_eof())
}

fn is_alive(process: u32) -> bool {
    let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
}
