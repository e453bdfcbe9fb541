//! Whole operations, and the steps that they are made of.

use std::ffi::CStr;
use std::fmt;

/// Where an operation's file or directory is, in the forms that storages want.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// The whole path, as the user's words begin it.
    pub path: &'a CStr,
    /// The number of the location that it lies in.
    pub location: usize,
    /// The part of `path` behind the location; of the location itself it is empty.
    pub relative: &'a CStr,
}

/// A whole operation.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Make a file that is not there and write `content`, in blocks.
    Create {
        /// The new file.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    },
    /// Write `content` behind the end of a file that is there, in blocks.
    Append {
        /// The file.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    },
    /// Read a file of `bytes` bytes from its start, in blocks.
    Read {
        /// The file.
        name: Name<'a>,
        /// Its size.
        bytes: u64,
    },
    /// Remove a file's name.
    Delete {
        /// The file.
        name: Name<'a>,
    },
    /// Make a directory that is not there, mode 0700.
    MakeDirectory {
        /// The directory.
        name: Name<'a>,
    },
    /// Remove an empty directory.
    RemoveDirectory {
        /// The directory.
        name: Name<'a>,
    },
    /// Read exactly `bytes` bytes from `offset` on, in blocks.
    ReadRange {
        /// The file.
        name: Name<'a>,
        /// Where the range begins.
        offset: u64,
        /// How long it is.
        bytes: u64,
    },
    /// Write `content` over the start of a file that is there, in blocks. What lies behind it stays.
    Overwrite {
        /// The file.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    },
    /// Give a file this size.
    Truncate {
        /// The file.
        name: Name<'a>,
        /// Its size from now on.
        bytes: u64,
    },
    /// Ask what a file is. A symbolic link is not followed.
    Stat {
        /// The file.
        name: Name<'a>,
        /// The size that it must have, where one is given.
        bytes: Option<u64>,
    },
    /// Set a file's permissions and its times of access and of modification.
    SetAttributes {
        /// The file.
        name: Name<'a>,
        /// The permissions.
        mode: u32,
        /// Both times, in nanoseconds of the epoch.
        times_ns: i64,
    },
    /// Give a file another name, one that is not there.
    Rename {
        /// The name that it has.
        name: Name<'a>,
        /// The name that it gets.
        to: Name<'a>,
    },
    /// Put a new content in a file's place: it is written to a temporary file, which takes the name over.
    Replace {
        /// The file.
        name: Name<'a>,
        /// The temporary file's name, one that is not there.
        temporary: Name<'a>,
        /// What is written.
        content: &'a [u8],
    },
    /// Deliver a message as Maildir does: it is written under one name and gets another when it is whole.
    Deliver {
        /// The name while it is written, one that is not there.
        temporary: Name<'a>,
        /// The name for good, one that is not there.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    },
    /// Give a file one more name, one that is not there.
    Link {
        /// The name that it has.
        name: Name<'a>,
        /// The name that it gets as well.
        to: Name<'a>,
    },
    /// Make a symbolic link that is not there.
    SymbolicLink {
        /// The new link.
        name: Name<'a>,
        /// What it says.
        target: &'a CStr,
    },
    /// Read a symbolic link.
    ReadLink {
        /// The link.
        name: Name<'a>,
        /// What it must say.
        target: &'a CStr,
    },
    /// Set an extended attribute of a file.
    SetExtended {
        /// The file.
        name: Name<'a>,
        /// The attribute's name, with its name space: `user.something`.
        key: &'a CStr,
        /// What it is set to.
        value: &'a [u8],
    },
    /// Get an extended attribute of a file.
    GetExtended {
        /// The file.
        name: Name<'a>,
        /// The attribute's name, with its name space.
        key: &'a CStr,
        /// What it must be.
        value: &'a [u8],
    },
    /// List a directory; [`listing`](crate::Session::listing) tells what was in it.
    List {
        /// The directory.
        name: Name<'a>,
    },
    /// List a directory and ask of every entry what it is, as `ls -l` does.
    ListWithStat {
        /// The directory.
        name: Name<'a>,
    },
    /// Take a file's contents out of the page cache, as far as they are on the device.
    Evict {
        /// The file.
        name: Name<'a>,
    },
}

impl<'a> Operation<'a> {
    /// What the operation is done to.
    #[inline]
    pub fn name(&self) -> Name<'a> {
        match self {
            Self::Create { name, .. }
            | Self::Append { name, .. }
            | Self::Read { name, .. }
            | Self::Delete { name }
            | Self::MakeDirectory { name }
            | Self::RemoveDirectory { name }
            | Self::ReadRange { name, .. }
            | Self::Overwrite { name, .. }
            | Self::Truncate { name, .. }
            | Self::Stat { name, .. }
            | Self::SetAttributes { name, .. }
            | Self::Rename { name, .. }
            | Self::Replace { name, .. }
            | Self::Deliver { name, .. }
            | Self::Link { name, .. }
            | Self::SymbolicLink { name, .. }
            | Self::ReadLink { name, .. }
            | Self::SetExtended { name, .. }
            | Self::GetExtended { name, .. }
            | Self::List { name }
            | Self::ListWithStat { name }
            | Self::Evict { name } => *name,
        }
    }

    /// How many bytes of contents it writes.
    #[inline]
    pub const fn written_bytes(&self) -> u64 {
        match self {
            Self::Create { content, .. }
            | Self::Append { content, .. }
            | Self::Overwrite { content, .. }
            | Self::Replace { content, .. }
            | Self::Deliver { content, .. } => content.len() as u64,
            _ => 0,
        }
    }

    /// Which operation it is.
    #[inline]
    pub const fn kind(&self) -> OperationKind {
        match self {
            Self::Create { .. } => OperationKind::Create,
            Self::Append { .. } => OperationKind::Append,
            Self::Read { .. } => OperationKind::Read,
            Self::Delete { .. } => OperationKind::Delete,
            Self::MakeDirectory { .. } => OperationKind::MakeDirectory,
            Self::RemoveDirectory { .. } => OperationKind::RemoveDirectory,
            Self::ReadRange { .. } => OperationKind::ReadRange,
            Self::Overwrite { .. } => OperationKind::Overwrite,
            Self::Truncate { .. } => OperationKind::Truncate,
            Self::Stat { .. } => OperationKind::Stat,
            Self::SetAttributes { .. } => OperationKind::SetAttributes,
            Self::Rename { .. } => OperationKind::Rename,
            Self::Replace { .. } => OperationKind::Replace,
            Self::Deliver { .. } => OperationKind::Deliver,
            Self::Link { .. } => OperationKind::Link,
            Self::SymbolicLink { .. } => OperationKind::SymbolicLink,
            Self::ReadLink { .. } => OperationKind::ReadLink,
            Self::SetExtended { .. } => OperationKind::SetExtended,
            Self::GetExtended { .. } => OperationKind::GetExtended,
            Self::List { .. } => OperationKind::List,
            Self::ListWithStat { .. } => OperationKind::ListWithStat,
            Self::Evict { .. } => OperationKind::Evict,
        }
    }
}

/// Defines a fieldless enum together with the list of its variants and their names.
macro_rules! named {
    (
        $(#[$of_type:meta])* $type:ident, $(#[$of_name:meta])*
        { $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+ }
    ) => {
        $(#[$of_type])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[$of_variant])* $variant,)+
        }

        impl $type {
            /// All there are, in their order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            $(#[$of_name])*
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named! {
    /// An [`Operation`] without what it is done to.
    OperationKind,
    /// The operation's name in reports and messages.
    {
        /// See [`Operation::Create`].
        Create = "create",
        /// See [`Operation::Append`].
        Append = "append",
        /// See [`Operation::Read`].
        Read = "read",
        /// See [`Operation::Delete`].
        Delete = "delete",
        /// See [`Operation::MakeDirectory`].
        MakeDirectory = "make directory",
        /// See [`Operation::RemoveDirectory`].
        RemoveDirectory = "remove directory",
        /// See [`Operation::ReadRange`].
        ReadRange = "read a range",
        /// See [`Operation::Overwrite`].
        Overwrite = "overwrite",
        /// See [`Operation::Truncate`].
        Truncate = "truncate",
        /// See [`Operation::Stat`].
        Stat = "stat",
        /// See [`Operation::SetAttributes`].
        SetAttributes = "set attributes",
        /// See [`Operation::Rename`].
        Rename = "rename",
        /// See [`Operation::Replace`].
        Replace = "replace",
        /// See [`Operation::Deliver`].
        Deliver = "deliver",
        /// See [`Operation::Link`].
        Link = "link",
        /// See [`Operation::SymbolicLink`].
        SymbolicLink = "symbolic link",
        /// See [`Operation::ReadLink`].
        ReadLink = "read link",
        /// See [`Operation::SetExtended`].
        SetExtended = "set extended attribute",
        /// See [`Operation::GetExtended`].
        GetExtended = "get extended attribute",
        /// See [`Operation::List`].
        List = "list",
        /// See [`Operation::ListWithStat`].
        ListWithStat = "list with stat",
        /// See [`Operation::Evict`].
        Evict = "evict",
    }
}

impl OperationKind {
    /// Whether the operation changes something. The others never sync.
    #[inline]
    pub const fn changes(self) -> bool {
        match self {
            Self::Create
            | Self::Append
            | Self::Delete
            | Self::MakeDirectory
            | Self::RemoveDirectory
            | Self::Overwrite
            | Self::Truncate
            | Self::SetAttributes
            | Self::Rename
            | Self::Replace
            | Self::Deliver
            | Self::Link
            | Self::SymbolicLink
            | Self::SetExtended => true,
            Self::Read
            | Self::ReadRange
            | Self::Stat
            | Self::ReadLink
            | Self::GetExtended
            | Self::List
            | Self::ListWithStat
            | Self::Evict => false,
        }
    }
}

named! {
    /// A part of an operation that ends at a moment of its own.
    Step,
    /// The step's name in reports.
    {
        /// The file is open.
        Open = "open",
        /// Everything is written.
        Write = "write",
        /// Everything is read.
        Read = "read",
        /// The file is closed.
        Close = "close",
        /// The name is gone.
        Unlink = "unlink",
        /// The directory is there.
        MakeDirectory = "mkdir",
        /// The directory is gone.
        RemoveDirectory = "rmdir",
        /// The file is on the device, as the policy says.
        Sync = "sync",
        /// The directory's names are on the device.
        SyncDirectory = "sync directory",
        /// The whole file system is on the device.
        SyncFileSystem = "sync file system",
        /// The file has its size.
        Truncate = "truncate",
        /// It is known what the file is.
        Stat = "stat",
        /// The permissions are set.
        SetMode = "set mode",
        /// The times are set.
        SetTimes = "set times",
        /// The file has its other name.
        Rename = "rename",
        /// The file has one more name.
        Link = "link",
        /// The symbolic link is there.
        SymbolicLink = "symbolic link",
        /// The symbolic link is read.
        ReadLink = "read link",
        /// The extended attribute is set.
        SetExtended = "set extended attribute",
        /// The extended attribute is read.
        GetExtended = "get extended attribute",
        /// The directory is read to its end, and of every entry it is known what it is where that was asked for.
        List = "list",
        /// The contents are out of the page cache.
        Evict = "evict",
    }
}

/// Told of every step as it ends. Generic, so that one that does nothing compiles to nothing.
pub trait Steps {
    /// A step has ended well.
    fn ended(&mut self, step: Step);
}

/// Nobody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSteps;

impl Steps for NoSteps {
    #[inline(always)]
    fn ended(&mut self, _: Step) {}
}
