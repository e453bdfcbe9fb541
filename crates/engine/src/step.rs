//! The steps that operations are made of.

use std::fmt;

use crate::Ticket;

/// Declares [`Step`] with the steps' names.
macro_rules! steps {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// A part of an operation that ends at a moment of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Step {
            $($(#[$doc])* $variant,)+
            /// A call of the engine's own, by its name in the engine's protocol. It ends with its
            /// reply.
            Call(&'static str),
        }

        impl Step {
            /// All but the engines' own calls, in their order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The step's name in reports.
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
    /// The directory is read to its end, and of every entry it is known what it is where that was
    /// asked for.
    List = "list",
    /// The contents are out of the page cache.
    Evict = "evict",
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where an operation makes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// Where the policy of durability asks for it.
    Synced,
    /// Where what is read is kept, to be looked at.
    Kept,
}

/// A step of an operation, as the list of operations has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which step.
    pub step: Step,
    /// Where it is made.
    pub when: When,
    /// What is to be known of it here, in Markdown; empty where its name says all.
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

/// Told of every step as it ends.
pub trait Steps {
    /// The steps that follow are of this operation, which is in flight. A synchronous session need
    /// not say so.
    fn of(&mut self, ticket: Ticket);

    /// A step has ended well.
    fn ended(&mut self, step: Step);
}

/// Nobody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSteps;

impl Steps for NoSteps {
    #[inline]
    fn of(&mut self, _: Ticket) {}

    #[inline]
    fn ended(&mut self, _: Step) {}
}
