//! Columns of numbers, one for each slice.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A counter: how far it came in each slice; nothing where that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Counts(Vec<Option<u64>>);

/// A state, as it was when it was read: at the end of each second, and at the end of the phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct States {
    /// The greatest one in each slice; nothing where none is known.
    pub max: Vec<Option<u64>>,
    /// The last one in each slice.
    pub last: Vec<Option<u64>>,
}

impl From<Vec<Option<u64>>> for Counts {
    /// By slice.
    fn from(numbers: Vec<Option<u64>>) -> Self {
        Self(numbers)
    }
}

impl Counts {
    /// By slice.
    pub fn each(&self) -> &[Option<u64>] {
        &self.0
    }

    /// All that is known of some slices added up; nothing where nothing is.
    pub fn sum(&self, slices: &Range<usize>) -> Option<u64> {
        known(&self.0, slices).reduce(u64::saturating_add)
    }
}

impl States {
    /// The greatest one of some slices that is known.
    pub fn greatest(&self, slices: &Range<usize>) -> Option<u64> {
        known(&self.max, slices).max()
    }
}

fn known<'a>(numbers: &'a [Option<u64>], slices: &Range<usize>) -> impl Iterator<Item = u64> + 'a {
    let some = numbers.get(slices.clone()).unwrap_or_default();
    some.iter().flatten().copied()
}

/// What a column does with its numbers, whatever they are.
pub(super) trait Column {
    /// Takes a number for a new slice, or more for the last one.
    fn put(&mut self, is_new: bool, number: Option<u64>);

    /// Merges slices: by slice, whether it begins a new one; otherwise it goes in with the one
    /// before.
    fn merge(&mut self, begins: &[bool]);

    /// Whether it has a number, or nothing, for each of so many slices.
    fn has(&self, slices: usize) -> bool;

    /// Itself, if its numbers are states.
    fn states(&self) -> Option<&States> {
        None
    }
}

impl Column for Counts {
    fn put(&mut self, is_new: bool, number: Option<u64>) {
        put(&mut self.0, is_new, number, u64::saturating_add);
    }

    fn merge(&mut self, begins: &[bool]) {
        merge(&mut self.0, begins, u64::saturating_add);
    }

    fn has(&self, slices: usize) -> bool {
        self.0.len() == slices
    }
}

impl Column for States {
    fn put(&mut self, is_new: bool, number: Option<u64>) {
        put(&mut self.max, is_new, number, u64::max);
        put(&mut self.last, is_new, number, later);
    }

    fn merge(&mut self, begins: &[bool]) {
        merge(&mut self.max, begins, u64::max);
        merge(&mut self.last, begins, later);
    }

    fn has(&self, slices: usize) -> bool {
        self.max.len() == slices && self.last.len() == slices
    }

    fn states(&self) -> Option<&States> {
        Some(self)
    }
}

fn later(_: u64, later: u64) -> u64 {
    later
}

type Merging = fn(u64, u64) -> u64;

fn put(numbers: &mut Vec<Option<u64>>, is_new: bool, number: Option<u64>, merging: Merging) {
    match numbers.last_mut() {
        Some(last) if !is_new => {
            *last = match (*last, number) {
                (Some(earlier), Some(later)) => Some(merging(earlier, later)),
                (earlier, later) => earlier.or(later),
            }
        }
        _ => numbers.push(number),
    }
}

fn merge(numbers: &mut Vec<Option<u64>>, begins: &[bool], merging: Merging) {
    let narrow = std::mem::take(numbers);
    for (number, begins) in narrow.into_iter().zip(begins) {
        put(numbers, *begins, number, merging);
    }
}
