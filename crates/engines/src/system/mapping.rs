//! Maps files into memory.
//!
//! If a page of a mapping cannot be read, the kernel sends SIGBUS. A handler then puts an empty
//! page at that address, so that the operation ends and returns an error.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

use engine::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// The address range of the mapping that a thread is reading.
#[derive(Clone, Copy)]
struct Mapped {
    begin: usize,
    bytes: usize,
    /// Whether a page could not be read.
    is_broken: bool,
}

const NONE: Mapped = Mapped {
    begin: 0,
    bytes: 0,
    is_broken: false,
};

thread_local!(static MAPPED: Cell<Mapped> = const { Cell::new(NONE) });

/// The process's action for SIGBUS before [`install`] changed it.
static EARLIER: OnceLock<libc::sigaction> = OnceLock::new();

/// Maps the first `bytes` bytes of a file, passes them to `each`, and unmaps them. `bytes` must be
/// at least 1.
pub(super) fn map(
    file: BorrowedFd<'_>,
    bytes: usize,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), Errno> {
    install()?;
    // SAFETY: the kernel chooses an address that is not in use.
    let begin = unsafe {
        let (read, flags) = (ProtFlags::READ, MapFlags::SHARED);
        rustix::mm::mmap(null_mut(), bytes, read, flags, file, 0)?
    };
    MAPPED.set(Mapped {
        begin: begin as usize,
        bytes,
        is_broken: false,
    });
    // The handler reads and writes `MAPPED` between these fences.
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the mapping has `bytes` bytes, is readable, and remains until `each` returns. The
    // worker has claimed the file, so no operation of this program changes it meanwhile. Pages that
    // cannot be read become empty pages.
    each(unsafe { std::slice::from_raw_parts(begin.cast::<u8>(), bytes) });
    compiler_fence(Ordering::SeqCst);
    let mapped = MAPPED.replace(NONE);
    // SAFETY: nothing refers to the mapping any more.
    unsafe { rustix::mm::munmap(begin, bytes)? };
    if mapped.is_broken {
        Err(Errno::IO)
    } else {
        Ok(())
    }
}

/// Installs the handler of SIGBUS, once for the process. Other threads wait until it is installed.
fn install() -> Result<(), Errno> {
    static INSTALLED: OnceLock<Result<(), Errno>> = OnceLock::new();
    *INSTALLED.get_or_init(install_once)
}

fn install_once() -> Result<(), Errno> {
    let mut earlier = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: with a null action, the call only returns the current action. All fields of a zeroed
    // `sigaction` are valid.
    let earlier = unsafe {
        super::check(libc::sigaction(
            libc::SIGBUS,
            std::ptr::null(),
            earlier.as_mut_ptr(),
        ))?;
        earlier.assume_init()
    };
    // The earlier action is stored first, because the handler may need it at once.
    let _ = EARLIER.set(earlier);
    // SAFETY: a zeroed `sigaction` is valid; the handler has the signature of SA_SIGINFO.
    super::check(unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = repair;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, null_mut())
    })
}

/// Replaces the page that caused SIGBUS. For an address outside of the thread's mapping, restores
/// the earlier action, which then receives the signal again.
extern "C" fn repair(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes a valid structure to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let mapped = MAPPED.get();
    let page = rustix::param::page_size();
    if mapped.begin <= address && address < mapped.begin + mapped.bytes {
        MAPPED.set(Mapped {
            is_broken: true,
            ..mapped
        });
        // SAFETY: the page belongs to the mapping, which only this thread reads. mmap(2) may be
        // called by a handler.
        let replaced = unsafe {
            let at = (address / page * page) as *mut c_void;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            libc::mmap(at, page, libc::PROT_READ, flags, -1, 0)
        };
        if replaced != libc::MAP_FAILED {
            return;
        }
    }
    if let Some(earlier) = EARLIER.get() {
        // SAFETY: the action is the one that the process had before.
        unsafe { libc::sigaction(signal, earlier, null_mut()) };
    }
}
