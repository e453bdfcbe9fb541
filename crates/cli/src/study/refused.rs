//! How a study is refused: what is wrong, and in which line of its file.

use std::path::Path;

use document::sanitize;

use crate::problem::Problem;
use crate::run_spec::error::SpecError;

/// What was asked for cannot be.
pub fn contradiction(why: impl Into<String>) -> Problem {
    SpecError::ConfigError(why.into()).into()
}

/// A study file is wrong.
pub fn of_file(path: &Path, error: impl std::fmt::Display) -> Problem {
    contradiction(format!(
        "the study file {} is wrong: {error}",
        sanitize::path(path)
    ))
}

/// What is wrong in a line of a study file, or with what was said in its place.
pub fn wrong_in(file: Option<&Path>, line: usize, why: String) -> Problem {
    match file {
        Some(path) => of_file(path, format!("line {line}: {why}")),
        None => contradiction(why),
    }
}
