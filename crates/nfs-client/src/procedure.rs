//! The procedures that are called, of three programs: the portmapper (RFC 1833, version 2), MOUNT
//! and NFS (RFC 1813).

/// A program, in the only version of it that is spoken here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Which finds the ports of the others.
    Portmapper,
    /// Which gives the handles of exported directories.
    Mount,
    /// The file service.
    Nfs,
}

impl Program {
    /// Its number.
    pub const fn number(self) -> u32 {
        match self {
            Self::Portmapper => 100_000,
            Self::Mount => 100_005,
            Self::Nfs => 100_003,
        }
    }

    /// Its version.
    pub const fn version(self) -> u32 {
        match self {
            Self::Portmapper => 2,
            Self::Mount | Self::Nfs => 3,
        }
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portmapper => "the portmapper",
            Self::Mount => "MOUNT version 3",
            Self::Nfs => "NFS version 3",
        }
    }
}

macro_rules! procedures {
    ($($variant:ident = $program:ident $number:literal $name:literal,)+) => {
        /// A procedure, whatever its program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Procedure {
            $(#[doc = $name] $variant,)+
        }

        impl Procedure {
            /// All there are, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its number in its program.
            #[inline]
            pub const fn number(self) -> u32 {
                match self {
                    $(Self::$variant => $number,)+
                }
            }

            /// Its name in the protocol.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The program that has it.
            pub const fn program(self) -> Program {
                match self {
                    $(Self::$variant => Program::$program,)+
                }
            }
        }
    };
}

procedures! {
    GetAttributes = Nfs 1 "GETATTR",
    SetAttributes = Nfs 2 "SETATTR",
    Lookup = Nfs 3 "LOOKUP",
    ReadLink = Nfs 5 "READLINK",
    Read = Nfs 6 "READ",
    Write = Nfs 7 "WRITE",
    Create = Nfs 8 "CREATE",
    MakeDirectory = Nfs 9 "MKDIR",
    SymbolicLink = Nfs 10 "SYMLINK",
    Remove = Nfs 12 "REMOVE",
    RemoveDirectory = Nfs 13 "RMDIR",
    Rename = Nfs 14 "RENAME",
    Link = Nfs 15 "LINK",
    ReadDirectory = Nfs 16 "READDIR",
    ReadDirectoryPlus = Nfs 17 "READDIRPLUS",
    FileSystemStatus = Nfs 18 "FSSTAT",
    FileSystemInformation = Nfs 19 "FSINFO",
    Commit = Nfs 21 "COMMIT",
    Mount = Mount 1 "MNT",
    GetPort = Portmapper 3 "GETPORT",
}

impl Procedure {
    /// Whether a second performance can be answered otherwise than the first one was: then a reply
    /// to a repeated call may not say what became of the first.
    #[inline]
    pub const fn differs_repeated(self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::MakeDirectory
                | Self::SymbolicLink
                | Self::Remove
                | Self::RemoveDirectory
                | Self::Rename
                | Self::Link
        )
    }
}
