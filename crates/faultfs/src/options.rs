//! The features of the file system, and the requests that can be delayed or stalled.

use std::time::Duration;

/// The features of the file system; all are enabled by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether `RENAME_NOREPLACE` is supported; otherwise a rename with this flag fails with
    /// `EINVAL`, as on older servers.
    pub rename_noreplace: bool,
    /// Whether hard links are supported; otherwise link(2) fails with `EPERM`.
    pub hard_links: bool,
    /// Requests that are delayed; none by default.
    pub delay: Option<Delay>,
}

/// The server sleeps before each request of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    pub at: RequestKind,
    /// The minimum delay. The kernel wakes a thread later than requested, so the actual delay is
    /// longer. [`Delayed`] contains the sum of the actual delays.
    pub by: Duration,
}

/// The effect of a [`Delay`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delayed {
    pub requests: u64,
    /// The total time that the server slept.
    pub slept: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rename_noreplace: true,
            hard_links: true,
            delay: None,
        }
    }
}

/// The requests that can be delayed or stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "they are named after the requests of the protocol"
)]
pub enum RequestKind {
    Lookup,
    GetAttributes,
    SetAttributes,
    ReadLink,
    MakeNode,
    MakeDirectory,
    Unlink,
    RemoveDirectory,
    SymbolicLink,
    Rename,
    Link,
    Open,
    Read,
    Write,
    /// Sent by every `close`.
    Flush,
    Release,
    Sync,
    OpenDirectory,
    ReadDirectory,
    ReleaseDirectory,
    SyncDirectory,
    StatFs,
    Extended,
    Create,
}
