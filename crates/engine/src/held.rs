//! What of a file is in memory.

use std::fmt::Debug;

use crate::failure::Errno;

/// Pages of a file's contents in memory; `None` is not available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedPages {
    /// Pages that the file has.
    pub pages: u64,
    /// Those of them that are in the page cache.
    pub cached: u64,
    /// Those that are to be written.
    pub dirty: Option<u64>,
    /// Those that are being written.
    pub under_write_back: Option<u64>,
}

/// A file that is held open.
pub trait Held: Debug + Send {
    /// What of it is in memory now. Asking brings nothing there.
    ///
    /// # Errors
    /// What the system answered.
    fn cached(&self) -> Result<CachedPages, Errno>;
}
