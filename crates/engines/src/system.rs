//! The system calls of file operations, behind a trait that the kernel and the simulated engine
//! implement.

use std::ffi::{CStr, c_int, c_long};

use engine::Errno;

pub(crate) mod entries;
pub(crate) mod kernel;
mod mapping;

pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Converts the result of a call that returns 0, or a negative number on an error.
#[inline]
pub(crate) fn check(answer: c_int) -> Result<(), Errno> {
    if answer < 0 {
        Err(last_errno())
    } else {
        Ok(())
    }
}

/// Converts the result of a call that returns a number of bytes, or of syscall(2). Calls are made
/// by syscall(2), because the C library's wrappers of many calls are cancellation points of
/// threads. A cancellation point costs as much as all other work of this program for a call, and
/// this program cancels no threads.
#[inline]
pub(crate) fn check_long(answer: c_long) -> Result<usize, Errno> {
    usize::try_from(answer).map_err(|_| last_errno())
}

/// A name of a file, relative to a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
    /// Relative to the held directory of a location.
    Location(usize, &'a CStr),
    /// Relative to an open directory.
    In(c_int, &'a CStr),
}

/// The file whose attributes are set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Object<'a> {
    /// The descriptor of an open file.
    File(c_int),
    /// The name of a file; a symbolic link is not followed.
    Name(At<'a>),
}

/// System calls without retries: short counts and interruptions are returned to the caller.
pub(crate) trait System {
    fn open(&mut self, at: At<'_>, flags: c_int, mode: libc::mode_t) -> Result<c_int, Errno>;
    fn write(&mut self, file: c_int, bytes: &[u8]) -> Result<usize, Errno>;
    fn read(&mut self, file: c_int, bytes: &mut [u8]) -> Result<usize, Errno>;
    fn read_at(&mut self, file: c_int, bytes: &mut [u8], offset: u64) -> Result<usize, Errno>;
    fn truncate(&mut self, file: c_int, bytes: u64) -> Result<(), Errno>;
    fn close(&mut self, file: c_int) -> Result<(), Errno>;
    fn unlink(&mut self, at: At<'_>) -> Result<(), Errno>;
    fn mkdir(&mut self, at: At<'_>, mode: libc::mode_t) -> Result<(), Errno>;
    fn rmdir(&mut self, at: At<'_>) -> Result<(), Errno>;
    fn sync(&mut self, file: c_int, contents_only: bool) -> Result<(), Errno>;
    /// Opens a directory, syncs the directory, and closes it.
    fn sync_directory(&mut self, at: At<'_>) -> Result<(), Errno>;
    fn sync_file_system(&mut self, location: usize) -> Result<(), Errno>;
    /// Returns a file's size; a symbolic link is not followed.
    fn size(&mut self, at: At<'_>) -> Result<u64, Errno>;
    /// Returns the size of an open file.
    fn size_of(&mut self, file: c_int) -> Result<u64, Errno>;
    /// Sets the mode. Returns `ENOSYS` if the kernel cannot set the mode by name without following
    /// a symbolic link (before Linux 6.6).
    fn set_mode(&mut self, object: Object<'_>, mode: libc::mode_t) -> Result<(), Errno>;
    fn set_times(&mut self, object: Object<'_>, times_ns: i64) -> Result<(), Errno>;
    fn rename(&mut self, from: At<'_>, to: At<'_>, replaces: bool) -> Result<(), Errno>;
    fn link(&mut self, from: At<'_>, to: At<'_>) -> Result<(), Errno>;
    fn symbolic_link(&mut self, target: &CStr, at: At<'_>) -> Result<(), Errno>;
    fn read_link(&mut self, at: At<'_>, target: &mut [u8]) -> Result<usize, Errno>;
    fn set_extended(&mut self, file: c_int, key: &CStr, value: &[u8]) -> Result<(), Errno>;
    fn get_extended(&mut self, file: c_int, key: &CStr, value: &mut [u8]) -> Result<usize, Errno>;
    /// Reads the next entries of an open directory in the format of getdents64(2); returns 0 at the
    /// end of the directory.
    fn entries(&mut self, file: c_int, entries: &mut [u8]) -> Result<usize, Errno>;
    fn evict(&mut self, file: c_int) -> Result<(), Errno>;
    /// Maps the first `bytes` bytes of an open file, passes them to `each`, and unmaps them.
    /// `bytes` must be at least 1. Returns `EIO` if a page could not be read.
    fn map(&mut self, file: c_int, bytes: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Errno>;
    /// Waits until it has locked the whole of an open file exclusively.
    fn lock(&mut self, file: c_int) -> Result<(), Errno>;
    fn unlock(&mut self, file: c_int) -> Result<(), Errno>;
    /// Copies at most `bytes` bytes between two open files, from and to their current positions.
    /// Returns the number of copied bytes; 0 at the end of the file `from`.
    fn copy(&mut self, from: c_int, to: c_int, bytes: usize) -> Result<usize, Errno>;
    /// Makes the open file `to` share all blocks of the open file `from`.
    fn clone_blocks(&mut self, from: c_int, to: c_int) -> Result<(), Errno>;
}
