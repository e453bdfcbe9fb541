//! Implements file operations by system calls of the kernel; the simulated engine implements them
//! in memory.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_long};
use std::fs::OpenOptions;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use super::{At, Object, System, check, check_long, mapping};
use crate::acting_user;
use engine::namespace::ActingUser;
use engine::{Errno, Location, OpenError, Settings};
use rustix::fs::{Advice, AtFlags, Mode, OFlags, RenameFlags, Timespec, Timestamps, XattrFlags};

/// fchmodat2(2) since Linux 6.6: the only call that sets the mode of a name without following a
/// symbolic link. All architectures except Alpha use this number.
const SYS_FCHMODAT2: c_long = 452;

/// System calls of one thread. Descriptors of the thread are invalid in other threads, because the
/// thread has its own table of open files.
#[derive(Debug)]
pub struct KernelCalls {
    /// The held directories of the locations. All names are resolved relative to these directories,
    /// so a replaced path does not redirect calls to another directory.
    held: Vec<OwnedFd>,
    of_this_thread: PhantomData<*const ()>,
}

impl KernelCalls {
    /// Opens the locations' directories in the calling thread's own table of open files. Afterwards
    /// the thread acts as the user that the settings name.
    pub(crate) fn new(settings: &Settings) -> Result<Self, OpenError> {
        own_table_of_files();
        // The directories are opened with the process's own rights, because the acting user may be
        // unable to reach a directory by its path. Opening a directory changes nothing.
        act_as(None)?;
        let held = settings
            .locations
            .iter()
            .map(hold)
            .collect::<Result<_, _>>()?;
        act_as(settings.acts_as)?;
        Ok(Self {
            held,
            of_this_thread: PhantomData,
        })
    }

    /// The descriptors of the locations' directories, for the requests of io_uring.
    pub(crate) fn held(&self) -> impl Iterator<Item = c_int> {
        self.held.iter().map(AsRawFd::as_raw_fd)
    }

    /// Converts a name to the directory and path that calls like openat(2) take.
    #[inline]
    fn place<'a>(&'a self, at: At<'a>) -> (BorrowedFd<'a>, &'a CStr) {
        match at {
            At::Location(location, name) => (self.held[location].as_fd(), name),
            At::In(directory, name) => (opened(directory), name),
        }
    }
}

/// Borrows a descriptor for calls of `rustix`.
#[inline]
fn opened<'a>(file: c_int) -> BorrowedFd<'a> {
    // SAFETY: the operation owns the descriptor. It was returned by `open` and is not closed before
    // the call returns.
    unsafe { BorrowedFd::borrow_raw(file) }
}

fn act_as(user: Option<ActingUser>) -> Result<(), OpenError> {
    acting_user::act_as(user).map_err(|errno| OpenError::Rights {
        user: user.map_or(0, |acting| acting.user),
        cause: errno.into(),
    })
}

/// Opens the directory of a location; returns an error if the path denotes a directory other than
/// `location.identity`.
fn hold(location: &Location) -> Result<OwnedFd, OpenError> {
    let error = |cause| OpenError::Directory {
        directory: location.path(),
        cause,
    };
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_DIRECTORY);
    let base = options.open(&location.directory).map_err(error)?;
    if let Some(expected) = location.identity {
        let facts = base.metadata().map_err(error)?;
        if (facts.dev(), facts.ino()) != (expected.device, expected.inode) {
            return Err(OpenError::Moved(location.directory.clone()));
        }
    }
    let Some(below) = &location.below else {
        return Ok(base.into());
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&base, below, flags, Mode::empty()).map_err(|errno| error(errno.into()))
}

/// Gives the calling thread its own table of open files. If threads share a table, the kernel takes
/// a lock at each call. The original PostMark has one thread and thus no cost of such a lock. The
/// thread's copies of the process's descriptors are closed, because they would keep files open that
/// other threads close.
pub(crate) fn own_table_of_files() {
    thread_local!(static IS_OWN: Cell<bool> = const { Cell::new(false) });
    if IS_OWN.replace(true) {
        // The thread already has its own table. It contains descriptors of the thread's earlier
        // sessions, which are not closed.
        return;
    }
    // SAFETY: unshare(2) accesses no memory of this process. Other threads' descriptors remain
    // valid in their own tables, and the calling thread's copies are closed when the thread ends.
    // If the kernel refuses, the table remains shared, which is only slower.
    let is_unshared = unsafe { libc::unshare(libc::CLONE_FILES) } == 0;
    // SAFETY: both calls only return a number.
    let is_first_thread = unsafe { libc::gettid() == libc::getpid() };
    // Descriptors of the first thread are not closed: they belong to the program, and possibly no
    // other thread has a copy.
    if is_unshared && !is_first_thread {
        let first: libc::c_uint = 3;
        // SAFETY: only this thread uses the table. By the contract of `Engine::open`, this thread
        // holds no open files, so all descriptors from 3 on are copies. If the kernel lacks this
        // call, the copies remain open.
        unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) };
    }
}

