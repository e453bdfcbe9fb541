//! Numbers with units, in options and configuration files.
//!
//! `k`, `M`, `G`, `T` are powers of 1,000, and `Ki`, `Mi`, `Gi`, `Ti` are powers of 1,024, both for
//! counts and for bytes. A `B` may follow a number of bytes. Digits may be grouped with `_`. A
//! comma is refused, because it could be a decimal comma or the separator of a list.

use crate::WorkloadError;

const COUNT_UNITS: &str = "k, M, G, T = powers of 1000, or Ki, Mi, Gi, Ti = powers of 1024";
const BYTE_UNITS: &str =
    "k, M, G, T = powers of 1000, or Ki, Mi, Gi, Ti = powers of 1024; B may follow";
const TIME_UNITS: &str = "ns, us, ms, s, m (minutes) or h";
/// Units of time and their lengths in nanoseconds, with the largest unit first.
const TIMES: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Parses a count: `500`, `20k`, `1.5M`.
pub fn count(text: &str) -> Result<u64, WorkloadError> {
    parse(text, COUNT_UNITS, factor)
}

/// Parses a number of bytes: `512`, `4KiB`, `10kB`, `1MiB`.
pub fn bytes(text: &str) -> Result<u64, WorkloadError> {
    parse(text, BYTE_UNITS, |unit| {
        factor(unit.strip_suffix('B').unwrap_or(unit))
    })
}

/// Parses a duration and returns nanoseconds: `10ms`, `2s`, `1m`, `1.5h`. Only 0 needs no unit.
pub fn duration_ns(text: &str) -> Result<u64, WorkloadError> {
    if text.trim() == "0" {
        return Ok(0);
    }
    ensure!(
        !text.trim().ends_with(|c: char| c.is_ascii_digit()),
        "'{text}' has no unit of time (use {TIME_UNITS}, like 10ms, 2s or 1m)"
    );
    parse(text, TIME_UNITS, |unit| {
        let known = TIMES.iter().find(|(name, _)| *name == unit);
        known.map(|(_, ns)| u128::from(*ns))
    })
}

/// Formats a duration in the largest unit that divides it, so that [`duration_ns`] can parse the
/// text.
pub fn duration_text(ns: u64) -> String {
    let (name, unit) = TIMES
        .into_iter()
        .find(|(_, unit)| ns > 0 && ns.is_multiple_of(*unit))
        .unwrap_or(("s", 1));
    format!("{}{name}", ns / unit)
}

/// Parses a percentage from 0 to 100: `1%`, `0.5%`.
pub fn percent(text: &str) -> Result<f64, WorkloadError> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    number
        .filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))
        .and_then(|number| number.parse().ok())
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| invalid!("'{text}' is not a percentage from 0% to 100%, like 1% or 0.5%"))
}

/// Parses one size, or two sizes separated by `..` or `-`. `4KiB` is `(4096, 4096)`.
pub fn byte_range(text: &str) -> Result<(u64, u64), WorkloadError> {
    let (low, high) = match text.split_once("..") {
        Some(bounds) => bounds,
        None => text.split_once('-').unwrap_or((text, text)),
    };
    ensure!(
        !low.trim().is_empty() && !high.trim().is_empty(),
        "'{text}' is not a size like 4KiB, or a range of sizes like 500..10000"
    );
    Ok((bytes(low)?, bytes(high)?))
}

fn parse(
    text: &str,
    units: &'static str,
    factor: impl FnOnce(&str) -> Option<u128>,
) -> Result<u64, WorkloadError> {
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_')))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let unit = unit.trim_start();
    let not_whole = || invalid!("'{text}' is not a whole number below 2^64");
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    ensure!(
        !whole.is_empty() && !fraction.contains('.'),
        "'{text}' is not a number (write digits with an optional unit, like 20k, 4KiB or 100000)"
    );
    let factor =
        factor(unit).ok_or_else(|| invalid!("unknown unit '{unit}' in '{text}' (use {units})"))?;
    let whole: u128 = whole.parse().map_err(|_| not_whole())?;
    let scale = 10_u128
        .checked_pow(u32::try_from(fraction.len()).map_err(|_| not_whole())?)
        .ok_or_else(not_whole)?;
    let fraction: u128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().map_err(|_| not_whole())?
    };
    let value = whole
        .checked_mul(scale)
        .and_then(|value| value.checked_add(fraction))
        .and_then(|value| value.checked_mul(factor))
        .ok_or_else(not_whole)?;
    if value % scale != 0 {
        return Err(not_whole());
    }
    u64::try_from(value / scale).map_err(|_| not_whole())
}

fn factor(prefix: &str) -> Option<u128> {
    Some(match prefix {
        "" => 1,
        "k" | "K" => 1_000,
        "M" | "m" => 1_000_000,
        "G" | "g" => 1_000_000_000,
        "T" | "t" => 1_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1000_or_1024() {
        for (text, value) in [
            ("500", 500),
            ("20k", 20_000),
            ("1.5M", 1_500_000),
            ("5_000_000", 5_000_000),
            ("10_000", 10_000),
            ("2Ki", 2_048),
        ] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
        for (text, value) in [
            ("4KiB", 4_096),
            ("4 KiB", 4_096),
            ("10kB", 10_000),
            ("1MiB", 1 << 20),
            ("7B", 7),
        ] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn size_ranges_have_one_or_two_bounds() {
        assert_eq!(byte_range("500..10000"), Ok((500, 10_000)));
        assert_eq!(byte_range("1KiB-4KiB"), Ok((1_024, 4_096)));
        assert_eq!(byte_range("4KiB"), Ok((4_096, 4_096)));
        let wrong = byte_range("500..").unwrap_err().to_string();
        assert!(wrong.contains("a range of sizes"), "{wrong}");
    }

    #[test]
    fn durations_with_units_parse() {
        for (text, ns) in [
            ("0", 0),
            ("10ms", 10_000_000),
            ("2s", 2_000_000_000),
            ("1.5 s", 1_500_000_000),
            ("1m", 60_000_000_000),
            ("2h", 7_200_000_000_000),
            ("7us", 7_000),
            ("13ns", 13),
        ] {
            assert_eq!(duration_ns(text), Ok(ns), "{text}");
            assert_eq!(duration_ns(&duration_text(ns)), Ok(ns), "{text}");
        }
        assert_eq!(duration_text(60_000_000_000), "1m");
        assert_eq!(duration_text(90_000_000_000), "90s");
        for text in ["", "60", "ms", "-1s", "1d", "1Ms", "1.5ns", "1S", "1e3s"] {
            assert!(duration_ns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percentages_range_from_0_to_100() {
        assert_eq!(percent("1%"), Ok(1.0));
        assert_eq!(percent("0.5 %"), Ok(0.5));
        assert_eq!(percent("100%"), Ok(100.0));
        for text in ["", "1", "%", "-1%", "101%", "NaN%", "inf%", "one%"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn invalid_numbers_are_refused() {
        for text in [
            "",
            "k",
            "-5",
            "1.2.3",
            "5 files",
            "1.5",
            "99999999999999999999",
            "0.0001k",
            "20kB",
            "500,10000",
            "0,5k",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(bytes("5XiB").is_err());
    }
}
