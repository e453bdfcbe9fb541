//! What can be wrong with a design, in which line of its file, and what would be right.

use std::fmt;

use crate::paper_layout::UnknownLayout;

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
            flaw: Flaw::File(error.message().lines().collect::<Vec<_>>().join("; ")),
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

/// What is wrong with a design.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Flaw {
    /// The file is no TOML, or has a key that there is not.
    #[error("{0}")]
    File(String),
    /// An option of a run is wrong.
    #[error("{key}: {why}")]
    Option {
        /// The option.
        key: String,
        /// Why.
        why: String,
    },
    /// An option that a study decides itself.
    #[error("{0}: a study decides this for its runs (remove the key)")]
    Own(String),
    /// Nothing is done.
    #[error("there is no workload (add a [[workload]] with a preset, or --preset NAME)")]
    NoWorkload,
    /// It is done nowhere.
    #[error(
        "there is no target (add targets = [\"make:ext4\", \"/mnt/disk\"], or --target DIRECTORY)"
    )]
    NoTarget,
    /// An axis without values.
    #[error("axes.{0}: the axis is empty (give it at least one value, or remove it)")]
    EmptyAxis(String),
    /// Two cells would be the same.
    #[error(
        "{dimension}: {value} is there twice (give each a name of its own: name = \"…\", or on \
         the command line NAME=…)"
    )]
    Twice {
        /// The dimension.
        dimension: String,
        /// The value that is there twice.
        value: String,
    },
    /// An axis has a value twice.
    #[error("axes.{axis}: {value} is there twice (remove one)")]
    ValueTwice {
        /// The axis.
        axis: String,
        /// The value that is there twice.
        value: String,
    },
    /// Two cells would be called the same.
    #[error("two cells would be called {0:?} (give workloads and targets names without blanks)")]
    SameLabel(String),
    /// Too many cells.
    #[error("it has {0} cells, more than {CELLS_MAX} (use fewer values for its axes)")]
    TooManyCells(u128),
    /// A number is out of its range.
    #[error("{key} = {value}: expected {expected}")]
    Range {
        /// The key.
        key: String,
        /// What it says.
        value: String,
        /// What it could say.
        expected: String,
    },
    /// No dimension has this value.
    #[error("baseline = \"{0}\": no target, workload or axis has this value (expected one of {1})")]
    NoBaseline(String, String),
    /// More than one dimension has this value.
    #[error(
        "baseline = \"{0}\": more than one dimension has this value (write it as DIMENSION=VALUE, \
         like files=1000)"
    )]
    AmbiguousBaseline(String),
    /// Only what a study makes can be filled and aged.
    #[error(
        "{key}: the target {target} is a directory ({key} needs targets that the study makes, \
         like make:ext4)"
    )]
    NeedsMade {
        /// `age` or `fullness`.
        key: &'static str,
        /// The target's name.
        target: String,
    },
    /// There is no such layout.
    #[error("layout: {0}")]
    Layout(#[from] UnknownLayout),
    /// A counterpart is of no target.
    #[error(
        "counterparts.{0}: no target has this name (name the system of the paper by a target: \
         ext4 = \"UFS\")"
    )]
    NoSuchTarget(String),
    /// A directory depends on where the program is started.
    #[error(
        "the target {0} must be an absolute path, because a study may be continued from another \
         directory"
    )]
    RelativeTarget(String),
    /// A name is none.
    #[error("{key} = \"{value}\": expected 1 to 60 characters without control characters")]
    Name {
        /// The key.
        key: String,
        /// What it says.
        value: String,
    },
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
