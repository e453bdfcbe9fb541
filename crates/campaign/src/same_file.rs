//! Checks whether two paths lead to the same file.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Device and inode of a file.
pub type FileId = (u64, u64);

pub fn id_of(facts: &Metadata) -> FileId {
    (facts.dev(), facts.ino())
}

/// Whether a write to the file could overwrite data. Character devices, pipes and sockets store no
/// data.
pub fn holds_data(facts: &Metadata) -> bool {
    facts.is_file() || facts.file_type().is_block_device()
}

/// Whether two paths lead to the same file, or would lead to the same file after its creation.
/// Character devices, pipes and sockets never count as the same file, because they store no data.
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
