//! Kinds of requests in whose middle the file system can crash.

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The sync of a file.
    Sync,
    Rename,
    DirectorySync,
}
