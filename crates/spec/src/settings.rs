//! Settings in a run spec: the directory in which files are created, the page cache, kept pools,
//! allowed errors and the steady state.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::WorkloadError;
use workload::quantity;

/// Returns the directory of a target. An empty path means the working directory.
pub fn directory(target: &Path) -> &Path {
    if target.as_os_str().is_empty() {
        Path::new(".")
    } else {
        target
    }
}

/// Where a run creates its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In each target, in a new directory that belongs to the run.
    OwnDirectory,
    /// Directly in the targets, as in the original PostMark.
    Location,
    /// Nowhere, because the engine uses no file system.
    Nowhere,
}

/// State of the page cache before the transactions.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// Change nothing: the cache contains what the preparation left in it.
    #[default]
    AsIs,
    /// Read every file once.
    Warm,
    /// Write back dirty data and drop the caches of the system (root only).
    Cold,
    /// Write back dirty data and advise the kernel, for each file, that its contents are not
    /// needed.
    ColdData,
}

impl Cache {
    /// The name as options accept it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::Warm => "warm",
            Self::Cold => "cold",
            Self::ColdData => "cold-data",
        }
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Use of one pool by several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Keeping {
    /// `--keep`: the run does not remove its pool, so that a later run can use it.
    pub keep: bool,
    /// `--reuse`: the run prepares no pool, but uses the pool that an earlier run kept.
    pub reuse: bool,
}

/// Number or percentage of failed operations that a run allows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum OnError {
    /// The first error ends the run.
    #[default]
    Stop,
    /// The run ends if more than this number of operations have failed.
    Count(u64),
    /// The run ends if more than this percentage of operations have failed. The percentage is
    /// checked from the hundredth operation on, and at the end.
    Percent(f64),
}

impl OnError {
    /// Whether `errors` failed operations out of `operations` exceed the limit.
    pub fn is_exceeded(self, errors: u64, operations: u64) -> bool {
        match self {
            Self::Stop => errors > 0,
            Self::Count(allowed) => errors > allowed,
            Self::Percent(percent) => errors as f64 * 100.0 > percent * operations as f64,
        }
    }
}

impl fmt::Display for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop => f.write_str("stop"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; expected stop, a number of errors like 100, or a percentage of the operations like 1%"
)]
pub struct InvalidOnError(WorkloadError);

impl FromStr for OnError {
    type Err = InvalidOnError;

    fn from_str(text: &str) -> Result<Self, InvalidOnError> {
        let text = text.trim();
        Ok(if text == "stop" {
            Self::Stop
        } else if text.ends_with('%') {
            Self::Percent(quantity::percent(text).map_err(InvalidOnError)?)
        } else {
            Self::Count(quantity::count(text).map_err(InvalidOnError)?)
        })
    }
}

/// The rule that decides whether a rate is steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyRule {
    /// SNIA's rule: five rounds stay within 20 % of their mean, and their trend line within 10 %.
    Snia,
    /// The slope over five rounds is at most 10 % of the mean, with 95 % confidence.
    Slope,
}

impl SteadyRule {
    /// The name as options accept it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Snia => "snia",
            Self::Slope => "slope",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_limit_accepts_stop_a_number_or_a_percentage() {
        for (text, on_error) in [
            ("stop", OnError::Stop),
            ("0", OnError::Count(0)),
            ("1k", OnError::Count(1_000)),
            ("0.5%", OnError::Percent(0.5)),
        ] {
            assert_eq!(text.parse(), Ok(on_error), "{text}");
        }
        for text in ["", "go", "101%", "-1", "1.5"] {
            assert!(text.parse::<OnError>().is_err(), "{text}");
        }
    }
}
