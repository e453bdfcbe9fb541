//! The trait of the verdict's rules, and the items that the files of the rules import.

pub(super) use document::sanitize::sanitize;
pub(super) use document::units::{bytes, counted, grouped, latency, percent, rate};
pub(super) use record::run::{PhaseRecord, Record};
pub(super) use record::share;
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use system::Fact;
pub(super) use workload::Phase;

pub(super) use super::planned::{Occurs, Planned};
pub(super) use super::seen::Seen;

/// How reliable a run's numbers are.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// No rule applies.
    Valid,
    /// The numbers may be misleading; the reasons state why.
    Doubtful,
    /// The numbers are misleading.
    Invalid,
}

impl Level {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "VALID",
            Self::Doubtful => "DOUBTFUL",
            Self::Invalid => "INVALID",
        }
    }

    pub(super) const fn invalid_if(condition: bool) -> Self {
        if condition {
            Self::Invalid
        } else {
            Self::Doubtful
        }
    }
}

/// A reason that is already known from the plan of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreseen<R> {
    pub reason: R,
    /// What the rule will find: a clause without a period, with its limit.
    pub sentence: String,
    pub occurs: Occurs,
}

impl<R: Rule> Foreseen<R> {
    /// Creates a reason whose sentence is the same before and after the run.
    pub(super) fn new(reason: R, occurs: Occurs) -> Self {
        Self {
            sentence: reason.sentence(),
            reason,
            occurs,
        }
    }
}

impl<R> Foreseen<R> {
    pub(super) fn map<S>(self, to: impl FnOnce(R) -> S) -> Foreseen<S> {
        Foreseen {
            reason: to(self.reason),
            sentence: self.sentence,
            occurs: self.occurs,
        }
    }
}

/// A rule of the verdict. A value of the type is a reason: what the rule found in a run, with its
/// numbers. The module documentation of a rule's file is the rule's paragraph in
/// `docs/reference/rules.md`.
pub trait Rule: Sized {
    /// The level of a rule that has one level only.
    const LEVEL: Level = Level::Doubtful;

    /// What the user can do: an imperative without a period. Empty if the advice depends on the
    /// run.
    const ADVICE: &str = "";

    /// Checks a record; returns `None` if the rule does not apply.
    fn find(record: &Record, seen: &Seen) -> Option<Self>;

    /// Checks the plan of a run; returns `None` if the plan does not show that the rule will apply.
    fn foresee(_: &Planned<'_>) -> Option<Foreseen<Self>> {
        None
    }

    fn level(&self) -> Level {
        Self::LEVEL
    }

    /// Returns what the rule found in the run: a clause without a period, with the measured number
    /// and its limit.
    fn sentence(&self) -> String;

    fn advice(&self) -> &'static str {
        Self::ADVICE
    }
}
