//! Kinds of file contents: their parameters, their text form and their limits.

use std::fmt;
use std::str::FromStr;

use crate::WorkloadError;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest compression ratio and deduplication ratio.
pub const RATIO_MAX: f64 = 100.0;

/// The kind of bytes in files. Serialised as its text form, such as `compressible:3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(text|incompressible|compressible:.+)$"))]
pub enum ContentKind {
    /// Printable characters, identical in every file, as in the original PostMark.
    #[default]
    Text,
    Incompressible,
    /// Each block begins with random bytes and ends with spaces.
    Compressible {
        /// The size of a block divided by its number of random bytes.
        ratio: f64,
    },
}

/// The contents of files: their kind and how often blocks repeat.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ContentSpec {
    /// `text`, `incompressible` or `compressible:RATIO`.
    pub kind: ContentKind,
    /// The deduplication ratio: the number of all blocks divided by the number of different blocks;
    /// 1 if no block repeats.
    pub dedup: f64,
}

impl Default for ContentSpec {
    fn default() -> Self {
        Self {
            kind: ContentKind::default(),
            dedup: 1.0,
        }
    }
}

impl ContentSpec {
    /// Checks that the compression ratio and the deduplication ratio are in range, and that text
    /// contents have no deduplication ratio.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        let dedup = self.dedup;
        match self.kind {
            ContentKind::Compressible { ratio } if !(1.0..=RATIO_MAX).contains(&ratio) => {
                return Err(invalid_ratio(&ratio));
            }
            ContentKind::Text if dedup > 1.0 => {
                return Err(invalid!(
                    "a deduplication ratio of {dedup} cannot be used with text contents (use \
                     incompressible or compressible:RATIO)"
                ));
            }
            _ => {}
        }
        ensure!(
            (1.0..=RATIO_MAX).contains(&dedup),
            "invalid deduplication ratio {dedup}: expected 1 (every block is unique) to {RATIO_MAX}"
        );
        Ok(())
    }
}

impl fmt::Display for ContentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("text"),
            Self::Incompressible => f.write_str("incompressible"),
            Self::Compressible { ratio } => write!(f, "compressible:{ratio}"),
        }
    }
}

impl FromStr for ContentKind {
    type Err = WorkloadError;

    /// Accepts `text`, `incompressible`, and `compressible:RATIO`.
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let kind = match text.trim() {
            "text" => Self::Text,
            "incompressible" => Self::Incompressible,
            other => {
                let ratio = other
                    .strip_prefix("compressible:")
                    .ok_or_else(|| invalid!("expected text, incompressible or compressible:3"))?;
                let ratio = ratio.trim().parse().map_err(|_| invalid_ratio(&ratio))?;
                Self::Compressible { ratio }
            }
        };
        ContentSpec { kind, dedup: 1.0 }.validate()?;
        Ok(kind)
    }
}

text_form!(ContentKind);

fn invalid_ratio(ratio: &dyn fmt::Display) -> WorkloadError {
    invalid!(
        "invalid ratio '{ratio}' for compressible: expected 1 to {RATIO_MAX}, like compressible:3"
    )
}
