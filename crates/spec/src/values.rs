//! Parsing and formatting of option values.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use workload::WorkerSeeds;
use workload::WorkloadError;
use workload::mix::Think;
use workload::quantity;

use crate::settings::OnError;

/// How the seeds of workers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerSeedsName {
    /// All workers have the same seed, as separately started processes would.
    Same,
    /// Each worker has the seed plus its own number.
    Offset,
}

impl From<WorkerSeedsName> for WorkerSeeds {
    fn from(name: WorkerSeedsName) -> Self {
        match name {
            WorkerSeedsName::Same => Self::Same,
            WorkerSeedsName::Offset => Self::Offset,
        }
    }
}

impl From<WorkerSeeds> for WorkerSeedsName {
    fn from(seeds: WorkerSeeds) -> Self {
        match seeds {
            WorkerSeeds::Same => Self::Same,
            WorkerSeeds::Offset => Self::Offset,
        }
    }
}

/// Implements `Deserialize` for a value that is a string, or an integer in TOML.
macro_rules! from_text_or_integer {
    ($name:ident, $expected:literal, $from_integer:expr) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<$name, E> {
                        let value = u64::try_from(value)
                            .map_err(|_| E::custom(format!("{value} is negative")))?;
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

/// Implements `Deserialize` and `Serialize` for a value that is a string.
macro_rules! as_text {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = deserializer.deserialize_str($crate::values::InQuotes)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

/// Accepts a string. For any other type, the error states that a string in quotes is expected.
pub(crate) struct InQuotes;

impl serde::de::Visitor<'_> for InQuotes {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text in quotes, written as the option's value is")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// Declares parsers of a number without a unit. The parsers return error messages of this program
/// instead of messages of a library.
macro_rules! plain_number {
    ($(#[$doc:meta])* $name:ident, $in_file:ident, $of:ty, $expected:literal) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// Returns a description of the expected number.
        pub fn $name(text: &str) -> Result<$of, &'static str> {
            text.trim().parse().map_err(|_| concat!("expected ", $expected))
        }

        /// Reads the number from a configuration file.
        ///
        /// # Errors
        /// Returns a description of the expected number.
        pub fn $in_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<$of>,
            D::Error> {
            /// Accepts numbers only, not strings that contain a number.
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
    /// Parses a ratio or a factor.
    real, real_in_file, f64, "a number, like 4 or 1.5"
);
plain_number!(
    /// Parses a chance in tenths from 0 to 10, or -1.
    bias, bias_in_file, i64, "a whole number from 0 to 10, or -1"
);
pub(crate) use {as_text, from_text_or_integer};

/// Declares a type for a number that may be written with a unit, or as an integer in TOML.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $parse:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub u64);

        impl FromStr for $name {
            type Err = WorkloadError;

            fn from_str(text: &str) -> Result<Self, WorkloadError> {
                $parse(text).map(Self)
            }
        }

        from_text_or_integer!($name, "a whole number, or a text with a number and a unit", $name);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                integer(self.0, serializer)
            }
        }
    };
}

quantity!(Count, quantity::count);
quantity!(Bytes, quantity::bytes);

/// The bytes that a workload touches: a multiple of the page cache, or an absolute number.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(
    with = "String",
    description = "Times of the page cache, like 4x, or bytes.",
    extend("pattern" = "^[0-9.e+-]+x?$")
)]
pub enum WorkingSet {
    /// A multiple of the size of the page cache.
    OfCache(f64),
    Bytes(u64),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a multiple of the page cache, like 4x, or bytes, like 100GiB")]
pub struct InvalidWorkingSet;

impl FromStr for WorkingSet {
    type Err = InvalidWorkingSet;

