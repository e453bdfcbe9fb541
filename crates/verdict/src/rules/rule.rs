//! What a rule of the verdict is, and what the files of rules import.

pub(super) use document::sanitize::sanitize;
pub(super) use document::units::{bytes, counted, grouped, latency, percent, rate, seconds};
pub(super) use record::run::{PhaseRecord, Record};
pub(super) use record::share;
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use system::Fact;
pub(super) use workload::Phase;

pub(super) use super::seen::Seen;

/// How good a run's numbers are.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing was found that speaks against them.
    Valid,
    /// They may be what they seem, and may not: look at the reasons.
    Doubtful,
    /// They are not what they seem.
    Invalid,
}

impl Level {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "VALID",
            Self::Doubtful => "DOUBTFUL",
            Self::Invalid => "INVALID",
        }
    }

    /// INVALID on this condition, otherwise DOUBTFUL.
    pub(super) const fn invalid_if(condition: bool) -> Self {
        if condition {
            Self::Invalid
        } else {
            Self::Doubtful
        }
    }
}

/// A rule of the verdict. Its value is a reason: what it found, with its numbers. The documentation
/// of its file is its paragraph in `docs/specification.md`.
pub trait Rule: Sized {
    /// How bad it is, where that is always the same.
    const LEVEL: Level = Level::Doubtful;

    /// What is to be done about it, where that is always the same: a sentence or two.
    const ADVICE: &str = "";

    /// What the rule finds in a record; `None` where it does not apply.
    fn find(record: &Record, seen: &Seen) -> Option<Self>;

    /// How bad it is.
    fn level(&self) -> Level {
        Self::LEVEL
    }

    /// What was found, with its numbers: one sentence.
    fn sentence(&self) -> String;

    /// What is to be done about it.
    fn advice(&self) -> &'static str {
        Self::ADVICE
    }
}
