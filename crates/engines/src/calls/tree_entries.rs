//! The subdirectories and files of a tree, in the order in which listings returned them.

use std::ffi::CStr;
use std::ops::Range;

/// The first byte of the record of a subdirectory.
const DIRECTORY: u8 = b'd';
const FILE: u8 = b'f';

/// The entries of a tree. Each subdirectory precedes its own entries.
#[derive(Debug, Default)]
pub(super) struct TreeEntries {
    /// For each entry its type, its path relative to the tree, and a final NUL.
    records: Vec<u8>,
}

/// The place of an entry's path in [`TreeEntries`].
pub(super) type EntryPath = Range<usize>;

impl TreeEntries {
    pub(super) fn clear(&mut self) {
        self.records.clear();
    }

    /// Adds an entry of `directory`, or of the tree's own directory.
    pub(super) fn add(&mut self, directory: Option<&EntryPath>, name: &CStr, is_directory: bool) {
        self.records
            .push(if is_directory { DIRECTORY } else { FILE });
        if let Some(directory) = directory {
            self.records.extend_from_within(directory.clone());
            self.records.push(b'/');
        }
        self.records.extend_from_slice(name.to_bytes_with_nul());
    }

    /// Returns the first subdirectory whose record begins at or after `from`, and the position
    /// after its record.
    pub(super) fn next_directory(&self, mut from: usize) -> Option<(EntryPath, usize)> {
        loop {
            let record = &self.records[from..];
            let length = record.iter().position(|byte| *byte == 0)?;
            let (path, next) = (from + 1..from + length, from + length + 1);
            if record[0] == DIRECTORY {
                return Some((path, next));
            }
            from = next;
        }
    }

    /// The path of an entry, relative to the tree.
    pub(super) fn path(&self, path: &EntryPath) -> &CStr {
        CStr::from_bytes_until_nul(&self.records[path.start..]).unwrap_or_default()
    }

    /// The level of a subdirectory's entries; the entries of the tree's own directory are on level
    /// 0.
    pub(super) fn level(&self, directory: &EntryPath) -> u32 {
        let path = &self.records[directory.clone()];
        1 + path.iter().filter(|byte| **byte == b'/').count() as u32
    }

    /// The paths of all subdirectories.
    pub(super) fn directories(&self) -> impl DoubleEndedIterator<Item = &CStr> {
        self.all()
            .filter_map(|(path, is_directory)| is_directory.then_some(path))
    }

    /// The paths of all files.
    pub(super) fn files(&self) -> impl Iterator<Item = &CStr> {
        self.all()
            .filter_map(|(path, is_directory)| (!is_directory).then_some(path))
    }

    /// All paths, and whether each is that of a subdirectory.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = (&CStr, bool)> {
        let records = self.records.split_inclusive(|byte| *byte == 0);
        records.filter_map(|record| {
            let (kind, path) = record.split_first()?;
            let path = CStr::from_bytes_with_nul(path).ok()?;
            Some((path, *kind == DIRECTORY))
        })
    }
}
