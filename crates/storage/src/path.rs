//! The buffer in which the paths of files are written, one after the other, without allocating.

use std::ffi::{CStr, CString, NulError};

use crate::contract::Name;

/// Holds the path of a location and behind it the relative name of one file at a time.
#[derive(Clone, Debug)]
pub struct PathBuffer {
    location: usize,
    /// The location's path, the relative name, a NUL.
    bytes: Vec<u8>,
    relative_at: usize,
}

impl PathBuffer {
    /// For files in the location of this number whose paths begin with `prefix`, separator included.
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

    /// The name of file `number`, in subdirectory `s<subdirectory>` where one is given: `s3/17` or `17`.
    #[inline]
    pub fn file(&mut self, subdirectory: Option<u32>, number: u64) -> Name<'_> {
        self.bytes.truncate(self.relative_at);
        if let Some(subdirectory) = subdirectory {
            self.push_subdirectory(subdirectory);
            self.bytes.push(b'/');
        }
        self.push_number(number);
        self.finish()
    }

    /// The name of a subdirectory: `s3`.
    pub fn directory(&mut self, subdirectory: u32) -> Name<'_> {
        self.bytes.truncate(self.relative_at);
        self.push_subdirectory(subdirectory);
        self.finish()
    }

    /// The name that `write` appends to the location's path; a directory's ends with its separator or without.
    ///
    /// # Panics
    /// Where `write` appends a NUL.
    #[inline]
    pub fn with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Name<'_> {
        self.bytes.truncate(self.relative_at);
        write(&mut self.bytes);
        assert!(!self.bytes.contains(&0), "a name has no NUL in it");
        self.finish()
    }

    fn push_subdirectory(&mut self, subdirectory: u32) {
        self.bytes.push(b's');
        self.push_number(u64::from(subdirectory));
    }

    #[inline]
    fn push_number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&digits[at..]);
    }

    #[inline]
    fn finish(&mut self) -> Name<'_> {
        self.bytes.push(0);
        // SAFETY: the prefix came out of a CString and the rest is `s`, `/` and digits, or all was looked through, so
        // the only NUL is the one just pushed, and both slices end with it.
        let (path, relative) = unsafe {
            (
                CStr::from_bytes_with_nul_unchecked(&self.bytes),
                CStr::from_bytes_with_nul_unchecked(&self.bytes[self.relative_at..]),
            )
        };
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
        for (subdirectory, number, path, relative) in [
            (None, 1, c"/a b/1", c"1"),
            (Some(12), 98_765, c"/a b/s12/98765", c"s12/98765"),
            (None, u64::MAX, c"/a b/18446744073709551615", c"18446744073709551615"),
            (Some(0), 0, c"/a b/s0/0", c"s0/0"),
        ] {
            let name = buffer.file(subdirectory, number);
            assert_eq!((name.path, name.relative, name.location), (path, relative, 2));
        }
        assert_eq!(buffer.directory(7).relative, c"s7");
    }

    #[test]
    fn a_prefix_with_a_nul_is_refused() {
        assert!(PathBuffer::new(0, b"/a\0b/".to_vec()).is_err());
    }
}
