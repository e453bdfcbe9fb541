//! The only list of operations. For each operation it declares the parameters, the name, the
//! required capability, the `Step`s, and the direction in which bytes move. Other lists of
//! operations are derived from this list: the mix's names and help, the record's schema, the table
//! in `docs/reference/operations.md`, and the messages about unsupported operations.

use std::ffi::CStr;
use std::fmt;

use crate::Listing;
use crate::capability::{Bytes, Capability};
use crate::name::{Name, Owning};
use crate::step::{Part, Step};

macro_rules! operations {
    ($(
        $(#[$doc:meta])* $variant:ident = $text:literal {
            $($(#[$of_field:meta])* $field:ident: $of:ty,)+
        } changes: $changes:literal, needs: $need:ident, bytes: $bytes:ident $(of $content:ident)?,
            steps: [$($part:expr),+];
    )+) => {
        /// A whole operation with its parameters.
        #[derive(Clone, Copy, Debug)]
        pub enum Operation<'a> {
            $($(#[$doc])* $variant { $($(#[$of_field])* $field: $of,)+ },)+
        }

        /// An operation with owned copies of its parameters, for sessions that perform it after
        /// [`submit`](crate::Session::submit) has returned. Copying the parameters allocates
        /// memory.
        #[derive(Clone, Debug)]
        pub struct OwnedOperation(Owned<'static>);

        #[derive(Clone, Debug)]
        enum Owned<'a> {
            $($variant { $($field: <$of as Owning<'a>>::Owned,)+ },)+
        }

        impl OwnedOperation {
            /// Returns the operation with borrowed parameters.
            pub fn get(&self) -> Operation<'_> {
                match &self.0 {
                    $(Owned::$variant { $($field),+ } => Operation::$variant {
                        $($field: Owning::get($field)),+ },)+
                }
            }
        }

        impl<'a> Operation<'a> {
            /// Copies the operation and its parameters, which allocates memory.
            pub fn to_owned(&self) -> OwnedOperation {
                OwnedOperation(match *self {
                    $(Self::$variant { $($field),+ } => Owned::$variant {
                        $($field: $field.keep()),+ },)+
                })
            }

            /// The name that the operation uses; for a replacement or delivery, the final name.
            #[inline]
            pub const fn name(&self) -> Name<'a> {
                match self {
                    $(Self::$variant { name, .. } => *name,)+
                }
            }

            /// The number of bytes of contents that the operation writes; 0 for a read or a
            /// truncation.
            #[inline]
            pub const fn written_bytes(&self) -> u64 {
                match self {
                    $($(Self::$variant { $content, .. } => $content.len() as u64,)?)+
                    _ => 0,
                }
            }

            /// The kind of the operation, without its parameters.
            #[inline]
            pub const fn kind(&self) -> OperationKind {
                match self {
                    $(Self::$variant { .. } => OperationKind::$variant,)+
                }
            }
        }

        /// The kind of an [`Operation`], without its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OperationKind {
            $($(#[$doc])* $variant,)+
        }

        impl OperationKind {
            /// All kinds, in declaration order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The operation's name in reports and messages.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Whether the operation copies or removes all files of a directory.
            #[inline]
            pub const fn is_on_tree(self) -> bool {
                self.makes_tree() || matches!(self, Self::RemoveTree)
            }

            /// Whether the operation creates a directory with the same files as another one.
            #[inline]
            pub const fn makes_tree(self) -> bool {
                matches!(self, Self::CopyTree | Self::CloneTree | Self::LinkTree)
            }

            /// Whether the operation changes files or directories. Other operations never sync.
            #[inline]
            pub const fn changes(self) -> bool {
                match self {
                    $(Self::$variant => $changes,)+
                }
            }

            /// The capability that an engine needs to perform the operation.
            #[inline]
            pub const fn needs(self) -> Capability {
                match self {
                    $(Self::$variant => Capability::$need,)+
                }
            }

            /// The direction in which the operation moves bytes.
            #[inline]
            pub const fn bytes(self) -> Bytes {
                match self {
                    $(Self::$variant => Bytes::$bytes,)+
                }
            }

            /// The `Step`s of the operation, in their order.
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
    /// Create a new file and write `content`, in blocks.
    Create = "create" {
        /// The name of the new file, which must not exist.
        name: Name<'a>,
        /// The whole contents; their length is the file's size.
        content: &'a [u8],
    } changes: true, needs: Contents, bytes: Written of content, steps: [
        Open.said("exclusive"), Write.always(), Sync.if_synced(), Close.always(),
            SyncDirectory.if_synced()
    ];

    /// Append `content` to an existing file, in blocks.
    Append = "append" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The bytes to append; the file grows by their number.
        content: &'a [u8],
    } changes: true, needs: Appends, bytes: Written of content, steps: [
        Open.always(), Write.said("at the end"), Sync.if_synced(), Close.always()
    ];

    /// Read a whole file of `bytes` bytes, in blocks.
    Read = "read" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The file's expected size; a shorter file is a failure.
        bytes: u64,
    } changes: false, needs: Contents, bytes: Read, steps: [
        Open.always(), Read.said("the whole file"), Stat.if_kept("only if contents are \
            verified"), Close.always()
    ];

    /// Remove a name of a file.
    Delete = "delete" {
        /// The name to remove; other hard links of the file remain.
        name: Name<'a>,
    } changes: true, needs: Names, bytes: None, steps: [Unlink.always(), SyncDirectory.if_synced()];

    /// Create a new directory with mode 0700.
    MakeDirectory = "make directory" {
        /// The name of the directory, which must not exist.
        name: Name<'a>,
    } changes: true, needs: Names, bytes: None, steps: [MakeDirectory.always(),
        SyncDirectory.if_synced()];

    /// Remove an empty directory.
    RemoveDirectory = "remove directory" {
        /// The name of the directory, which must be empty.
        name: Name<'a>,
    } changes: true, needs: Names, bytes: None, steps: [RemoveDirectory.always(),
        SyncDirectory.if_synced()];

    /// Read exactly `bytes` bytes starting at `offset`, in blocks.
    ReadRange = "read a range" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The start of the range, in bytes from the start of the file.
        offset: u64,
        /// The length of the range in bytes; a file that ends earlier is a failure.
        bytes: u64,
    } changes: false, needs: Ranges, bytes: Read, steps: [
        Open.always(), Read.said("`pread`, exactly these bytes from this offset"), Close.always()
    ];

    /// Write `content` at the start of an existing file, in blocks. Later bytes of the file remain.
    Overwrite = "overwrite" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The bytes to write from offset 0 on.
        content: &'a [u8],
    } changes: true, needs: Ranges, bytes: Written of content, steps: [
        Open.said("an existing file, without truncation"),
            Write.said("from offset 0; later bytes remain"),
        Sync.if_synced(), Close.always()
    ];

    /// Set the size of a file, without writing contents.
    Truncate = "truncate" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The new size in bytes, which may be 0.
        bytes: u64,
    } changes: true, needs: Sizes, bytes: None, steps: [
        Open.always(), Truncate.said("`ftruncate`"), Sync.if_synced(), Close.always()
    ];

    /// Request the attributes of a file. A symbolic link is not followed.
    Stat = "stat" {
        /// The name of a file, directory or symbolic link.
        name: Name<'a>,
        /// The expected size in bytes; `None` if any size is correct.
        bytes: Option<u64>,
    } changes: false, needs: Names, bytes: None, steps: [
        Stat.said("`fstatat`; a symbolic link is not followed; the size is compared with the \
            expected one, if any")
    ];

    /// Set a file's permissions, access time and modification time.
    SetAttributes = "set attributes" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The permission bits, such as `0o600`.
        mode: u32,
        /// The new access time and modification time, in nanoseconds since the epoch.
        times_ns: i64,
    } changes: true, needs: Attributes, bytes: None, steps: [
        Open.if_synced().by("to read; always before Linux 6.6"), SetMode.said("`fchmodat2`"),
        SetTimes.said("`utimensat`: access and modification"), Sync.if_synced(),
            Close.if_synced().by("if it was opened")
    ];

    /// Rename a file to a name that must not exist.
    Rename = "rename" {
        /// The existing name of the file.
        name: Name<'a>,
        /// The new name, which must not exist.
        to: Name<'a>,
    } changes: true, needs: Names, bytes: None, steps: [
        Rename.said("`renameat2` with `RENAME_NOREPLACE`: never over a file; if the file \
            system does not support that (EINVAL), from then on an `fstatat` of the new name and \
            a plain rename"),
        SyncDirectory.if_synced().by("of the new name, and of the old one if it differs")
    ];

    /// Replace the contents of a file: write them to a temporary file and rename it to the file's
    /// name.
    Replace = "replace" {
        /// The name of the file to be replaced.
        name: Name<'a>,
        /// The name of the temporary file, which must not exist.
        temporary: Name<'a>,
        /// The new contents, which replace the old ones completely.
        content: &'a [u8],
    } changes: true, needs: Replacement, bytes: Written of content, steps: [
        Open.said("the temporary file, exclusive"), Write.always(), Sync.if_synced(),
            Close.always(),
        Rename.said("over the existing file"), SyncDirectory.if_synced()
    ];

    /// Deliver a message as Maildir does: write it under a temporary name and rename it when it is
    /// complete.
    Deliver = "deliver" {
        /// The temporary name, which must not exist.
        temporary: Name<'a>,
        /// The final name, which must not exist.
        name: Name<'a>,
        /// The whole message; readers of the final name never see a part of it.
        content: &'a [u8],
    } changes: true, needs: Replacement, bytes: Written of content, steps: [
        Open.said("the temporary file, exclusive"), Write.always(), Sync.if_synced(),
            Close.always(),
        Rename.said("never over a file"), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Create an additional hard link to a file.
    Link = "link" {
        /// The existing name of the file.
        name: Name<'a>,
        /// The additional name, which must not exist.
        to: Name<'a>,
    } changes: true, needs: Links, bytes: None, steps: [
        Link.always(), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Create a symbolic link, whose target is not checked.
    SymbolicLink = "symbolic link" {
        /// The name of the link, which must not exist.
        name: Name<'a>,
        /// The path that the link contains.
        target: &'a CStr,
    } changes: true, needs: Links, bytes: None, steps: [SymbolicLink.always(),
        SyncDirectory.if_synced()];

    /// Read the target of a symbolic link, and compare the target with the expected target.
    ReadLink = "read link" {
        /// The name of the link, which must exist.
        name: Name<'a>,
        /// The expected target; any other target is a failure.
        target: &'a CStr,
    } changes: false, needs: Links, bytes: None, steps: [ReadLink.said("compared with the \
        expected target")];

    /// Set an extended attribute of a file. An existing value is replaced.
    SetExtended = "set extended attribute" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The attribute's name, including its namespace such as `user.`.
        key: &'a CStr,
        /// The new value, at most 64 KiB on Linux (`XATTR_SIZE_MAX`).
        value: &'a [u8],
    } changes: true, needs: ExtendedAttributes, bytes: None, steps: [
        Open.said("to read"), SetExtended.always(), Sync.if_synced(), Close.always()
    ];

    /// Read an extended attribute of a file, and compare its value with the expected value.
    GetExtended = "get extended attribute" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The attribute's name, including its namespace such as `user.`.
        key: &'a CStr,
        /// The expected value; any other value is a failure.
        value: &'a [u8],
    } changes: false, needs: ExtendedAttributes, bytes: None, steps: [
        Open.always(), GetExtended.said("compared with the value that was set"), Close.always()
    ];

    /// List a directory; [`listing`](crate::Session::listing) returns the result.
    List = "list" {
        /// The name of the directory; an empty relative name denotes the location itself.
        name: Name<'a>,
    } changes: false, needs: Names, bytes: None, steps: [
        Open.always(), List.said("`getdents64` with a buffer of 32 KiB, to the end"), Close.always()
    ];

    /// List a directory and request the attributes of every entry, as `ls -l` does.
    ListWithStat = "list with stat" {
        /// The name of the directory; an empty relative name denotes the location itself.
        name: Name<'a>,
    } changes: false, needs: Names, bytes: None, steps: [
        Open.always(), List.said("the same, with an `fstatat` of every entry not omitted"),
            Close.always()
    ];

    /// Request the attributes of a name that does not exist.
    StatMissing = "stat a missing name" {
        /// The name, which must not exist; if it exists, the operation fails.
        name: Name<'a>,
    } changes: false, needs: Names, bytes: None, steps: [
        Stat.said("`fstatat`, which must answer ENOENT")
    ];

    /// Open a name that does not exist.
    OpenMissing = "open a missing name" {
        /// The name, which must not exist; if it exists, the operation fails.
        name: Name<'a>,
    } changes: false, needs: Names, bytes: None, steps: [
        Open.said("to read, which must answer ENOENT")
    ];

    /// Try to create a directory that already exists, as `mkdir -p` does.
    MakeDirectoryExisting = "make an existing directory" {
        /// The name of the directory; if it does not exist, the operation fails.
        name: Name<'a>,
    } changes: false, needs: Names, bytes: None, steps: [
        MakeDirectory.said("must answer EEXIST")
    ];

    /// Open a file and close it again.
    OpenClose = "open and close" {
        /// The name of the file, which must exist.
        name: Name<'a>,
    } changes: false, needs: Descriptors, bytes: None, steps: [Open.said("to read"),
        Close.always()];

    /// Read a whole file of `bytes` bytes through a mapping into memory.
    ReadMapped = "read by mmap" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The file's expected size in bytes. The operation fails if the file ends before the last
        /// page.
        bytes: u64,
    } changes: false, needs: Descriptors, bytes: Read, steps: [
        Open.always(), Map.said("`mmap`, one byte of each page is read, `munmap`; an empty file \
            is not mapped"), Stat.if_kept("only if contents are verified"), Close.always()
    ];

    /// Lock a whole file exclusively, and unlock it. If another operation has locked the file, this
    /// operation waits.
    Lock = "lock" {
        /// The name of the file, which must exist.
        name: Name<'a>,
    } changes: false, needs: Descriptors, bytes: None, steps: [
        Open.said("to write, without truncation"),
        Lock.said("`fcntl`, `F_OFD_SETLKW`: the whole file, exclusive"),
        Unlock.said("`fcntl`, `F_OFD_SETLK`"), Close.always()
    ];

    /// Create a new file with the contents of another file, which the kernel copies.
    Copy = "copy" {
        /// The name of the new file, which must not exist.
        name: Name<'a>,
        /// The name of the file to copy, which must exist.
        from: Name<'a>,
        /// The size in bytes of the file to copy; a shorter file is a failure.
        bytes: u64,
    } changes: true, needs: Copies, bytes: None, steps: [
        Open.said("the file to read, and the new file, exclusive"),
        Copy.said("`copy_file_range`, until all bytes are copied"), Sync.if_synced(),
        Close.said("both files"), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Create a new file that shares the blocks of another file until one of these files is
    /// changed.
    Clone = "clone" {
        /// The name of the new file, which must not exist.
        name: Name<'a>,
        /// The name of the file to clone, which must exist.
        from: Name<'a>,
        /// The size in bytes of the file to clone.
        bytes: u64,
    } changes: true, needs: Copies, bytes: None, steps: [
        Open.said("the file to read, and the new file, exclusive"),
        Clone.said("`ioctl`, `FICLONE`"), Sync.if_synced(),
        Close.said("both files"), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Write new contents to an existing file in place: truncate it and write it, as editors
    /// without a temporary file do.
    Rewrite = "rewrite" {
        /// The name of the file, which must exist.
        name: Name<'a>,
        /// The new contents, which replace the old ones completely.
        content: &'a [u8],
    } changes: true, needs: Ranges, bytes: Written of content, steps: [
        Open.said("an existing file, with truncation"), Write.always(), Sync.if_synced(),
            Close.always()
    ];

    /// Hold a lock file: create it, write 8 bytes and remove it.
    LockFile = "hold a lock file" {
        /// The name of the lock file, which must not exist.
        name: Name<'a>,
        /// The bytes to write to the lock file. Reports do not count them as contents.
        content: &'a [u8],
    } changes: true, needs: Replacement, bytes: None, steps: [
        Open.said("exclusive"), Write.said("8 bytes"), Sync.if_synced(), Close.always(),
        Unlink.always(), SyncDirectory.if_synced()
    ];

    /// Install a new file, as `tar` and package managers do. Check that its name is free, try to
    /// create its directory, write the file, and set its attributes.
    Install = "install" {
        /// The name of the new file, which must not exist.
        name: Name<'a>,
        /// The whole contents; their length is the file's size.
        content: &'a [u8],
        /// The permission bits, such as `0o644`.
        mode: u32,
        /// The new access time and modification time, in nanoseconds since the epoch.
        times_ns: i64,
    } changes: true, needs: Attributes, bytes: Written of content, steps: [
        Stat.said("`fstatat` of the new name, which must answer ENOENT"),
        MakeDirectory.said("of the directory of the new name, which must answer EEXIST"),
        Open.said("exclusive"), Write.always(), SetMode.said("`fchmod`"),
        SetTimes.said("`futimens`: access and modification"), Sync.if_synced(), Close.always(),
        SyncDirectory.if_synced()
    ];

    /// Install a hard link to an existing file, as package managers with a store do. The link has
    /// the attributes of the existing file, so the operation sets no attributes.
    InstallLink = "install by link" {
        /// The existing name of the file.
        name: Name<'a>,
        /// The additional name, which must not exist.
        to: Name<'a>,
    } changes: true, needs: Links, bytes: None, steps: [
        Stat.said("`fstatat` of the new name, which must answer ENOENT"),
        MakeDirectory.said("of the directory of the new name, which must answer EEXIST"),
        Link.always(), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Install a new file whose contents the kernel copies from an existing file.
    InstallCopy = "install by copy" {
        /// The name of the new file, which must not exist.
        name: Name<'a>,
        /// The name of the file to copy, which must exist.
        from: Name<'a>,
        /// The size in bytes of the file to copy; a shorter file is a failure.
        bytes: u64,
        /// The permission bits, such as `0o644`.
        mode: u32,
        /// The new access time and modification time, in nanoseconds since the epoch.
        times_ns: i64,
    } changes: true, needs: Copies, bytes: None, steps: [
        Stat.said("`fstatat` of the new name, which must answer ENOENT"),
        MakeDirectory.said("of the directory of the new name, which must answer EEXIST"),
        Open.said("the file to read, and the new file, exclusive"),
        Copy.said("`copy_file_range`, until all bytes are copied"), SetMode.said("`fchmod`"),
        SetTimes.said("`futimens`: access and modification"), Sync.if_synced(),
        Close.said("both files"), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Install a new file that shares the blocks of an existing file.
    InstallClone = "install by clone" {
        /// The name of the new file, which must not exist.
        name: Name<'a>,
        /// The name of the file to clone, which must exist.
        from: Name<'a>,
        /// The size in bytes of the file to clone.
        bytes: u64,
        /// The permission bits, such as `0o644`.
        mode: u32,
        /// The new access time and modification time, in nanoseconds since the epoch.
        times_ns: i64,
    } changes: true, needs: Copies, bytes: None, steps: [
        Stat.said("`fstatat` of the new name, which must answer ENOENT"),
        MakeDirectory.said("of the directory of the new name, which must answer EEXIST"),
        Open.said("the file to read, and the new file, exclusive"),
        Clone.said("`ioctl`, `FICLONE`"), SetMode.said("`fchmod`"),
        SetTimes.said("`futimens`: access and modification"), Sync.if_synced(),
        Close.said("both files"), SyncDirectory.if_synced().by("of the new name")
    ];

    /// Copy a directory with its subdirectories and files, as `cp -r` does. Only directories and
    /// regular files of a pool are copied, without additional hard links (names that end with
    /// `.l`), and without trees and directories that operations made.
    CopyTree = "copy a tree" {
        /// The name of the new directory, which must not exist.
        name: Name<'a>,
        /// The name of the directory to copy.
        from: Name<'a>,
        /// The names of the subdirectories and files to copy; other names are a failure.
        entries: Listing,
        /// The number of levels of subdirectories. Files are only on the lowest level.
        levels: u32,
        /// The total size of these files in bytes; another size is a failure.
        bytes: u64,
    } changes: true, needs: Trees, bytes: None, steps: [
        MakeDirectory.always(), Open.said("both directories"),
        List.said("each directory to copy, to the end"),
        Copy.said("`mkdirat` of each subdirectory; of each file: `openat` of it and of the new \
            one, `copy_file_range` until it returns 0, the file's sync if files are synced, \
            `close` of both"),
        Close.said("both directories"),
        SyncDirectory.if_synced().by("each new directory, and the directory of its name")
    ];

    /// Copy a directory with its subdirectories and files, as `cp -r --reflink` does: each new file
    /// shares the blocks of the other one. It has the same entries as a copied tree.
    CloneTree = "clone a tree" {
        /// The name of the new directory, which must not exist.
        name: Name<'a>,
        /// The name of the directory whose files are cloned.
        from: Name<'a>,
        /// The names of the subdirectories and files; other names are a failure.
        entries: Listing,
        /// The number of levels of subdirectories. Files are only on the lowest level.
        levels: u32,
    } changes: true, needs: Copies, bytes: None, steps: [
        MakeDirectory.always(), Open.said("both directories"),
        List.said("each directory to copy, to the end"),
        Clone.said("`mkdirat` of each subdirectory; of each file: `openat` of it and of the new \
            one, `ioctl` with `FICLONE`, the file's sync if files are synced, `close` of both"),
        Close.said("both directories"),
        SyncDirectory.if_synced().by("each new directory, and the directory of its name")
    ];

    /// Create a directory with hard links to the files of another one and of its subdirectories, as
    /// `cp -rl` does. It has the same entries as a copied tree.
    LinkTree = "link a tree" {
        /// The name of the new directory, which must not exist.
        name: Name<'a>,
        /// The name of the directory whose files are linked.
        from: Name<'a>,
        /// The names of the subdirectories and files; other names are a failure.
        entries: Listing,
        /// The number of levels of subdirectories. Files are only on the lowest level.
        levels: u32,
    } changes: true, needs: Links, bytes: None, steps: [
        MakeDirectory.always(), Open.said("both directories"),
        List.said("each directory to copy, to the end"),
        Link.said("`mkdirat` of each subdirectory, `linkat` of each file"),
        Close.said("both directories"),
        SyncDirectory.if_synced().by("each new directory, and the directory of its name")
    ];

    /// Remove a directory with its subdirectories and files, as `rm -r` does. If the directory
    /// contains other names than `entries`, the operation fails and removes nothing.
    RemoveTree = "remove a tree" {
        /// The name of the directory.
        name: Name<'a>,
        /// The names of all its subdirectories and files.
        entries: Listing,
        /// The number of levels of subdirectories.
        levels: u32,
    } changes: true, needs: Trees, bytes: None, steps: [
        Open.said("the directory"), List.said("each directory, to the end"),
        Unlink.said("of each file, in the order of the listings; `unlinkat` of each subdirectory"),
        Close.always(),
        RemoveDirectory.always(), SyncDirectory.if_synced()
    ];

    /// Evict a file's contents from the page cache, except for pages that are not yet on the
    /// device.
    Evict = "evict" {
        /// The name of the file, which must exist.
        name: Name<'a>,
    } changes: false, needs: Cache, bytes: None, steps: [
        Open.always(), Evict.said("`posix_fadvise`, `POSIX_FADV_DONTNEED`"), Close.always()
    ];
}

impl<'a> Operation<'a> {
    /// The one or two names that the operation uses, creates or removes. If there are two, the
    /// first name exists before the operation, or is created before the second name.
    #[inline]
    pub const fn names(&self) -> (Name<'a>, Option<Name<'a>>) {
        match *self {
            Self::Rename { name, to }
            | Self::Link { name, to }
            | Self::InstallLink { name, to } => (name, Some(to)),
            Self::Copy { name, from, .. }
            | Self::Clone { name, from, .. }
            | Self::CopyTree { name, from, .. }
            | Self::CloneTree { name, from, .. }
            | Self::LinkTree { name, from, .. }
            | Self::InstallCopy { name, from, .. }
            | Self::InstallClone { name, from, .. } => (from, Some(name)),
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
