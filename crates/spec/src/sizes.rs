//! Sizes in the form that options accept, and the distributions to which they resolve.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Serialize, Serializer};
use workload::WorkloadError;
use workload::quantity;
use workload::sizes::{self, Sizes};

use crate::config_error::ConfigError;
use crate::values::{from_text_or_integer, integer};

/// Reads the text of a file that an option names.
pub type Read<'a> = dyn Fn(&Path) -> io::Result<String> + 'a;

/// Sizes as the user gave them. Classic workloads and mixes treat the upper bound of a range
/// differently.
#[derive(Clone, Debug, PartialEq)]
pub enum SizesOption {
    /// One size, or two sizes separated by `..`. Classic workloads exclude the upper bound, unless
    /// both bounds are equal; mixes include it.
    Range {
        low: u64,
        /// The second size. If only one size is given, it equals the first size.
        high: u64,
        /// Whether two sizes were given.
        is_range: bool,
    },
    Distribution(Sizes),
    /// Path of a file with a histogram of sizes.
    HistogramIn(PathBuf),
}

impl FromStr for SizesOption {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let text = text.trim();
        if let Some(path) = text.strip_prefix("histogram@") {
            return Ok(Self::HistogramIn(PathBuf::from(path)));
        }
        if text.contains(':') || !text.starts_with(|first: char| first.is_ascii_digit()) {
            return text.parse().map(Self::Distribution);
        }
        let (low, high) = quantity::byte_range(text)?;
        Ok(Self::Range {
            low,
            high,
            is_range: text.contains("..") || text.contains('-'),
        })
    }
}

from_text_or_integer!(
    SizesOption,
    "a size, a range of sizes or a distribution of them",
    |bytes| SizesOption::Range {
        low: bytes,
        high: bytes,
        is_range: false,
    }
);

impl Serialize for SizesOption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Range {
                low,
                high,
                is_range,
            } if *is_range => serializer.collect_str(&format_args!("{low}..{high}")),
            Self::Range { low, .. } => integer(*low, serializer),
            Self::Distribution(sizes) => serializer.collect_str(sizes),
            Self::HistogramIn(path) => {
                serializer.collect_str(&format_args!("histogram@{}", path.display()))
            }
        }
    }
}

/// Resolves sizes to a distribution. The content of a histogram file becomes part of the workload.
pub(crate) fn resolve_sizes(
    option: &str,
    said: &SizesOption,
    read: &Read<'_>,
) -> Result<Sizes, ConfigError> {
    let sizes = match said {
        SizesOption::Range {
            low,
            high,
            is_range,
        } if *is_range => Sizes::Uniform {
            low: *low,
            high: *high,
        },
        SizesOption::Range { low, .. } => Sizes::Fixed(*low),
        SizesOption::Distribution(sizes) => sizes.clone(),
        SizesOption::HistogramIn(path) => {
            let value = format!("histogram@{}", path.display());
            let wrong = |problem: String| ConfigError::invalid(&value, option, problem);
            let text =
                read(path).map_err(|error| wrong(format!("cannot read the file: {error}")))?;
            sizes::text::parse_histogram(&text).map_err(|error| wrong(error.to_string()))?
        }
    };
    match sizes.validate() {
        Ok(()) => Ok(sizes),
        Err(problem) => Err(ConfigError::invalid(&sizes, option, problem)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_option_accepts_ranges_distributions_and_histogram_files() {
        let range = |low, high, is_range| {
            Ok(SizesOption::Range {
                low,
                high,
                is_range,
            })
        };
        assert_eq!("4KiB".parse(), range(4_096, 4_096, false));
        assert_eq!("500..10000".parse(), range(500, 10_000, true));
        assert_eq!("10..5".parse(), range(10, 5, true), "judged later");
        assert_eq!(
            "histogram@a:b.txt".parse(),
            Ok(SizesOption::HistogramIn(PathBuf::from("a:b.txt")))
        );
        assert!(matches!(
            "exponential:mean=1KiB,max=1MiB".parse(),
            Ok(SizesOption::Distribution(_))
        ));
        assert!("big".parse::<SizesOption>().is_err());
    }
}