impl System for KernelCalls {
    #[inline]
    fn open(&mut self, at: At<'_>, flags: c_int, mode: libc::mode_t) -> Result<c_int, Errno> {
        let (directory, name) = self.place(at);
        // SAFETY: the name is a C string that outlives the call, and openat(2) writes to no memory
        // of this process.
        let answer = unsafe {
            let directory = directory.as_raw_fd();
            libc::syscall(libc::SYS_openat, directory, name.as_ptr(), flags, mode)
        };
        check_long(answer).map(|file| file as c_int)
    }

    #[inline]
    fn write(&mut self, file: c_int, bytes: &[u8]) -> Result<usize, Errno> {
        // SAFETY: the pointer and the length belong to one slice that outlives the call.
        check_long(unsafe { libc::syscall(libc::SYS_write, file, bytes.as_ptr(), bytes.len()) })
    }

    #[inline]
    fn read(&mut self, file: c_int, bytes: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the pointer and the length belong to one slice, which is mutably borrowed for the
        // call.
        check_long(unsafe { libc::syscall(libc::SYS_read, file, bytes.as_mut_ptr(), bytes.len()) })
    }

    #[inline]
    fn read_at(&mut self, file: c_int, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
        rustix::io::pread(opened(file), bytes, offset)
    }

    #[inline]
    fn truncate(&mut self, file: c_int, bytes: u64) -> Result<(), Errno> {
        let bytes = libc::off_t::try_from(bytes).map_err(|_| Errno::FBIG)?;
        // SAFETY: ftruncate(2) accesses no memory of this process.
        check(unsafe { libc::ftruncate(file, bytes) })
    }

    #[inline]
    fn close(&mut self, file: c_int) -> Result<(), Errno> {
        // SAFETY: the operation owns the descriptor, which was returned by `open` and is closed
        // once.
        check_long(unsafe { libc::syscall(libc::SYS_close, file) }).map(drop)
    }

    #[inline]
    fn unlink(&mut self, at: At<'_>) -> Result<(), Errno> {
        let (directory, name) = self.place(at);
        rustix::fs::unlinkat(directory, name, AtFlags::empty())
    }

