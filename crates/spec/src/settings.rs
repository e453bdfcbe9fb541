//! Values of a run spec: where and how its work is done, and what errors do.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::WorkloadError;
use workload::quantity;

/// The directory that a target means.
pub fn directory(target: &Path) -> &Path {
    if target.as_os_str().is_empty() {
        Path::new(".")
    } else {
        target
    }
}

/// Where a run's files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Into a directory of the run's own in each target.
    OwnDirectory,
    /// Into the targets themselves, as the original has it.
    Location,
    /// Nowhere: the storage touches no file system.
    Nowhere,
}

/// State of the page cache before the transactions.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// Leave the cache as it is.
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
    /// The name as options take it.
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

/// Whether a pool outlives its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Keeping {
    /// The pool is left for a later run.
    pub keep: bool,
    /// The pool of an earlier run is taken.
    pub reuse: bool,
}

/// What errors do to a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum OnError {
    /// The first one ends it.
    #[default]
    Stop,
    /// The one after so many ends it.
    Count(u64),
    /// More than this share of the operations, in percent, end it: judged from the hundredth
    /// operation on, and at the end.
    Percent(f64),
}

impl OnError {
    /// Whether so many errors among so many operations are more than what is allowed.
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

/// Nothing that errors could do.
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

/// Which rule says whether a run is steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyRule {
    /// SNIA's rule: five rounds stay within 20 % of their mean, and their trend line within 10 %.
    Snia,
    /// The slope over five rounds is at most 10 % of the mean, with 95 % confidence.
    Slope,
}

impl SteadyRule {
    /// The name that options take.
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
    fn errors_stop_or_are_counted_or_weighed() {
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
