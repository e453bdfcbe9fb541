//! Defects that can be planted.

use serde::{Deserialize, Serialize};

/// A defect of a file system that loses or damages synced changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

    /// The name by which a user selects the defect.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoDirectorySync => "no-directory-sync",
            Self::RenameBeforeData => "rename-before-data",
            Self::EarlySync => "early-sync",
            Self::SizeWithoutData => "size-without-data",
            Self::JournalTwice => "journal-twice",
        }
    }
}
