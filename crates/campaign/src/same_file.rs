//! Whether two paths are of one file.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The file system, and the file in it.
pub type FileId = (u64, u64);

/// Which file it is.
pub fn id_of(facts: &Metadata) -> FileId {
    (facts.dev(), facts.ino())
}

/// Whether something can be lost by writing there: devices of characters, pipes and sockets hold
/// nothing.
pub fn holds_data(facts: &Metadata) -> bool {
    facts.is_file() || facts.file_type().is_block_device()
}

/// Whether two paths are of one file, or will be. What holds nothing is nobody's.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => holds_data(&one) && id_of(&one) == id_of(&other),
        (Err(_), Err(_)) => {
            let whole = |path: &Path| {
                let path = std::path::absolute(path).ok()?;
                Some(
                    fs::canonicalize(path.parent()?)
                        .ok()?
                        .join(path.file_name()?),
                )
            };
            whole(one).is_some_and(|one| Some(one) == whole(other))
        }
        _ => false,
    }
}
