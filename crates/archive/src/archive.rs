use std::path::PathBuf;

use rusqlite::Connection;

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
    /// Device and inode of the file that was opened.
    pub(crate) file: (u64, u64),
}
