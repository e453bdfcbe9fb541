//! Mutations of JSON for fuzzing. A mutation of single bytes rarely leaves the JSON of a whole
//! record valid. Therefore half of the mutations replace a complete value by another one.

use std::ops::Range;

/// Replaces a value in the JSON text `data[..size]`; returns the new length. `None` if `seed`
/// selects the mutation of libFuzzer instead, or if no value can be replaced.
pub fn change(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> Option<usize> {
    let text = seed
        .is_multiple_of(2)
        .then(|| with_another(&data[..size], seed / 2))
        .flatten()?;
    let room = data
        .get_mut(..text.len())
        .filter(|room| room.len() <= max_size)?;
    room.copy_from_slice(&text);
    Some(text.len())
}

/// Replacements for numbers and strings.
const OTHERS: [&[u8]; 24] = [
    b"0",
    b"1",
    b"-1",
    b"2",
    b"1000000000",
    b"4611686018427387904",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"340282366920938463463374607431768211455",
    b"-9223372036854775808",
    b"0.5",
    b"-0.0",
    b"1e-308",
    b"1e39",
    b"1.7e308",
    b"-1.7e308",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"\"\\u001b[2J\\u202e\"",
];

/// Replaces one value by one of [`OTHERS`], or by another value of the text. `None` if the text has
/// no value.
fn with_another(text: &[u8], seed: u32) -> Option<Vec<u8>> {
    let values = values(text);
    // Constants of a linear congruential generator (Numerical Recipes), which is sufficient for a
    // few choices.
    let mut state = seed;
    let mut below = |count: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % count.max(1)
    };
    let place = values.get(below(values.len()))?.clone();
    let other = match below(3) {
        0 => text[values[below(values.len())].clone()].to_vec(),
        _ => OTHERS[below(OTHERS.len())].to_vec(),
    };
    Some([&text[..place.start], &other, &text[place.end..]].concat())
}

/// The positions of all numbers and of all strings that are not field names.
fn values(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let begin = at;
        match text[at] {
            b'"' => {
                at += 1;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(text.len());
                if text.get(at) != Some(&b':') {
                    found.push(begin..at);
                }
            }
            b'0'..=b'9' | b'-' => {
                while at < text.len()
                    && matches!(text[at], b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
                {
                    at += 1;
                }
                found.push(begin..at);
            }
            _ => at += 1,
        }
    }
    found
}
