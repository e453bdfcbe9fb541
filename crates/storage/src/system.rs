//! The system calls that file operations are made of, behind a trait: the kernel's own, or the simulated ones.

use std::ffi::{CStr, c_int, c_long};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use crate::contract::{Errno, OpenError};

/// How a call finds its file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
    /// By its whole path, as the original does.
    Path(&'a CStr),
    /// Relative to the held directory of a location.
    Location(usize, &'a CStr),
}

/// System calls, raw: a short count and an interruption are answers like any other.
pub(crate) trait System {
    fn open(&mut self, at: At<'_>, flags: c_int, mode: libc::mode_t) -> Result<c_int, Errno>;
    fn write(&mut self, file: c_int, bytes: &[u8]) -> Result<usize, Errno>;
    fn read(&mut self, file: c_int, bytes: &mut [u8]) -> Result<usize, Errno>;
    fn close(&mut self, file: c_int) -> Result<(), Errno>;
    fn unlink(&mut self, at: At<'_>) -> Result<(), Errno>;
    fn mkdir(&mut self, at: At<'_>, mode: libc::mode_t) -> Result<(), Errno>;
    fn rmdir(&mut self, at: At<'_>) -> Result<(), Errno>;
}

/// The kernel.
#[derive(Debug)]
pub struct Kernel {
    directories: Vec<OwnedFd>,
}

impl Kernel {
    /// For calls by path only.
    pub(crate) fn by_path() -> Self {
        own_table_of_files();
        Self {
            directories: Vec::new(),
        }
    }

    /// For calls relative to these directories, which are opened and held.
    pub(crate) fn in_directories<'a>(directories: impl Iterator<Item = &'a Path>) -> Result<Self, OpenError> {
        own_table_of_files();
        let directories = directories
            .map(|directory| {
                std::fs::File::open(directory)
                    .map(OwnedFd::from)
                    .map_err(|cause| OpenError::Directory {
                        directory: directory.to_owned(),
                        cause,
                    })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { directories })
    }

    fn directory(&self, location: usize) -> c_int {
        self.directories[location].as_raw_fd()
    }
}

/// Gives the calling thread a table of open files of its own, so that the kernel need not guard it against
/// the process's other threads at every call. The original has one thread; without this ours would pay for
/// the thread that shows the progress.
fn own_table_of_files() {
    // SAFETY: unshare(2) touches no memory of ours. Descriptors that others hold stay valid in their own
    // tables, and the calling thread's copies are closed when it ends. A kernel that refuses leaves the table
    // shared, which is slower and nothing else.
    unsafe { libc::unshare(libc::CLONE_FILES) };
}

#[inline]
fn check(answer: c_int) -> Result<c_int, Errno> {
    if answer < 0 { Err(Errno::last()) } else { Ok(answer) }
}

/// A system call by its number. The C library's own functions for these calls are points where a thread may be
/// cancelled, which costs as much as everything else that we do for a call, and no thread here ever is.
#[inline]
fn check_long(answer: c_long) -> Result<usize, Errno> {
    usize::try_from(answer).map_err(|_| Errno::last())
}

impl System for Kernel {
    #[inline]
    fn open(&mut self, at: At<'_>, flags: c_int, mode: libc::mode_t) -> Result<c_int, Errno> {
        let (directory, name) = match at {
            // As open(2) of the C library does.
            At::Path(path) => (libc::AT_FDCWD, path),
            At::Location(location, name) => (self.directory(location), name),
        };
        // SAFETY: the name is a C string that outlives the call, and openat(2) writes to no memory of ours.
        let answer = unsafe { libc::syscall(libc::SYS_openat, directory, name.as_ptr(), flags, mode) };
        check_long(answer).map(|file| file as c_int)
    }

    #[inline]
    fn write(&mut self, file: c_int, bytes: &[u8]) -> Result<usize, Errno> {
        // SAFETY: the pointer and the length are of one slice that outlives the call.
        check_long(unsafe { libc::syscall(libc::SYS_write, file, bytes.as_ptr(), bytes.len()) })
    }

    #[inline]
    fn read(&mut self, file: c_int, bytes: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the pointer and the length are of one slice, borrowed mutably for the call.
        check_long(unsafe { libc::syscall(libc::SYS_read, file, bytes.as_mut_ptr(), bytes.len()) })
    }

    #[inline]
    fn close(&mut self, file: c_int) -> Result<(), Errno> {
        // SAFETY: the loop owns the descriptor: it came from `open` and is closed once.
        check_long(unsafe { libc::syscall(libc::SYS_close, file) }).map(drop)
    }

    #[inline]
    fn unlink(&mut self, at: At<'_>) -> Result<(), Errno> {
        // SAFETY: the name is a C string that outlives the call.
        check(unsafe {
            match at {
                At::Path(path) => libc::unlink(path.as_ptr()),
                At::Location(location, name) => libc::unlinkat(self.directory(location), name.as_ptr(), 0),
            }
        })
        .map(drop)
    }

    fn mkdir(&mut self, at: At<'_>, mode: libc::mode_t) -> Result<(), Errno> {
        // SAFETY: the name is a C string that outlives the call.
        check(unsafe {
            match at {
                At::Path(path) => libc::mkdir(path.as_ptr(), mode),
                At::Location(location, name) => libc::mkdirat(self.directory(location), name.as_ptr(), mode),
            }
        })
        .map(drop)
    }

    fn rmdir(&mut self, at: At<'_>) -> Result<(), Errno> {
        // SAFETY: the name is a C string that outlives the call.
        check(unsafe {
            match at {
                At::Path(path) => libc::rmdir(path.as_ptr()),
                At::Location(location, name) => {
                    libc::unlinkat(self.directory(location), name.as_ptr(), libc::AT_REMOVEDIR)
                }
            }
        })
        .map(drop)
    }
}
