//! What an engine has or lacks, and which way bytes go.

/// Declares words of tables: an enum with all its values and their names.
macro_rules! words {
    ($($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ })+) => {
        $($(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All there are.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The name in tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        })+
    };
}

words! {
    /// What an engine has or lacks: the operations that need one of these come and go together.
    Capability {
        /// Whole contents, from a file's start to its end or behind it.
        Contents = "contents",
        /// Parts of contents, and sizes.
        Ranges = "ranges",
        /// Names of files and directories, and what is behind them.
        Names = "names",
        /// Contents that take a name over when they are whole.
        Replacement = "replacement",
        /// Permissions and times.
        Attributes = "attributes",
        /// Further names of a file, and symbolic links.
        Links = "links",
        /// Extended attributes.
        ExtendedAttributes = "extended attributes",
        /// A cache that contents can be taken out of.
        Cache = "cache",
    }

    /// Which way an operation's bytes go.
    Bytes {
        /// It moves none.
        None = "none",
        /// Out of files.
        Read = "read",
        /// Into files.
        Written = "written",
    }
}
