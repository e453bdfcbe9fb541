//! Huge pages, size of the address space, and allocation arenas of this process.

/// Asks the kernel for transparent huge pages (`madvise(2)`, `MADV_HUGEPAGE`) for memory that is
/// read at random. With small pages, the address translation costs more than the access. Memory of
/// less than 4 MiB is not changed.
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
    // SAFETY: the range is whole pages inside the slice, and MADV_HUGEPAGE changes their backing,
    // never their contents. A kernel without huge pages refuses, which is harmless.
    let _ = unsafe { rustix::mm::madvise(pages, length, rustix::mm::Advice::LinuxHugepage) };
}

/// Size of this process's address space, in bytes. `None` if `/proc/self/statm` cannot be read.
pub fn address_space_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').next()?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Configures malloc so that all threads allocate from one arena. Otherwise each thread reserves 64
/// MiB of address space for its own arena, which counts against a limit of the address space. Call
/// this function before threads start.
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
        // An error is ignored, because its only effect is that threads reserve more address space.
        let _ = mallopt(ARENA_MAX, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_for_huge_pages_keeps_the_contents_of_memory() {
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
