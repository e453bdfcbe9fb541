//! Faults that tests inject into calls, and exact counts of what the calls did to the simulated
//! files. Tests compare the reported counts with these exact counts.

use engine::Step;

/// A fault that a test requests for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call has no effect and returns this error. Only close(2) takes effect nevertheless, as
    /// on Linux.
    Error(i32),
    /// A read or write moves half of the requested bytes, at least one; other calls work normally.
    Short,
    /// A read or write moves no bytes and returns no error; other calls work normally.
    Nothing,
}

/// A call at which a fault occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struck {
    /// The number of the call, counted from 0.
    pub call: u64,
    pub step: Step,
    /// Number of bytes that the call was to move; 0 for a call that moves no bytes.
    pub asked_bytes: usize,
}

/// The work that was really done since the engine was created, counted where the simulated files
/// change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    pub created: u64,
    /// Number of files opened to append.
    pub opened_to_append: u64,
    pub opened_to_read: u64,
    /// Number of names removed.
    pub unlinked: u64,
    pub directories_made: u64,
    pub directories_removed: u64,
    /// Number of files opened to overwrite or truncate.
    pub opened_to_overwrite: u64,
    /// Number of directories opened for a listing.
    pub opened_to_list: u64,
    pub renamed: u64,
    /// Number of hard links created.
    pub linked: u64,
    pub symbolic_links_made: u64,
    /// Number of files whose size was set.
    pub truncated: u64,
    /// Number of requests for the size of a file by its name (fstatat(2)).
    pub stats: u64,
    /// Number of fdatasync(2) calls.
    pub contents_synced: u64,
    /// Number of fsync(2) calls on files.
    pub files_synced: u64,
    pub directories_synced: u64,
    pub file_systems_synced: u64,
    /// Number of writes to files that were opened with `O_DSYNC` or `O_SYNC`.
    pub synchronous_writes: u64,
    pub evicted: u64,
    /// Number of files mapped into memory.
    pub mapped: u64,
    pub locked: u64,
    /// Number of calls that copied bytes from one file to another.
    pub copied: u64,
    /// Number of calls that cloned a file.
    pub cloned: u64,
    pub bytes_written: u64,
    pub bytes_read: u64,
}
