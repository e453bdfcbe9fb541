//! Why numbers make no mix.

use crate::intent::Action;

/// The greatest pool.
pub(super) const FILES_MAX: u64 = 1 << 35;

/// The numbers make no mix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMix {
    /// A weight that is not one.
    #[error("'{0}' is not an operation with its weight (write it like read=5,create=2,delete=2)")]
    WeightForm(String),
    /// No such operation.
    #[error("unknown operation '{0}' (known: {all})", all = Action::words())]
    NoAction(String),
    /// An operation named twice.
    #[error("the operation {0} occurs twice")]
    Twice(&'static str),
    /// Nothing has a weight.
    #[error("all operations have the weight 0 (use at least one, like read=1)")]
    NoWeights,
    /// A role has nothing to do.
    #[error("no operation of the mix is for the {0} ({1})")]
    Idle(&'static str, &'static str),
    /// An empty pool.
    #[error("invalid number of files 0: expected at least 1")]
    NoFiles,
    /// A pool beyond what can be numbered.
    #[error("invalid number of files {0}: expected at most {max}", max = FILES_MAX)]
    TooManyFiles(u64),
    /// A pool that does not fit its directories.
    #[error(
        "the directories are too few for the pool: {places} directories with at most \
         {entries_max} entries hold {room}, and the pool has {files} files (use more directories, \
         or a higher --entries-max)"
    )]
    TooFewDirectories {
        /// The bound.
        entries_max: u64,
        /// How many directories there are.
        places: u64,
        /// What they hold together.
        room: u64,
        /// The pool.
        files: u64,
    },
    /// A part that is wrong in itself.
    #[error("{what}: {why}")]
    Part {
        /// Which option.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A block of 0 bytes or beyond what a call takes.
    #[error("invalid {what} block of {bytes} bytes: expected 1 to {max} bytes",
        max = crate::sizes::SIZE_MAX_BYTES)]
    Block {
        /// `read` or `write`.
        what: &'static str,
        /// The size given.
        bytes: u64,
    },
    /// Sizes above the bound of growth.
    #[error(
        "invalid value '{size_max}' for --size-max: expected at least {high}, the largest new file"
    )]
    SizeMax {
        /// The bound.
        size_max: u64,
        /// The largest new file.
        high: u64,
    },
    /// Locations times places do not fit.
    #[error("{1} directories in {0} targets are too many (at most 16777216 in all)")]
    TooManyPlaces(usize, u64),
    /// A location without a share.
    #[error("invalid weight 0 of a target: expected at least 1")]
    NoWeight,
}
