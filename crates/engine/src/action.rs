//! The actions of a workload: their names in mixes, and the operation that performs each action.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Bytes;
use crate::operation::OperationKind;

/// The kind of object that a name denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameKind {
    /// A file of the pool.
    File,
    /// A file before it is renamed to its final name.
    Temporary,
    /// An additional hard link to a file.
    Link,
    /// A symbolic link to a file of the pool.
    SymbolicLink,
    /// A directory that `mkdir` creates or `rmdir` removes.
    Directory,
    /// A copy of a directory of the pool with its subdirectories and files.
    Tree,
}

impl NameKind {
    /// All kinds, in declaration order.
    pub const ALL: [Self; 6] = [
        Self::File,
        Self::Temporary,
        Self::Link,
        Self::SymbolicLink,
        Self::Directory,
        Self::Tree,
    ];

    /// The end of each name of this kind, by which it differs from names of other kinds.
    pub const fn suffix(self) -> &'static [u8] {
        match self {
            Self::File => b"",
            Self::Temporary => b".t",
            Self::Link => b".l",
            Self::SymbolicLink => b".y",
            Self::Directory => b".d",
            Self::Tree => b".r",
        }
    }

    /// Returns the kind of a name that a pool may contain.
    pub fn of_name(name: &[u8]) -> Self {
        let other = |kind: &Self| *kind != Self::File && name.ends_with(kind.suffix());
        Self::ALL.into_iter().find(other).unwrap_or(Self::File)
    }

    /// Whether the object is a directory.
    pub const fn is_directory(self) -> bool {
        matches!(self, Self::Directory | Self::Tree)
    }
}

