use std::path::PathBuf;

use rusqlite::Connection;

#[derive(Debug)]
pub struct Archive {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
    /// Device and inode of the file that was opened, to detect that another file has replaced it.
    pub(crate) file: (u64, u64),
}
