//! What the file system can do, and where it can be made to stall.

/// What the file system can do; by default everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `RENAME_NOREPLACE`; refused with `EINVAL` else, as servers do that were written before it.
    pub rename_noreplace: bool,
    /// Hard links; refused with `EPERM` else.
    pub hard_links: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rename_noreplace: true,
            hard_links: true,
        }
    }
}

/// The requests at which the server can be made to stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are named after the requests of the protocol")]
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
