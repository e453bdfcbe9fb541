//! Examines a file before SQLite opens it: whether it is an archive, which journal it uses, and
//! whether it is truncated.
//!
//! The header is read as the file format defines it (<https://sqlite.org/fileformat2.html>, section
//! 1.3). The version and the application ID in the header are valid, because they are changed only
//! with a rollback journal, never in a write-ahead log.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{ArchiveError, ArchiveErrorKind};
use crate::schema::{APPLICATION, VERSION};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The file is empty, so an archive can be created in it.
    Empty,
    Archive {
        bytes: u64,
        /// Whether the archive uses a write-ahead log.
        has_log: bool,
    },
}

/// Pause before a file that seems truncated is examined a second time.
const PAUSE: Duration = Duration::from_millis(50);

const HEADER_BYTES: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Examines an existing file without changing it.
pub(crate) fn look(path: &Path) -> Result<Look, ArchiveError> {
    match look_once(path) {
        // Another process may have been changing the file during the examination.
        Err(error) if error.kind == ArchiveErrorKind::Damaged => {
            std::thread::sleep(PAUSE);
            look_once(path)
        }
        looked => looked,
    }
}

fn look_once(path: &Path) -> Result<Look, ArchiveError> {
    let failed = |cause| ArchiveError::file("read", path, &cause);
    // Only regular files are opened, because opening a pipe would block.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(foreign(path, "it is not a regular file"));
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut header = Vec::with_capacity(HEADER_BYTES);
    let read = file
        .by_ref()
        .take(HEADER_BYTES as u64)
        .read_to_end(&mut header);
    read.map_err(failed)?;
    if header.is_empty() {
        return Ok(Look::Empty);
    }
    // The length is read last. A writer changes the header, then extends the file, and then removes
    // the journal. If no journal exists, the file is therefore as long as the header states.
    let has_journal = has_journal(path);
    let bytes = file.metadata().map_err(failed)?.len();
    look_at_header(path, &header, bytes, has_journal)
}

fn foreign(path: &Path, what: &str) -> ArchiveError {
    ArchiveError::other(format!(
        "{} is not an archive of postmark: {what} (the file is unchanged; use another with \
         --archive FILE, or --archive none)",
        path.display()
    ))
}

fn look_at_header(
    path: &Path,
    header: &[u8],
    bytes: u64,
    has_journal: bool,
) -> Result<Look, ArchiveError> {
    let damaged = |what: String| ArchiveError::damaged(path, what);
    let known = header.len().min(MAGIC.len());
    if header[..known] != MAGIC[..known] {
        return Err(foreign(path, "it is not an SQLite database"));
    }
    if header.len() < HEADER_BYTES {
        return Err(damaged(format!("it is truncated after {bytes} bytes")));
    }
    let number = |at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if number(68) != APPLICATION {
        return Err(foreign(path, "it is a database of another program"));
    }
    match number(60) {
        0 => return Err(damaged("its version is 0".to_owned())),
        found if found > VERSION => {
            return Err(ArchiveError::newer(path, found));
        }
        _ => {}
    }
    // The number of pages in the header is valid only if both change counters are equal.
    let is_told = number(24) == number(92);
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes if bytes >= 512 && bytes.is_power_of_two() => u64::from(bytes),
        bytes => return Err(damaged(format!("its page size is {bytes} bytes"))),
    };
    let whole = u64::from(number(28)) * page_bytes;
    if is_told && bytes < whole && !has_journal {
        return Err(damaged(format!(
            "it is truncated: it has {bytes} of {whole} bytes"
        )));
    }
    Ok(Look::Archive {
        bytes,
        // The byte is the file format version that a reader must support: 2 for a write-ahead log.
        has_log: header[19] == 2,
    })
}

/// Whether a non-empty rollback journal or write-ahead log exists beside the file.
pub(crate) fn has_journal(path: &Path) -> bool {
    ["-journal", "-wal"].iter().any(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        std::fs::metadata(PathBuf::from(name)).is_ok_and(|facts| facts.is_file() && facts.len() > 0)
    })
}
