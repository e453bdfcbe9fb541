//! Checks that the directories of a study remain on the same file systems. If a file system was
//! unmounted, its mount point is an ordinary directory of another file system. Runs in that
//! directory would be counted as runs on the target.

use std::collections::BTreeMap;
use std::path::Path;

use document::sanitize;
use system::mount::{Mount, MountTable};
use system::{Fact, Sources};

use crate::error::Error;

/// The file system of a directory, identified by its type and mount point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountedOn {
    /// Type of the file system, like `ext4`.
    file_system_type: String,
    mount_point: String,
}

impl From<&Mount> for MountedOn {
    fn from(mount: &Mount) -> Self {
        Self {
            file_system_type: mount.file_system_type.clone(),
            mount_point: mount.mount_point.to_string_lossy().into_owned(),
        }
    }
}

impl std::fmt::Display for MountedOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = sanitize::shown(&self.file_system_type);
        write!(f, "the {kind} of {}", sanitize::shown(&self.mount_point))
    }
}

/// The file system of each directory that the study measures; URLs are not included.
pub struct Directories(BTreeMap<String, MountedOn>);

impl Directories {
    /// Determines the file system of each directory: the one that earlier runs of the study
    /// recorded (`earlier`), or else the present one.
    pub fn new<'a>(
        directories: impl Iterator<Item = &'a str>,
        mut earlier: BTreeMap<String, MountedOn>,
    ) -> Self {
        let directories = directories.filter(|directory| !spec::is_url(Path::new(directory)));
        let found = directories.filter_map(|directory| {
            let met = earlier.remove(directory).or_else(|| of(directory))?;
            Some((directory.to_owned(), met))
        });
        Self(found.collect())
    }

    /// Checks that a directory is on the same file system as at the beginning of the study.
    ///
    /// # Errors
    /// Returns an error if the directory is now on another file system.
    pub fn check(&self, directory: &str) -> Result<(), Error> {
        let Some(met) = self.0.get(directory) else {
            return Ok(());
        };
        match of(directory) {
            Some(now) if *met != now => Err(Error::failed(format!(
                "the target {} is on {now}, and earlier runs were on {met} (mount that again)",
                sanitize::shown(directory)
            ))),
            _ => Ok(()),
        }
    }
}

/// Returns the file system of a directory; `None` if it is not available.
fn of(directory: &str) -> Option<MountedOn> {
    let table = MountTable::read(&Sources::default());
    let mount = table
        .as_ref()
        .and_then(|table| table.mount_of(Path::new(directory)));
    match mount {
        Fact::Known(mount) => Some(MountedOn::from(&mount)),
        Fact::NotApplicable | Fact::Unavailable(_) => None,
    }
}
