//! Limits of this process within which nothing can be done: found before anything that they would
//! end.
//!
//! A limit of the address space below the program's own size is not found: the kernel ends the
//! program before it begins.

use rustix::process::{Resource, getrlimit};

/// The first thread's stack, as large as that of every other thread.
const STACK_BYTES: u64 = 2 << 20;
/// Any command takes so much of the address space besides the program itself.
const ADDRESS_SPACE_BYTES: u64 = 16 << 20;

/// Why no command can be performed.
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
