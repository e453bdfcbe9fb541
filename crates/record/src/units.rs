//! Numbers as people read them, always with their unit.

/// A count with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with the name of what is counted.
pub fn counted(number: u64, name: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {name}{plural}", grouped(number))
}

/// Bytes in the power of 1,024 that leaves one to four digits before the point.
pub fn bytes(number: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = number;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 && value.fract() == 0.0 {
        format!("{value:.0} B")
    } else {
        format!("{value:.2} {}", units[unit])
    }
}

/// A rate a second, with as many digits as it is likely to be worth.
pub fn rate(per_second: Option<f64>) -> String {
    match per_second {
        None => "-".to_owned(),
        Some(rate) if rate >= 100.0 => grouped(rate.round() as u64),
        Some(rate) => format!("{rate:.2}"),
    }
}

/// A duration in seconds.
pub fn seconds(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 10.0 {
        format!("{seconds:.6}")
    } else {
        format!("{seconds:.3}")
    }
}

/// A latency in microseconds.
pub fn microseconds(ns: f64) -> String {
    let microseconds = ns / 1e3;
    if microseconds < 100.0 {
        format!("{microseconds:.2}")
    } else {
        grouped(microseconds.round() as u64)
    }
}

/// A share in percent.
pub fn percent(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_units() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(
            counted(1, "file") + ", " + &counted(2_000, "file"),
            "1 file, 2,000 files"
        );
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(4_302_954.0), "4.10 MiB");
        assert_eq!(rate(None), "-");
        assert_eq!(rate(Some(12.345)), "12.35");
        assert_eq!(rate(Some(51_234.6)), "51,235");
        assert_eq!(seconds(1_500_000), "0.001500");
        assert_eq!(microseconds(12_345.0), "12.35");
        assert_eq!(percent(0.123), "12.3 %");
    }
}
