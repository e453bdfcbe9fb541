//! The words in which a worker's work is spoken of: an intent, the phase it belongs to, the stream it comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::NameKind;

/// A part of a run, timed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The initial pool is created.
    Prepare,
    /// The pool churns.
    Transactions,
    /// What is left of the pool is deleted.
    Delete,
}

impl Phase {
    /// All phases, in the order of a run.
    pub const ALL: [Self; 3] = [Self::Prepare, Self::Transactions, Self::Delete];

    /// The phase's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Transactions => "transactions",
            Self::Delete => "delete",
        }
    }
}

/// Declares [`Action`] with what is known of each.
macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        /// What is to be done. The numbers go into fingerprints: they stay for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[repr(u8)]
        pub enum Action {
            $($(#[$doc])* #[serde(rename = $text)] $name = $number,)*
        }

        impl Action {
            /// All of them, each at its own number.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The action's name in options and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

actions! {
    /// Make a file that is not there and write its first contents.
    Create = 0, "create";
    /// Read the whole of a file.
    Read = 1, "read";
    /// Write behind the end of a file.
    Append = 2, "append";
    /// Remove a file's name.
    Delete = 3, "delete";
    /// No operation: an edition's rules leave this half of a transaction without one (the table of files is
    /// full, or the file has its greatest size already), or a mix has nothing to do it with.
    Nothing = 4, "nothing";
    /// Read a stretch of a file.
    ReadRange = 5, "read-range";
    /// Write all of a file's bytes anew, in place.
    Overwrite = 6, "overwrite";
    /// Cut a file off.
    Truncate = 7, "truncate";
    /// Ask for a file's attributes.
    Stat = 8, "stat";
    /// Set a file's mode and times.
    SetAttributes = 9, "set-attributes";
    /// Give a file another name.
    Rename = 10, "rename";
    /// Write a new file and rename it over an old one.
    Replace = 11, "replace";
    /// Deliver a new file the Maildir way: write it in `tmp`, rename it into `new`.
    Deliver = 12, "deliver";
    /// Give a file a second name.
    Link = 13, "link";
    /// Remove a second name.
    RemoveLink = 14, "remove-link";
    /// Make a symbolic link to a file.
    SymbolicLink = 15, "symlink";
    /// Remove a symbolic link.
    RemoveSymbolicLink = 16, "remove-symlink";
    /// Read a symbolic link.
    ReadLink = 17, "readlink";
    /// Set an extended attribute.
    SetExtended = 18, "set-xattr";
    /// Get an extended attribute.
    GetExtended = 19, "get-xattr";
    /// List a directory.
    List = 20, "list";
    /// List a directory and ask for the attributes of each entry.
    ListWithStat = 21, "list-stat";
    /// Make a directory.
    MakeDirectory = 22, "mkdir";
    /// Remove a directory.
    RemoveDirectory = 23, "rmdir";
}

impl Action {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The actions that become operations, in the order of reports.
    pub fn operations() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(|action| *action != Self::Nothing)
    }

    /// Whether it only looks: what a reader of a shared pool does.
    pub const fn reads(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::ReadRange
                | Self::Stat
                | Self::ReadLink
                | Self::GetExtended
                | Self::List
                | Self::ListWithStat
        )
    }

    /// Whether it makes a file more (`true`) or a file less.
    pub const fn changes_count(self) -> Option<bool> {
        match self {
            Self::Create | Self::Deliver => Some(true),
            Self::Delete => Some(false),
            _ => None,
        }
    }

    /// Whether it lists a directory.
    pub const fn lists(self) -> bool {
        matches!(self, Self::List | Self::ListWithStat)
    }

    /// Whether it removes a name.
    pub const fn removes(self) -> bool {
        matches!(
            self,
            Self::Delete | Self::RemoveLink | Self::RemoveSymbolicLink | Self::RemoveDirectory
        )
    }

    /// Whether its bytes come out of files.
    pub const fn moves_bytes_in(self) -> bool {
        matches!(self, Self::Read | Self::ReadRange)
    }

    /// Whether its bytes go into files.
    pub const fn moves_bytes_out(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Append | Self::Overwrite | Self::Replace | Self::Deliver
        )
    }

    /// Whether a mix can ask for it: those that remove links are done where there are enough links.
    pub const fn is_asked_for(self) -> bool {
        !matches!(self, Self::Nothing | Self::RemoveLink | Self::RemoveSymbolicLink)
    }

    /// What is done where a mix asks for it: itself, or what stands in for it or keeps its numbers down.
    pub const fn comes_as(self) -> &'static [Self] {
        match self {
            Self::Nothing => &[],
            Self::Create => &[Self::Create],
            Self::Read => &[Self::Read],
            Self::Append => &[Self::Append],
            Self::Delete => &[Self::Delete],
            Self::ReadRange => &[Self::ReadRange],
            Self::Overwrite => &[Self::Overwrite],
            Self::Truncate => &[Self::Truncate],
            Self::Stat => &[Self::Stat],
            Self::SetAttributes => &[Self::SetAttributes],
            Self::Rename => &[Self::Rename],
            Self::Replace => &[Self::Replace],
            Self::Deliver => &[Self::Deliver],
            Self::Link | Self::RemoveLink => &[Self::Link, Self::RemoveLink],
            Self::SymbolicLink | Self::RemoveSymbolicLink => &[Self::SymbolicLink, Self::RemoveSymbolicLink],
            Self::ReadLink => &[Self::ReadLink, Self::SymbolicLink],
            Self::SetExtended => &[Self::SetExtended],
            Self::GetExtended => &[Self::GetExtended, Self::SetExtended],
            Self::List => &[Self::List],
            Self::ListWithStat => &[Self::ListWithStat],
            Self::MakeDirectory | Self::RemoveDirectory => &[Self::MakeDirectory, Self::RemoveDirectory],
        }
    }

    /// Which kind of name [`Intent::number`] is.
    pub const fn named(self) -> NameKind {
        match self {
            Self::RemoveLink => NameKind::Link,
            Self::RemoveSymbolicLink | Self::ReadLink => NameKind::SymbolicLink,
            Self::MakeDirectory | Self::RemoveDirectory => NameKind::Directory,
            _ => NameKind::File,
        }
    }
}

