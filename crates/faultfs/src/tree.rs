//! The paths of files in the backing directory, by inode number.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use fuser::{Errno, INodeNo};

/// The files that the kernel knows, with their names. Paths are composed for every request, because
/// a directory on the path may have been renamed.
pub(crate) struct Tree {
    /// A path of the backing directory that remains valid if a file system is mounted over the
    /// directory.
    root: PathBuf,
    known: HashMap<u64, Known>,
}

#[derive(Default)]
struct Known {
    /// The names by which the file was looked up: the inode number of a directory, and the name in
    /// that directory.
    names: Vec<(u64, OsString)>,
    /// Number of lookups that were reported to the kernel.
    lookups: u64,
}

impl Known {
    fn lose(&mut self, directory: INodeNo, name: &OsStr) {
        let is_it = |(parent, known): &(u64, OsString)| (*parent, &**known) == (directory.0, name);
        self.names.retain(|known| !is_it(known));
    }
}

impl Tree {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self {
            root,
            known: HashMap::new(),
        }
    }

    /// Returns a path of a file.
    ///
    /// # Errors
    /// Returns `ESTALE` if the file has no name any more.
    pub(crate) fn path(&self, file: INodeNo) -> Result<PathBuf, Errno> {
        let mut names: Vec<&OsStr> = Vec::new();
        let mut at = file.0;
        while at != INodeNo::ROOT.0 {
            let known = self.known.get(&at).ok_or(Errno::ESTALE)?;
            let (parent, name) = known.names.last().ok_or(Errno::ESTALE)?;
            names.push(name);
            at = *parent;
        }
        let mut path = self.root.join(".");
        path.extend(names.iter().rev());
        Ok(path)
    }

    pub(crate) fn path_in(&self, directory: INodeNo, name: &OsStr) -> Result<PathBuf, Errno> {
        Ok(self.path(directory)?.join(name))
    }

    /// Records that a lookup of a file is reported to the kernel.
    pub(crate) fn tell(&mut self, file: u64, directory: INodeNo, name: &OsStr) {
        let known = self.known.entry(file).or_default();
        known.lookups += 1;
        known.lose(directory, name);
        known.names.push((directory.0, name.to_owned()));
    }

    /// Records that the kernel has forgotten this number of lookups.
    pub(crate) fn forget(&mut self, file: INodeNo, lookups: u64) {
        if let Some(known) = self.known.get_mut(&file.0) {
            known.lookups = known.lookups.saturating_sub(lookups);
            if known.lookups == 0 {
                self.known.remove(&file.0);
            }
        }
    }

    /// Removes a name of a file.
    pub(crate) fn lose(&mut self, file: u64, directory: INodeNo, name: &OsStr) {
        if let Some(known) = self.known.get_mut(&file) {
            known.lose(directory, name);
        }
    }

    /// Adds a name of a file.
    pub(crate) fn gain(&mut self, file: u64, directory: INodeNo, name: &OsStr) {
        if let Some(known) = self.known.get_mut(&file) {
            known.names.push((directory.0, name.to_owned()));
        }
    }
}
