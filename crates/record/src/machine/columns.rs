//! Columns of numbers, with one number per slice.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Growth of a counter in each slice; null if the growth is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Counts(Vec<Option<u64>>);

/// Values of a state, such as memory in use, as read at the end of each second and at the end of
/// the phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct States {
    /// Maximum in each slice; null if no value is known.
    pub max: Vec<Option<u64>>,
    /// Last value in each slice; null if no value is known.
    pub last: Vec<Option<u64>>,
}

impl From<Vec<Option<u64>>> for Counts {
    /// Creates a column from the growth of a counter in each slice.
    fn from(numbers: Vec<Option<u64>>) -> Self {
        Self(numbers)
    }
}

impl Counts {
    /// Returns the growth of the counter in each slice; `None` if the growth is unknown.
    pub fn each(&self) -> &[Option<u64>] {
        &self.0
    }

    /// Returns the sum of the known numbers in a range of slices; `None` if none is known.
    pub fn sum(&self, slices: &Range<usize>) -> Option<u64> {
        known(&self.0, slices).reduce(u64::saturating_add)
    }
}

impl States {
    /// Returns the maximum of the known numbers in a range of slices; `None` if none is known.
    pub fn greatest(&self, slices: &Range<usize>) -> Option<u64> {
        known(&self.max, slices).max()
    }
}

fn known<'a>(numbers: &'a [Option<u64>], slices: &Range<usize>) -> impl Iterator<Item = u64> + 'a {
    let some = numbers.get(slices.clone()).unwrap_or_default();
    some.iter().flatten().copied()
}

/// Methods of the two types of columns, [`Counts`] and [`States`].
pub(super) trait Column {
    /// Adds an entry for a new slice, or merges the number into the entry of the last slice.
    fn put(&mut self, is_new: bool, number: Option<u64>);

    /// Merges slices. `begins` has an entry for each slice: false if the slice is merged with the
    /// slice before it.
    fn merge(&mut self, begins: &[bool]);

    /// Whether the column has exactly `slices` entries, one for each slice.
    fn has(&self, slices: usize) -> bool;

    /// Returns the column if it contains states.
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
