//! Errors in the design of a study: the line of the study file, the mistake, and what is expected
//! instead.

use std::fmt;

pub const CELLS_MAX: u64 = 1_000;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct DesignError {
    /// Line of the study file, from 1; `None` if the error belongs to no line.
    pub line: Option<usize>,
    pub flaw: Flaw,
}

impl DesignError {
    /// The error of a text that is not TOML, or not a study file.
    pub fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        Self {
            line: error.span().map(|span| Lines(text).of(span.start)),
            // The parser's messages may have several lines, which are joined into one line.
            flaw: Flaw(error.message().lines().collect::<Vec<_>>().join("; ")),
        }
    }
}

impl fmt::Display for DesignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.flaw),
            None => self.flaw.fmt(f),
        }
    }
}

/// What is wrong with a design, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Flaw(pub(crate) String);

impl Flaw {
    pub(crate) fn too_many_cells(cells: u128) -> Self {
        Self(format!(
            "it has {cells} cells, more than {CELLS_MAX} (use fewer values for its axes)"
        ))
    }

    /// The error for an invalid option or value in a study file.
    pub(crate) fn option(key: &str, why: &str) -> Self {
        Self(format!("{key}: {why}"))
    }

    pub(crate) fn range(key: &str, value: &dyn fmt::Display, expected: &str) -> Self {
        Self(format!("{key} = {value}: expected {expected}"))
    }

    /// The error of an invalid name, of which at most 60 characters are shown.
    pub(crate) fn name(key: &str, value: &str) -> Self {
        let value: String = value.chars().take(60).collect();
        Self(format!(
            "{key} = \"{value}\": expected 1 to 60 characters without control characters"
        ))
    }
}

/// Finds the line of an error in the text of a study file.
pub(crate) struct Lines<'a>(pub &'a str);

impl Lines<'_> {
    /// Returns the number of the line that contains a byte offset, from 1.
    pub fn of(&self, at: usize) -> usize {
        let before = self.0.as_bytes().iter().take(at);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    pub fn error(&self, at: usize, flaw: Flaw) -> DesignError {
        DesignError {
            line: Some(self.of(at)),
            flaw,
        }
    }
}
