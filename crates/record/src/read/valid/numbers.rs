//! Checks of the numbers of a record: counts, moments, rates, and their sums.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum time before or after the run's origin, and maximum duration: 2^62 ns, 146 years.
const MOMENT_MAX_NS: u64 = 1 << 62;

/// Maximum number of ranks. The program is designed for at most a hundredth of this number.
pub(super) const RANKS_MAX: usize = 1_000_000;

/// Error of a check: the invalid field, and the reason.
#[derive(Debug)]
pub(in crate::read) struct Wrong {
    pub(in crate::read) field: String,
    pub(in crate::read) why: String,
}

pub(in crate::read) type Valid = Result<(), Wrong>;

pub(in crate::read) fn wrong<T>(
    field: impl Into<String>,
    why: impl Into<String>,
) -> Result<T, Wrong> {
    Err(Wrong {
        field: field.into(),
        why: why.into(),
    })
}

/// Adds to an error the path of the object that contains the invalid field.
pub(in crate::read) trait Within {
    fn within(self, place: impl FnOnce() -> String) -> Self;
}

impl Within for Valid {
    fn within(self, place: impl FnOnce() -> String) -> Self {
        self.map_err(|Wrong { field, why }| Wrong {
            field: format!("{}.{field}", place()),
            why,
        })
    }
}

/// Checks each element of a list; an error includes its index.
pub(in crate::read) fn each<T>(
    name: &'static str,
    list: &[T],
    mut check: impl FnMut(&T) -> Valid,
) -> Valid {
    let mut indexed = list.iter().enumerate();
    indexed.try_for_each(|(index, element)| check(element).within(|| format!("{name}[{index}]")))
}

pub(in crate::read) fn at_most(field: &'static str, found: usize, most: usize) -> Valid {
    if found > most {
        let why = format!("{found} of them, and there are at most {most}");
        return wrong(field, why);
    }
    Ok(())
}

pub(in crate::read) fn distinct<K: Ord>(
    field: &'static str,
    keys: impl Iterator<Item = K>,
) -> Valid {
    let mut seen = BTreeSet::new();
    for key in keys {
        if !seen.insert(key) {
            return wrong(field, "one of them is there twice");
        }
    }
    Ok(())
}

pub(in crate::read) fn from_to(field: &'static str, number: f64, (low, high): (f64, f64)) -> Valid {
    // This also rejects NaN.
    if !(low..=high).contains(&number) {
        return wrong(field, format!("{number:?} is not from {low:?} to {high:?}"));
    }
    Ok(())
}

pub(in crate::read) fn not_negative(field: &'static str, number: f64) -> Valid {
    from_to(field, number, (0.0, f64::MAX))
}

/// Checks a number that must be positive: a rate per second, or a divisor of rates.
pub(in crate::read) fn rate(field: &'static str, number: f64) -> Valid {
    from_to(field, number, (f64::MIN_POSITIVE, f64::MAX))
}

pub(in crate::read) fn moment(field: &'static str, ns: u64) -> Valid {
    if ns > MOMENT_MAX_NS {
        return wrong(field, format!("{ns} ns are more than a run can have"));
    }
    Ok(())
}

pub(in crate::read) fn order(field: &'static str, began_ns: u64, ended_ns: u64) -> Valid {
    if ended_ns < began_ns {
        let why = format!("{ended_ns} is before {began_ns}, where it began");
        return wrong(field, why);
    }
    moment(field, ended_ns)
}

/// Sums that reports compute later. Checks compute the same sums to detect overflow. The key of
/// each sum is its description.
#[derive(Default)]
pub(in crate::read) struct Totals(BTreeMap<&'static str, u64>);

impl Totals {
    pub(super) fn add(&mut self, of: &'static str, field: &'static str, numbers: &[u64]) -> Valid {
        let sum = self.0.entry(of).or_default();
        for number in numbers {
            *sum = match sum.checked_add(*number) {
                Some(sum) => sum,
                None => return wrong(field, format!("with it {of} are more than 2^64")),
            };
        }
        Ok(())
    }
}
