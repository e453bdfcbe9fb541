//! The reasons why operations of a stream are skipped.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Defines every reason once: its variant in `SkipReason`, its field in `Skipped`, and its text in
/// reports.
macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident $field:ident $text:literal,)*) => {
        /// Why a worker did not perform an operation that the workload requests.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize,
            JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum SkipReason {
            $($(#[$doc])* $variant,)*
        }

        impl SkipReason {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the text for reports, which follows the word "skipped".
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        /// The number of skipped operations for each reason.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct Skipped {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Skipped {
            pub const fn get(&self, reason: SkipReason) -> u64 {
                match reason {
                    $(SkipReason::$variant => self.$field,)*
                }
            }

            pub const fn get_mut(&mut self, reason: SkipReason) -> &mut u64 {
                match reason {
                    $(SkipReason::$variant => &mut self.$field,)*
                }
            }
        }
    };
}

reasons! {
    /// The file has its maximum size, and the operation would enlarge it.
    AtMaximumSize at_maximum_size "file at maximum size",
    /// The file is empty, and the operation requires existing bytes.
    EmptyFile empty_file "empty file",
    /// The pool contains no file that the operation could use.
    PoolEmpty pool_empty "pool empty",
    /// The directory has its maximum number of entries.
    DirectoryFull directory_full "directory full",
    /// The classic workload's table of files is full.
    TableFull table_full "table of files full",
    /// The file has no extended attribute to read, and the worker only reads.
    NoAttribute no_attribute "no extended attribute yet",
    /// An earlier operation on the same file failed, so its contents are not known.
    AfterFailure after_failure "file unusable after a failure",
}

impl Skipped {
    pub fn total(&self) -> u64 {
        self.counts()
            .fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Returns the reasons with at least one skipped operation, and their counts.
    pub fn counts(&self) -> impl Iterator<Item = (SkipReason, u64)> + use<'_> {
        let all = SkipReason::ALL.iter();
        all.map(|reason| (*reason, self.get(*reason)))
            .filter(|(_, count)| *count > 0)
    }

    pub fn merge(&mut self, other: &Self) {
        for (reason, count) in other.counts() {
            let sum = self.get_mut(reason);
            *sum = sum.saturating_add(count);
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
