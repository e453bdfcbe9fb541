//! Finding what killed programs left of made file systems.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use crate::directory::{MadeDirectory, PREFIX};
use crate::error::MakeError;
use crate::manifest::{self, Look, Part};
use crate::owned::Owned;
use crate::removal::{self, MadeRemoved};

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

/// A directory of a made file system, or of its external journal. While it is held, nobody else
/// removes it.
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
    /// What a dead maker has left.
    held: Option<Look>,
}

/// Finds directories of made file systems in a directory; or the directory itself, where it is one.
/// Nothing is changed. In a directory that is not there is none.
///
/// # Errors
/// The directory cannot be read.
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

/// What has a name of ours in a directory, in order. The directory's time of access stays as it is,
/// where that is allowed: looking is not to change what is looked at.
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
    match manifest::look(directory)? {
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
            // A program that the maker started holds the lock of the file system, and uses the
            // journal too.
            match look_beside(&owned)? {
                Some(Look::Active(process)) => found.state = MadeState::Active { process },
                _ => found.held = Some(Look::Abandoned(owned)),
            }
        }
    }
    Ok(Some(found))
}

/// A look into the directory of the other part, where there is one.
fn look_beside(owned: &Owned) -> Result<Option<Look>, MakeError> {
    let Some(path) = owned.manifest.head.other.as_ref().map(Path::new) else {
        return Ok(None);
    };
    MadeDirectory::open(path)?.map(manifest::look).transpose()
}

impl FoundMade {
    /// Removes it, and the other directory of the same file system: mounts, loop devices, images,
    /// manifests. What its maker still uses, and what is not believed, is left.
    pub fn remove(self) -> MadeRemoved {
        match (self.state, self.held) {
            (MadeState::Active { process }, _) => {
                let process =
                    process.map_or_else(String::new, |process| format!(" (process {process})"));
                MadeRemoved::left(&self.directory, format!("in use by its maker{process}"))
            }
            (MadeState::Untrusted { why }, _) => MadeRemoved::left(&self.directory, why),
            (_, Some(Look::Abandoned(owned))) => remove_parts(*owned),
            // Without a whole manifest nothing was made: what lies here otherwise is named and
            // left.
            (_, Some(Look::Unfinished(directory, lock))) => {
                removal::remove_unfinished(&directory, lock.as_ref())
            }
            _ => MadeRemoved::left(&self.directory, "it is not held"),
        }
    }
}

fn remove_parts(mut own: Owned) -> MadeRemoved {
    let (path, head) = (own.directory.path().to_owned(), own.manifest.head.clone());
    // A directory that was never made, or is gone, is no obstacle; any other state of it is: the
    // journal is in use by the file system.
    let mut other = match look_beside(&own) {
        Ok(Some(Look::Abandoned(other))) => {
            let of_other = &other.manifest.head;
            let is_other_part = of_other.id == head.id && of_other.part != head.part;
            is_other_part.then_some(*other)
        }
        Ok(None | Some(Look::Nothing)) => None,
        Ok(Some(Look::Unfinished(directory, lock))) => {
            // It is empty: the maker was killed between the two.
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
