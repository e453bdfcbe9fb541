//! How a study is refused.

use crate::problem::Problem;
use crate::run_spec::error::SpecError;

/// What was asked for cannot be.
pub fn contradiction(why: impl Into<String>) -> Problem {
    SpecError::ConfigError(why.into()).into()
}
