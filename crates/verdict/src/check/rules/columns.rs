//! Sums of counters, which are read from JSON by name, and tolerances for times from the kernel.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::scope::At;

/// Maximum error of times that the kernel attributes by ticks, in nanoseconds.
const TICKS_NS: u64 = 50_000_000;
/// Maximum delay between the recorded moment of a reading and the reading itself, in nanoseconds.
/// Other programs may run in between.
const READ_LATE_NS: u64 = 5_000_000_000;
/// Columns that sums exclude: `iowait_ns` may decrease, and `in_flight` is not a counter.
const NO_COUNTS: [&str; 2] = ["iowait_ns", "in_flight"];

/// Converts a group of counters to a JSON object.
pub(super) fn fields(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// Returns a number as it is, the value of a known fact, or the sum of a list with one number for
/// each interval.
pub(super) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Array(slices) => Some(sum(slices.iter().filter_map(Value::as_u64))),
        other => other.as_u64().or_else(|| other.get("known")?.as_u64()),
    }
}

pub(super) fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// Sums of counters, by group and name.
#[derive(Default)]
pub(super) struct Columns(BTreeMap<String, u64>);

impl Columns {
    pub(super) fn add(&mut self, group: &str, fields: &Value) {
        for (name, value) in fields.as_object().into_iter().flatten() {
            if let Some(more) = number(value).filter(|_| !NO_COUNTS.contains(&name.as_str())) {
                let sum = self.0.entry(format!("{group}.{name}")).or_default();
                *sum = sum.saturating_add(more);
            }
        }
    }

    /// Checks that each sum is at most the sum of the same column over the whole run.
    pub(super) fn within(&self, whole: &Self, at: &mut At<'_>) {
        for (column, sum) in &self.0 {
            let whole = whole.0.get(column).copied();
            at.at_most(&format!(": {column}"), *sum, whole, "in the whole run");
        }
    }
}

/// Adds the tolerances to a time in nanoseconds: 5 %, the error of ticks, and the delay of a
/// reading.
pub(super) fn with_ticks(ns: u64) -> u64 {
    sum([ns, ns / 20, TICKS_NS, READ_LATE_NS])
}

/// Checks that numbers are multiples of the kernel's unit: `of[0]` nanoseconds if the name ends
/// with `_ns`, and `of[1]` bytes if the name ends with `_bytes`.
pub(super) fn units(of: [u64; 2], name: &str, value: &Value, at: &mut At<'_>) {
    let unit = match name {
        _ if name.ends_with("_ns") => of[0],
        _ if name.ends_with("_bytes") => of[1],
        _ => 1,
    };
    match value {
        Value::Object(fields) => {
            for (inner, value) in fields {
                // A name without a unit, such as `known` in a fact, has the unit of the enclosing
                // name.
                let is_name = inner.ends_with("_ns") || inner.ends_with("_bytes");
                let name = if is_name { inner } else { name };
                units(of, name, value, &mut at.below(&format!(".{inner}")));
            }
        }
        Value::Array(numbers) => numbers.iter().for_each(|value| units(of, name, value, at)),
        value => {
            if let Some(other) = value.as_u64().filter(|number| number % unit != 0) {
                let why = format!("{other}, and the kernel counts in multiples of {unit}");
                at.broken("", why);
            }
        }
    }
}
