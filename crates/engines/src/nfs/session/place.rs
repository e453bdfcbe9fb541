//! Where an operation works: a path from a location, and the handle of the directory in it.

use engine::Name;
use nfs_client::Handle;

use super::directories::Directories;

/// Most names are shorter than this.
const NAME_BYTES: usize = 256;

/// A name, and the handle of its directory.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) location: usize,
    /// The path from the location.
    pub(super) path: Vec<u8>,
    /// Where the path of the directory ends.
    pub(super) directory_end: usize,
    /// How far the path has been looked up: `directory` is the handle of that part.
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

    /// Of a file, or of a directory that is listed.
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

    /// The part of the path behind the directory.
    #[inline]
    pub(super) fn name(&self) -> &[u8] {
        let behind = &self.path[self.directory_end..];
        behind.strip_prefix(b"/").unwrap_or(behind)
    }

    /// Where the part of the path ends that comes next behind what was looked up.
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

    /// The name of the directory that is looked up next.
    pub(super) fn next_name(&self) -> &[u8] {
        &self.path[self.next_begin()..self.next_end()]
    }

    /// Takes the handle of the directory from those that are known; whether it is there.
    #[inline]
    pub(super) fn is_found(&mut self, directories: &Directories) -> bool {
        let (length, handle) = directories.nearest(self.location, &self.path[..self.directory_end]);
        self.found_to = length;
        self.directory = *handle;
        length == self.directory_end
    }
}
