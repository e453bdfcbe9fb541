//! Labels of axes.

use document::units::{latency, rate, throughput};

/// With two digits behind the point at most.
pub(crate) fn millions(value: f64) -> String {
    format!("{}M", document::units::trimmed(value / 1e6, 2))
}

pub(crate) fn rate_label(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value >= 1e6 => millions(value),
        value if value.fract() == 0.0 => rate(Some(value)).trim_end_matches(".00").to_owned(),
        value => rate(Some(value)),
    }
}

pub(crate) fn throughput_label(value: f64) -> String {
    let shown = throughput(value);
    match shown.split_once(' ') {
        _ if value == 0.0 => "0".to_owned(),
        Some((digits, unit)) if digits.contains('.') => {
            format!(
                "{} {unit}",
                digits.trim_end_matches('0').trim_end_matches('.')
            )
        }
        _ => shown,
    }
}

/// A latency at an axis, where it is a power of ten.
pub(crate) fn short_latency(ns: f64) -> String {
    let text = latency(ns);
    let (value, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let value = if value.contains('.') {
        value.trim_end_matches('0').trim_end_matches('.')
    } else {
        value
    };
    format!("{value} {unit}")
}
