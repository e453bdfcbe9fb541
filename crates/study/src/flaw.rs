//! What can be wrong with a design, in which line of its file, and what would be right.

use std::fmt;

/// Cells of a study are no more.
pub const CELLS_MAX: u64 = 1_000;

/// A design is wrong: where, what, and what would be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct DesignError {
    /// The line of the study file, from 1; nothing where no line is to blame.
    pub line: Option<usize>,
    /// What is wrong.
    pub flaw: Flaw,
}

impl DesignError {
    /// A text is no TOML, or its TOML is none of a study.
    pub fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        Self {
            line: error.span().map(|span| Lines(text).of(span.start)),
            // The parser's messages may have several lines.
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

    /// An option of a run is wrong.
    pub(crate) fn option(key: &str, why: &str) -> Self {
        Self(format!("{key}: {why}"))
    }

    pub(crate) fn range(key: &str, value: &dyn fmt::Display, expected: &str) -> Self {
        Self(format!("{key} = {value}: expected {expected}"))
    }

    /// A name is none; of a longer one the beginning is told.
    pub(crate) fn name(key: &str, value: &str) -> Self {
        let value: String = value.chars().take(60).collect();
        Self(format!(
            "{key} = \"{value}\": expected 1 to 60 characters without control characters"
        ))
    }
}

/// Puts a line to what is wrong.
pub(crate) struct Lines<'a>(pub &'a str);

impl Lines<'_> {
    /// The line of a place in the file, from 1.
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
