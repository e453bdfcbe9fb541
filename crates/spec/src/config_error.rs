//! Errors in the configuration of a run.

use std::fmt::Display;

use engine::DurabilityError;
use workload::WorkloadError;

/// A contradiction in the requested run, found before anything is created.
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

    /// An error about a number that may come from any source: option, file, preset or earlier run.
    pub(crate) fn of_number(text: impl Display) -> Self {
        Self {
            text: text.to_string(),
            is_of_numbers: true,
        }
    }

    /// An error about the value of an option.
    pub(crate) fn invalid(value: impl Display, option: &str, why: impl Display) -> Self {
        Self::new(format!("invalid value '{value}' for {option}: {why}"))
    }

    /// Whether the error is about a number that may come from any source.
    pub fn is_of_numbers(&self) -> bool {
        self.is_of_numbers
    }
}

impl From<WorkloadError> for ConfigError {
    fn from(wrong: WorkloadError) -> Self {
        Self::of_number(wrong)
    }
}

impl From<DurabilityError> for ConfigError {
    fn from(wrong: DurabilityError) -> Self {
        Self::new(wrong.to_string())
    }
}
