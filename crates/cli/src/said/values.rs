//! Values of options: texts that are understood, and nothing more.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use record::SteadyRule;
use runner::{Cache, OnError};
use serde::{Deserialize, Deserializer};
use workload::mix::Think;
use workload::quantity::{self, InvalidQuantity};
use workload::sizes::InvalidSizes;

/// A way of doing input and output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StorageName {
    /// The C library's buffered streams, as the original by default.
    #[default]
    Stdio,
    /// System calls by path, as the original with `set buffering false`.
    Raw,
    /// System calls as a careful program makes them today: relative to a held directory.
    Posix,
    /// Nothing: the tool's own cost.
    Null,
}

impl StorageName {
    /// The name as options take it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Raw => "raw",
            Self::Posix => "posix",
            Self::Null => "null",
        }
    }
}

/// Where workers' generators begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerSeedsName {
    /// All at the seed, as several started processes would.
    Same,
    /// Each at the seed plus its number.
    Offset,
}

impl From<WorkerSeedsName> for workload::WorkerSeeds {
    fn from(name: WorkerSeedsName) -> Self {
        match name {
            WorkerSeedsName::Same => Self::Same,
            WorkerSeedsName::Offset => Self::Offset,
        }
    }
}

/// What is done to the page cache before the transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheName {
    /// Nothing.
    AsIs,
    /// Every file is read once.
    Warm,
    /// Everything is written back, and the system's caches are dropped: root only.
    Cold,
    /// Everything is written back, and the kernel is advised, file by file, that contents are not needed.
    ColdData,
}

impl From<CacheName> for Cache {
    fn from(name: CacheName) -> Self {
        match name {
            CacheName::AsIs => Self::AsIs,
            CacheName::Warm => Self::Warm,
            CacheName::Cold => Self::Cold,
            CacheName::ColdData => Self::ColdData,
        }
    }
}

/// Lets a value be a text or, in TOML, a plain integer.
macro_rules! from_text_or_integer {
    ($name:ident, $expected:literal, $from_integer:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<$name, E> {
                        let value = u64::try_from(value).map_err(|_| E::custom(format!("{value} is negative")))?;
                        Ok($from_integer(value))
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_any(Visitor)
            }
        }
    };
}

/// Lets a value be a text.
macro_rules! from_text {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = deserializer.deserialize_str($crate::said::values::InQuotes)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// A text of a file.
pub(super) struct InQuotes;

impl serde::de::Visitor<'_> for InQuotes {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text in quotes, written as the option's value is")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// Plain numbers of options, without a unit: what is expected is said in our words, not in those of a library.
macro_rules! plain_number {
    ($(#[$doc:meta])* $name:ident, $in_file:ident, $of:ty, $expected:literal) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// What is expected.
        pub fn $name(text: &str) -> Result<$of, &'static str> {
            text.trim().parse().map_err(|_| concat!("expected ", $expected))
        }

        /// The same in a configuration file.
        ///
        /// # Errors
        /// What is expected.
        pub fn $in_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<$of>, D::Error> {
            /// Numbers alone: texts of numbers are none.
            #[derive(Deserialize)]
            #[serde(untagged, expecting = $expected)]
            enum InFile {
                Number($of),
            }
            let InFile::Number(number) = InFile::deserialize(deserializer).map_err(|_| {
                serde::de::Error::custom(concat!("expected ", $expected))
            })?;
            Ok(Some(number))
        }
    };
}

plain_number!(
    /// A ratio or a factor.
    real, real_in_file, f64, "a number, like 4 or 1.5"
);
plain_number!(
    /// A chance in tenths.
    bias, bias_in_file, i64, "a whole number from 0 to 10, or -1"
);
/// The share of a location.
///
/// # Errors
/// What is expected.
pub fn weight(text: &str) -> Result<u32, &'static str> {
    text.trim()
        .parse()
        .map_err(|_| "expected a whole number from 1 to 4294967295")
}

/// How many of something that is listed, or which.
///
/// # Errors
/// What is expected.
pub fn whole(text: &str) -> Result<u64, &'static str> {
    text.trim().parse().map_err(|_| "expected a whole number, like 20")
}
pub(super) use from_text;

/// A number that may be written with a unit, or in TOML as a plain integer.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $parse:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub u64);

        impl FromStr for $name {
            type Err = InvalidQuantity;

            fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
                $parse(text).map(Self)
            }
        }

        from_text_or_integer!($name, "a whole number, or a text with a number and a unit", $name);
    };
}

quantity!(
    /// How many of something.
    Count, quantity::count
);
quantity!(
    /// How many bytes.
    Bytes, quantity::bytes
);

/// Sizes as said: what they mean depends on the work.
#[derive(Clone, Debug, PartialEq)]
pub enum SizesSaid {
    /// One size, or two with `..` between; the classic work and mixes have bounds of their own.
    Range {
        /// The first.
        low: u64,
        /// The second, or the first again.
        high: u64,
        /// Whether there were two.
        is_range: bool,
    },
    /// A distribution.
    Distribution(workload::sizes::Sizes),
    /// A histogram in a file.
    HistogramIn(PathBuf),
}

impl FromStr for SizesSaid {
    type Err = InvalidSizes;