    fn mkdir(&mut self, at: At<'_>, mode: libc::mode_t) -> Result<(), Errno> {
        let (directory, name) = self.place(at);
        rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(mode))
    }

    fn rmdir(&mut self, at: At<'_>) -> Result<(), Errno> {
        let (directory, name) = self.place(at);
        rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)
    }

    #[inline]
    fn sync(&mut self, file: c_int, contents_only: bool) -> Result<(), Errno> {
        match contents_only {
            true => rustix::fs::fdatasync(opened(file)),
            false => rustix::fs::fsync(opened(file)),
        }
    }

    fn sync_directory(&mut self, at: At<'_>) -> Result<(), Errno> {
        let directory = self.open(at, libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC, 0)?;
        let synced = self.sync(directory, false);
        let closed = self.close(directory);
        synced.and(closed)
    }

    fn sync_file_system(&mut self, location: usize) -> Result<(), Errno> {
        rustix::fs::syncfs(&self.held[location])
    }

    #[inline]
    fn size(&mut self, at: At<'_>) -> Result<u64, Errno> {
        let (directory, name) = self.place(at);
        let facts = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(facts.st_size as u64)
    }

    fn size_of(&mut self, file: c_int) -> Result<u64, Errno> {
        let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the structure has the size that fstat(2) writes.
        check(unsafe { libc::fstat(file, stat.as_mut_ptr()) })?;
        // SAFETY: the call succeeded, so the structure is initialized.
        Ok(unsafe { stat.assume_init() }.st_size as u64)
    }

    #[inline]
    fn set_mode(&mut self, object: Object<'_>, mode: libc::mode_t) -> Result<(), Errno> {
        match object {
            Object::File(file) => rustix::fs::fchmod(opened(file), Mode::from_raw_mode(mode)),
            Object::Name(at) => {
                let (directory, name) = self.place(at);
                // SAFETY: the name is a C string that outlives the call.
                let answer = unsafe {
                    libc::syscall(
                        SYS_FCHMODAT2,
                        directory.as_raw_fd(),
                        name.as_ptr(),
                        mode,
                        libc::AT_SYMLINK_NOFOLLOW,
                    )
                };
                check_long(answer).map(drop)
            }
        }
    }

    #[inline]
    fn set_times(&mut self, object: Object<'_>, times_ns: i64) -> Result<(), Errno> {
        const SECOND_NS: i64 = 1_000_000_000;
        let time = Timespec {
            tv_sec: times_ns.div_euclid(SECOND_NS),
            tv_nsec: times_ns.rem_euclid(SECOND_NS),
        };
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        match object {
            Object::File(file) => rustix::fs::futimens(opened(file), &times),
            Object::Name(at) => {
                let (directory, name) = self.place(at);
                rustix::fs::utimensat(directory, name, &times, AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }

    #[inline]
    fn rename(&mut self, from: At<'_>, to: At<'_>, replaces: bool) -> Result<(), Errno> {
        let (from_directory, from) = self.place(from);
        let (to_directory, to) = self.place(to);
        let flags = match replaces {
            true => RenameFlags::empty(),
            false => RenameFlags::NOREPLACE,
        };
        rustix::fs::renameat_with(from_directory, from, to_directory, to, flags)
    }

    #[inline]
    fn link(&mut self, from: At<'_>, to: At<'_>) -> Result<(), Errno> {
        let (from_directory, from) = self.place(from);
        let (to_directory, to) = self.place(to);
        rustix::fs::linkat(from_directory, from, to_directory, to, AtFlags::empty())
    }

    #[inline]
    fn symbolic_link(&mut self, target: &CStr, at: At<'_>) -> Result<(), Errno> {
        let (directory, name) = self.place(at);
        rustix::fs::symlinkat(target, directory, name)
    }

    #[inline]
    fn read_link(&mut self, at: At<'_>, target: &mut [u8]) -> Result<usize, Errno> {
        let (directory, name) = self.place(at);
        rustix::fs::readlinkat_raw(directory, name, target)
    }

    #[inline]
    fn set_extended(&mut self, file: c_int, key: &CStr, value: &[u8]) -> Result<(), Errno> {
        rustix::fs::fsetxattr(opened(file), key, value, XattrFlags::empty())
    }

    #[inline]
    fn get_extended(&mut self, file: c_int, key: &CStr, value: &mut [u8]) -> Result<usize, Errno> {
        rustix::fs::fgetxattr(opened(file), key, value)
    }

    #[inline]
    fn entries(&mut self, file: c_int, entries: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the pointer and the length belong to one slice, which is mutably borrowed for the
        // call.
        check_long(unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                file,
                entries.as_mut_ptr(),
                entries.len(),
            )
        })
    }

    #[inline]
    fn evict(&mut self, file: c_int) -> Result<(), Errno> {
        rustix::fs::fadvise(opened(file), 0, None, Advice::DontNeed)
    }

    fn map(&mut self, file: c_int, bytes: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Errno> {
        mapping::map(opened(file), bytes, each)
    }

    fn lock(&mut self, file: c_int) -> Result<(), Errno> {
        set_lock(file, libc::F_OFD_SETLKW, libc::F_WRLCK)
    }

    fn unlock(&mut self, file: c_int) -> Result<(), Errno> {
        set_lock(file, libc::F_OFD_SETLK, libc::F_UNLCK)
    }

    fn copy(&mut self, from: c_int, to: c_int, bytes: usize) -> Result<usize, Errno> {
        rustix::fs::copy_file_range(opened(from), None, opened(to), None, bytes)
    }

    fn clone_blocks(&mut self, from: c_int, to: c_int) -> Result<(), Errno> {
        rustix::fs::ioctl_ficlone(opened(to), opened(from))
    }
}

/// Sets or removes a lock of a whole file. The lock belongs to the open file description, so it
/// also excludes other threads of this process.
fn set_lock(file: c_int, command: c_int, kind: c_int) -> Result<(), Errno> {
    let lock = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the structure outlives the call. With the commands used here, the call does not write
    // to it.
    check(unsafe { libc::fcntl(file, command, &raw const lock) })
}
