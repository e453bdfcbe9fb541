//! What a trace contains and a profile cannot represent.

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)+) => {
        /// What a trace contains and a profile cannot represent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$doc])* $variant,)+
        }

        impl Reason {
            /// A noun phrase for reports.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

reasons! {
    Outside = "operations on files outside of the directory",
    MappedWrites = "writes through mappings",
    SharedOffsets = "descriptors that several processes used, with a common offset",
    Inside = "writes inside a file (the model overwrites from the start)",
    Failed = "calls that failed",
    Unnamed = "temporary files without a name",
    Special = "devices, sockets and pipes that were created",
    Uring = "calls of io_uring, whose requests strace does not show",
    Roots = "calls that change the root or the namespaces of a process",
    DirectoryNames = "renamings of directories beyond the first 32,768",
    UnknownDirectory = "operations relative to an unknown directory",
    Incomplete = "lines that are not complete calls",
    LongLines = "lines longer than 64 KiB",
    Threads = "lines of threads beyond the first 65,536",
    Descriptors = "descriptors beyond the limits",
    Files = "operations on files beyond the first 4,194,304",
    Packets = "packets of an unknown form",
    Lost = "gaps in connections, where packets were lost",
    Connections = "packets of connections beyond the first 4,096",
    Unanswered = "requests without a reply",
    Versions = "calls of another version or program than NFS version 3",
}