    fn from_str(text: &str) -> Result<Self, InvalidSizes> {
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
    SizesSaid,
    "a size, a range of sizes or a distribution of them",
    |bytes| SizesSaid::Range {
        low: bytes,
        high: bytes,
        is_range: false,
    }
);

/// Time between operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkSaid(pub Think);

/// No time between operations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write none, 1ms or exponential:1ms")]
pub struct InvalidThink(InvalidQuantity);

impl FromStr for ThinkSaid {
    type Err = InvalidThink;

    fn from_str(text: &str) -> Result<Self, InvalidThink> {
        let time = |text: &str| quantity::duration_ns(text).map_err(InvalidThink);
        let think = match text.trim() {
            "none" => Think::None,
            text => match text.strip_prefix("exponential:") {
                Some(mean) => Think::Exponential(time(mean)?),
                None => Think::Fixed(time(text)?),
            },
        };
        Ok(Self(match think {
            Think::Fixed(0) | Think::Exponential(0) => Think::None,
            think => think,
        }))
    }
}

from_text!(ThinkSaid);

/// How many of something a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerSecond(pub f64);

/// No rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no number: write how many a second, like 1500, 0.5 or 2k")]
pub struct InvalidRate(String);

impl FromStr for PerSecond {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let text = text.trim();
        let number = text.parse::<f64>().ok();
        number
            .or_else(|| quantity::count(text).ok().map(|count| count as f64))
            .map(Self)
            .ok_or_else(|| InvalidRate(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for PerSecond {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a number, or a text with a number and a unit, like 1500, 0.5 or '2k'"
        )]
        enum Said {
            Number(f64),
            Text(String),
        }
        match Said::deserialize(deserializer)? {
            Said::Number(number) => Ok(Self(number)),
            Said::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// A rule of steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyName {
    /// SNIA's: five rounds within 20 % of their mean, their line within 10 %.
    Snia,
    /// The slope over five rounds is at most 10 % of the mean, with a confidence of 95 %.
    Slope,
}

impl From<SteadyName> for SteadyRule {
    fn from(name: SteadyName) -> Self {
        match name {
            SteadyName::Snia => Self::Snia,
            SteadyName::Slope => Self::Slope,
        }
    }
}

/// A length of time, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub u64);

impl FromStr for Time {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        quantity::duration_ns(text).map(Self)
    }
}

from_text!(Time);

/// What errors do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnErrorSaid(pub OnError);

/// Nothing that errors could do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write stop, how many errors a run survives, like 100, or what share of its operations, like 1%")]
pub struct InvalidOnError(InvalidQuantity);

impl FromStr for OnErrorSaid {
    type Err = InvalidOnError;

    fn from_str(text: &str) -> Result<Self, InvalidOnError> {
        let text = text.trim();
        Ok(Self(if text == "stop" {
            OnError::Stop
        } else if text.ends_with('%') {
            OnError::Percent(quantity::percent(text).map_err(InvalidOnError)?)
        } else {
            OnError::Count(quantity::count(text).map_err(InvalidOnError)?)
        }))
    }
}

from_text_or_integer!(OnErrorSaid, "stop, a number of errors, or a share like 1%", |count| {
    OnErrorSaid(OnError::Count(count))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_are_none_fixed_or_exponential() {
        for (text, think) in [
            ("none", Think::None),
            ("0", Think::None),
            ("1ms", Think::Fixed(1_000_000)),
            ("exponential:2us", Think::Exponential(2_000)),
        ] {
            assert_eq!(text.parse(), Ok(ThinkSaid(think)), "{text}");
            assert_eq!(think.to_string().parse(), Ok(ThinkSaid(think)), "{text}");
        }
        for text in ["", "1", "fast", "exponential:", "exponential:1"] {
            let message = text.parse::<ThinkSaid>().unwrap_err().to_string();
            assert!(message.contains("write none, 1ms"), "{message}");
        }
    }

    #[test]
    fn errors_stop_or_are_counted_or_weighed() {
        for (text, on_error) in [
            ("stop", OnError::Stop),
            ("0", OnError::Count(0)),
            ("1k", OnError::Count(1_000)),
            ("0.5%", OnError::Percent(0.5)),
        ] {
            assert_eq!(text.parse(), Ok(OnErrorSaid(on_error)), "{text}");
        }
        for text in ["", "go", "101%", "-1", "1.5"] {
            assert!(text.parse::<OnErrorSaid>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_ranges_distributions_or_files() {
        let range = |low, high, is_range| Ok(SizesSaid::Range { low, high, is_range });
        assert_eq!("4KiB".parse(), range(4_096, 4_096, false));
        assert_eq!("500..10000".parse(), range(500, 10_000, true));
        assert_eq!("10..5".parse(), range(10, 5, true), "judged later");
        assert_eq!(
            "histogram@a:b.txt".parse(),
            Ok(SizesSaid::HistogramIn(PathBuf::from("a:b.txt")))
        );
        assert!(matches!(
            "exponential:mean=1KiB,max=1MiB".parse(),
            Ok(SizesSaid::Distribution(_))
        ));
        assert!("big".parse::<SizesSaid>().is_err());
    }
}
