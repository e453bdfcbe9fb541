//! A path that an operation uses in a location, and the handle of the directory that contains the
//! file.

use engine::Name;
use nfs_client::Handle;

use super::directories::Directories;

/// Initial capacity in bytes of the buffer for a path; most paths are shorter.
const NAME_BYTES: usize = 256;

#[derive(Debug)]
pub(super) struct Place {
    pub(super) location: usize,
    /// The path relative to the location.
    pub(super) path: Vec<u8>,
    /// The length of the part of `path` that names the directory.
    pub(super) directory_end: usize,
    /// The length of the part of `path` that was looked up; `directory` is the handle of that part.
    pub(super) found_to: usize,
    pub(super) directory: Handle,
}

impl Place {
    pub(super) fn new() -> Self {
        Self {
            location: 0,
            path: Vec::with_capacity(NAME_BYTES),
            directory_end: 0,
            found_to: 0,
            directory: Handle::NONE,
        }
    }

    /// Sets the path to that of a file, or of a directory that is listed.
    pub(super) fn set(&mut self, name: Name<'_>, is_directory: bool) {
        let mut path = name.relative.to_bytes();
        while let [rest @ .., b'/'] = path {
            path = rest;
        }
        self.location = name.location;
        self.path.clear();
        self.path.extend_from_slice(path);
        self.directory_end = match is_directory {
            true => path.len(),
            false => path.iter().rposition(|byte| *byte == b'/').unwrap_or(0),
        };
        self.found_to = 0;
        self.directory = Handle::NONE;
    }

    /// Sets the path to the directory that contains the file of `other`. Returns `false` if this
    /// directory is the location itself, which an installation does not create.
    pub(super) fn set_directory_of(&mut self, other: &Self) -> bool {
        self.location = other.location;
        self.path.clear();
        self.path
            .extend_from_slice(&other.path[..other.directory_end]);
        let slash = self.path.iter().rposition(|byte| *byte == b'/');
        self.directory_end = slash.unwrap_or(0);
        self.found_to = 0;
        self.directory = Handle::NONE;
        !self.path.is_empty()
    }

    /// Returns the part of the path after the directory.
    #[inline]
    pub(super) fn name(&self) -> &[u8] {
        let behind = &self.path[self.directory_end..];
        behind.strip_prefix(b"/").unwrap_or(behind)
    }

    /// Returns the end of the next path component to be looked up.
    pub(super) fn next_end(&self) -> usize {
        let begin = self.next_begin();
        let part = &self.path[begin..self.directory_end];
        begin
            + part
                .iter()
                .position(|byte| *byte == b'/')
                .unwrap_or(part.len())
    }

    fn next_begin(&self) -> usize {
        if self.found_to == 0 {
            0
        } else {
            self.found_to + 1
        }
    }

    /// Returns the name of the next directory to be looked up.
    pub(super) fn next_name(&self) -> &[u8] {
        &self.path[self.next_begin()..self.next_end()]
    }

    /// Sets `directory` to the nearest cached handle; returns whether the whole path of the
    /// directory was cached.
    #[inline]
    pub(super) fn is_found(&mut self, directories: &Directories) -> bool {
        let (length, handle) = directories.nearest(self.location, &self.path[..self.directory_end]);
        self.found_to = length;
        self.directory = *handle;
        length == self.directory_end
    }
}
