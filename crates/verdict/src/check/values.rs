//! Finds the places in which two JSON values differ.

use serde_json::{Number, Value};

/// Callback for a place in which two JSON values differ. The arguments are the path of the place,
/// and the part of each value at this place; `None` if the value has no such place.
type Differs<'d> = dyn FnMut(&str, Option<&Value>, Option<&Value>) + 'd;

/// Calls `differs` for each place in which one value differs from the other.
pub(super) fn compare(
    path: &str,
    one: Option<&Value>,
    other: Option<&Value>,
    differs: &mut Differs<'_>,
) {
    match (one, other) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let added = other.keys().filter(|name| !one.contains_key(*name));
            for name in one.keys().chain(added) {
                let place = format!("{path}.{name}");
                compare(&place, one.get(name), other.get(name), differs);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for index in 0..one.len().max(other.len()) {
                let place = format!("{path}[{index}]");
                compare(&place, one.get(index), other.get(index), differs);
            }
        }
        (Some(Value::Number(one)), Some(Value::Number(other))) if is_same(one, other) => {}
        (one, other) if one == other => {}
        (one, other) => differs(path, one, other),
    }
}

/// Whether two numbers are equal: integers exactly, floats in any notation.
fn is_same(one: &Number, other: &Number) -> bool {
    // 5.0 equals 5, but an integer that a float cannot represent exactly equals no float.
    let is_exact = |number: &Number| {
        number.is_f64()
            || number
                .as_f64()
                .is_some_and(|float| float.abs() < EXACT_BELOW)
    };
    let are_floats = one.is_f64() || other.is_f64();
    let is_equal = are_floats && one.as_f64() == other.as_f64();
    one == other || (is_equal && is_exact(one) && is_exact(other))
}

/// Integers below this limit are exact as 64-bit floats.
const EXACT_BELOW: f64 = (1_u64 << 53) as f64;
