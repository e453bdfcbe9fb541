//! What the kernel is told of memory that is about to be used, as a hint; and the address space of
//! this process.

/// Asks for huge pages behind memory that will be read here and there, so that finding a page costs
/// less than what is on it: transparent huge pages, `madvise(2)`, `MADV_HUGEPAGE`. Less than 4 MiB
/// are left as they are.
pub fn prefer_huge_pages(memory: &[u8]) {
    const WORTH_BYTES: usize = 4 << 20;
    let page = rustix::param::page_size();
    let start = memory.as_ptr().addr().next_multiple_of(page);
    let end = (memory.as_ptr().addr() + memory.len()) & !(page - 1);
    let Some(length) = end
        .checked_sub(start)
        .filter(|length| *length >= WORTH_BYTES)
    else {
        return;
    };
    let pages = memory[start - memory.as_ptr().addr()..]
        .as_ptr()
        .cast_mut()
        .cast();
    // SAFETY: the range is whole pages inside the slice, and MADV_HUGEPAGE changes how they are
    // backed, never what they hold. A kernel without huge pages refuses, which costs nothing.
    let _ = unsafe { rustix::mm::madvise(pages, length, rustix::mm::Advice::LinuxHugepage) };
}

/// How much of its address space this process has taken; nothing where the system does not tell.
pub fn address_space_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').next()?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Has all threads allocate from one arena, from now on. Else each thread reserves 64 MiB for an
/// arena of its own, which a limit of the address space counts. To be called before there are
/// threads.
pub fn share_one_arena() {
    #[cfg(target_env = "gnu")]
    {
        unsafe extern "C" {
            safe fn mallopt(
                parameter: core::ffi::c_int,
                value: core::ffi::c_int,
            ) -> core::ffi::c_int;
        }
        /// `M_ARENA_MAX` of malloc.h.
        const ARENA_MAX: core::ffi::c_int = -8;
        // Where that is refused there is less room.
        let _ = mallopt(ARENA_MAX, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_what_it_holds() {
        for bytes in [0, 1, 5 << 20, (9 << 20) + 17] {
            let mut memory = vec![0_u8; bytes];
            memory
                .iter_mut()
                .enumerate()
                .for_each(|(at, byte)| *byte = at as u8);
            prefer_huge_pages(&memory);
            assert!(
                memory
                    .iter()
                    .enumerate()
                    .all(|(at, byte)| *byte == at as u8),
                "{bytes} bytes"
            );
        }
    }
}
