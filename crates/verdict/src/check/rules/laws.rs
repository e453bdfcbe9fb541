//! Laws that relate two values of a record, in tables of JSON paths.

use serde::Serialize;
use serde_json::Value;

use super::columns::number;
use super::scope::At;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Relation {
    AtMost,
    MultipleOf,
    OneOf,
}
use Relation::{AtMost, MultipleOf, OneOf};

/// The path of a value, its relation to a second value, and the path of the second value. Dots
/// separate names. If a value is a known fact, the fact's value is compared.
type Law = (&'static str, Relation, &'static str);

pub(super) const OF_HOST: [Law; 5] = [
    ("memory_available_bytes", AtMost, "memory_total_bytes"),
    ("processors.usable", AtMost, "processors.online"),
    ("processors.cores", AtMost, "processors.online"),
    ("processors.sockets", AtMost, "processors.cores"),
    ("clock_source", OneOf, "clock_sources_available"),
];

pub(super) const OF_SPACE: [Law; 7] = [
    ("free_bytes", AtMost, "total_bytes"),
    ("available_bytes", AtMost, "free_bytes"),
    ("inodes_free", AtMost, "inodes_total"),
    ("inodes_available", AtMost, "inodes_free"),
    ("total_bytes", MultipleOf, "block_size_bytes"),
    ("free_bytes", MultipleOf, "block_size_bytes"),
    ("available_bytes", MultipleOf, "block_size_bytes"),
];

pub(super) const OF_VOLUME: [Law; 2] = [
    ("bytes_peak", AtMost, "needed_bytes"),
    ("files_peak", AtMost, "needed_inodes"),
];

pub(super) const OF_TARGET: [Law; 1] = [("space.total_bytes", AtMost, "device.size_bytes")];

pub(super) const OF_SAMPLE: [Law; 4] = [
    ("dirty", AtMost, "cached"),
    ("dirty", AtMost, "pages"),
    ("cached", AtMost, "pages"),
    ("under_write_back", AtMost, "pages"),
];

/// Checks a part of a record against laws. A law is checked only if both of its values are known.
pub(super) fn check(laws: &[Law], part: &impl Serialize, found: &mut At<'_>) {
    let part = serde_json::to_value(part).unwrap_or_default();
    for (path, relation, other) in laws {
        let (Some(one), Some(value)) = (at(&part, path), at(&part, other)) else {
            continue;
        };
        let (holds, words) = match (relation, number(one), number(value)) {
            (AtMost, Some(one), Some(most)) => (one <= most, "at most"),
            (MultipleOf, Some(one), Some(unit)) => (one % unit.max(1) == 0, "in multiples of"),
            (OneOf, ..) => {
                let all = value.as_array();
                (all.is_none_or(|all| all.contains(one)), "one of")
            }
            _ => continue,
        };
        if !holds {
            let why = format!("{one}, and {words} {other}, which is {value}");
            found.broken(&format!(".{path}"), why);
        }
    }
}

/// Returns the value at a path. A known fact is replaced by its value.
fn at<'v>(part: &'v Value, path: &str) -> Option<&'v Value> {
    let known = |value: &'v Value| value.get("known").unwrap_or(value);
    let mut names = path.split('.');
    names.try_fold(known(part), |value, name| Some(known(value.get(name)?)))
}
