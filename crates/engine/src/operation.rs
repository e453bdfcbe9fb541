//! The one list of operations: what each is given, is called, needs of an engine, is made of, and
//! moves; then what of them a workload asks for. What speaks of operations elsewhere is derived
//! from here: the mix's words and help, the record's schema, the table in `docs/specification.md`,
//! what an engine lacks.

use std::ffi::CStr;
use std::fmt;

use crate::capability::{Bytes, Capability};
use crate::name::{Name, Owning};
use crate::step::{Part, Step};

/// Declares [`Operation`] and [`OperationKind`].
macro_rules! operations {
    ($(
        $(#[$doc:meta])* $variant:ident = $text:literal {
            $($(#[$of_field:meta])* $field:ident: $of:ty,)+
        } changes: $changes:literal, needs: $need:ident, bytes: $bytes:ident $(of $content:ident)?,
            steps: [$($part:expr),+];
    )+) => {
        /// A whole operation.
        #[derive(Clone, Copy, Debug)]
        pub enum Operation<'a> {
            $($(#[$doc])* $variant { $($(#[$of_field])* $field: $of,)+ },)+
        }

        /// An operation that keeps what it was given: for sessions that perform it after
        /// [`submit`](crate::Session::submit) has returned, and may allocate.
        #[derive(Clone, Debug)]
        pub struct OwnedOperation(Owned<'static>);

        #[derive(Clone, Debug)]
        enum Owned<'a> {
            $($variant { $($field: <$of as Owning<'a>>::Owned,)+ },)+
        }

        impl OwnedOperation {
            /// The operation.
            pub fn get(&self) -> Operation<'_> {
                match &self.0 {
                    $(Owned::$variant { $($field),+ } => Operation::$variant {
                        $($field: Owning::get($field)),+ },)+
                }
            }
        }

        impl<'a> Operation<'a> {
            /// The same with a copy of all it has.
            pub fn to_owned(&self) -> OwnedOperation {
                OwnedOperation(match *self {
                    $(Self::$variant { $($field),+ } => Owned::$variant {
                        $($field: $field.keep()),+ },)+
                })
            }

            /// What the operation is done to.
            #[inline]
            pub const fn name(&self) -> Name<'a> {
                match self {
                    $(Self::$variant { name, .. } => *name,)+
                }
            }

            /// How many bytes of contents it writes.
            #[inline]
            pub const fn written_bytes(&self) -> u64 {
                match self {
                    $($(Self::$variant { $content, .. } => $content.len() as u64,)?)+
                    _ => 0,
                }
            }

            /// Which operation it is.
            #[inline]
            pub const fn kind(&self) -> OperationKind {
                match self {
                    $(Self::$variant { .. } => OperationKind::$variant,)+
                }
            }
        }

        /// An [`Operation`] without what it is done to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OperationKind {
            $($(#[$doc])* $variant,)+
        }

        impl OperationKind {
            /// All there are, in their order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The operation's name in reports and messages.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Whether the operation changes something. The others never sync.
            #[inline]
            pub const fn changes(self) -> bool {
                match self {
                    $(Self::$variant => $changes,)+
                }
            }

            /// What an engine must have to perform it.
            #[inline]
            pub const fn needs(self) -> Capability {
                match self {
                    $(Self::$variant => Capability::$need,)+
                }
            }

            /// Which way its bytes go.
            #[inline]
            pub const fn bytes(self) -> Bytes {
                match self {
                    $(Self::$variant => Bytes::$bytes,)+
                }
            }

            /// The steps that it is made of, in their order.
            pub fn steps(self) -> &'static [Part] {
                use Step::*;
                match self {
                    $(Self::$variant => const { &[$($part),+] },)+
                }
            }
        }
    };
}

operations! {
    /// Make a file that is not there and write `content`, in blocks.
    Create = "create" {
        /// The new file.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    } changes: true, needs: Contents, bytes: Written of content, steps: [
        Open.said("exclusive"), Write.always(), Sync.if_synced(), Close.always(),
            SyncDirectory.if_synced()
    ];

    /// Write `content` behind the end of a file that is there, in blocks.
    Append = "append" {
        /// The file.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    } changes: true, needs: Contents, bytes: Written of content, steps: [
        Open.always(), Write.said("behind the end"), Sync.if_synced(), Close.always()
    ];

    /// Read a file of `bytes` bytes from its start, in blocks.
    Read = "read" {
        /// The file.
        name: Name<'a>,
        /// Its size.
        bytes: u64,
    } changes: false, needs: Contents, bytes: Read, steps: [
        Open.always(), Read.said("the whole file"), Stat.if_kept("only where contents are \
            verified"), Close.always()
    ];

    /// Remove a file's name.
    Delete = "delete" {
        /// The file.
        name: Name<'a>,
    } changes: true, needs: Names, bytes: None, steps: [Unlink.always(), SyncDirectory.if_synced()];

    /// Make a directory that is not there, mode 0700.
    MakeDirectory = "make directory" {
        /// The directory.
        name: Name<'a>,
    } changes: true, needs: Names, bytes: None, steps: [MakeDirectory.always(),
        SyncDirectory.if_synced()];

    /// Remove an empty directory.
    RemoveDirectory = "remove directory" {
        /// The directory.
        name: Name<'a>,
    } changes: true, needs: Names, bytes: None, steps: [RemoveDirectory.always(),
        SyncDirectory.if_synced()];

    /// Read exactly `bytes` bytes from `offset` on, in blocks.
    ReadRange = "read a range" {
        /// The file.
        name: Name<'a>,
        /// Where the range begins.
        offset: u64,
        /// How long it is.
        bytes: u64,
    } changes: false, needs: Ranges, bytes: Read, steps: [
        Open.always(), Read.said("`pread`, exactly these bytes from this offset"), Close.always()
    ];

    /// Write `content` over the start of a file that is there, in blocks. What lies behind it
    /// stays.
    Overwrite = "overwrite" {
        /// The file.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    } changes: true, needs: Ranges, bytes: Written of content, steps: [
        Open.said("a file that is there, nothing is cut off"),
            Write.said("from offset 0; what lies behind stays"),
        Sync.if_synced(), Close.always()
    ];

    /// Give a file this size.
    Truncate = "truncate" {
        /// The file.
        name: Name<'a>,
        /// Its size from now on.
        bytes: u64,
    } changes: true, needs: Ranges, bytes: None, steps: [
        Open.always(), Truncate.said("`ftruncate`"), Sync.if_synced(), Close.always()
    ];

    /// Ask what a file is. A symbolic link is not followed.
    Stat = "stat" {
        /// The file.
        name: Name<'a>,
        /// The size that it must have, where one is given.
        bytes: Option<u64>,
    } changes: false, needs: Names, bytes: None, steps: [
        Stat.said("`fstatat`; a symbolic link is not followed; where a size is given it must be \
            that")
    ];

    /// Set a file's permissions and its times of access and of modification.
    SetAttributes = "set attributes" {
        /// The file.
        name: Name<'a>,
        /// The permissions.
        mode: u32,
        /// Both times, in nanoseconds of the epoch.
        times_ns: i64,
    } changes: true, needs: Attributes, bytes: None, steps: [
        Open.if_synced().by("to read; before Linux 6.6 always"), SetMode.said("`fchmodat2`"),
        SetTimes.said("`utimensat`: access and modification"), Sync.if_synced(),
            Close.if_synced().by("where it was opened")
    ];

    /// Give a file another name, one that is not there.
    Rename = "rename" {
        /// The name that it has.
        name: Name<'a>,
        /// The name that it gets.
        to: Name<'a>,
    } changes: true, needs: Names, bytes: None, steps: [
        Rename.said("`renameat2` with `RENAME_NOREPLACE`: nothing is overwritten; where the file \
            system does not have that (EINVAL), from then on an `fstatat` of the new name and a \
            plain rename"),
        SyncDirectory.if_synced().by("of the new name, and of the old one where that is another")
    ];

    /// Put a new content in a file's place: it is written to a temporary file, which takes the name
    /// over.
    Replace = "replace" {
        /// The file.
        name: Name<'a>,
        /// The temporary file's name, one that is not there.
        temporary: Name<'a>,
        /// What is written.
        content: &'a [u8],
    } changes: true, needs: Replacement, bytes: Written of content, steps: [
        Open.said("the temporary file, exclusive"), Write.always(), Sync.if_synced(),
            Close.always(),
        Rename.said("over the name"), SyncDirectory.if_synced()
    ];

    /// Deliver a message as Maildir does: it is written under one name and gets another when it is
    /// whole.
    Deliver = "deliver" {
        /// The name while it is written, one that is not there.
        temporary: Name<'a>,
        /// The name for good, one that is not there.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    } changes: true, needs: Replacement, bytes: Written of content, steps: [
        Open.said("the temporary file, exclusive"), Write.always(), Sync.if_synced(),
            Close.always(),
        Rename.said("nothing is overwritten"), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Give a file one more name, one that is not there.
    Link = "link" {
        /// The name that it has.
        name: Name<'a>,
        /// The name that it gets as well.
        to: Name<'a>,
    } changes: true, needs: Links, bytes: None, steps: [
        Link.always(), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Make a symbolic link that is not there.
    SymbolicLink = "symbolic link" {
        /// The new link.
        name: Name<'a>,
        /// What it says.
        target: &'a CStr,
    } changes: true, needs: Links, bytes: None, steps: [SymbolicLink.always(),
        SyncDirectory.if_synced()];

    /// Read a symbolic link.
    ReadLink = "read link" {
        /// The link.
        name: Name<'a>,
        /// What it must say.
        target: &'a CStr,
    } changes: false, needs: Links, bytes: None, steps: [ReadLink.said("it must say what it was \
        made to say")];

    /// Set an extended attribute of a file.
    SetExtended = "set extended attribute" {
        /// The file.
        name: Name<'a>,
        /// The attribute's name, with its name space.
        key: &'a CStr,
        /// What it is set to.
        value: &'a [u8],
    } changes: true, needs: ExtendedAttributes, bytes: None, steps: [
        Open.said("to read"), SetExtended.always(), Sync.if_synced(), Close.always()
    ];

    /// Get an extended attribute of a file.
    GetExtended = "get extended attribute" {
        /// The file.
        name: Name<'a>,
        /// The attribute's name, with its name space.
        key: &'a CStr,
        /// What it must be.
        value: &'a [u8],
    } changes: false, needs: ExtendedAttributes, bytes: None, steps: [
        Open.always(), GetExtended.said("it must be what it was set to"), Close.always()
    ];

    /// List a directory; [`listing`](crate::Session::listing) tells what was in it.
    List = "list" {
        /// The directory.
        name: Name<'a>,
    } changes: false, needs: Names, bytes: None, steps: [
        Open.always(), List.said("`getdents64` with 32 KiB of room, to the end"), Close.always()
    ];

    /// List a directory and ask of every entry what it is, as `ls -l` does.
    ListWithStat = "list with stat" {
        /// The directory.
        name: Name<'a>,
    } changes: false, needs: Names, bytes: None, steps: [
        Open.always(), List.said("the same, with an `fstatat` of every entry that counts"),
            Close.always()
    ];

    /// Take a file's contents out of the page cache, as far as they are on the device.
    Evict = "evict" {
        /// The file.
        name: Name<'a>,
    } changes: false, needs: Cache, bytes: None, steps: [
        Open.always(), Evict.said("`posix_fadvise`, `POSIX_FADV_DONTNEED`"), Close.always()
    ];
}

impl<'a> Operation<'a> {
    /// The names that it is done to, that it gives and that it takes: first the one that is there,
    /// or is made.
    #[inline]
    pub const fn names(&self) -> (Name<'a>, Option<Name<'a>>) {
        match *self {
            Self::Rename { name, to } | Self::Link { name, to } => (name, Some(to)),
            Self::Replace {
                name, temporary, ..
            }
            | Self::Deliver {
                name, temporary, ..
            } => (temporary, Some(name)),
            _ => (self.name(), None),
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
