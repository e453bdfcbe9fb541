//! What this process has got from storage, and the caches of the system.

use std::io;

use crate::fact::Fact;
use crate::sources::Sources;

/// Bytes that this process's reads have got from storage so far: `read_bytes` of `/proc/self/io` (proc(5)). What
/// came out of the page cache is not in it. Not applicable where the kernel does not count it.
pub fn device_read_bytes(sources: &Sources) -> Fact<u64> {
    sources.feature("/proc/self/io", "/proc/self/stat").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("read_bytes:"));
        match line.and_then(|count| count.trim().parse().ok()) {
            Some(count) => Fact::Known(count),
            None => Fact::Unavailable("/proc/self/io has no line read_bytes".to_owned()),
        }
    })
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Whether this process may drop the system's caches.
///
/// # Errors
/// Why not.
pub fn may_drop_caches() -> io::Result<()> {
    std::fs::OpenOptions::new().write(true).open(DROP_CACHES).map(drop)
}

/// Drops the system's caches of clean pages, names and attributes: 3 into `/proc/sys/vm/drop_caches` (proc(5)).
///
/// # Errors
/// What the system answered: root only.
pub fn drop_caches() -> io::Result<()> {
    std::fs::write(DROP_CACHES, "3")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc/self");
        std::fs::create_dir_all(&proc).unwrap();
        std::fs::write(proc.join("stat"), "").unwrap();
        assert_eq!(device_read_bytes(&Sources::beneath(root.path())), Fact::NotApplicable);
        std::fs::write(proc.join("io"), "rchar: 7\nread_bytes: 4096\nwrite_bytes: 0\n").unwrap();
        assert_eq!(device_read_bytes(&Sources::beneath(root.path())), Fact::Known(4096));
        std::fs::write(proc.join("io"), "rchar: 7\n").unwrap();
        assert!(matches!(
            device_read_bytes(&Sources::beneath(root.path())),
            Fact::Unavailable(_)
        ));
    }
}
