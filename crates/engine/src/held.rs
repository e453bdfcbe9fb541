//! The pages of an open file that are in the page cache.

use std::fmt::Debug;

use crate::failure::Errno;

/// Numbers of pages of a file; `None` means not available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedPages {
    /// All pages of the file, cached or not.
    pub pages: u64,
    /// Pages in the page cache, clean or dirty.
    pub cached: u64,
    /// Dirty pages, which must still be written to the device; `None` if mincore(2) counted the
    /// pages, because it does not report dirty pages.
    pub dirty: Option<u64>,
    /// Pages that the kernel is currently writing to the device; `None` with mincore(2).
    pub under_write_back: Option<u64>,
}

/// A file that is held open, so that its pages in the page cache can be counted.
pub trait Held: Debug + Send {
    /// Counts the file's pages in the page cache, without reading any page into the cache.
    fn cached(&self) -> Result<CachedPages, Errno>;
}
