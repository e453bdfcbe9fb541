//! The calls that operations consist of.

use std::fmt;

use crate::Ticket;

macro_rules! steps {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// A part of an operation: one call, or all calls of one kind. The session reports the end
        /// of each part, so that the part can be timed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Step {
            $($(#[$doc])* $variant,)+
            /// A request of the engine's own protocol, with the name of the procedure. The `Step`
            /// ends when the reply arrives.
            Call(&'static str),
        }

        impl Step {
            /// All variants except [`Call`](Self::Call), in declaration order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in reports, such as `sync directory`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Call(name) => name,
                }
            }
        }
    };
}

steps! {
    /// Opens the file or directory: openat(2).
    Open = "open",
    /// Writes all contents: one or several write(2) calls.
    Write = "write",
    /// Reads all requested contents: one or several read(2) or pread(2) calls.
    Read = "read",
    /// Closes the file or directory: close(2).
    Close = "close",
    /// Removes the name: unlinkat(2).
    Unlink = "unlink",
    /// Creates the directory: mkdirat(2).
    MakeDirectory = "mkdir",
    /// Removes the directory: unlinkat(2) with `AT_REMOVEDIR`.
    RemoveDirectory = "rmdir",
    /// Syncs the file as the durability policy requires: fsync(2) or fdatasync(2).
    Sync = "sync",
    /// Syncs the directory that contains the changed name: open(2), fsync(2) and close(2).
    SyncDirectory = "sync directory",
    /// Syncs the whole file system: syncfs(2).
    SyncFileSystem = "sync file system",
    /// Sets the file's size: ftruncate(2).
    Truncate = "truncate",
    /// Requests the file's attributes: fstatat(2).
    Stat = "stat",
    /// Sets the permissions: fchmodat2(2) or fchmod(2).
    SetMode = "set mode",
    /// Sets the access and modification times: utimensat(2) or futimens(3).
    SetTimes = "set times",
    /// Renames the file: renameat2(2).
    Rename = "rename",
    /// Creates an additional hard link: linkat(2).
    Link = "link",
    /// Creates the symbolic link: symlinkat(2).
    SymbolicLink = "symbolic link",
    /// Reads the target of the symbolic link: readlinkat(2).
    ReadLink = "read link",
    /// Sets the extended attribute: fsetxattr(2).
    SetExtended = "set extended attribute",
    /// Reads the extended attribute: fgetxattr(2).
    GetExtended = "get extended attribute",
    /// Reads all entries of the directory with getdents64(2); if requested, also the attributes of
    /// each entry.
    List = "list",
    /// Maps the file into memory, reads each of its pages and unmaps it: mmap(2) and munmap(2).
    Map = "map",
    /// Waits for an exclusive lock of the whole file: fcntl(2).
    Lock = "lock",
    /// Releases the lock: fcntl(2).
    Unlock = "unlock",
    /// Copies all contents in the kernel: one or several copy_file_range(2) calls.
    Copy = "copy",
    /// Shares the blocks of another file: ioctl(2) with `FICLONE`.
    Clone = "clone",
    /// Evicts the contents from the page cache: posix_fadvise(2).
    Evict = "evict",
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The condition under which an operation makes a [`Step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Under every durability policy, with and without verification.
    Always,
    /// If the durability policy requires a sync.
    Synced,
    /// If contents of reads are kept for verification.
    Kept,
}

/// A [`Step`] in the declaration of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The `Step`, which stands for one call or for all calls of one kind.
    pub step: Step,
    /// The condition under which the operation makes the `Step`, such as [`When::Synced`] for a
    /// sync.
    pub when: When,
    /// Details for the documentation, in Markdown; empty if the name is sufficient.
    pub remark: &'static str,
}

impl Part {
    pub(crate) const fn by(self, remark: &'static str) -> Self {
        Self { remark, ..self }
    }
}

impl Step {
    const fn part(self, when: When) -> Part {
        Part {
            step: self,
            when,
            remark: "",
        }
    }

    pub(crate) const fn always(self) -> Part {
        self.part(When::Always)
    }

    pub(crate) const fn said(self, remark: &'static str) -> Part {
        self.always().by(remark)
    }

    pub(crate) const fn if_synced(self) -> Part {
        self.part(When::Synced)
    }

    pub(crate) const fn if_kept(self, remark: &'static str) -> Part {
        self.part(When::Kept).by(remark)
    }
}

/// Receives every [`Step`] when it ends.
pub trait Steps {
    /// Announces the operation in flight to which the next `Step`s belong. A synchronous session
    /// need not call this function.
    fn of(&mut self, ticket: Ticket);

    /// Reports that a `Step` ended successfully.
    fn ended(&mut self, step: Step);
}

/// Ignores all `Step`s, for callers that do not time them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSteps;

impl Steps for NoSteps {
    #[inline]
    fn of(&mut self, _: Ticket) {}

    #[inline]
    fn ended(&mut self, _: Step) {}
}
