//! What is done to calls, and what was really done.

use engine::Step;

/// How a call misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does nothing and answers with this error (closing closes all the same, as Linux does).
    Error(i32),
    /// A read or write moves half of what was asked, at least one byte; other calls are not
    /// changed.
    Short,
    /// A read or write moves nothing and gives no error; other calls are not changed.
    Nothing,
}

/// A call that a fault has struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struck {
    /// Its number, from 0.
    pub call: u64,
    /// The step of an operation that it belongs to.
    pub step: Step,
    /// How many bytes it was to move; 0 where it moves none.
    pub asked_bytes: usize,
}

/// What was really done, counted where it happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Files made.
    pub created: u64,
    /// Files opened to write behind their end.
    pub opened_to_append: u64,
    /// Files opened to read.
    pub opened_to_read: u64,
    /// Names removed.
    pub unlinked: u64,
    /// Directories made.
    pub directories_made: u64,
    /// Directories removed.
    pub directories_removed: u64,
    /// Files opened to write where their bytes are, or to change their size.
    pub opened_to_overwrite: u64,
    /// Directories opened to list them.
    pub opened_to_list: u64,
    /// Names that became others.
    pub renamed: u64,
    /// Names that files got as well.
    pub linked: u64,
    /// Symbolic links made.
    pub symbolic_links_made: u64,
    /// Files given a size.
    pub truncated: u64,
    /// Sizes that were asked for.
    pub stats: u64,
    /// Files synced, contents alone.
    pub contents_synced: u64,
    /// Files synced.
    pub files_synced: u64,
    /// Directories synced.
    pub directories_synced: u64,
    /// File systems synced.
    pub file_systems_synced: u64,
    /// Writes to files that were opened with `O_DSYNC` or `O_SYNC`.
    pub synchronous_writes: u64,
    /// Files taken out of the page cache.
    pub evicted: u64,
    /// Bytes that came into files.
    pub bytes_written: u64,
    /// Bytes that came out of files.
    pub bytes_read: u64,
}
