//! The procedures of three programs that the client calls: the portmapper (RFC 1833, version 2),
//! MOUNT and NFS (RFC 1813).

/// An RPC program, in the only version that the client supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The service that returns the ports of other services.
    Portmapper,
    /// The service that returns the handles of exported directories.
    Mount,
    /// The file service of NFS.
    Nfs,
}

impl Program {
    /// The program's number in RPC.
    pub const fn number(self) -> u32 {
        match self {
            Self::Portmapper => 100_000,
            Self::Mount => 100_005,
            Self::Nfs => 100_003,
        }
    }

    /// The version that the client calls.
    pub const fn version(self) -> u32 {
        match self {
            Self::Portmapper => 2,
            Self::Mount | Self::Nfs => 3,
        }
    }

    /// The program's name in messages, such as `NFS version 3`.
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
        /// A procedure of the portmapper, MOUNT or NFS that the client can call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Procedure {
            $(#[doc = $name] $variant,)+
        }

        impl Procedure {
            /// All procedures, in declaration order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The procedure's number in its program.
            #[inline]
            pub const fn number(self) -> u32 {
                match self {
                    $(Self::$variant => $number,)+
                }
            }

            /// The procedure's name in the protocol, such as `READDIRPLUS`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The program that provides the procedure: NFS, MOUNT or the portmapper.
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
    /// Whether the procedure is not idempotent: a repeated call may return another result than the
    /// first call. The reply to a repeated call may then not show whether the first call was
    /// executed.
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
