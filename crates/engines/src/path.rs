//! A reusable buffer for the paths of files, which avoids allocations.

use std::ffi::{CStr, CString, NulError};

use engine::{Name, NameWriter};

/// Contains the path of a location, followed by the relative name of one file at a time.
#[derive(Clone, Debug, Default)]
pub struct PathBuffer {
    location: usize,
    /// The location's path, the relative name, and a NUL.
    bytes: Vec<u8>,
    relative_at: usize,
}

impl PathBuffer {
    /// Creates a buffer for files in the location with this number. `prefix` is the location's
    /// path, including the separator.
    ///
    /// # Errors
    /// Returns an error if `prefix` contains a NUL.
    pub fn new(location: usize, prefix: Vec<u8>) -> Result<Self, NulError> {
        let mut bytes = CString::new(prefix)?.into_bytes();
        let relative_at = bytes.len();
        bytes.reserve(64);
        Ok(Self {
            location,
            bytes,
            relative_at,
        })
    }

    /// Returns the name that `write` appends to the location's path.
    #[inline]
    pub fn with(&mut self, write: impl FnOnce(&mut NameWriter<'_>)) -> Name<'_> {
        self.bytes.truncate(self.relative_at);
        write(&mut NameWriter::new(&mut self.bytes));
        self.name()
    }

    /// Returns the name of the directory that `write` appends; a trailing slash is removed.
    #[inline]
    pub fn with_directory(&mut self, write: impl FnOnce(&mut NameWriter<'_>)) -> Name<'_> {
        self.bytes.truncate(self.relative_at);
        write(&mut NameWriter::new(&mut self.bytes));
        if self.bytes[self.relative_at..].ends_with(b"/") {
            self.bytes.pop();
        }
        self.name()
    }

    /// Ends the path in the buffer with a NUL and returns the name.
    #[inline]
    fn name(&mut self) -> Name<'_> {
        self.bytes.push(0);
        let path = &*self.bytes;
        let relative = &path[self.relative_at..];
        // SAFETY: in both slices the only NUL is the last byte. The prefix comes from a `CString`,
        // `with` removed the previous name with its NUL, and a `NameWriter` appends none.
        let [path, relative] =
            [path, relative].map(|bytes| unsafe { CStr::from_bytes_with_nul_unchecked(bytes) });
        Name {
            path,
            location: self.location,
            relative,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_buffer_replaces_previous_name() {
        let mut buffer = PathBuffer::new(2, b"/a b/".to_vec()).unwrap();
        for (path, relative) in [
            (c"/a b/1", c"1"),
            (c"/a b/s12/98765", c"s12/98765"),
            (c"/a b/s7", c"s7"),
        ] {
            let name = buffer.with(|to| to.extend(relative.to_bytes()));
            assert_eq!(
                (name.path, name.relative, name.location),
                (path, relative, 2)
            );
        }
    }

    #[test]
    #[should_panic(expected = "no NUL")]
    fn name_with_nul_panics() {
        PathBuffer::new(0, Vec::new())
            .unwrap()
            .with(|to| to.extend(b"a\0b"));
    }

    #[test]
    fn path_buffer_rejects_prefix_with_nul() {
        assert!(PathBuffer::new(0, b"/a\0b/".to_vec()).is_err());
    }
}