    fn from_str(text: &str) -> Result<Self, InvalidWorkingSet> {
        let text = text.trim();
        let parsed = match text.strip_suffix('x') {
            Some(factor) => factor.parse().ok().map(Self::OfCache),
            None => quantity::bytes(text).ok().map(Self::Bytes),
        };
        parsed.ok_or(InvalidWorkingSet)
    }
}

impl fmt::Display for WorkingSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfCache(factor) => write!(f, "{factor}x"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl WorkingSet {
    pub fn bytes(self, cache_bytes: u64) -> u64 {
        match self {
            Self::OfCache(factor) => (factor * cache_bytes as f64).ceil() as u64,
            Self::Bytes(bytes) => bytes,
        }
    }
}

as_text!(WorkingSet);

/// Think time before each operation, as the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkOption(pub Think);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; expected none, a time like 1ms, or exponential:1ms")]
pub struct InvalidThink(WorkloadError);

impl FromStr for ThinkOption {
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

impl fmt::Display for ThinkOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = quantity::duration_text;
        match self.0 {
            Think::None => f.write_str("none"),
            Think::Fixed(ns) => f.write_str(&text(ns)),
            Think::Exponential(ns) => write!(f, "exponential:{}", text(ns)),
        }
    }
}

as_text!(ThinkOption);

/// Number of transactions a second, as the value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerSecond(pub f64);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number of transactions/s, like 1500, 0.5 or 2k")]
pub struct InvalidRate;

impl FromStr for PerSecond {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let text = text.trim();
        let number = text.parse::<f64>().ok();
        number
            .or_else(|| quantity::count(text).ok().map(|count| count as f64))
            .map(Self)
            .ok_or(InvalidRate)
    }
}

impl<'de> Deserialize<'de> for PerSecond {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a number, or a text with a number and a unit, like 1500, 0.5 or \
                         '2k'"
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

/// A duration in nanoseconds, as the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub u64);

impl FromStr for Time {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        quantity::duration_ns(text).map(Self)
    }
}

impl Time {
    /// Converts a duration to nanoseconds. A longer duration than `u64` can represent becomes the
    /// largest `u64`.
    pub fn of(time: Duration) -> Self {
        Self(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    pub(crate) fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quantity::duration_text(self.0))
    }
}

as_text!(Time);

from_text_or_integer!(
    OnError,
    "stop, a number of errors, or a share like 1%",
    OnError::Count
);

/// Serialises a number as an integer, or as text if it exceeds the range of TOML's integers.
pub(crate) fn integer<S: Serializer>(number: u64, serializer: S) -> Result<S::Ok, S::Error> {
    match i64::try_from(number) {
        Ok(number) => serializer.serialize_i64(number),
        Err(_) => serializer.collect_str(&number),
    }
}

/// Serialises a number. A whole number has no decimal point.
pub(crate) fn real_to_file<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match *number {
        None => serializer.serialize_none(),
        // 1e15 is below 2^53, up to which an `f64` represents every whole number exactly.
        Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            serializer.serialize_i64(number as i64)
        }
        Some(number) => serializer.serialize_f64(number),
    }
}

impl Serialize for PerSecond {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        real_to_file(&Some(self.0), serializer)
    }
}

impl Serialize for OnError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => integer(*count, serializer),
            Self::Stop | Self::Percent(_) => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_option_accepts_none_fixed_and_exponential_times() {
        for (text, think) in [
            ("none", Think::None),
            ("0", Think::None),
            ("1ms", Think::Fixed(1_000_000)),
            ("exponential:2us", Think::Exponential(2_000)),
        ] {
            assert_eq!(text.parse(), Ok(ThinkOption(think)), "{text}");
            assert_eq!(think.to_string().parse(), Ok(ThinkOption(think)), "{text}");
        }
        for text in ["", "1", "fast", "exponential:", "exponential:1"] {
            let message = text.parse::<ThinkOption>().unwrap_err().to_string();
            assert!(
                message.contains("expected none, a time like 1ms"),
                "{message}"
            );
        }
    }

    #[test]
    fn working_set_option_accepts_cache_multiples_and_bytes() {
        for (text, working_set, written, bytes) in [
            ("4x", WorkingSet::OfCache(4.0), "4x", 400),
            (" 0.5x ", WorkingSet::OfCache(0.5), "0.5x", 50),
            ("1KiB", WorkingSet::Bytes(1_024), "1024", 1_024),
        ] {
            assert_eq!(text.parse(), Ok(working_set), "{text}");
            assert_eq!(working_set.to_string(), written);
            assert_eq!(written.parse(), Ok(working_set));
            assert_eq!(working_set.bytes(100), bytes);
        }
        for text in ["", "x", "four", "4 times", "1GiBx"] {
            let message = text.parse::<WorkingSet>().unwrap_err().to_string();
            assert!(message.contains("like 4x, or bytes"), "{message}");
        }
    }
}
