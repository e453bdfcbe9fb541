//! The option value that describes the directories of a target, such as a number or a tree.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use workload::layout::Shape;

use crate::values::{Count, from_text_or_integer, integer};

/// The directories of a target: a number of subdirectories, or the shape of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirsOption {
    Count(u64),
    Shape(Shape),
}

impl DirsOption {
    /// Whether this is a tree, which only mixes have.
    pub(crate) fn is_tree(self) -> bool {
        matches!(self, Self::Shape(Shape::Tree { .. }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number of subdirectories, like 100, or flat, subdirs:100 or tree:10x3")]
pub struct InvalidDirs;

impl FromStr for DirsOption {
    type Err = InvalidDirs;

    fn from_str(text: &str) -> Result<Self, InvalidDirs> {
        let text = text.trim();
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            let count = text.parse::<Count>().map_err(|_| InvalidDirs)?;
            return Ok(Self::Count(count.0));
        }
        text.parse().map(Self::Shape).map_err(|_| InvalidDirs)
    }
}

impl fmt::Display for DirsOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Shape(shape) => write!(f, "{shape}"),
        }
    }
}

from_text_or_integer!(
    DirsOption,
    "a number of subdirectories, or a text like tree:10x3",
    DirsOption::Count
);

impl Serialize for DirsOption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => integer(*count, serializer),
            Self::Shape(_) => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_a_count_or_a_shape() {
        for (text, dirs) in [
            ("1", DirsOption::Count(1)),
            (" 2k", DirsOption::Count(2_000)),
            ("flat", DirsOption::Shape(Shape::Flat)),
            ("subdirs:7", DirsOption::Shape(Shape::Subdirectories(7))),
            (
                "tree:10x3",
                DirsOption::Shape(Shape::Tree {
                    width: 10,
                    depth: 3,
                }),
            ),
        ] {
            let parsed: DirsOption = text.parse().unwrap();
            assert_eq!(parsed, dirs, "{text}");
            assert_eq!(parsed.to_string().parse(), Ok(parsed), "{text}");
        }
        for text in ["", "x", "tree:3", "5 dirs", "-1", "subdirs:"] {
            assert_eq!(text.parse::<DirsOption>(), Err(InvalidDirs), "{text}");
        }
    }
}
