//! Handles of directories, which a session looks up once: its locations and the directories on the
//! paths of files. Handles of files are not cached.

use nfs_client::Handle;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Maximum number of cached directories of a location; at the limit, the cache of that location is
/// emptied.
const DIRECTORIES_MAX: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Directories {
    locations: Vec<OfLocation>,
}

#[derive(Debug)]
struct OfLocation {
    directory: Handle,
    /// Handles by path relative to the location.
    below: HashMap<Box<[u8]>, Handle, BuildHasherDefault<PathHasher>>,
}

/// A fast hasher without protection against chosen collisions, because this program chooses all
/// paths.
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
    /// Adds a location; locations are numbered in the order in which they are added.
    pub(super) fn add_location(&mut self, directory: Handle) {
        self.locations.push(OfLocation {
            directory,
            below: HashMap::default(),
        });
    }

    /// Finds the longest prefix of a path for which a handle is cached. Returns the length of the
    /// prefix and the handle.
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

    /// Removes the handle of a directory that was removed or may have been replaced.
    pub(super) fn forget(&mut self, location: usize, path: &[u8]) {
        self.locations[location].below.remove(path);
    }

    /// Removes the handles of all directories below a directory that was removed.
    pub(super) fn forget_below(&mut self, location: usize, path: &[u8]) {
        let below = &mut self.locations[location].below;
        below.retain(|inner, _| {
            let rest = inner.strip_prefix(path);
            !rest.is_some_and(|rest| rest.starts_with(b"/"))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nfs_client::xdr::Reader;

    #[test]
    fn nearest_returns_longest_cached_prefix() {
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
        for path in [&b"a/b"[..], b"a/b/c", b"ab"] {
            directories.insert(0, path, handle(b"bbbb"));
        }
        directories.forget_below(0, b"a");
        for (path, length) in [(&b"a/b/c"[..], 1), (b"a", 1), (b"ab", 2)] {
            assert_eq!(directories.nearest(0, path).0, length);
        }
    }
}
