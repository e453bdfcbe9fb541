//! The two editions of the original PostMark, described as parameters of one common algorithm.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::generator::GeneratorKind;

/// An edition: the versions of the original PostMark that perform the same operations for the same
/// configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Edition {
    /// Versions 1.00 to 1.14 (1997 to 2000), reconstructed from published results.
    #[serde(rename = "1.0")]
    V1_0,
    /// Versions 1.5 to 1.53 (2001), the edition that Debian packages.
    #[default]
    #[serde(rename = "1.5")]
    V1_5,
}

/// How the subdirectory of a file is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubdirectoryChoice {
    /// The file's running number modulo the number of subdirectories, without a random number.
    RunningNumber,
    /// A random number, drawn for each file.
    Drawn,
}

/// The differences between the algorithms of the editions. The wording and layout of the editions'
/// reports belong to the crate `report`.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub generator: GeneratorKind,
    pub subdirectory_choice: SubdirectoryChoice,
    /// Number of bytes in a megabyte of the edition's reports.
    pub megabyte_bytes: u32,
    /// Whether the edition sums the bytes in its reports as integers. Otherwise it sums them as
    /// 32-bit floats, which lose digits above 2^24 bytes.
    pub whole_sums: bool,
    /// Whether the pool can be spread over several targets with weights.
    pub several_locations: bool,
}

impl Edition {
    pub const ALL: [Self; 2] = [Self::V1_0, Self::V1_5];

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

    /// Returns the edition's name in options: `1.0` or `1.5`.
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

/// The error for an edition's name that is not `1.0` or `1.5`.
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
