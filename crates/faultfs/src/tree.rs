//! Where the files of the backing directory are, by their inode number.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use fuser::{Errno, INodeNo};

/// The files that the kernel knows, with their names. Paths are put together anew for every
/// request, since any of the directories on the way may have been renamed.
pub(crate) struct Tree {
    /// A path of the backing directory that nothing mounted over it hides.
    root: PathBuf,
    known: HashMap<u64, Known>,
}

#[derive(Default)]
struct Known {
    /// Every name by which the file was found: the directory and the name there.
    names: Vec<(u64, OsString)>,
    /// How often the kernel was told of it.
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

    /// The path of a file by one of its names.
    ///
    /// # Errors
    /// `ESTALE` where it has none any more.
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

    /// The path of a name in a directory.
    pub(crate) fn path_in(&self, directory: INodeNo, name: &OsStr) -> Result<PathBuf, Errno> {
        Ok(self.path(directory)?.join(name))
    }

    /// The kernel is being told of a file.
    pub(crate) fn tell(&mut self, file: u64, directory: INodeNo, name: &OsStr) {
        let known = self.known.entry(file).or_default();
        known.lookups += 1;
        known.lose(directory, name);
        known.names.push((directory.0, name.to_owned()));
    }

    /// The kernel has forgotten a file so many times.
    pub(crate) fn forget(&mut self, file: INodeNo, lookups: u64) {
        if let Some(known) = self.known.get_mut(&file.0) {
            known.lookups = known.lookups.saturating_sub(lookups);
            if known.lookups == 0 {
                self.known.remove(&file.0);
            }
        }
    }

    /// A file has lost a name.
    pub(crate) fn lose(&mut self, file: u64, directory: INodeNo, name: &OsStr) {
        if let Some(known) = self.known.get_mut(&file) {
            known.lose(directory, name);
        }
    }

    /// A file has got another name.
    pub(crate) fn gain(&mut self, file: u64, directory: INodeNo, name: &OsStr) {
        if let Some(known) = self.known.get_mut(&file) {
            known.names.push((directory.0, name.to_owned()));
        }
    }
}
