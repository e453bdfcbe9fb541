//! Formats numbers for readers, with their units.

/// The no-break space, which prevents a line break between words.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// Formats a count with digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with the name of the counted things. A `y` at the end of the name becomes `ies`
/// in the plural, so the letter before the `y` must be a consonant.
pub fn counted(number: u64, name: &str) -> String {
    match (number, name.strip_suffix('y')) {
        (1, _) => format!("1 {name}"),
        (_, Some(stem)) => format!("{} {stem}ies", grouped(number)),
        (_, None) => format!("{} {name}s", grouped(number)),
    }
}

/// Formats a value with a given number of decimals. A value that rounds to zero has no sign. For
/// example, the sum of an empty list is -0 and is printed as 0.
pub fn fixed(value: f64, digits: usize) -> String {
    let shown = format!("{value:.digits$}");
    match shown.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|digit| matches!(digit, b'0' | b'.')) => zero.to_owned(),
        _ => shown,
    }
}

/// Formats a value with at most `digits` decimals, without trailing zeros.
pub fn trimmed(value: f64, digits: usize) -> String {
    let shown = fixed(value, digits);
    match shown.contains('.') {
        true => shown.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => shown,
    }
}

/// Formats a change in percent with its sign; values that round to zero have no sign.
pub fn signed_percent(fraction: f64) -> String {
    let shown = fixed(fraction * 100.0, 1);
    let is_more =
        !shown.starts_with('-') && shown.bytes().any(|digit| matches!(digit, b'1'..=b'9'));
    format!("{}{shown} %", if is_more { "+" } else { "" })
}

/// Converts bytes to the largest unit, up to TiB, in which the value is at least 1. Returns the
/// value and the name of the unit.
fn scaled(bytes: f64) -> (f64, &'static str) {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    (value, units[unit])
}

/// Formats bytes in the largest unit, up to TiB, in which the value is at least 1.
pub fn bytes(number: f64) -> String {
    match scaled(number) {
        (value, "B") if value.fract() == 0.0 => format!("{} B", fixed(value, 0)),
        (value, unit) => format!("{} {unit}", fixed(value, 2)),
    }
}

/// Formats bytes with three significant digits, without trailing zeros.
pub fn size(number: f64) -> String {
    let (value, unit) = scaled(number);
    let digits = if unit == "B" { 0 } else { digits(value) };
    format!("{} {unit}", trimmed(value, digits))
}

/// Formats a number of bytes exactly, in the largest unit (a power of 1,024) that divides it.
pub fn exact_bytes(number: u64) -> String {
    let (value, unit) = scaled(number as f64);
    match value.fract() == 0.0 {
        true => format!("{} {unit}", fixed(value, 0)),
        false if number.is_multiple_of(1024) => format!("{} KiB", grouped(number / 1024)),
        false => format!("{} B", grouped(number)),
    }
}

/// Formats bytes per second with three significant digits.
pub fn throughput(per_second: f64) -> String {
    let (value, unit) = scaled(per_second);
    format!("{} {unit}/s", three_digits(value))
}

/// Formats a value with three significant digits, or with all digits before the point.
fn three_digits(value: f64) -> String {
    fixed(value, digits(value))
}

/// Returns the number of decimals of a value with three significant digits.
fn digits(value: f64) -> usize {
    match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    }
}

/// Formats a rate per second: without decimals if it is at least 100, otherwise with two decimals.
pub fn rate(per_second: Option<f64>) -> String {
    match per_second {
        None => "-".to_owned(),
        Some(rate) if rate >= 100.0 => grouped(rate.round() as u64),
        Some(rate) => fixed(rate, 2),
    }
}

/// Formats a duration in seconds, without the unit.
pub fn seconds(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 10.0 {
        format!("{seconds:.6}")
    } else {
        format!("{seconds:.3}")
    }
}

/// Formats a duration of an estimate, in seconds, minutes or hours with two significant digits.
pub fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 9.95 => format!("{} s", fixed(seconds, 1)),
        _ if seconds < 300.0 => format!("{} s", fixed(seconds, 0)),
        _ if seconds < 7_200.0 => format!("{} min", fixed(seconds / 60.0, 0)),
        _ if seconds < 35_820.0 => format!("{} h", fixed(seconds / 3_600.0, 1)),
        _ => format!("{} h", grouped((seconds / 3_600.0).round() as u64)),
    }
}

/// Formats a latency in microseconds, without the unit.
pub fn microseconds(ns: f64) -> String {
    let microseconds = ns / 1e3;
    if microseconds < 100.0 {
        fixed(microseconds, 2)
    } else {
        grouped(microseconds.round() as u64)
    }
}

