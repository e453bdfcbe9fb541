//! The bytes of a name, and the buffer in which the paths of files are written, one after the
//! other, without allocating.

use std::ffi::{CStr, CString, NulError};
use std::ops::Deref;

use crate::Name;

/// The bytes of a name, written piece by piece. There is no NUL among them: whoever makes a C
/// string of them need not look for one.
#[derive(Clone, Debug, Default)]
pub struct NameBytes(Vec<u8>);

impl NameBytes {
    /// No bytes yet, and room for so many.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Appends a byte.
    ///
    /// # Panics
    /// Where it is 0.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        assert!(byte != 0, "a name has no NUL in it");
        self.0.push(byte);
    }

    /// Appends bytes.
    ///
    /// # Panics
    /// Where one of them is 0.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        assert!(!bytes.contains(&0), "a name has no NUL in it");
        self.0.extend_from_slice(bytes);
    }

    /// Appends a number in decimal, with zeros before it up to `digits_min` digits.
    #[inline]
    pub fn push_decimal(&mut self, number: u64, digits_min: usize) {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number).as_bytes();
        if digits.len() < digits_min {
            self.0
                .resize(self.0.len() + digits_min - digits.len(), b'0');
        }
        self.0.extend_from_slice(digits);
    }

    /// Takes the last byte away.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// Takes all bytes away.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl Deref for NameBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Holds the path of a location and behind it the relative name of one file at a time.
#[derive(Clone, Debug, Default)]
pub struct PathBuffer {
    location: usize,
    /// The location's path and the relative name. The NUL behind them goes before more is written.
    bytes: NameBytes,
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
            bytes: NameBytes(bytes),
            relative_at,
        })
    }

    /// The name that `write` appends to the location's path; a directory's ends with its separator
    /// or without.
    ///
    /// # Panics
    /// Where `write` takes away what stood there before.
    #[inline]
    pub fn with(&mut self, write: impl FnOnce(&mut NameBytes)) -> Name<'_> {
        self.bytes.0.truncate(self.relative_at);
        write(&mut self.bytes);
        self.bytes.0.push(0);
        let path: &[u8] = &self.bytes;
        let relative = &path[self.relative_at..];
        // SAFETY: the only NUL of both is the last byte: `NameBytes` has none but the one that has
        // just been pushed behind it, since the name before this one was taken away with its NUL.
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
