//! Finding what killed programs left of made file systems.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use crate::directory::{MadeDirectory, PREFIX};
use crate::error::MakeError;
use crate::manifest::{self, Look, Manifest, Part};
use crate::removal::{self, Held, MadeRemoved};

/// The state of a directory of a made file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadeState {
    /// Its maker lives, or a program that it started.
    Active {
        /// The maker's process, where the manifest has it.
        process: Option<u32>,
    },
    /// Its maker is gone.
    Abandoned,
    /// Its maker was killed before the manifest was whole: there is nothing but the directory.
    Unfinished,
    /// The manifest is not believed.
    Untrusted {
        /// Why, in one line.
        why: String,
    },
}

/// A directory of a made file system, or of its external journal. While it is held, nobody else removes it.
#[derive(Debug)]
pub struct FoundMade {
    /// The directory.
    pub directory: PathBuf,
    /// Whose it is.
    pub state: MadeState,
    /// What its maker called it, where the manifest is believed.
    pub name: Option<String>,
    /// The canonical word of what was asked, where the manifest is believed.
    pub spec: Option<String>,
    held: Option<(Option<Box<Manifest>>, Option<File>)>,
}

/// Finds directories of made file systems in a directory; or the directory itself, where it is one. Nothing is changed. In a
/// directory that is not there is none.
///
/// # Errors
/// The directory cannot be read.
pub fn find(directory: &Path) -> Result<Vec<FoundMade>, MakeError> {
    let real = match std::fs::canonicalize(directory) {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(MakeError::io("find", directory, error)),
    };
    let mut found: Vec<FoundMade> = found(MadeDirectory::new(real.clone()))?.into_iter().collect();
    if found.is_empty() {
        for path in candidates(&real)? {
            found.extend(self::found(MadeDirectory::new(path))?);
        }
    }
    Ok(found)
}

/// What has a name of ours in a directory, in order. The directory's time of access stays as it is, where that is allowed: looking is
/// not to change what is looked at.
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

fn found(directory: MadeDirectory) -> Result<Option<FoundMade>, MakeError> {
    let mut found = FoundMade {
        directory: directory.path().to_owned(),
        state: MadeState::Abandoned,
        name: None,
        spec: None,
        held: None,
    };
    match manifest::look(&directory)? {
        Look::Nothing => return Ok(None),
        Look::Active(process) => found.state = MadeState::Active { process },
        Look::Untrusted(why) => found.state = MadeState::Untrusted { why },
        Look::Unfinished(lock) => {
            found.state = MadeState::Unfinished;
            found.held = Some((None, lock));
        }
        Look::Abandoned(manifest, lock) => {
            found.name = Some(manifest.name.clone());
            found.spec = Some(manifest.spec.clone());
            // A program that the maker started holds the lock of the file system, and uses the journal too.
            let beside = manifest.other.clone().map(MadeDirectory::new);
            match beside.as_ref().map(manifest::look).transpose()? {
                Some(Look::Active(process)) => found.state = MadeState::Active { process },
                _ => found.held = Some((Some(manifest), Some(lock))),
            }
        }
    }
    Ok(Some(found))
}

impl FoundMade {
    /// Removes it, and the other directory of the same file system: mounts, loop devices, images, manifests. What its maker
    /// still uses, and what is not believed, is left.
    pub fn remove(self) -> MadeRemoved {
        let directory = MadeDirectory::new(self.directory);
        match (self.state, self.held) {
            (MadeState::Active { process }, _) => {
                let process = process.map_or_else(String::new, |process| format!(" (process {process})"));
                MadeRemoved::left(directory.path(), format!("in use by its maker{process}"))
            }
            (MadeState::Untrusted { why }, _) => MadeRemoved::left(directory.path(), why),
            (_, Some((Some(manifest), Some(lock)))) => remove_parts(&directory, &manifest, &lock),
            // Without a whole manifest nothing was made: what lies here otherwise is named and left.
            _ => removal::remove_unfinished(&directory),
        }
    }
}

fn remove_parts(directory: &MadeDirectory, manifest: &Manifest, lock: &File) -> MadeRemoved {
    let own = Held { directory, lock };
    let beside = manifest.other.clone().map(MadeDirectory::new);
    let looked = match &beside {
        Some(beside) => manifest::look(beside),
        None => Ok(Look::Nothing),
    };
    // A directory that was never made, or is gone, is no obstacle; any other state of it is: the journal is in use by the
    // file system.
    let beside_lock = match &looked {
        Ok(Look::Abandoned(other, lock)) if other.id == manifest.id && other.part != manifest.part => Some(lock),
        Ok(Look::Nothing | Look::Abandoned(..)) => None,
        Ok(Look::Unfinished(_)) => {
            // It is empty: the maker was killed between the two.
            if let Some(beside) = &beside {
                let removed = removal::remove_unfinished(beside);
                if !removed.left.is_empty() {
                    return removed;
                }
            }
            None
        }
        Ok(Look::Active(_)) => return MadeRemoved::left(directory.path(), "the directory of its other part is in use"),
        Ok(Look::Untrusted(why)) => {
            let path = beside.as_ref().map_or(directory.path(), MadeDirectory::path);
            return MadeRemoved::left(path, why.clone());
        }
        Err(error) => return MadeRemoved::left(directory.path(), error.to_string()),
    };
    let other = beside
        .as_ref()
        .zip(beside_lock)
        .map(|(directory, lock)| Held { directory, lock });
    match manifest.part {
        Part::FileSystem => removal::remove(Some(own), other),
        Part::Journal => removal::remove(other, Some(own)),
    }
}
