//! Defects that can be planted, and the name that crashes the file system.

/// The name whose creation in the root crashes the file system.
pub const CRASH_NAME: &str = ".crash";

/// A defect of a file system that loses or damages synced changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A sync does not make names durable.
    NoDirectorySync,
    /// A sync makes the names durable, and the data only at the next sync of a file.
    RenameBeforeData,
    /// A sync returns at once, and its changes become durable with one of the next syncs.
    EarlySync,
    /// Some syncs make the size durable without the last bytes of the data.
    SizeWithoutData,
    /// After a crash, the journal is replayed a second time, which restores removed names.
    JournalTwice,
}

impl Bug {
    pub const ALL: [Self; 5] = [
        Self::NoDirectorySync,
        Self::RenameBeforeData,
        Self::EarlySync,
        Self::SizeWithoutData,
        Self::JournalTwice,
    ];
}
