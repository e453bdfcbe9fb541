//! How a replay differs from its trace.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! differences {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $left_out:literal;)+) => {
        /// What a replay performs in another way than the trace, or leaves out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Difference {
            $($(#[$doc])* $variant,)+
        }

        impl Difference {
            /// A noun phrase for reports.
            const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            const fn is_left_out(self) -> bool {
                match self {
                    $(Self::$variant => $left_out,)+
                }
            }
        }
    };
}

differences! {
    Deep = "operations below 64 levels of directories (performed in a higher one)", false;
    RenamedOver = "renamings over an existing file (performed as removal and renaming)", false;
    OnDirectories =
        "openings and attributes of directories and links (performed on a file)", false;
    RenamedOther = "renamings of directories and symbolic links (performed on a file)", false;
    Shortened = "reads of bytes that the replayed file does not have (shortened)", false;
    TooLarge = "sizes above the limit (reduced)", false;
    NoAttribute = "extended attributes that were read before they were set (set)", false;
    NoBytes = "writes of no bytes (performed as opening and closing)", false;
    Enlarged = "truncations that enlarge a file", true;
    Trees = "copies and removals of trees", true;
}

/// One way in which a replay differs from its trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deviation {
    /// What differs, as a noun phrase.
    pub what: String,
    /// The number of operations, calls or lines.
    pub count: u64,
    /// Whether they are left out. Otherwise they are performed in another way.
    pub is_left_out: bool,
}

/// Counts the differences between a replay and its trace.
#[derive(Clone, Debug, Default)]
pub struct Differences(BTreeMap<Difference, u64>);

impl Differences {
    pub fn add(&mut self, difference: Difference) {
        *self.0.entry(difference).or_default() += 1;
    }

    pub fn deviations(&self) -> Vec<Deviation> {
        let each = self.0.iter().map(|(difference, count)| Deviation {
            what: difference.text().to_owned(),
            count: *count,
            is_left_out: difference.is_left_out(),
        });
        each.collect()
    }
}
