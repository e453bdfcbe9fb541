//! How a study is refused: what is wrong, and in which line of its file.

use std::path::Path;

use document::sanitize;

use crate::error::Error;

/// A study file is wrong.
pub fn of_file(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::refused(format!(
        "the study file {} is wrong: {error}",
        sanitize::path(path)
    ))
}

/// What is wrong in a line of a study file, or with the arguments in its place.
pub fn wrong_in(file: Option<&Path>, line: usize, why: String) -> Error {
    match file {
        Some(path) => of_file(path, format!("line {line}: {why}")),
        None => Error::refused(why),
    }
}
