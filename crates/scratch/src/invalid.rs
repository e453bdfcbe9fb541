//! What can be wrong with the description of a file system that is to be made.

use std::path::PathBuf;

use workload::WorkloadError;

/// A description that is none. Each text says what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMakeSpec {
    /// The word does not begin with `make:`.
    #[error(
        "'{0}' does not begin with 'make:' (write make:KIND or make:KIND?KEY=VALUE&…, like \
         make:ext4?size=4GiB)"
    )]
    NoPrefix(String),
    /// The kind is not known.
    #[error("unknown kind of file system '{text}' (use {kinds})")]
    UnknownKind {
        /// The kind that was given.
        text: String,
        /// The kinds there are.
        kinds: String,
    },
    /// A key is not known.
    #[error("unknown key '{key}' (use {keys})")]
    UnknownKey {
        /// The key that was given.
        key: String,
        /// The keys there are.
        keys: &'static str,
    },
    /// A key is given twice.
    #[error("'{0}' is given twice (write it once)")]
    Twice(String),
    /// A key has no value.
    #[error("'{0}' has no value (write {0}=VALUE)")]
    NoValue(&'static str),
    /// A key that takes no value has one.
    #[error("'{0}' takes no value (write it alone)")]
    HasValue(&'static str),
    /// A size is not a number of bytes.
    #[error("invalid {key}: {source}")]
    Quantity {
        /// The key.
        key: &'static str,
        /// What is wrong.
        #[source]
        source: WorkloadError,
    },
    /// The kind cannot be made that small, or images cannot be that large.
    #[error(
        "invalid size of {given_bytes} bytes for {kind}: expected {min_bytes} to {max_bytes} bytes"
    )]
    Size {
        /// The kind.
        kind: &'static str,
        /// What was given.
        given_bytes: u64,
        /// The smallest size.
        min_bytes: u64,
        /// The largest size.
        max_bytes: u64,
    },
    /// The journal cannot be that small, or that large.
    #[error(
        "invalid journal of {given_bytes} bytes for {kind}: expected {min_bytes} to {max_bytes} \
         bytes"
    )]
    JournalSize {
        /// The kind.
        kind: &'static str,
        /// What was given.
        given_bytes: u64,
        /// The smallest size.
        min_bytes: u64,
        /// The largest size.
        max_bytes: u64,
    },
    /// The kind takes no such key.
    #[error("{kind} has no '{key}': {why} (leave it out, or use {kinds})")]
    NotOfKind {
        /// The kind.
        kind: &'static str,
        /// The key.
        key: &'static str,
        /// Why not.
        why: &'static str,
        /// The kinds that have it.
        kinds: &'static str,
    },
    /// `journal-in` without `journal`.
    #[error("'journal-in' needs 'journal' (add journal=128MiB)")]
    NoJournal,
    /// A fullness that cannot be reached.
    #[error("invalid fullness '{0}': expected a whole percentage from 1 to 95")]
    Fullness(String),
    /// A directory that is not absolute.
    #[error("invalid {key} '{}': expected an absolute path", path.display())]
    Relative {
        /// The key.
        key: &'static str,
        /// What was given.
        path: PathBuf,
    },
    /// A word for mkfs that names a device or a path.
    #[error(
        "mkfs word '{0}' names a device or a path (only images are formatted; for an external \
         journal use journal=SIZE)"
    )]
    MkfsWord(String),
    /// A word for mkfs that is no option of those that touch the image alone, and no value of one.
    #[error(
        "mkfs word '{word}' cannot be used: {program} is given only options that touch nothing \
         but the image (remove it)"
    )]
    MkfsOption {
        /// The word.
        word: String,
        /// The program.
        program: &'static str,
    },
    /// A mount option that names a device or a path, or that a target cannot have.
    #[error("mount option '{0}' cannot be used: {1}")]
    MountOption(String, &'static str),
    /// A name or value with a control character.
    #[error("'{0}' has a control character (remove it)")]
    Control(&'static str),
}