/// One thing that a worker is to do, resolved against the pool as it will then be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// What is to be done.
    pub action: Action,
    /// Whether a transaction ends with this intent.
    pub ends_transaction: bool,
    /// Where the file lies: location times places of a location plus place, each from 0.
    pub place: u32,
    /// The running number in the file's name, from 1.
    pub number: u64,
    /// Bytes that the operation reads or writes, or a file is cut off to; 0 where it does none of these.
    pub bytes: u64,
    /// The file's size before the operation, in bytes; 0 for a creation.
    pub size_bytes: u64,
    /// Where in the file the bytes begin.
    pub offset_bytes: u64,
    /// The running number of a new name, or of the file behind a symbolic link.
    pub other: u64,
    /// Which file it is, whatever its name: contents are a function of this, the version and the offset.
    pub file: u64,
    /// The version of the contents that are read or written.
    pub version: u32,
    /// Time that passes before the operation is issued, in nanoseconds.
    pub think_ns: u64,
}

impl Intent {
    /// No operation.
    pub const NOTHING: Self = Self {
        action: Action::Nothing,
        ends_transaction: false,
        place: 0,
        number: 0,
        bytes: 0,
        size_bytes: 0,
        offset_bytes: 0,
        other: 0,
        file: 0,
        version: 0,
        think_ns: 0,
    };
}

/// Something that lies in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What it is.
    pub kind: NameKind,
    /// Where.
    pub place: u32,
    /// The running number in its name.
    pub number: u64,
    /// A file's size; 0 for all else.
    pub size_bytes: u64,
    /// Which file it is; the number in the name of the file behind a symbolic link.
    pub file: u64,
    /// The version of a file's contents.
    pub version: u32,
}

/// Why the transactions of a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// All that were asked for are done.
    Complete,
    /// Every file was deleted before that.
    OutOfFiles,
    /// No file is left that the edition's generator can reach: the original would search for ever.
    OutOfReach,
}

/// What one worker intends, in order.
///
/// A phase's intents are taken with [`next`](Stream::next) until it gives `None`; phases come in the order of
/// [`Phase::ALL`].
pub trait Stream {
    /// The next intent of `phase`, or `None` at its end.
    fn next(&mut self, phase: Phase) -> Option<Intent>;

    /// How many files (in `Prepare` and `Delete`) or transactions a phase still has, unless it ends early.
    fn remaining(&self, phase: Phase) -> u64;

    /// Why the transactions ended; meaningful after their last intent.
    fn end(&self) -> End;

    /// Transactions that have begun.
    fn transactions_begun(&self) -> u64;

    /// Everything that the pool holds after the intents given so far.
    fn pool(&self, each: &mut dyn FnMut(Kept));
}

impl<T: Stream + ?Sized> Stream for Box<T> {
    fn next(&mut self, phase: Phase) -> Option<Intent> {
        (**self).next(phase)
    }

    fn remaining(&self, phase: Phase) -> u64 {
        (**self).remaining(phase)
    }

    fn end(&self) -> End {
        (**self).end()
    }

    fn transactions_begun(&self) -> u64 {
        (**self).transactions_begun()
    }

    fn pool(&self, each: &mut dyn FnMut(Kept)) {
        (**self).pool(each);
    }
}
