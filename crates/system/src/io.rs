//! Bytes that this process exchanged with storage, and dropping the system's caches.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::{Fact, grown};
use crate::sources::Sources;

/// Bytes that this process exchanged with storage (proc_pid_io(5)): since it started, or between
/// two readings. Not applicable if the kernel does not count them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnIo {
    /// Bytes that the process's reads fetched from storage (`read_bytes`), excluding data from the
    /// page cache.
    pub read_bytes: Fact<u64>,
    /// Bytes that the process caused to be written to storage (`write_bytes`): the pages that it
    /// dirtied.
    pub written_bytes: Fact<u64>,
    /// The part of `written_bytes` that was never written, because the file was deleted or
    /// truncated before write-back (`cancelled_write_bytes`).
    pub cancelled_bytes: Fact<u64>,
}

const IO: &str = "/proc/self/io";

impl OwnIo {
    /// Reads the counts since this process started.
    pub fn read(sources: &Sources) -> OwnIo {
        let text = sources.feature(IO, "/proc/self/stat");
        let count = |name| sources.line(IO, &text, name, ":");
        OwnIo {
            read_bytes: count("read_bytes"),
            written_bytes: count("write_bytes"),
            cancelled_bytes: count("cancelled_write_bytes"),
        }
    }

    pub(crate) fn since(&self, earlier: &OwnIo) -> OwnIo {
        let grown = |what: &str, later: &Fact<u64>, earlier: &Fact<u64>| {
            grown(format_args!("{IO}: {what}"), later, earlier)
        };
        OwnIo {
            read_bytes: grown("read_bytes", &self.read_bytes, &earlier.read_bytes),
            written_bytes: grown("write_bytes", &self.written_bytes, &earlier.written_bytes),
            cancelled_bytes: grown(
                "cancelled_write_bytes",
                &self.cancelled_bytes,
                &earlier.cancelled_bytes,
            ),
        }
    }
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Checks whether this process may drop the system's caches.
///
/// # Errors
/// Returns the error of opening `/proc/sys/vm/drop_caches` for writing.
pub fn may_drop_caches() -> io::Result<()> {
    std::fs::OpenOptions::new()
        .write(true)
        .open(DROP_CACHES)
        .map(drop)
}

/// Drops clean page cache, dentries and inodes of the whole system: writes 3 to
/// `/proc/sys/vm/drop_caches` (proc(5)).
///
/// # Errors
/// Returns the system's error; only root may drop caches.
pub fn drop_caches() -> io::Result<()> {
    std::fs::write(DROP_CACHES, "3")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_of_a_decreased_or_missing_count_is_unavailable() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc/self");
        std::fs::create_dir_all(&proc).unwrap();
        std::fs::write(proc.join("stat"), "").unwrap();
        let read = || OwnIo::read(&Sources::beneath(root.path()));
        assert_eq!(read().read_bytes, Fact::NotApplicable);
        let text = "rchar: 7\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 512\n";
        std::fs::write(proc.join("io"), text).unwrap();
        let first = read();
        assert_eq!(first.read_bytes, Fact::Known(4096));
        assert_eq!(first.written_bytes, Fact::Known(8192));
        assert_eq!(first.cancelled_bytes, Fact::Known(512));
        std::fs::write(
            proc.join("io"),
            "rchar: 7\nread_bytes: 5000\nwrite_bytes: 8000\n",
        )
        .unwrap();
        let grown = read().since(&first);
        assert_eq!(grown.read_bytes, Fact::Known(904));
        assert!(grown.written_bytes.why().unwrap().contains("backwards"));
        assert!(grown.cancelled_bytes.why().unwrap().contains("no line"));
    }
}
