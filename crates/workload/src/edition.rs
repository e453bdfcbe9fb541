//! The two editions of the original program, as data: one algorithm runs both.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::generator::GeneratorKind;

/// An edition of the original PostMark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Edition {
    /// Versions 1.00 to 1.14 (1997 to 2000), as its published numbers show it.
    #[serde(rename = "1.0")]
    V1_0,
    /// Versions 1.5 to 1.53 (2001), as Debian packages it.
    #[default]
    #[serde(rename = "1.5")]
    V1_5,
}

/// How a file finds its subdirectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubdirectoryChoice {
    /// The file's running number modulo the count of subdirectories; nothing is drawn.
    RunningNumber,
    /// One draw a file.
    Drawn,
}

/// What differs between the editions in what they do. Wording and layout belong to the reports.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The sequence that every choice is drawn from.
    pub generator: GeneratorKind,
    /// How a file finds its subdirectory.
    pub subdirectory_choice: SubdirectoryChoice,
    /// Bytes in what the edition's reports call a megabyte.
    pub megabyte_bytes: u32,
    /// Whether its reports add bytes up in whole numbers; else in 32-bit floats, which lose digits
    /// from 2^24 bytes on.
    pub whole_sums: bool,
    /// Whether the pool can be spread over several weighted locations.
    pub several_locations: bool,
}

impl Edition {
    /// Both, oldest first.
    pub const ALL: [Self; 2] = [Self::V1_0, Self::V1_5];

    /// What this edition does.
    pub const fn rules(self) -> &'static Rules {
        match self {
            Self::V1_0 => &Rules {
                generator: GeneratorKind::IsoC,
                subdirectory_choice: SubdirectoryChoice::RunningNumber,
                megabyte_bytes: 1000 * 1024,
                whole_sums: true,
                several_locations: false,
            },
            Self::V1_5 => &Rules {
                generator: GeneratorKind::Mt19937,
                subdirectory_choice: SubdirectoryChoice::Drawn,
                megabyte_bytes: 1024 * 1024,
                whole_sums: false,
                several_locations: true,
            },
        }
    }

    /// The edition's name as options take it: `1.0` or `1.5`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V1_5 => "1.5",
        }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The word given for an edition is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected edition 1.0 (versions 1.00 to 1.14) or 1.5 (versions 1.5 to 1.53)")]
pub struct UnknownEdition;

impl FromStr for Edition {
    type Err = UnknownEdition;

    fn from_str(word: &str) -> Result<Self, UnknownEdition> {
        Self::ALL
            .into_iter()
            .find(|edition| edition.name() == word)
            .ok_or(UnknownEdition)
    }
}
