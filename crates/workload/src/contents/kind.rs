//! What contents are like, how that is written, and what is wrong with it.

use std::fmt;
use std::str::FromStr;

use crate::WorkloadError;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest ratio that can be asked for.
pub const RATIO_MAX: f64 = 100.0;

/// What bytes are like. Serialised as its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(text|incompressible|compressible:.+)$"))]
pub enum ContentKind {
    /// Printable characters, the same in every file: as the original has it.
    #[default]
    Text,
    /// Random bytes.
    Incompressible,
    /// Blocks that begin with random bytes and go on with spaces.
    Compressible {
        /// A block's bytes over its random ones.
        ratio: f64,
    },
}

/// What contents are like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ContentSpec {
    /// What the bytes are like.
    pub kind: ContentKind,
    /// How many blocks there are for each different one; 1 for no repetition.
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
    /// Checks that contents can be made.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
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

    /// `text`, `incompressible`, `compressible:3`.
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
