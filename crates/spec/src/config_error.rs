//! The error of a run whose description contradicts itself.

use std::fmt::Display;

use engine::PoliciesError;
use workload::WorkloadError;

/// A contradiction in the description of a run, detected before the run creates anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ConfigError {
    text: String,
    is_of_numbers: bool,
}

impl ConfigError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_of_numbers: false,
        }
    }

    /// Returns an error about a number that may come from an option, a file, a preset or an earlier
    /// run.
    pub(crate) fn of_number(text: impl Display) -> Self {
        Self {
            text: text.to_string(),
            is_of_numbers: true,
        }
    }

    pub(crate) fn invalid(value: impl Display, option: &str, why: impl Display) -> Self {
        Self::new(format!("invalid value '{value}' for {option}: {why}"))
    }

    /// Whether the error is about a number that may come from an option, a file, a preset or an
    /// earlier run.
    pub fn is_of_numbers(&self) -> bool {
        self.is_of_numbers
    }
}

impl From<WorkloadError> for ConfigError {
    fn from(wrong: WorkloadError) -> Self {
        Self::of_number(wrong)
    }
}

impl From<PoliciesError> for ConfigError {
    fn from(wrong: PoliciesError) -> Self {
        Self::new(wrong.to_string())
    }
}
