//! Checks the resource limits (`ulimit`) that would end any command. Without the check, the kernel
//! would end the program without an explanation.
//!
//! If the limit of the address space is below the program's own size, nothing can be reported: the
//! kernel ends the program before `main`.

use rustix::process::{Resource, getrlimit};

/// Required stack of the main thread. It equals the default stack size of other threads in Rust.
const STACK_BYTES: u64 = 2 << 20;
/// Address space that a command needs, in addition to what the program occupies at its start.
const ADDRESS_SPACE_BYTES: u64 = 16 << 20;

/// Checks the resource limits of this process.
///
/// # Errors
/// Returns the message if the stack or the address space is too small for any command.
pub fn check() -> Result<(), String> {
    let limit = getrlimit(Resource::Stack).current;
    if let Some(limit) = limit.filter(|limit| *limit < STACK_BYTES) {
        return Err(format!(
            "the limit of the stack is {} KiB, and every command needs {} KiB (raise it with \
             ulimit -s)",
            limit >> 10,
            STACK_BYTES >> 10
        ));
    }
    let Some(limit) = getrlimit(Resource::As).current else {
        return Ok(());
    };
    system::memory::share_one_arena();
    let needed = system::memory::address_space_bytes().map(|taken| taken + ADDRESS_SPACE_BYTES);
    match needed.filter(|needed| limit < *needed) {
        Some(needed) => Err(format!(
            "the limit of the address space is {} KiB, and every command needs {} KiB (raise it \
             with ulimit -v)",
            limit >> 10,
            needed >> 10
        )),
        None => Ok(()),
    }
}
