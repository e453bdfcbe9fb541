//! The number of a file's pages in the page cache: cachestat(2) since Linux 6.5, mincore(2) before.

use std::ffi::{c_long, c_uint};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;

use engine::Errno;
use engine::namespace::{CachedPages, Held};

use crate::system::{check_long, last_errno};

/// System call number of cachestat(2) on all architectures except Alpha.
const SYS_CACHESTAT: c_long = 451;
/// Magic number of overlayfs (linux/magic.h).
const OVERLAYFS_SUPER_MAGIC: rustix::fs::FsWord = 0x794c_7630;

/// The range of a cachestat(2) query (linux/mman.h); length 0 extends the range to the end of the
/// file.
#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

/// The result of cachestat(2), in pages (linux/mman.h).
#[repr(C)]
#[derive(Default)]
struct Cachestat {
    cached: u64,
    dirty: u64,
    under_write_back: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// A file that is open for reading, so that its pages in the page cache can be counted.
#[derive(Debug)]
pub(super) struct KernelHeld(pub(super) OwnedFd);

impl Held for KernelHeld {
    fn cached(&self) -> Result<CachedPages, Errno> {
        let bytes = rustix::fs::fstat(&self.0)?.st_size.unsigned_abs();
        let pages = bytes.div_ceil(rustix::param::page_size() as u64);
        // The cached pages of a file on overlayfs belong to the underlying file, which cachestat(2)
        // does not examine.
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
    // The descriptor -1 is invalid: if the kernel supports the call, the error is neither `ENOSYS`
    // nor `EPERM`.
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
    /// Counts the pages in memory through a mapping that is never read.
    fn mincore(&self, bytes: usize, pages: usize) -> Result<u64, Errno> {
        if bytes == 0 {
            return Ok(0);
        }
        let mut states = vec![0_u8; pages];
        // SAFETY: a new mapping at an address that the kernel chooses; it is never dereferenced.
        let mapped = unsafe {
            let (access, flags) = (rustix::mm::ProtFlags::READ, rustix::mm::MapFlags::SHARED);
            rustix::mm::mmap(std::ptr::null_mut(), bytes, access, flags, &self.0, 0)?
        };
        // SAFETY: the mapping is `bytes` long, and the list contains a byte for each of its pages.
        let answer = unsafe { libc::mincore(mapped, bytes, states.as_mut_ptr()) };
        let errno = last_errno();
        // SAFETY: the range was mapped above and is not used afterwards.
        unsafe { rustix::mm::munmap(mapped, bytes) }?;
        if answer != 0 {
            return Err(errno);
        }
        Ok(states.iter().filter(|state| **state & 1 != 0).count() as u64)
    }
}
