//! Printed numbers, and the intervals that their precision allows.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use workload::Edition;

/// Bytes of a kilobyte in all reports of the original PostMark.
pub const KILOBYTE_BYTES: f64 = 1024.0;

/// A number, or a range of two numbers, as a source printed it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrintedNumber {
    /// The exact text in the source.
    pub printed: String,
    /// The value; for a range, the value of the first number.
    pub value: f64,
    /// The second number of a range.
    pub to: Option<f64>,
    /// The number of printed decimals, which determines the rounding error.
    pub decimals: u32,
}

/// The error for a printed text that is not a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a number or range of numbers (write it as printed, or {{ unavailable = \"why\" \
     }})"
)]
pub struct NotANumber(String);

impl FromStr for PrintedNumber {
    type Err = NotANumber;

    /// Accepts `4880`, `1,100.00`, `-0.88`, and ranges such as `129-214%` and `-88-(-77)%`.
    fn from_str(printed: &str) -> Result<Self, NotANumber> {
        let wrong = || NotANumber(printed.to_owned());
        let text = printed.strip_suffix('%').unwrap_or(printed);
        // A minus after a digit separates two numbers.
        let parts = text
            .char_indices()
            .skip(1)
            .find(|(_, letter)| *letter == '-');
        let (first, second) = match parts {
            Some((at, _)) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let bare = |text: &str| -> Option<f64> {
            let inner = text
                .strip_prefix('(')
                .and_then(|text| text.strip_suffix(')'))
                .unwrap_or(text);
            let is_plain = inner
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | ','));
            is_plain
                .then(|| inner.replace(',', "").parse().ok())
                .flatten()
        };
        let value = bare(first).ok_or_else(wrong)?;
        let to = match second {
            Some(second) => Some(bare(second).ok_or_else(wrong)?),
            None => None,
        };
        let decimals = first
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len() as u32);
        Ok(Self {
            printed: printed.to_owned(),
            value,
            to,
            decimals,
        })
    }
}

impl PrintedNumber {
    /// Returns the rounding step in kilobytes per second, if the rate seems to be converted from
    /// megabytes with two decimals. The step is 10 if a megabyte was converted to 1,000 kilobytes,
    /// as in the paper. It is 10.24 if a megabyte was converted to 1,024 kilobytes, as for
    /// contributors to the mail administrator's page.
    fn megabyte_steps(&self) -> Option<f64> {
        [10.24, 10.0]
            .into_iter()
            .find(|step| self.is_in_steps(*step))
    }

    fn is_in_steps(&self, step: f64) -> bool {
        self.value >= 1_000.0 && (self.value / step - (self.value / step).round()).abs() < 1e-6
    }

    /// Returns whether a rate in kilobytes was converted from megabytes by the factor 1,024 and not
    /// by 1,000.
    pub fn is_times_1024(&self) -> bool {
        self.is_in_steps(10.24) && !self.is_in_steps(10.0)
    }

    /// Returns half a unit of the last printed digit.
    pub fn half_unit(&self) -> f64 {
        0.5 / 10_f64.powi(self.decimals as i32)
    }

