//! A directory with its locked manifest. Files in the directory are created and removed only by
//! their name in the open directory, and only if the manifest records this name.

use std::fs::File;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::blocks::Image;
use crate::directory::{Facts, MadeDirectory, PREFIX, facts_of};
use crate::error::MakeError;
use crate::held_path::shown;
use crate::manifest::{Entry, Head, Manifest, is_ours};
use crate::stop::MakeStop;
use crate::tool::Around;

#[derive(Debug)]
pub(crate) struct Owned {
    pub(crate) directory: MadeDirectory,
    pub(crate) manifest: Manifest,
}

/// A path that could not be removed, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeLeft {
    pub path: PathBuf,
    pub why: String,
}

impl Owned {
    /// Creates a directory and its manifest.
    pub(crate) fn create(path: &std::path::Path, head: Head) -> Result<Self, MakeError> {
        let directory = MadeDirectory::create(path)?;
        match Manifest::create(&directory, head) {
            Ok(manifest) => Ok(Self {
                directory,
                manifest,
            }),
            Err(error) => {
                // The error of the manifest is reported. The directory stays if another program has
                // put files into it.
                let _ = directory.remove();
                Err(error)
            }
        }
    }

    /// Returns the source field of mounts without a device (tmpfs, overlay). The field contains the
    /// identifier of the scratch file system, by which these mounts are recognised.
    pub(crate) fn source(&self) -> String {
        format!("{PREFIX}{}", self.manifest.head.id)
    }

    /// Returns the environment in which programs run. If `stop` is given, a signal ends the
    /// programs.
    pub(crate) fn around<'a>(&'a self, stop: Option<&'a MakeStop>) -> Around<'a> {
        Around {
            lock: &self.manifest.file,
            directory: self.directory.call(),
            stop,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.manifest.account.contains_key(name)
    }

    /// Creates a subdirectory with this name, and records it in the manifest.
    pub(crate) fn create_directory(&mut self, name: &str) -> Result<(), MakeError> {
        self.create_with(name, |directory| {
            rustix::fs::mkdirat(directory.held(), name, Mode::from_raw_mode(0o755))
        })
    }

    /// Creates an empty file with this name in the directory, and records it in the manifest.
    pub(crate) fn create_image(&mut self, name: &str) -> Result<Image, MakeError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        let file = self.create_with(name, |directory| {
            rustix::fs::openat(directory.held(), name, flags, mode).map(File::from)
        })?;
        let path = self.directory.at(name);
        Ok(Image { file, path })
    }

    fn create_with<A>(
        &mut self,
        name: &str,
        create: impl FnOnce(&MadeDirectory) -> Result<A, Errno>,
    ) -> Result<A, MakeError> {
        let at = self.directory.at(name);
        let error = |errno: Errno| MakeError::io("create", &at, errno);
        self.enter(Entry::Intended(name.to_owned()))?;
        let made = match create(&self.directory) {
            Ok(made) => made,
            Err(errno) => {
                // The creation failed. An entry that exists under this name was not made by this
                // program.
                self.enter(Entry::Removed(name.to_owned()))?;
                return Err(error(errno));
            }
        };
        let facts = self.directory.facts_in(name).map_err(error)?;
        let identity = facts.ok_or_else(|| error(Errno::NOENT))?.identity;
        self.enter(Entry::Made(name.to_owned(), identity))?;
        Ok(made)
    }

    fn enter(&mut self, entry: Entry) -> Result<(), MakeError> {
        self.manifest.add(&self.directory, entry)
    }

    /// Opens a file that the manifest records.
    pub(crate) fn open_image(&self, name: &str) -> Result<Image, MakeError> {
        let at = self.directory.at(name);
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(self.directory.held(), name, flags, Mode::empty());
        let file = opened.map_err(|errno| MakeError::io("open", &at, errno))?;
        let facts = facts_of(&file).map_err(|errno| MakeError::io("look at", &at, errno))?;
        if !self.is_ours(name, &facts) {
            return Err(MakeError::exchanged(&at));
        }
        Ok(Image {
            file: file.into(),
            path: at,
        })
    }

    /// Checks that a directory that the manifest records still exists, and that no other entry or
    /// mount has replaced it.
    pub(crate) fn check_directory(&self, name: &str) -> Result<(), MakeError> {
        let at = self.directory.at(name);
        match self.directory.facts_in(name) {
            Ok(Some(facts)) if self.is_ours(name, &facts) => Ok(()),
            Ok(_) => Err(MakeError::exchanged(&at)),
            Err(errno) => Err(MakeError::io("look at", &at, errno)),
        }
    }

    fn is_ours(&self, name: &str, there: &Facts) -> bool {
        let recorded = self.manifest.account.get(name);
        recorded
            .is_some_and(|recorded| is_ours(*recorded, there) && !self.directory.is_covered(there))
    }

    /// Returns the device and inode of a file that the manifest records, as in stat(2), even if the
    /// file was renamed or removed.
    pub(crate) fn device_and_inode(&self, name: &str) -> Option<(u64, u64)> {
        let identity = self.manifest.account.get(name).copied().flatten()?;
        let there = self.directory.facts_in(name).ok().flatten();
        // The device number of the file itself is preferred, because on an overlay it differs from
        // that of the directory.
        let device = match there.filter(|there| self.is_ours(name, there)) {
            Some(there) => there.device,
            None => self.directory.facts().ok()?.device,
        };
        Some((device, identity.inode()))
    }

    /// Removes the file or directory recorded under this name, and returns whether it existed.
    /// Another entry that has taken its name is kept.
    pub(crate) fn remove(&mut self, name: &str) -> Result<bool, MadeLeft> {
        let left = |why: String| MadeLeft {
            path: shown(&self.directory.at(name)),
            why,
        };
        let cannot = |errno: Errno| left(format!("cannot remove: {errno}"));
        let Some(there) = self.directory.facts_in(name).map_err(cannot)? else {
            return Ok(false);
        };
        if !self.is_ours(name, &there) {
            return Err(left(NOT_OURS.to_owned()));
        }
        let flags = match there.kind {
            FileType::Directory => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        rustix::fs::unlinkat(self.directory.held(), name, flags).map_err(cannot)?;
        Ok(true)
    }

    /// Removes the file or directory recorded under this name, and records the removal.
    pub(crate) fn discard(&mut self, name: &str) -> Result<(), MakeError> {
        if !self.has(name) {
            return Ok(());
        }
        match self.remove(name) {
            Ok(_) => self.enter(Entry::Removed(name.to_owned())),
            Err(left) => Err(MakeError::left(
                &self.directory.present(),
                &format!("{}: {}", left.path.display(), left.why),
            )),
        }
    }
}

/// Reason for keeping an entry that another program has put into the directory.
pub(crate) const NOT_OURS: &str = "was not made by this program (move it away, then clean again)";
