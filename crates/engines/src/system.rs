//! The system calls that file operations are made of, behind a trait: the kernel's own, or the
//! simulated ones.

use std::ffi::{CStr, c_int, c_long};

use engine::Errno;

pub(crate) mod entries;
pub(crate) mod kernel;

/// The calling thread's last error.
pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// The answer of a call that gives 0, or a number below it for an error.
#[inline]
pub(crate) fn check(answer: c_int) -> Result<(), Errno> {
    if answer < 0 {
        Err(last_errno())
    } else {
        Ok(())
    }
}

/// The answer of a call that moves bytes, or of a system call by its number. The C library's own
/// functions for many calls are points where a thread may be cancelled, which costs as much as
/// everything else that we do for a call, and no thread here ever is.
#[inline]
pub(crate) fn check_long(answer: c_long) -> Result<usize, Errno> {
    usize::try_from(answer).map_err(|_| last_errno())
}

/// How a call finds its file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
    /// Relative to the held directory of a location.
    Location(usize, &'a CStr),
    /// Relative to an open directory.
    In(c_int, &'a CStr),
}

/// What attributes are set of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Object<'a> {
    /// Of an open file.
    File(c_int),
    /// Of a name.
    Name(At<'a>),
}

/// System calls, raw: a short count and an interruption are answers like any other.
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
    /// Opens, syncs, closes.
    fn sync_directory(&mut self, at: At<'_>) -> Result<(), Errno>;
    fn sync_file_system(&mut self, location: usize) -> Result<(), Errno>;
    /// The size, of a link itself where it is one.
    fn size(&mut self, at: At<'_>) -> Result<u64, Errno>;
    /// The size of an open file.
    fn size_of(&mut self, file: c_int) -> Result<u64, Errno>;
    /// `ENOSYS` where the kernel cannot do it by name without following a link (before Linux 6.6).
    fn set_mode(&mut self, object: Object<'_>, mode: libc::mode_t) -> Result<(), Errno>;
    fn set_times(&mut self, object: Object<'_>, times_ns: i64) -> Result<(), Errno>;
    fn rename(&mut self, from: At<'_>, to: At<'_>, replaces: bool) -> Result<(), Errno>;
    fn link(&mut self, from: At<'_>, to: At<'_>) -> Result<(), Errno>;
    fn symbolic_link(&mut self, target: &CStr, at: At<'_>) -> Result<(), Errno>;
    fn read_link(&mut self, at: At<'_>, target: &mut [u8]) -> Result<usize, Errno>;
    fn set_extended(&mut self, file: c_int, key: &CStr, value: &[u8]) -> Result<(), Errno>;
    fn get_extended(&mut self, file: c_int, key: &CStr, value: &mut [u8]) -> Result<usize, Errno>;
    /// Some more entries of an open directory in the form of getdents64(2); 0 bytes at its end.
    fn entries(&mut self, file: c_int, entries: &mut [u8]) -> Result<usize, Errno>;
    fn evict(&mut self, file: c_int) -> Result<(), Errno>;
}