    /// Returns the largest rounding error, in the number's unit.
    pub fn rounding(&self, unit: Unit) -> f64 {
        match (unit, self.megabyte_steps()) {
            (Unit::KilobytesPerSecond, Some(step)) => step / 2.0,
            _ => self.half_unit(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The number of things that the figure counts, such as transactions or files, per second.
    PerSecond,
    /// Kilobytes of 1,024 bytes, per second.
    KilobytesPerSecond,
    /// Megabytes per second. A megabyte has 1,000 kilobytes in PostMark 1.0, and 1,024 in 1.5.
    MegabytesPerSecond,
    /// Megabytes of 1,000 kilobytes in PostMark 1.0, and of 1,024 kilobytes in 1.5.
    Megabytes,
    Seconds,
    Files,
    /// Messages between client and server.
    Messages,
    Percent,
}

impl Unit {
    /// Returns the unit's name in tables of this program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerSecond => "/s",
            Self::KilobytesPerSecond => "kB/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::Megabytes => "MB",
            Self::Seconds => "s",
            Self::Files => "files",
            Self::Messages => "messages",
            Self::Percent => "%",
        }
    }

    /// Returns the number of bytes in one unit (for rates, per second) as a PostMark edition
    /// defines it. Returns `None` if the unit is not one of data.
    pub fn bytes(self, edition: Edition) -> Option<f64> {
        match self {
            Self::KilobytesPerSecond => Some(KILOBYTE_BYTES),
            Self::MegabytesPerSecond | Self::Megabytes => {
                Some(f64::from(edition.rules().megabyte_bytes))
            }
            _ => None,
        }
    }
}

/// The closed interval between two values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Returns the interval of true values of a printed number. PostMark 1.0 truncates data rates
    /// to whole bytes per second before it rounds them, so true rates may be higher by one byte.
    /// For example, the paper's session prints 31.865 kilobytes per second as 31.86. Rates of
    /// operations that are printed without decimals are truncated as well, because they are results
    /// of integer divisions.
    pub fn of(number: &PrintedNumber, unit: Unit) -> Self {
        let half = number.rounding(unit);
        match unit {
            Unit::PerSecond if number.decimals == 0 => Self {
                low: number.value,
                high: number.value + 1.0,
            },
            Unit::KilobytesPerSecond => Self {
                low: number.value - half,
                high: number.value + half + 1.0 / KILOBYTE_BYTES,
            },
            _ => Self::around(number.value, half),
        }
    }

    pub fn around(value: f64, half: f64) -> Self {
        Self {
            low: value - half,
            high: value + half,
        }
    }

    /// Divides the interval by another one. Both intervals must be positive.
    pub fn over(self, other: Self) -> Self {
        Self {
            low: self.low / other.high,
            high: self.high / other.low,
        }
    }

    /// Returns the intersection; `low` is above `high` if it is empty.
    pub fn and(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        }
    }

    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns whether the intersection is not empty.
    pub fn meets(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(printed: &str) -> PrintedNumber {
        printed.parse().unwrap()
    }

    #[test]
    fn printed_numbers_are_parsed() {
        for (printed, value, to, decimals) in [
            ("36", 36.0, None, 0),
            ("115.67", 115.67, None, 2),
            ("1,100.00", 1_100.0, None, 2),
            ("-72.92", -72.92, None, 2),
            ("129-214%", 129.0, Some(214.0), 0),
            ("-1-77%", -1.0, Some(77.0), 0),
            ("-88-(-77)%", -88.0, Some(-77.0), 0),
            ("500-1,000%", 500.0, Some(1_000.0), 0),
        ] {
            let read = number(printed);
            assert_eq!(
                (read.printed.as_str(), read.value, read.to, read.decimals),
                (printed, value, to, decimals)
            );
        }
        for wrong in ["", "-", "12O", "1-", "inf", "nan", "1e3", "?", "(5"] {
            assert!(wrong.parse::<PrintedNumber>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_converted_from_megabytes_have_coarser_rounding() {
        let rounding = |printed| number(printed).rounding(Unit::KilobytesPerSecond);
        assert_eq!(rounding("4880"), 5.0);
        assert_eq!(rounding("6092.8"), 5.12);
        assert_eq!(rounding("2048"), 5.12);
        assert_eq!(
            rounding("1015.93"),
            0.005,
            "kilobytes go to 1,024 in edition 1.5"
        );
        assert_eq!(rounding("115.67"), 0.005);
        assert_eq!(number("4880").rounding(Unit::Messages), 0.5);
        let converted = ["6092.8", "2048", "4880", "1280.00", "1015.93", "512.00"]
            .map(|one| number(one).is_times_1024());
        assert_eq!(converted, [true, true, false, false, false, false]);
    }
}
