//! The mark that a run leaves before its first file: what it may make, so that anybody can remove it later.
//!
//! A manifest is made exclusively, is on disk (with its directory) before the first file, and stays locked as
//! long as its run lives. One that is locked belongs to a run that goes on; one that is not, to a run that was killed.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fsync, openat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::before::Before;

/// The manifest's name, in the directory that holds the files.
pub const NAME: &str = ".postmark-manifest.json";

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
    /// The user's directory before the run.
    pub before: Before,
    /// The directories that the same run uses besides.
    pub others: Vec<String>,
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

    /// Writes the manifest into a directory, durably, and keeps it locked by the file that is given back.
    pub(crate) fn write(&self, directory: impl AsFd) -> Result<File, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&directory, NAME, flags, Mode::from_raw_mode(0o644))?);
        let written = flock(&file, FlockOperation::NonBlockingLockExclusive)
            .and_then(|()| {
                let text = serde_json::to_vec_pretty(self).unwrap_or_default();
                file.write_all(&text).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            })
            .and_then(|()| fsync(&file))
            .and_then(|()| fsync(&directory));
        if let Err(errno) = written {
            // Nothing was made yet: no manifest is needed. Where it cannot be removed either, `clean` will.
            let _ = rustix::fs::unlinkat(&directory, NAME, rustix::fs::AtFlags::empty());
            return Err(errno);
        }
        Ok(file)
    }

    /// The manifest of a directory, if it has one.
    pub(crate) fn find(directory: impl AsFd) -> Result<Option<Found>, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file: OwnedFd = match openat(&directory, NAME, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        let mut file = File::from(file);
        let locked = match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::WOULDBLOCK) => false,
            Err(errno) => return Err(errno),
        };
        let mut text = String::new();
        let read = (&mut file).take(1 << 20).read_to_string(&mut text);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let parsed = serde_json::from_str::<Self>(&text);
        if !locked {
            return Ok(Some(Found::Active(parsed.ok())));
        }
        Ok(Some(match parsed {
            Ok(manifest) if manifest.postmark_manifest == VERSION => Found::Abandoned(manifest, file),
            Ok(manifest) => Found::Foreign(format!("it has version {}", manifest.postmark_manifest)),
            Err(error) if error.is_eof() => Found::Unfinished(file),
            Err(error) => Found::Foreign(error.to_string()),
        }))
    }
}
