//! The words in which a worker's work is spoken of: an intent, the phase it belongs to, the stream
//! it comes from.

use engine::NameKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use engine::Action;

use crate::skip::SkipReason;

/// A part of a run, timed apart.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
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

/// One thing that a worker is to do, resolved against the pool as it will then be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// What is to be done.
    pub action: Action,
    /// Whether a transaction ends with this intent.
    pub ends_transaction: bool,
    /// Where the file lies: location times places of a location plus place, each from 0.
    pub place: u32,
    /// The running number in the file's name, from 1.
    pub number: u64,
    /// Bytes that the operation reads or writes, or a file is cut off to; 0 where it does none of
    /// these.
    pub bytes: u64,
    /// The file's size before the operation, in bytes; 0 for a creation.
    pub size_bytes: u64,
    /// Where in the file the bytes begin.
    pub offset_bytes: u64,
    /// The running number of a new name, or of the file behind a symbolic link.
    pub other: u64,
    /// Which file it is, whatever its name: contents are a function of this, the version and the
    /// offset.
    pub file: u64,
    /// The version of the contents that are read or written.
    pub version: u32,
    /// Time that passes before the operation is issued, in nanoseconds.
    pub think_ns: u64,
    /// Why nothing is done; `None` for an operation, and for a half of a pair that the workload
    /// does not have.
    pub skip: Option<SkipReason>,
}

impl Intent {
    /// No operation.
    pub const NOTHING: Self = Self {
        action: Action::Nothing,
        ends_transaction: false,
        place: 0,
        number: 0,
        bytes: 0,
        size_bytes: 0,
        offset_bytes: 0,
        other: 0,
        file: 0,
        version: 0,
        think_ns: 0,
        skip: None,
    };

    /// An operation that is not performed.
    pub const fn skipped(reason: SkipReason) -> Self {
        Self {
            skip: Some(reason),
            ..Self::NOTHING
        }
    }
}

/// Something that lies in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What it is.
    pub kind: NameKind,
    /// Where.
    pub place: u32,
    /// The running number in its name.
    pub number: u64,
    /// A file's size; 0 for all else.
    pub size_bytes: u64,
    /// Which file it is; the number in the name of the file behind a symbolic link.
    pub file: u64,
    /// The version of a file's contents.
    pub version: u32,
}

/// What decides which operations a pool allows: the sizes of its files, and what lies beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolState {
    /// The smallest and the largest file; `None` for a pool without files.
    pub sizes: Option<(u64, u64)>,
    /// Whether there is a symbolic link.
    pub has_symbolic_link: bool,
    /// Whether there is a link or a directory, which could be removed.
    pub has_extras: bool,
}

impl PoolState {
    /// Takes in one thing that lies in the pool.
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

/// Why the transactions of a stream ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// All that were asked for are done.
    #[default]
    Complete,
    /// Every file was deleted before that.
    OutOfFiles,
    /// No file is left that the edition's generator can reach: the original would search for ever.
    OutOfReach,
    /// A worker could perform none of its operations: every further one would be skipped.
    NothingPossible,
}

/// What one worker intends, in order.
///
/// A phase's intents are taken with [`next`](Stream::next) until it gives `None`; phases come in
/// the order of [`Phase::ALL`].
pub trait Stream {
    /// Puts the next intent of `phase` into `intent`, which is worth nothing before. `false` at the
    /// end of the phase.
    ///
    /// Intents are large: one that is returned is moved at each step on its way to the loop.
    fn draw(&mut self, phase: Phase, intent: &mut Intent) -> bool;

    /// The next intent of `phase`, or `None` at its end.
    fn next(&mut self, phase: Phase) -> Option<Intent> {
        let mut intent = Intent::NOTHING;
        self.draw(phase, &mut intent).then_some(intent)
    }

    /// How many files (in `Prepare` and `Delete`) or transactions a phase still has, unless it ends
    /// early.
    fn remaining(&self, phase: Phase) -> u64;

    /// Why the transactions ended; meaningful after their last intent.
    fn end(&self) -> End;

    /// Transactions that have begun.
    fn transactions_begun(&self) -> u64;

    /// Whether any operation that the stream may draw could be performed on this pool.
    fn can_perform_any(&self, pool: &PoolState) -> bool;

    /// Everything that the pool holds after the intents given so far.
    fn pool(&self, each: &mut dyn FnMut(Kept));
}
