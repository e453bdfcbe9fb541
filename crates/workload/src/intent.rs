//! The intents of a worker. An intent is an operation with its file. Streams produce intents, and
//! each intent belongs to a phase.

use engine::{NameKind, OperationSyncs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use engine::Action;

use crate::skip::SkipReason;

/// A phase of a run. Each phase is measured separately.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Creates the initial pool.
    Prepare,
    /// Performs the transactions on the pool.
    Transactions,
    /// Deletes the remaining pool.
    Delete,
}

impl Phase {
    /// All phases, in the order of a run.
    pub const ALL: [Self; 3] = [Self::Prepare, Self::Transactions, Self::Delete];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Transactions => "transactions",
            Self::Delete => "delete",
        }
    }
}

/// An operation of a worker, and its file. The file is chosen from those that the pool contains
/// when the stream reaches this operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    pub action: Action,
    pub ends_transaction: bool,
    /// The number of the file's directory, from 0: the target's number times the directories per
    /// target, plus the directory's number within the target.
    pub place: u32,
    /// The running number in the file's name, from 1.
    pub number: u64,
    /// Bytes that the operation reads or writes, or the size to which it truncates the file; 0 for
    /// other operations.
    pub bytes: u64,
    /// The file's size before the operation, in bytes; 0 for a creation. For the removal of a tree,
    /// the total size of its files.
    pub size_bytes: u64,
    /// The offset in the file of the first byte that is read or written.
    pub offset_bytes: u64,
    /// For a rename, or the creation of a hard or symbolic link: the number in the new name. For
    /// other operations on a link: the number in the name of the file to which the link refers. For
    /// a copy or clone: the number in the name of the source file. For a change of attributes: 0 or
    /// 1, which selects the file mode. For a copy or removal of a tree: the number of its files.
    pub other: u64,
    /// The number of the directory of the other name; `None` if both names are in one directory.
    pub other_place: Option<u32>,
    /// For a copy or removal of a tree: the digest of its files' names, as in
    /// [`Listing`](engine::Listing). 0 for other operations.
    pub names_digest: u64,
    /// The number that identifies the file under all of its names. Contents are a function of this
    /// number, the version and the offset.
    pub file: u64,
    /// The version of the file's contents that the operation reads or writes.
    pub version: u32,
    /// The time that the worker spends before it issues the operation.
    pub pause: Pause,
    /// The syncs of the operation, instead of those of its durability policy.
    pub syncs: Option<OperationSyncs>,
    /// The reason why the operation is skipped. `None` for a performed operation, and for an
    /// operation that a bias of -1 disables.
    pub skip: Option<SkipReason>,
}

/// The time that a worker spends before it issues an operation: first think time, then processor
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The time for which the worker is idle, in nanoseconds.
    pub think_ns: u64,
    /// The processor time that the worker spends, in nanoseconds.
    pub compute_ns: u64,
}

impl Pause {
    pub const NONE: Self = Self {
        think_ns: 0,
        compute_ns: 0,
    };

    #[inline]
    pub const fn is_none(self) -> bool {
        self.think_ns | self.compute_ns == 0
    }
}

impl Intent {
    pub const NOTHING: Self = Self {
        action: Action::Nothing,
        ends_transaction: false,
        place: 0,
        number: 0,
        bytes: 0,
        size_bytes: 0,
        offset_bytes: 0,
        other: 0,
        other_place: None,
        names_digest: 0,
        file: 0,
        version: 0,
        pause: Pause::NONE,
        syncs: None,
        skip: None,
    };

    /// The number of the directory that contains the second name.
    pub const fn second_place(&self) -> u32 {
        match self.other_place {
            Some(place) => place,
            None => self.place,
        }
    }

    pub const fn skipped(reason: SkipReason) -> Self {
        Self {
            skip: Some(reason),
            ..Self::NOTHING
        }
    }
}

/// An object in the pool: a file, a link or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub kind: NameKind,
    /// The number of the directory that contains the object.
    pub place: u32,
    pub number: u64,
    /// The size of a file in bytes, or the total size of a tree's files; 0 for other kinds.
    pub size_bytes: u64,
    /// The number that identifies a file. For a hard or symbolic link, the number in the name of
    /// the file to which the link refers.
    pub file: u64,
    /// The version of a file's contents; 0 for other kinds of objects.
    pub version: u32,
}

/// The properties of a pool that determine which operations are possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolState {
    /// The sizes of the smallest and the largest file in bytes; `None` if the pool contains no
    /// files.
    pub sizes: Option<(u64, u64)>,
    pub has_symbolic_link: bool,
    /// Whether the pool contains a link or directory that an operation could remove.
    pub has_extras: bool,
}

impl PoolState {
    /// Updates the state for an object that the pool contains.
    pub fn add(&mut self, kept: &Kept) {
        if kept.kind == NameKind::File {
            let (least, most) = self.sizes.unwrap_or((u64::MAX, 0));
            self.sizes = Some((least.min(kept.size_bytes), most.max(kept.size_bytes)));
        } else {
            self.has_extras = true;
            self.has_symbolic_link |= kept.kind == NameKind::SymbolicLink;
        }
    }
}

/// The reason why the transactions of a stream ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// All requested transactions are done.
    #[default]
    Complete,
    /// All files were deleted before the requested number of transactions was reached.
    OutOfFiles,
    /// The random number generator of the PostMark edition cannot return the position of any
    /// remaining file. The original PostMark would search for a file endlessly.
    OutOfReach,
    /// A worker can perform none of its operations and would skip all further ones.
    NothingPossible,
}

/// The sequence of the intents of one worker, or of all workers of a shared pool that is planned.
///
/// [`next`](Stream::next) returns the intents of a phase, and `None` at the end of the phase.
/// Phases are drawn in the order of [`Phase::ALL`].
pub trait Stream {
    /// Writes the next intent of `phase` to `intent`, whose previous value is ignored. Returns
    /// `false` at the end of the phase.
    ///
    /// The intent is written in place because intents are large. Returning an intent by value would
    /// copy it at each level of calls up to the operation loop.
    fn draw(&mut self, phase: Phase, intent: &mut Intent) -> bool;

    /// Returns the next intent of `phase`, or `None` at the end of the phase.
    fn next(&mut self, phase: Phase) -> Option<Intent> {
        let mut intent = Intent::NOTHING;
        self.draw(phase, &mut intent).then_some(intent)
    }

    /// Returns how many files (in `Prepare` and `Delete`) or transactions remain in a phase,
    /// provided that the phase does not end early.
    fn remaining(&self, phase: Phase) -> u64;

    /// Returns why the transactions ended. The result is meaningful only after the last intent of
    /// the transactions.
    fn end(&self) -> End;

    fn transactions_begun(&self) -> u64;

    /// Returns whether at least one operation of the stream is possible on a pool with this state.
    fn can_perform_any(&self, pool: &PoolState) -> bool;

    /// Calls `each` for every object that the pool contains after the intents drawn so far.
    fn pool(&self, each: &mut dyn FnMut(Kept));
}
