//! The buffer in which the paths of files are written, one after the other, without allocating.

use std::ffi::{CStr, CString, NulError};

use engine::{Name, NameWriter};

/// Holds the path of a location and behind it the relative name of one file at a time.
#[derive(Clone, Debug, Default)]
pub struct PathBuffer {
    location: usize,
    /// The location's path, the relative name, a NUL.
    bytes: Vec<u8>,
    relative_at: usize,
}

impl PathBuffer {
    /// For files in the location of this number whose paths begin with `prefix`, separator
    /// included.
    ///
    /// # Errors
    /// Where `prefix` has a NUL in it.
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

    /// The name that `write` appends to the location's path.
    #[inline]
    pub fn with(&mut self, write: impl FnOnce(&mut NameWriter<'_>)) -> Name<'_> {
        self.bytes.truncate(self.relative_at);
        write(&mut NameWriter::new(&mut self.bytes));
        self.name()
    }

    /// The name of the directory that `write` appends, which may end it with a slash.
    #[inline]
    pub fn with_directory(&mut self, write: impl FnOnce(&mut NameWriter<'_>)) -> Name<'_> {
        self.bytes.truncate(self.relative_at);
        write(&mut NameWriter::new(&mut self.bytes));
        if self.bytes[self.relative_at..].ends_with(b"/") {
            self.bytes.pop();
        }
        self.name()
    }

    /// The name that has been written.
    #[inline]
    fn name(&mut self) -> Name<'_> {
        self.bytes.push(0);
        let path = &*self.bytes;
        let relative = &path[self.relative_at..];
        // SAFETY: the only NUL of both is the last byte. The prefix came out of a CString, the name
        // before this one was taken away with its NUL, and a `NameWriter` appends none.
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
    fn names_follow_one_another() {
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
    fn a_name_with_a_nul_is_a_mistake_of_ours() {
        PathBuffer::new(0, Vec::new())
            .unwrap()
            .with(|to| to.extend(b"a\0b"));
    }

    #[test]
    fn a_prefix_with_a_nul_is_refused() {
        assert!(PathBuffer::new(0, b"/a\0b/".to_vec()).is_err());
    }
}