macro_rules! actions {
    ($(
        $(#[$doc:meta])* $variant:ident = $number:literal, $text:literal:
        $performs:expr, on $named:ident, more_files $more:expr, comes_as [$($as:ident),*];
    )+) => {
        /// An action of a workload. Fingerprints of workloads include the numbers of the actions,
        /// so these numbers never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            JsonSchema)]
        #[repr(u8)]
        pub enum Action {
            $($(#[$doc])* #[serde(rename = $text)] $variant = $number,)+
        }

        impl Action {
            /// All actions, each at the index that equals its number.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The action's name in options and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The operation that performs the action; `None` for [`Nothing`](Self::Nothing).
            #[inline]
            pub const fn performs(self) -> Option<OperationKind> {
                match self {
                    $(Self::$variant => $performs,)+
                }
            }

            /// The kind of name that the action uses.
            #[inline]
            pub const fn named(self) -> NameKind {
                match self {
                    $(Self::$variant => NameKind::$named,)+
                }
            }

            /// Whether the action creates a file (`Some(true)`), removes one (`Some(false)`) or
            /// does neither (`None`).
            #[inline]
            pub const fn changes_count(self) -> Option<bool> {
                match self {
                    $(Self::$variant => $more,)+
                }
            }

            /// The actions that a mix may perform when it draws this action. Besides the action
            /// itself, a mix may perform a substitute. For example, it creates a symbolic link if
            /// there is none to read, and it removes a link if there are too many.
            pub const fn comes_as(self) -> &'static [Self] {
                match self {
                    $(Self::$variant => &[$(Self::$as),*],)+
                }
            }
        }
    };
}

use OperationKind as Kind;

actions! {
    /// Create a new file and write its first contents.
    Create = 0, "create": Some(Kind::Create), on File, more_files Some(true), comes_as [Create];
    /// Read a whole file, in blocks.
    Read = 1, "read": Some(Kind::Read), on File, more_files None, comes_as [Read];
    /// Append to a file that has not reached its maximum size.
    Append = 2, "append": Some(Kind::Append), on File, more_files None, comes_as [Append];
    /// Remove the name of a file of the pool.
    Delete = 3, "delete": Some(Kind::Delete), on File, more_files Some(false), comes_as [Delete];
    /// No operation. In the original PostMark, a half of a transaction is omitted if the file table
    /// is full or the file has its maximum size. In a mix, an action is omitted if no file is
    /// suitable for it.
    Nothing = 4, "nothing": None, on File, more_files None, comes_as [];
    /// Read a range of a file, from a random offset.
    ReadRange = 5, "read-range": Some(Kind::ReadRange), on File, more_files None,
        comes_as [ReadRange];
    /// Overwrite all bytes of a file in place.
    Overwrite = 6, "overwrite": Some(Kind::Overwrite), on File, more_files None,
        comes_as [Overwrite];
    /// Truncate a file to a smaller size.
    Truncate = 7, "truncate": Some(Kind::Truncate), on File, more_files None, comes_as [Truncate];
    /// Request a file's attributes, such as its size and times.
    Stat = 8, "stat": Some(Kind::Stat), on File, more_files None, comes_as [Stat];
    /// Set a file's mode, access time and modification time.
    SetAttributes = 9, "set-attributes": Some(Kind::SetAttributes), on File, more_files None,
        comes_as [SetAttributes];
    /// Rename a file to a new name, never over an existing file.
    Rename = 10, "rename": Some(Kind::Rename), on File, more_files None, comes_as [Rename];
    /// Write a new file and rename it over an existing file.
    Replace = 11, "replace": Some(Kind::Replace), on File, more_files None, comes_as [Replace];
    /// Deliver a new file as Maildir does: write it in `tmp`, rename it into `new`.
    Deliver = 12, "deliver": Some(Kind::Deliver), on File, more_files Some(true),
        comes_as [Deliver];
    /// Create an additional hard link to a file.
    Link = 13, "link": Some(Kind::Link), on File, more_files None, comes_as [Link, RemoveLink];
    /// Remove an additional hard link. Mixes perform this action if there are too many links.
    RemoveLink = 14, "remove-link": Some(Kind::Delete), on Link, more_files None, comes_as [Link,
        RemoveLink];
    /// Create a symbolic link to a file of the pool.
    SymbolicLink = 15, "symlink": Some(Kind::SymbolicLink), on File, more_files None,
        comes_as [SymbolicLink, RemoveSymbolicLink];
    /// Remove a symbolic link. Mixes perform this action if there are too many links.
    RemoveSymbolicLink = 16, "remove-symlink": Some(Kind::Delete), on SymbolicLink, more_files None,
        comes_as [SymbolicLink, RemoveSymbolicLink];
    /// Read the target path of a symbolic link (readlink(2)).
    ReadLink = 17, "readlink": Some(Kind::ReadLink), on SymbolicLink, more_files None,
        comes_as [ReadLink, SymbolicLink];
    /// Set an extended attribute of a file; an existing value is replaced.
    SetExtended = 18, "set-xattr": Some(Kind::SetExtended), on File, more_files None,
        comes_as [SetExtended];
    /// Read an extended attribute that an earlier operation has set.
    GetExtended = 19, "get-xattr": Some(Kind::GetExtended), on File, more_files None,
        comes_as [GetExtended, SetExtended];
    /// List all names in a directory.
    List = 20, "list": Some(Kind::List), on File, more_files None, comes_as [List];
    /// List a directory and request the attributes of each entry, as `ls -l` does.
    ListWithStat = 21, "list-stat": Some(Kind::ListWithStat), on File, more_files None,
        comes_as [ListWithStat];
    /// Create an empty directory, which `rmdir` may remove later.
    MakeDirectory = 22, "mkdir": Some(Kind::MakeDirectory), on Directory, more_files None,
        comes_as [MakeDirectory, RemoveDirectory];
    /// Remove an empty directory that `mkdir` has created.
    RemoveDirectory = 23, "rmdir": Some(Kind::RemoveDirectory), on Directory, more_files None,
        comes_as [MakeDirectory, RemoveDirectory];
    /// Request the attributes of a name that does not exist, in the directory of a file.
    StatMissing = 24, "stat-missing": Some(Kind::StatMissing), on File, more_files None,
        comes_as [StatMissing];
    /// Open a name that does not exist, in the directory of a file.
    OpenMissing = 25, "open-missing": Some(Kind::OpenMissing), on File, more_files None,
        comes_as [OpenMissing];
    /// Try to create a directory that `mkdir` has created, as `mkdir -p` does.
    MakeDirectoryExisting = 26, "mkdir-existing": Some(Kind::MakeDirectoryExisting), on Directory,
        more_files None, comes_as [MakeDirectoryExisting, MakeDirectory];
    /// Open a file and close it again.
    OpenClose = 27, "open-close": Some(Kind::OpenClose), on File, more_files None,
        comes_as [OpenClose];
    /// Read a whole file through a mapping into memory.
    ReadMapped = 28, "read-mmap": Some(Kind::ReadMapped), on File, more_files None,
        comes_as [ReadMapped];
    /// Lock a whole file exclusively and unlock it.
    Lock = 29, "lock": Some(Kind::Lock), on File, more_files None, comes_as [Lock];
    /// Create a new file as a copy of another file. The kernel copies the contents
    /// (copy_file_range).
    Copy = 30, "copy": Some(Kind::Copy), on File, more_files Some(true), comes_as [Copy];
    /// Create a new file that shares the blocks of another file (FICLONE).
    Clone = 31, "clone": Some(Kind::Clone), on File, more_files Some(true), comes_as [Clone];
    /// Truncate a file and write new contents to it.
    Rewrite = 32, "rewrite": Some(Kind::Rewrite), on File, more_files None, comes_as [Rewrite];
    /// Create a lock file beside a file, write 8 bytes to it and remove it.
    LockFile = 33, "lock-file": Some(Kind::LockFile), on Temporary, more_files None,
        comes_as [LockFile];
    /// Create a new file as `tar` and package managers do. Check that its name is free, try to
    /// create its directory, write its contents, and set its mode and times.
    Install = 34, "install": Some(Kind::Install), on File, more_files Some(true),
        comes_as [Install];
    /// Create a hard link to a file as package managers do. Check that the new name is free, try to
    /// create its directory, and create the link.
    InstallLink = 35, "install-link": Some(Kind::InstallLink), on File, more_files None,
        comes_as [InstallLink, RemoveLink];
    /// Like `install`, but the kernel copies the contents of an existing file (copy_file_range).
    InstallCopy = 36, "install-copy": Some(Kind::InstallCopy), on File, more_files Some(true),
        comes_as [InstallCopy];
    /// Like `install`, but the new file shares the blocks of an existing file (FICLONE).
    InstallClone = 37, "install-clone": Some(Kind::InstallClone), on File, more_files Some(true),
        comes_as [InstallClone];
    /// Copy a directory of the pool with its subdirectories and files, as `cp -r` does. The kernel
    /// copies the contents (copy_file_range).
    CopyTree = 38, "copy-tree": Some(Kind::CopyTree), on Tree, more_files None,
        comes_as [CopyTree, RemoveTree];
    /// Remove a directory that `copy-tree`, `clone-tree` or `link-tree` has created, with its
    /// subdirectories and files, as `rm -r` does.
    RemoveTree = 39, "remove-tree": Some(Kind::RemoveTree), on Tree, more_files None,
        comes_as [CopyTree, RemoveTree];
    /// Copy a directory of the pool with its subdirectories and files, as `cp -r --reflink` does:
    /// the new files share the blocks of the others (FICLONE).
    CloneTree = 40, "clone-tree": Some(Kind::CloneTree), on Tree, more_files None,
        comes_as [CloneTree, RemoveTree];
    /// Copy a directory of the pool as `cp -rl` does: the new directory and its subdirectories
    /// contain hard links to the files.
    LinkTree = 41, "link-tree": Some(Kind::LinkTree), on Tree, more_files None,
        comes_as [LinkTree, RemoveTree];
}

impl Action {
    /// The number of actions, including [`Nothing`](Self::Nothing).
    pub const COUNT: usize = Self::ALL.len();

    /// Iterates over the actions that perform operations, in the order of reports.
    pub fn operations() -> impl Iterator<Item = Self> + Clone {
        Self::ALL
            .iter()
            .copied()
            .filter(|action| *action != Self::Nothing)
    }

    /// Iterates over the actions that a mix can name, in the order of reports.
    pub fn asked_for() -> impl Iterator<Item = Self> + Clone {
        Self::operations().filter(|action| action.is_asked_for())
    }

    /// The names of all actions that a mix can name, separated by commas, for messages.
    pub fn words() -> String {
        let words: Vec<&str> = Self::asked_for().map(Self::name).collect();
        words.join(", ")
    }

    /// Returns the action with this name. `None` if the name is unknown or mixes cannot use it.
    pub fn of_mix(name: &str) -> Option<Self> {
        Self::asked_for().find(|action| action.name() == name)
    }

    /// Whether a mix can name the action. Mixes cannot name the removal of links, because a mix
    /// removes links by itself when there are too many.
    pub const fn is_asked_for(self) -> bool {
        !matches!(
            self,
            Self::Nothing | Self::RemoveLink | Self::RemoveSymbolicLink
        )
    }

    /// Whether the action changes nothing; readers of a shared pool perform only such actions.
    #[inline]
    pub const fn reads(self) -> bool {
        matches!(self.performs(), Some(kind) if !kind.changes())
    }

    /// Whether the action lists a directory, with or without the attributes of its entries.
    #[inline]
    pub const fn lists(self) -> bool {
        matches!(self, Self::List | Self::ListWithStat)
    }

    /// Whether the action creates a file with new contents, as `create` and `deliver` do.
    #[inline]
    pub const fn creates(self) -> bool {
        matches!(self.changes_count(), Some(true)) && !self.copies()
    }

    /// Whether the action creates a file with the contents of another file, as `copy` and `clone`
    /// do.
    #[inline]
    pub const fn copies(self) -> bool {
        matches!(
            self,
            Self::Copy | Self::Clone | Self::InstallCopy | Self::InstallClone
        )
    }

    /// Whether the action clones a file (FICLONE), which only some file systems support.
    pub const fn clones(self) -> bool {
        matches!(self, Self::Clone | Self::InstallClone | Self::CloneTree)
    }

    /// Whether the action creates a hard link.
    #[inline]
    pub const fn links(self) -> bool {
        matches!(self, Self::Link | Self::InstallLink)
    }

    /// Whether the action sets a file's mode and times.
    pub const fn sets_attributes(self) -> bool {
        matches!(
            self,
            Self::SetAttributes | Self::Install | Self::InstallCopy | Self::InstallClone
        )
    }

    /// Whether the action removes a name of a file, link, directory or tree.
    #[inline]
    pub const fn removes(self) -> bool {
        matches!(
            self.performs(),
            Some(Kind::Delete | Kind::RemoveDirectory | Kind::RemoveTree)
        )
    }

    /// Whether one operation of the action copies or removes all files of a directory.
    #[inline]
    pub const fn is_on_tree(self) -> bool {
        matches!(self.performs(), Some(kind) if kind.is_on_tree())
    }

    /// Whether one operation of the action creates a directory with copies of the files of another
    /// one, or with clones or hard links.
    #[inline]
    pub const fn makes_tree(self) -> bool {
        matches!(self.performs(), Some(kind) if kind.makes_tree())
    }

    /// Whether the action reads contents of files, as `read` and `read-range` do.
    #[inline]
    pub const fn moves_bytes_in(self) -> bool {
        matches!(self.performs(), Some(kind) if matches!(kind.bytes(), Bytes::Read))
    }

    /// Whether the action's number of bytes is the new size of a file, not an amount of contents
    /// that the worker reads or writes.
    #[inline]
    pub const fn sets_size(self) -> bool {
        matches!(self, Self::Truncate | Self::CopyTree | Self::CloneTree) || self.copies()
    }

    /// Whether the action writes contents to files, as `create` and `append` do.
    #[inline]
    pub const fn moves_bytes_out(self) -> bool {
        matches!(self.performs(), Some(kind) if matches!(kind.bytes(), Bytes::Written))
    }
}
