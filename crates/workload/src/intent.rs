//! The words in which a worker's work is spoken of: an intent, the phase it belongs to, the stream it comes from.

use serde::{Deserialize, Serialize};

/// A part of a run, timed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The initial pool is created.
    Prepare,
    /// The pool churns.
    Transactions,
    /// What is left of the pool is deleted.
    Delete,
}

impl Phase {
    /// All phases, in the order of a run.
    pub const ALL: [Self; 3] = [Self::Prepare, Self::Transactions, Self::Delete];

    /// The phase's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Transactions => "transactions",
            Self::Delete => "delete",
        }
    }
}

/// What is to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Action {
    /// Make a file that is not there and write its first contents.
    Create = 0,
    /// Read the whole of a file.
    Read = 1,
    /// Write behind the end of a file.
    Append = 2,
    /// Remove a file's name.
    Delete = 3,
    /// The edition's rules leave this half of a transaction without an operation: the table of files is
    /// full, or the file has its greatest size already.
    Nothing = 4,
}

impl Action {
    /// The actions that become operations.
    pub const OPERATIONS: [Self; 4] = [Self::Create, Self::Read, Self::Append, Self::Delete];

    /// The action's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Append => "append",
            Self::Delete => "delete",
            Self::Nothing => "nothing",
        }
    }
}

/// One thing that a worker is to do, resolved against the pool as it will then be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// What is to be done.
    pub action: Action,
    /// Whether a transaction ends with this intent.
    pub ends_transaction: bool,
    /// Where the file lies: location times subdirectories plus subdirectory, each from 0.
    pub place: u32,
    /// The file's running number, from 1.
    pub number: u64,
    /// Bytes that the operation reads or writes; 0 for a deletion.
    pub bytes: u64,
    /// The file's size before the operation, in bytes; 0 for a creation.
    pub size_bytes: u64,
}

/// Why the transactions of a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// All that were asked for are done.
    Complete,
    /// Every file was deleted before that.
    OutOfFiles,
    /// No file is left that the edition's generator can reach: the original would search for ever.
    OutOfReach,
}

/// What one worker intends, in order.
///
/// A phase's intents are taken with [`next`](Stream::next) until it gives `None`; phases come in the order of
/// [`Phase::ALL`].
pub trait Stream {
    /// The next intent of `phase`, or `None` at its end.
    fn next(&mut self, phase: Phase) -> Option<Intent>;

    /// How many files (in `Prepare` and `Delete`) or transactions a phase still has, unless it ends early.
    fn remaining(&self, phase: Phase) -> u64;

    /// Why the transactions ended; meaningful after their last intent.
    fn end(&self) -> End;
}