/// Formats a latency in a suitable unit with three significant digits.
pub fn latency(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "µs"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Formats a fraction from 0 to 1 in percent, with one decimal.
pub fn percent(fraction: f64) -> String {
    format!("{} %", fixed(fraction * 100.0, 1))
}

/// Formats a list of numbers. A list longer than `SHOWN_MAX` is shortened: it ends with the count
/// of the omitted numbers.
pub fn numbers(all: &[u32]) -> String {
    /// Maximum length of a list that is printed completely.
    const SHOWN_MAX: usize = 8;
    let mut shown: Vec<String> = all.iter().take(SHOWN_MAX).map(u32::to_string).collect();
    let more = all.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// Shortens a text to at most `most` characters. If the text is longer, it ends with an ellipsis.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let short: String = text.chars().take(most.saturating_sub(1)).collect();
    short + "…"
}

/// Replaces spaces before units by no-break spaces, so that line breaks do not separate a number
/// from its unit.
pub fn bound(sentences: &str) -> String {
    const UNITS: [&str; 10] = ["%", "s", "ms", "µs", "ns", "B", "KiB", "MiB", "GiB", "TiB"];
    let mut text = String::new();
    for word in sentences.split_whitespace() {
        let bare = word.trim_end_matches(|last: char| last != '%' && last.is_ascii_punctuation());
        match text.is_empty() {
            true => {}
            false if UNITS.contains(&bare) => text.push(NO_BREAK),
            false => text.push(' '),
        }
        text.push_str(word);
    }
    text
}

/// Formats a time in nanoseconds since the Unix epoch as date and time in UTC: `2001-08-27
/// 14:03:59`.
pub fn utc(unix_ns: u64) -> String {
    let moment =
        jiff::Timestamp::from_nanosecond(unix_ns.into()).expect("it ends in the year 2554");
    moment.strftime("%F %T").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_round_to_zero_have_no_sign() {
        let shown = [
            bytes,
            throughput,
            microseconds,
            latency,
            percent,
            signed_percent,
        ];
        for value in [-0.0, -1e-9, 0.0, 1e-9] {
            for show in shown {
                let text = show(value);
                assert!(text.starts_with("0"), "{value:?}: {text}");
            }
            assert_eq!(rate(Some(value)), "0.00");
            assert_eq!(trimmed(value, 3), "0");
        }
        assert_eq!(fixed(-0.26, 1), "-0.3");
        assert_eq!(trimmed(-120.0, 0), "-120");
        assert_eq!(trimmed(1.250, 3), "1.25");
        assert_eq!(
            [0.124, -0.124].map(signed_percent),
            ["+12.4 %", "-12.4 %"].map(str::to_owned)
        );
    }

    #[test]
    fn numbers_are_formatted_with_units() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(
            counted(1, "file") + ", " + &counted(2_000, "file"),
            "1 file, 2,000 files"
        );
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(4_302_954.0), "4.10 MiB");
        assert_eq!(size(512.0), "512 B");
        assert_eq!(size(47_185_920.0), "45 MiB");
        assert_eq!(size(2_758_000.0), "2.63 MiB");
        for (number, shown) in [
            (0, "0 B"),
            (500, "500 B"),
            (10_000, "10,000 B"),
            (65_536, "64 KiB"),
            (1_500 << 10, "1,500 KiB"),
            (3 << 30, "3 GiB"),
        ] {
            assert_eq!(exact_bytes(number), shown);
        }
        assert_eq!(throughput(512.0), "512 B/s");
        assert_eq!(throughput(40_002_954.0), "38.1 MiB/s");
        assert_eq!(rate(None), "-");
        assert_eq!(rate(Some(12.345)), "12.35");
        assert_eq!(rate(Some(51_234.6)), "51,235");
        assert_eq!(seconds(1_500_000), "0.001500");
        assert_eq!(microseconds(12_345.0), "12.35");
        for (ns, shown) in [
            (0.0, "0.00 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (12_345.0, "12.3 µs"),
            (99_951.0, "100 µs"),
            (1_053_000.0, "1.05 ms"),
            (31_000_000_000.0, "31.0 s"),
        ] {
            assert_eq!(latency(ns), shown);
        }
        assert_eq!(percent(0.123), "12.3 %");
    }

    #[test]
    fn durations_are_formatted_in_seconds_minutes_or_hours() {
        for (seconds, shown) in [
            (0.0, "0.0 s"),
            (1.84, "1.8 s"),
            (85.3, "85 s"),
            (1_500.0, "25 min"),
            (9_720.0, "2.7 h"),
            (25_000.0, "6.9 h"),
            (36_000.0, "10 h"),
            (7.2e6, "2,000 h"),
        ] {
            assert_eq!(duration(seconds), shown);
        }
    }

    #[test]
    fn line_breaks_do_not_separate_a_number_from_its_unit() {
        let words = bound("It took 5.0 % of 12 s, or (less) 3 MiB;  so it is.");
        assert_eq!(
            words,
            "It took 5.0\u{a0}% of 12\u{a0}s, or (less) 3\u{a0}MiB; so it is."
        );
    }

    #[test]
    fn times_are_formatted_as_utc() {
        let s = |seconds: u64| seconds * 1_000_000_000;
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(s(951_782_399)), "2000-02-28 23:59:59");
        assert_eq!(utc(s(951_782_400)), "2000-02-29 00:00:00");
        assert_eq!(utc(s(1_709_251_199)), "2024-02-29 23:59:59");
        assert_eq!(utc(s(4_107_542_400)), "2100-03-01 00:00:00");
        assert_eq!(utc(u64::MAX), "2554-07-21 23:34:33");
    }
}
