//! Errors in study files, with the number of the line.

use std::path::Path;

use document::sanitize;

use crate::error::Error;

pub fn of_file(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::refused(format!(
        "the study file {} is wrong: {error}",
        sanitize::path(path)
    ))
}

/// Returns the error for a line of a study file, or for the arguments if no file was given.
pub fn wrong_in(file: Option<&Path>, line: usize, why: String) -> Error {
    match file {
        Some(path) => of_file(path, format!("line {line}: {why}")),
        None => Error::refused(why),
    }
}
