//! Formats values as labels of axes.

use document::units::{latency, rate, throughput};

use crate::pictures::chart::Axis;
use crate::pictures::scale::Scale;

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

/// Formats a rate for an axis, without `.00`.
pub(crate) fn short_rate(value: f64) -> String {
    rate(Some(value)).replace(".00", "")
}

/// The label of a whole number; empty for a number with a fraction.
pub(crate) fn whole(value: f64) -> String {
    match value.fract() == 0.0 {
        true => document::units::fixed(value, 0),
        false => String::new(),
    }
}

pub(crate) fn throughput_label(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value => without_zeros(throughput(value)),
    }
}

/// An axis in bytes/s that covers all given values.
pub(crate) fn throughput_axis(values: impl Iterator<Item = f64>) -> Axis {
    Axis::new("bytes/s", Scale::of_bytes(values), throughput_label)
}

/// A latency for an axis, without trailing zeros.
pub(crate) fn short_latency(ns: f64) -> String {
    without_zeros(latency(ns))
}

/// Removes trailing zeros from the decimals of a number with a unit.
fn without_zeros(shown: String) -> String {
    match shown.split_once(' ') {
        Some((digits, unit)) if digits.contains('.') => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits} {unit}")
        }
        _ => shown,
    }
}
