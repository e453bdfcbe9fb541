//! Reads many small kernel files below one directory, such as those of all threads.
//!
//! The directory is held open, and the text is read into the caller's buffer. Reading a file
//! therefore costs three system calls, without a path walk from the root and without an allocation.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::str::FromStr;

use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::{Errno, retry_on_intr};

use super::Sources;
use crate::fact::Fact;

pub(crate) struct SmallFiles {
    directory: OwnedFd,
}

impl SmallFiles {
    pub(crate) fn open(sources: &Sources, absolute: &str) -> Fact<SmallFiles> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(sources.path(absolute), flags, Mode::empty());
        sources.answer(absolute, opened.map(|directory| SmallFiles { directory }))
    }

    /// Returns the names that are numbers, in the directory's order. At most `count_max` names are
    /// returned.
    pub(crate) fn numbers<T: FromStr>(&self, count_max: usize) -> Result<Vec<T>, Errno> {
        // The buffer is small, because the kernel fills it even if fewer entries are needed.
        let mut buffer = [MaybeUninit::<u8>::uninit(); 4096];
        let mut entries = RawDir::new(&self.directory, &mut buffer);
        let mut numbers = Vec::new();
        while numbers.len() < count_max {
            let Some(entry) = entries.next() else { break };
            let name = entry?
                .file_name()
                .to_str()
                .ok()
                .and_then(|name| name.parse().ok());
            numbers.extend(name);
        }
        Ok(numbers)
    }

    /// Reads a file with one call of read(2). The call returns the complete file if the buffer is
    /// large enough, because the kernel generates such files as a whole.
    pub(crate) fn read<'buffer>(
        &self,
        path: &str,
        buffer: &'buffer mut [u8],
    ) -> Result<&'buffer [u8], Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file =
            retry_on_intr(|| rustix::fs::openat(&self.directory, path, flags, Mode::empty()))?;
        let length = retry_on_intr(|| rustix::io::read(&file, &mut *buffer))?;
        Ok(&buffer[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::tests::Tree;

    #[test]
    fn only_numeric_names_are_returned_up_to_a_limit() {
        let tree = Tree::new(&[
            ("/d/1", ""),
            ("/d/22", ""),
            ("/d/x", ""),
            ("/d/-3", ""),
            ("/d/333", ""),
        ]);
        let files = SmallFiles::open(&tree.sources, "/d").into_known().unwrap();
        let mut numbers = files.numbers::<u32>(9).unwrap();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 22, 333]);
        assert_eq!(
            files.numbers::<u32>(2).unwrap().len(),
            0,
            "the directory has been read to its end"
        );
        let again = SmallFiles::open(&tree.sources, "/d").into_known().unwrap();
        assert_eq!(again.numbers::<u32>(2).unwrap().len(), 2);
    }

    #[test]
    fn a_file_longer_than_the_buffer_is_cut() {
        let tree = Tree::new(&[("/d/1/text", "0123456789")]);
        let files = SmallFiles::open(&tree.sources, "/d").into_known().unwrap();
        let mut buffer = [0; 4];
        assert_eq!(files.read("1/text", &mut buffer), Ok(&b"0123"[..]));
        assert_eq!(files.read("2/text", &mut buffer), Err(Errno::NOENT));
        assert!(
            SmallFiles::open(&tree.sources, "/none")
                .why()
                .unwrap()
                .contains("/none")
        );
    }
}
