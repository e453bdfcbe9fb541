//! A ring of io_uring: its setup, the requests that the kernel supports, and the reasons why the
//! kernel refuses a ring.

use core::time::Duration;
use std::io;

use engine::{Errno, OperationKind};
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, squeue};

use super::stage::opcodes;

/// Maximum number of requests in a chain. Further blocks of a file are requested by further chains.
pub(super) const CHAIN_MAX: usize = 32;
/// Number of requests in the ring's queue for each operation in flight. If the queue is full, its
/// requests are passed to the kernel.
const REQUESTS_EACH: usize = 8;
/// Maximum number of attempts to pass requests to a kernel that cannot take them now.
const ATTEMPTS_MAX: u32 = 1_000;

/// The features of io_uring that this kernel supports.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// Whether requests of a chain may use a file that the chain itself opens (Linux 5.17).
    pub(super) chains: bool,
    supported: [bool; 256],
}

impl Kernel {
    fn ask(ring: &IoUring, chains: bool) -> io::Result<Self> {
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        let supported = std::array::from_fn(|code| probe.is_supported(code as u8));
        let parameters = ring.params();
        Ok(Self {
            chains: chains && parameters.is_feature_linked_file(),
            supported,
        })
    }

    /// Whether the kernel supports all requests that operations of this kind need.
    pub(super) fn performs(&self, kind: OperationKind) -> bool {
        let codes = opcodes(kind);
        !codes.is_empty() && codes.iter().all(|code| self.supported[usize::from(*code)])
    }
}

pub(super) struct Ring {
    ring: IoUring,
    pub(super) kernel: Kernel,
}

impl Ring {
    /// Opens a ring for `depth` operations in flight.
    ///
    /// # Errors
    /// Returns the reason why the kernel refuses the ring, and what to do, as the rest of a
    /// sentence that begins with the engine's name.
    pub(super) fn open(depth: usize, chains: bool) -> Result<Self, String> {
        let ring = set_up(depth).map_err(|error| refusal(&error))?;
        if !ring.params().is_feature_ext_arg() {
            return Err("needs Linux 5.11 or later for io_uring (use --engine posix)".to_owned());
        }
        let kernel = Kernel::ask(&ring, chains).map_err(|error| refusal(&error))?;
        if kernel.chains {
            let files = vec![-1; depth];
            let registered = ring.submitter().register_files(&files);
            registered.map_err(|error| {
                format!(
                    "cannot register {depth} open files with io_uring: {error} (use a smaller \
                     --depth, or raise `ulimit -n`)"
                )
            })?;
        }
        Ok(Self { ring, kernel })
    }

    /// Appends the requests of a chain. If the queue has no room for the whole chain, earlier
    /// requests are first passed to the kernel.
    ///
    /// # Errors
    /// Returns an error if the kernel does not take earlier requests.
    ///
    /// # Safety
    /// All memory to which the requests point must remain valid until they are complete.
    #[inline]
    pub(super) unsafe fn push(&mut self, chain: &[squeue::Entry]) -> Result<(), Errno> {
        let mut attempts = 0;
        loop {
            let mut queue = self.ring.submission();
            // SAFETY: the caller guarantees that memory to which the requests point remains valid.
            if unsafe { queue.push_multiple(chain) }.is_ok() {
                return Ok(());
            }
            drop(queue);
            attempts += 1;
            match self.enter(0) {
                Err(errno) if is_final(errno) || attempts > ATTEMPTS_MAX => return Err(errno),
                _ => {}
            }
        }
    }

    /// Passes appended requests to the kernel, and waits for `wanted` completions.
    #[inline]
    pub(super) fn enter(&self, wanted: usize) -> Result<(), Errno> {
        converted(self.ring.submitter().submit_and_wait(wanted))
    }

    /// Passes appended requests to the kernel, and waits up to `limit` for a completion.
    pub(super) fn enter_for(&self, limit: Duration) -> Result<(), Errno> {
        let limit = Timespec::from(limit);
        let arguments = SubmitArgs::new().timespec(&limit);
        converted(self.ring.submitter().submit_with_args(1, &arguments))
    }

    /// Removes and returns the next completion: the request's number and its result.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u64, i32)> {
        let completion = self.ring.completion().next()?;
        Some((completion.user_data(), completion.result()))
    }
}

/// Whether an error of io_uring_enter(2) is permanent. Other errors end when completions are
/// processed and the call is repeated.
pub(super) fn is_final(errno: Errno) -> bool {
    !matches!(
        errno,
        Errno::INTR | Errno::TIME | Errno::AGAIN | Errno::BUSY | Errno::NOMEM
    )
}

fn converted(answer: io::Result<usize>) -> Result<(), Errno> {
    match answer {
        Ok(_) => Ok(()),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}

/// Opens a ring whose completions are processed only when the worker waits for them (Linux 6.1), or
/// else a ring with the defaults.
fn set_up(depth: usize) -> io::Result<IoUring> {
    let entries = (depth * REQUESTS_EACH)
        .next_power_of_two()
        .max(2 * CHAIN_MAX) as u32;
    let modern = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(entries);
    match modern {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            IoUring::builder().build(entries)
        }
        answer => answer,
    }
}

/// The setting by which an administrator forbids io_uring.
const DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

fn refusal(error: &io::Error) -> String {
    let disabled = std::fs::read_to_string(DISABLED).unwrap_or_default();
    refusal_of(error, disabled.trim())
}

fn refusal_of(error: &io::Error, disabled: &str) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM) if matches!(disabled, "1" | "2") => format!(
            "cannot open a ring: kernel.io_uring_disabled = {disabled} forbids io_uring (let the \
             administrator set it to 0, or use --engine posix)"
        ),
        Some(libc::EPERM | libc::EACCES) => "cannot open a ring: a security policy forbids \
             io_uring, as the seccomp filters of containers do (allow io_uring_setup, \
             io_uring_enter and io_uring_register there, or use --engine posix)"
            .to_owned(),
        Some(libc::ENOSYS) => "cannot open a ring: this kernel has no io_uring, or a seccomp \
             filter hides it (use --engine posix)"
            .to_owned(),
        Some(libc::ENOMEM) => "cannot open a ring: the limit of locked memory is too low (raise \
             `ulimit -l`, or use a smaller --depth or fewer --workers)"
            .to_owned(),
        _ => format!("cannot open a ring: {error} (use --engine posix)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_their_reason() {
        for (errno, disabled, reason) in [
            (libc::EPERM, "2", "kernel.io_uring_disabled = 2"),
            (libc::EPERM, "0", "security policy"),
            (libc::ENOSYS, "", "no io_uring"),
            (libc::ENOMEM, "0", "ulimit -l"),
            (libc::EMFILE, "0", "open files"),
        ] {
            let said = refusal_of(&io::Error::from_raw_os_error(errno), disabled);
            assert!(said.contains(reason), "{said}");
        }
    }

    #[test]
    fn full_queue_is_passed_to_the_kernel() {
        let mut ring = Ring::open(1, true).unwrap();
        let requests = 10 * CHAIN_MAX;
        for _ in 0..requests {
            // SAFETY: these requests do nothing and point to no memory.
            unsafe { ring.push(&[io_uring::opcode::Nop::new().build()]) }.unwrap();
        }
        let mut completions = 0;
        while completions < requests {
            ring.enter(1).unwrap();
            while ring.next().is_some() {
                completions += 1;
            }
        }
    }
}
