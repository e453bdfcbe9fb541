//! What of a file is in the page cache: cachestat(2) of Linux 6.5, before it mincore(2).

use std::ffi::{c_long, c_uint};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;

use engine::Errno;
use engine::namespace::{CachedPages, Held};

use crate::system::{check_long, last_errno};

/// cachestat(2): all architectures have it by this number but Alpha.
const SYS_CACHESTAT: c_long = 451;
/// The magic number of overlay file systems (linux/magic.h).
const OVERLAYFS_SUPER_MAGIC: rustix::fs::FsWord = 0x794c_7630;

/// The range that is asked about (linux/mman.h); of length 0 it reaches to the end.
#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

/// What the kernel answers (linux/mman.h).
#[repr(C)]
#[derive(Default)]
struct Cachestat {
    cached: u64,
    dirty: u64,
    under_write_back: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// A file that is open for reading.
#[derive(Debug)]
pub(super) struct KernelHeld(pub(super) OwnedFd);

impl Held for KernelHeld {
    fn cached(&self) -> Result<CachedPages, Errno> {
        let bytes = rustix::fs::fstat(&self.0)?.st_size.unsigned_abs();
        let pages = bytes.div_ceil(rustix::param::page_size() as u64);
        // The pages of an overlay's file are those of the file beneath it, which this call does not
        // look at.
        let is_overlay =
            rustix::fs::fstatfs(&self.0).is_ok_and(|facts| facts.f_type == OVERLAYFS_SUPER_MAGIC);
        if !is_overlay && has_cachestat() {
            let found = cachestat(self.0.as_raw_fd())?;
            return Ok(CachedPages {
                pages,
                cached: found.cached,
                dirty: Some(found.dirty),
                under_write_back: Some(found.under_write_back),
            });
        }
        Ok(CachedPages {
            pages,
            cached: self.mincore(bytes as usize, pages as usize)?,
            dirty: None,
            under_write_back: None,
        })
    }
}

fn has_cachestat() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    // With a file that does not exist the call fails otherwise than by not being there.
    *HAS.get_or_init(|| !matches!(cachestat(-1), Err(Errno::NOSYS | Errno::PERM)))
}

fn cachestat(file: i32) -> Result<Cachestat, Errno> {
    let range = CachestatRange {
        offset: 0,
        length: 0,
    };
    let mut found = Cachestat::default();
    let no_flags: c_uint = 0;
    // SAFETY: both structures have the kernel's layout and outlive the call.
    let answer = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file,
            &raw const range,
            &raw mut found,
            no_flags,
        )
    };
    check_long(answer).map(|_| found)
}

impl KernelHeld {
    /// Pages in memory, by a mapping that is never read.
    fn mincore(&self, bytes: usize, pages: usize) -> Result<u64, Errno> {
        if bytes == 0 {
            return Ok(0);
        }
        let mut states = vec![0_u8; pages];
        // SAFETY: a new mapping at an address of the kernel's choice, which nothing dereferences.
        let mapped = unsafe {
            let (access, flags) = (rustix::mm::ProtFlags::READ, rustix::mm::MapFlags::SHARED);
            rustix::mm::mmap(std::ptr::null_mut(), bytes, access, flags, &self.0, 0)?
        };
        // SAFETY: the mapping has so many bytes, and the list a byte for each of its pages.
        let answer = unsafe { libc::mincore(mapped, bytes, states.as_mut_ptr()) };
        let errno = last_errno();
        // SAFETY: it was mapped above, and is not used any more.
        unsafe { rustix::mm::munmap(mapped, bytes) }?;
        if answer != 0 {
            return Err(errno);
        }
        Ok(states.iter().filter(|state| **state & 1 != 0).count() as u64)
    }
}
