//! Warnings of the classic mode about input that the original silently misinterprets. The input has
//! the same effect as in the original. The warning states this effect, and the correct input.
//!
//! The original's own messages (`Error: …`) are in `settings` and in the interpreter. Every warning
//! is one line that begins with `Warning: `, to distinguish it from the original's messages.

use std::path::Path;

use workload::quantity;

use super::number::PromptNumber;

/// Returns a warning if the original misinterprets a number; otherwise `None`.
pub fn of_number(command: &str, argument: &[u8], number: PromptNumber) -> Option<String> {
    let argument = String::from_utf8_lossy(argument);
    let meant = quantity::bytes(&argument).ok().filter(|meant| fits(*meant));
    let said = format!("{command} {}", argument.trim_end());
    (!number.exact).then(|| other_number(&said, number.value, meant))
}

/// Returns the warning for a weight that the original misinterprets as `understood`.
pub fn of_weight(said: &[u8], understood: i32) -> String {
    let said = format!("the weight {}", String::from_utf8_lossy(said).trim());
    other_number(&said, understood, None)
}

fn other_number(said: &str, understood: i32, meant: Option<u64>) -> String {
    let like = meant.map_or_else(String::new, |meant| format!(", like {meant}"));
    format!(
        "Warning: '{said}' is understood as {understood}: units and signs behind a number are \
         ignored, and the greatest number is {}; give a plain number{like}",
        i32::MAX
    )
}

/// Returns a warning if the original misinterprets the file sizes; otherwise `None`.
pub fn of_sizes(argument: &[u8], low: i32, high: i32) -> Option<String> {
    let argument = String::from_utf8_lossy(argument);
    let words: Vec<&str> = argument.split_whitespace().collect();
    let plain: Option<Vec<i32>> = words.iter().map(|word| word.parse().ok()).collect();
    let understood = match plain.as_deref() {
        Some([both]) => *both == low && *both == high,
        Some([first, second]) => *first == low && *second == high,
        _ => false,
    };
    if understood {
        return None;
    }
    let said = format!("set size {}", argument.trim_end());
    let sizes = match low == high {
        true => format!("sizes of {low} bytes"),
        false => format!("sizes from {low} to {high} bytes"),
    };
    let right = match meant_sizes(&argument, &words) {
        Some((low, high)) if low == high => format!("plain numbers of bytes: 'set size {low}'"),
        Some((low, high)) => format!("plain numbers of bytes: 'set size {low} {high}'"),
        None => "one or two plain numbers of bytes, the lower first, as in 'set size 500 10000'"
            .to_owned(),
    };
    Some(format!(
        "Warning: '{said}' is understood as {sizes}; give {right}"
    ))
}

/// Returns the warning for a location path that ends with a number in version 1.0. In later
/// versions the number is a weight, but in version 1.0 it is a part of the path.
pub fn of_weight_in_path(argument: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(argument);
    let (_, word) = text.rsplit_once(' ')?;
    word.parse::<i64>().is_ok().then(|| {
        format!(
            "Warning: the path is '{text}': edition 1.0 has one location without a weight; give \
             'set location PATH'"
        )
    })
}

/// Returns the warning for a path with spaces and no weight, which the original would cut.
pub fn of_spaces(path: &Path) -> String {
    let path = path.display();
    format!(
        "Warning: '{path}' is understood as one path with spaces and a weight of 1; the original \
         would cut it at its last space: give the weight too, 'set location {path} 1', and both \
         understand it"
    )
}

/// Returns one or two sizes with units, as the user probably intended them.
fn meant_sizes(argument: &str, words: &[&str]) -> Option<(u64, u64)> {
    let (low, high) = match words {
        [low, high] => (quantity::bytes(low).ok()?, quantity::bytes(high).ok()?),
        [_] => {
            // A comma between two numbers separates the two sizes; it is not digit grouping.
            let range = argument.trim().replacen(',', "..", 1);
            quantity::byte_range(&range).ok()?
        }
        _ => return None,
    };
    (low > 0 && low <= high && fits(high)).then_some((low, high))
}

fn fits(value: u64) -> bool {
    i32::try_from(value).is_ok()
}
