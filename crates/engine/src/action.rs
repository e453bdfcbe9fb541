//! What a workload asks for, in a mix's words: each action with the operation that it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Bytes;
use crate::operation::OperationKind;

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameKind {
    /// A file of the pool.
    File,
    /// A file that is yet to get its name.
    Temporary,
    /// A further name of a file.
    Link,
    /// A symbolic link.
    SymbolicLink,
    /// A directory.
    Directory,
}

impl NameKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::File,
        Self::Temporary,
        Self::Link,
        Self::SymbolicLink,
        Self::Directory,
    ];
}

/// Declares [`Action`] with what is known of each.
macro_rules! actions {
    ($(
        $(#[$doc:meta])* $variant:ident = $number:literal, $text:literal:
        $performs:expr, on $named:ident, more_files $more:expr, comes_as [$($as:ident),*];
    )+) => {
        /// What is to be done. The numbers go into fingerprints: they stay for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            JsonSchema)]
        #[repr(u8)]
        pub enum Action {
            $($(#[$doc])* #[serde(rename = $text)] $variant = $number,)+
        }

        impl Action {
            /// All of them, each at its own number.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The action's name in options and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The operation that it is.
            #[inline]
            pub const fn performs(self) -> Option<OperationKind> {
                match self {
                    $(Self::$variant => $performs,)+
                }
            }

            /// Which kind of name it is done to.
            #[inline]
            pub const fn named(self) -> NameKind {
                match self {
                    $(Self::$variant => NameKind::$named,)+
                }
            }

            /// Whether it makes a file more (`true`) or a file less.
            #[inline]
            pub const fn changes_count(self) -> Option<bool> {
                match self {
                    $(Self::$variant => $more,)+
                }
            }

            /// What is done where a mix asks for it: itself, or what stands in for it or keeps its
            /// numbers down.
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
    /// Make a file that is not there and write its first contents.
    Create = 0, "create": Some(Kind::Create), on File, more_files Some(true), comes_as [Create];
    /// Read the whole of a file.
    Read = 1, "read": Some(Kind::Read), on File, more_files None, comes_as [Read];
    /// Write behind the end of a file.
    Append = 2, "append": Some(Kind::Append), on File, more_files None, comes_as [Append];
    /// Remove a file's name.
    Delete = 3, "delete": Some(Kind::Delete), on File, more_files Some(false), comes_as [Delete];
    /// No operation: an edition's rules leave this half of a transaction without one (the table of
    /// files is full, or the file has its greatest size already), or a mix has nothing to do it
    /// with.
    Nothing = 4, "nothing": None, on File, more_files None, comes_as [];
    /// Read a stretch of a file.
    ReadRange = 5, "read-range": Some(Kind::ReadRange), on File, more_files None,
        comes_as [ReadRange];
    /// Write all of a file's bytes anew, in place.
    Overwrite = 6, "overwrite": Some(Kind::Overwrite), on File, more_files None,
        comes_as [Overwrite];
    /// Cut a file off.
    Truncate = 7, "truncate": Some(Kind::Truncate), on File, more_files None, comes_as [Truncate];
    /// Ask for a file's attributes.
    Stat = 8, "stat": Some(Kind::Stat), on File, more_files None, comes_as [Stat];
    /// Set a file's mode and times.
    SetAttributes = 9, "set-attributes": Some(Kind::SetAttributes), on File, more_files None,
        comes_as [SetAttributes];
    /// Give a file another name.
    Rename = 10, "rename": Some(Kind::Rename), on File, more_files None, comes_as [Rename];
    /// Write a new file and rename it over an old one.
    Replace = 11, "replace": Some(Kind::Replace), on File, more_files None, comes_as [Replace];
    /// Deliver a new file the Maildir way: write it in `tmp`, rename it into `new`.
    Deliver = 12, "deliver": Some(Kind::Deliver), on File, more_files Some(true),
        comes_as [Deliver];
    /// Give a file a second name.
    Link = 13, "link": Some(Kind::Link), on File, more_files None, comes_as [Link, RemoveLink];
    /// Remove a second name.
    RemoveLink = 14, "remove-link": Some(Kind::Delete), on Link, more_files None, comes_as [Link,
        RemoveLink];
    /// Make a symbolic link to a file.
    SymbolicLink = 15, "symlink": Some(Kind::SymbolicLink), on File, more_files None,
        comes_as [SymbolicLink, RemoveSymbolicLink];
    /// Remove a symbolic link.
    RemoveSymbolicLink = 16, "remove-symlink": Some(Kind::Delete), on SymbolicLink, more_files None,
        comes_as [SymbolicLink, RemoveSymbolicLink];
    /// Read a symbolic link.
    ReadLink = 17, "readlink": Some(Kind::ReadLink), on SymbolicLink, more_files None,
        comes_as [ReadLink, SymbolicLink];
    /// Set an extended attribute.
    SetExtended = 18, "set-xattr": Some(Kind::SetExtended), on File, more_files None,
        comes_as [SetExtended];
    /// Get an extended attribute.
    GetExtended = 19, "get-xattr": Some(Kind::GetExtended), on File, more_files None,
        comes_as [GetExtended, SetExtended];
    /// List a directory.
    List = 20, "list": Some(Kind::List), on File, more_files None, comes_as [List];
    /// List a directory and ask for the attributes of each entry.
    ListWithStat = 21, "list-stat": Some(Kind::ListWithStat), on File, more_files None,
        comes_as [ListWithStat];
    /// Make a directory.
    MakeDirectory = 22, "mkdir": Some(Kind::MakeDirectory), on Directory, more_files None,
        comes_as [MakeDirectory, RemoveDirectory];
    /// Remove a directory.
    RemoveDirectory = 23, "rmdir": Some(Kind::RemoveDirectory), on Directory, more_files None,
        comes_as [MakeDirectory, RemoveDirectory];
}

impl Action {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The actions that become operations, in the order of reports.
    pub fn operations() -> impl Iterator<Item = Self> + Clone {
        Self::ALL
            .iter()
            .copied()
            .filter(|action| *action != Self::Nothing)
    }

    /// The actions that a mix can ask for, in the order of reports.
    pub fn asked_for() -> impl Iterator<Item = Self> + Clone {
        Self::operations().filter(|action| action.is_asked_for())
    }

    /// The words of all operations that a mix can have.
    pub fn words() -> String {
        let words: Vec<&str> = Self::asked_for().map(Self::name).collect();
        words.join(", ")
    }

    /// The action of this name that a mix can ask for.
    pub fn of_mix(name: &str) -> Option<Self> {
        Self::asked_for().find(|action| action.name() == name)
    }

    /// Whether a mix can ask for it: those that remove links are done where there are enough links.
    pub const fn is_asked_for(self) -> bool {
        !matches!(
            self,
            Self::Nothing | Self::RemoveLink | Self::RemoveSymbolicLink
        )
    }

    /// Whether it only looks: what a reader of a shared pool does.
    #[inline]
    pub const fn reads(self) -> bool {
        matches!(self.performs(), Some(kind) if !kind.changes())
    }

    /// Whether it lists a directory.
    #[inline]
    pub const fn lists(self) -> bool {
        matches!(self.performs(), Some(Kind::List | Kind::ListWithStat))
    }

    /// Whether it removes a name.
    #[inline]
    pub const fn removes(self) -> bool {
        matches!(self.performs(), Some(Kind::Delete | Kind::RemoveDirectory))
    }

    /// Whether its bytes come out of files.
    #[inline]
    pub const fn moves_bytes_in(self) -> bool {
        matches!(self.performs(), Some(kind) if matches!(kind.bytes(), Bytes::Read))
    }

    /// Whether its bytes go into files.
    #[inline]
    pub const fn moves_bytes_out(self) -> bool {
        matches!(self.performs(), Some(kind) if matches!(kind.bytes(), Bytes::Written))
    }
}
