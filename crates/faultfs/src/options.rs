//! What the file system can do, where it is slow, and where it can be made to stall.

use std::time::Duration;

/// What the file system can do; by default everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `RENAME_NOREPLACE`; refused with `EINVAL` else, as servers do that were written before it.
    pub rename_noreplace: bool,
    /// Hard links; refused with `EPERM` else.
    pub hard_links: bool,
    /// Requests that take longer than they need; none by default.
    pub delay: Option<Delay>,
}

/// The server sleeps before each request of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// The kind.
    pub at: RequestKind,
    /// How long at least: the kernel wakes a sleeper later than asked. [`Delayed`] has how long it
    /// was.
    pub by: Duration,
}

/// What a [`Delay`] came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delayed {
    /// Requests that were delayed.
    pub requests: u64,
    /// How long the server slept for all of them together.
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

/// The requests at which the server can be slow, or be made to stall.
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
    /// At every `close`.
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
