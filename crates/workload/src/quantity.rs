//! Numbers with units, as options and configuration files take them.
//!
//! `k`, `M`, `G` are powers of 1,000 for counts and for bytes; `Ki`, `Mi`, `Gi` are powers of 1,024. A `B`
//! may follow a number of bytes. Digits may be grouped with `_`; a comma is refused, because it
//! could be a decimal one or part a list.

/// The text given for a number is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuantity {
    /// It does not begin with digits.
    #[error("'{0}' is no number: give digits with a unit if need be, like 20k, 4KiB or 100000")]
    NoNumber(String),
    /// What follows the digits is no unit.
    #[error("'{unit}' in '{text}' is no unit: take {units}")]
    UnknownUnit {
        /// All that was given.
        text: String,
        /// The unit in it.
        unit: String,
        /// What would be right.
        units: &'static str,
    },
    /// It does not fit, or is no whole number.
    #[error("'{0}' is no whole number below 18446744073709551616")]
    NotWhole(String),
    /// A range that is none.
    #[error("'{0}' is no size or range of sizes: give one like 4KiB, or two like 500..10000")]
    NoRange(String),
}

/// How many of something: `500`, `20k`, `1.5M`.
///
/// # Errors
/// What is wrong with the text.
pub fn count(text: &str) -> Result<u64, InvalidQuantity> {
    parse(text, false)
}

/// How many bytes: `512`, `4KiB`, `10kB`, `1MiB`.
///
/// # Errors
/// What is wrong with the text.
pub fn bytes(text: &str) -> Result<u64, InvalidQuantity> {
    parse(text, true)
}

/// One size or two, with `..` or `-` between: `4KiB` is `(4096, 4096)`.
///
/// # Errors
/// What is wrong with the text.
pub fn byte_range(text: &str) -> Result<(u64, u64), InvalidQuantity> {
    let (low, high) = match text.split_once("..") {
        Some(bounds) => bounds,
        None => text.split_once('-').unwrap_or((text, text)),
    };
    if low.trim().is_empty() || high.trim().is_empty() {
        return Err(InvalidQuantity::NoRange(text.to_owned()));
    }
    Ok((bytes(low)?, bytes(high)?))
}

fn parse(text: &str, bytes: bool) -> Result<u64, InvalidQuantity> {
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_')))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let unit = unit.trim_start();
    let not_whole = || InvalidQuantity::NotWhole(text.to_owned());
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() || fraction.contains('.') {
        return Err(InvalidQuantity::NoNumber(text.to_owned()));
    }
    let factor = factor(unit, bytes).ok_or_else(|| InvalidQuantity::UnknownUnit {
        text: text.to_owned(),
        unit: unit.to_owned(),
        units: if bytes {
            "k, M, G (powers of 1000) or Ki, Mi, Gi (powers of 1024), with or without B"
        } else {
            "k, M, G (powers of 1000) or Ki, Mi, Gi (powers of 1024)"
        },
    })?;
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

fn factor(unit: &str, bytes: bool) -> Option<u128> {
    let prefix = if bytes {
        unit.strip_suffix('B').unwrap_or(unit)
    } else {
        unit
    };
    Some(match prefix {
        "" => 1,
        "k" | "K" => 1_000,
        "M" | "m" => 1_000_000,
        "G" | "g" => 1_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_a_thousand_or_of_1024() {
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
    fn ranges_have_one_bound_or_two() {
        assert_eq!(byte_range("500..10000"), Ok((500, 10_000)));
        assert_eq!(byte_range("1KiB-4KiB"), Ok((1_024, 4_096)));
        assert_eq!(byte_range("4KiB"), Ok((4_096, 4_096)));
        assert_eq!(byte_range("500.."), Err(InvalidQuantity::NoRange("500..".into())));
    }

    #[test]
    fn what_is_no_number_is_refused() {
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
