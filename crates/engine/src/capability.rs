//! The capabilities of engines, and the direction in which operations move bytes.

/// Declares enums whose values have names in the tables of the documentation.
macro_rules! words {
    ($($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ })+) => {
        $($(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All values, in declaration order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The name in tables of the documentation.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        })+
    };
}

words! {
    /// A group of operations that an engine supports completely or not at all.
    Capability {
        /// Creating files with their contents, and reading whole files.
        Contents = "contents",
        /// Operations that write at the end of a file (append).
        Appends = "appends",
        /// Reading ranges of contents, and overwriting whole contents.
        Ranges = "ranges",
        /// Setting the sizes of files.
        Sizes = "sizes",
        /// Names of files and directories, including stat and listings.
        Names = "names",
        /// Writing new contents to a temporary file, and renaming it to its final name (replace,
        /// deliver).
        Replacement = "replacement",
        /// Setting permissions and times.
        Attributes = "attributes",
        /// Hard links and symbolic links.
        Links = "links",
        /// Setting and reading extended attributes.
        ExtendedAttributes = "extended attributes",
        /// Open files: opening without reading, mapping into memory, and locks.
        Descriptors = "open files",
        /// Copies and clones of files, without moving their contents to the worker.
        Copies = "copies",
        /// Copying and removing a directory with its subdirectories and files.
        Trees = "trees",
        /// Eviction of contents from a page cache.
        Cache = "cache",
    }

    /// The direction in which an operation moves bytes.
    Bytes {
        /// No contents, as in a rename or a truncation.
        None = "none",
        /// From files to the worker, as in a read.
        Read = "read",
        /// From the worker to files, as in a creation or an append.
        Written = "written",
    }
}
