//! The handles of directories, which a session looks up once: those of its locations, and those on
//! the way to files. Handles of files are not kept.

use nfs_client::Handle;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A location's directories are forgotten when there are more.
const DIRECTORIES_MAX: usize = 1 << 16;

/// See the module's text.
#[derive(Debug, Default)]
pub(super) struct Directories {
    locations: Vec<OfLocation>,
}

#[derive(Debug)]
struct OfLocation {
    directory: Handle,
    /// By their paths from there.
    below: HashMap<Box<[u8]>, Handle, BuildHasherDefault<PathHasher>>,
}

/// Paths are the program's own names: nobody chooses them so that they collide.
#[derive(Debug, Default)]
struct PathHasher(u64);

impl Hasher for PathHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(5) ^ engine::name_digest(bytes);
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = self.0.rotate_left(5) ^ number as u64;
    }
}

impl Directories {
    /// One more location, whose number is the next one.
    pub(super) fn add_location(&mut self, directory: Handle) {
        self.locations.push(OfLocation {
            directory,
            below: HashMap::default(),
        });
    }

    /// The longest part of a path from its beginning that is known: its length, and its handle.
    #[inline]
    pub(super) fn nearest(&self, location: usize, path: &[u8]) -> (usize, &Handle) {
        let of = &self.locations[location];
        let mut length = path.len();
        while length > 0 {
            if let Some(handle) = of.below.get(&path[..length]) {
                return (length, handle);
            }
            length = path[..length]
                .iter()
                .rposition(|byte| *byte == b'/')
                .unwrap_or(0);
        }
        (0, &of.directory)
    }

    pub(super) fn insert(&mut self, location: usize, path: &[u8], handle: Handle) {
        let below = &mut self.locations[location].below;
        if below.len() >= DIRECTORIES_MAX {
            below.clear();
        }
        below.insert(path.into(), handle);
    }

    /// A directory is not there any more, or may be another one.
    pub(super) fn forget(&mut self, location: usize, path: &[u8]) {
        self.locations[location].below.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nfs_client::xdr::Reader;

    #[test]
    fn the_longest_known_part_is_found() {
        let handle = |text: &[u8; 4]| {
            Handle::read(&mut Reader::new(&[b"\0\0\0\x04", &text[..]].concat())).unwrap()
        };
        let mut directories = Directories::default();
        directories.add_location(handle(b"root"));
        directories.insert(0, b"a", handle(b"aaaa"));
        directories.insert(0, b"a/b", handle(b"bbbb"));
        for (path, length, found) in [
            (&b""[..], 0, b"root"),
            (b"a", 1, b"aaaa"),
            (b"ab", 0, b"root"),
            (b"a/b", 3, b"bbbb"),
            (b"a/b/c", 3, b"bbbb"),
            (b"a/c", 1, b"aaaa"),
        ] {
            assert_eq!(directories.nearest(0, path), (length, &handle(found)));
        }
        directories.forget(0, b"a/b");
        assert_eq!(directories.nearest(0, b"a/b").0, 1);
    }
}
