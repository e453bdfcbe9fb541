//! How a study is refused.

use crate::commands::run_spec::error::SpecError;
use crate::ui::problem::Problem;

/// What was asked for cannot be.
pub fn contradiction(why: impl Into<String>) -> Problem {
    SpecError::ConfigError(why.into()).into()
}
