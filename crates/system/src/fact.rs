//! A fact is a value that was read, or the reason why the value is missing.
//!
//! A fact is not an error type: the program continues without the value and reports why it is
//! missing. A fact has no default value, so that an unknown value cannot become 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value, or the reason why it is missing.
///
/// In JSON: `{"known": 5}`, `"not_applicable"`, `{"unavailable": "why"}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// The value that was read.
    Known(T),
    /// The value does not exist here: no limit is set, the device lacks the property, or the file
    /// system lacks the count.
    NotApplicable,
    /// The value could not be read or understood. The text names the file or call, and its answer.
    Unavailable(String),
}

impl<T> Fact<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::NotApplicable | Fact::Unavailable(_) => None,
        }
    }

    pub fn into_known(self) -> Option<T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::NotApplicable | Fact::Unavailable(_) => None,
        }
    }

    pub fn is_known(&self) -> bool {
        self.known().is_some()
    }

    /// Returns the reason if the value is unavailable.
    pub fn why(&self) -> Option<&str> {
        match self {
            Fact::Unavailable(why) => Some(why),
            Fact::Known(_) | Fact::NotApplicable => None,
        }
    }

    /// Borrows the value; a reason is cloned.
    pub fn as_ref(&self) -> Fact<&T> {
        match self {
            Fact::Known(value) => Fact::Known(value),
            Fact::NotApplicable => Fact::NotApplicable,
            Fact::Unavailable(why) => Fact::Unavailable(why.clone()),
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        self.and_then(|value| Fact::Known(f(value)))
    }

    /// Applies `f`, which may itself return a missing value, to a known value.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Fact<U>) -> Fact<U> {
        match self {
            Fact::Known(value) => f(value),
            Fact::NotApplicable => Fact::NotApplicable,
            Fact::Unavailable(why) => Fact::Unavailable(why),
        }
    }

    /// Converts an option: `None` becomes unavailable with the reason `why`.
    pub(crate) fn found(value: Option<T>, why: impl FnOnce() -> String) -> Fact<T> {
        value.map_or_else(|| Fact::Unavailable(why()), Fact::Known)
    }

    /// Returns this fact if it is known, otherwise `other`.
    pub fn or_else(self, other: impl FnOnce() -> Fact<T>) -> Fact<T> {
        if self.is_known() { self } else { other() }
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Fact<T> {
    /// An error becomes the reason.
    fn from(result: Result<T, E>) -> Fact<T> {
        result.map_or_else(|error| Fact::Unavailable(error.to_string()), Fact::Known)
    }
}

/// Applies `f` if both facts are known. Otherwise returns why a value is missing; `later` is
/// checked first.
pub(crate) fn pair<T, U, R>(
    later: &Fact<T>,
    earlier: &Fact<U>,
    f: impl FnOnce(&T, &U) -> Fact<R>,
) -> Fact<R> {
    later
        .as_ref()
        .and_then(|later| earlier.as_ref().and_then(|earlier| f(later, earlier)))
}

/// Does the same as [`pair`], for an `f` that always returns a value.
pub(crate) fn both<T, U, R>(
    later: &Fact<T>,
    earlier: &Fact<U>,
    f: impl FnOnce(&T, &U) -> R,
) -> Fact<R> {
    pair(later, earlier, |later, earlier| {
        Fact::Known(f(later, earlier))
    })
}

/// Applies `since` to each later reading, together with all earlier readings.
pub(crate) fn each_since<T>(
    later: &Fact<Vec<T>>,
    earlier: &Fact<Vec<T>>,
    since: fn(&T, &[T]) -> T,
) -> Fact<Vec<T>> {
    both(later, earlier, |later, earlier| {
        later
            .iter()
            .map(|reading| since(reading, earlier))
            .collect()
    })
}

/// Devices, counters or interfaces that are watched for targets. They are located once, when this
/// value is created, and can then be read often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched<T> {
    pub list: Vec<T>,
    /// One reason for each device, counter or interface that could not be located. Empty if the
    /// list is complete.
    pub unseen: Vec<String>,
}

impl<T> Default for Watched<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            unseen: Vec::new(),
        }
    }
}

impl<T> Watched<T> {
    pub(crate) fn unseen(&mut self, why: &str) {
        if !self.unseen.iter().any(|known| known == why) {
            self.unseen.push(why.to_owned());
        }
    }

    /// Returns the value if it is known. If it is unavailable, adds the reason to `unseen`.
    pub(crate) fn known<'fact, U>(&mut self, fact: &'fact Fact<U>) -> Option<&'fact U> {
        if let Fact::Unavailable(why) = fact {
            self.unseen(why);
        }
        fact.known()
    }

    /// Returns the list as a fact. An empty list is unavailable with the first reason in `unseen`,
    /// or not applicable if `unseen` is empty as well.
    pub(crate) fn found(self) -> Fact<Self> {
        match self.unseen.first() {
            Some(why) if self.list.is_empty() => Fact::Unavailable(why.clone()),
            None if self.list.is_empty() => Fact::NotApplicable,
            _ => Fact::Known(self),
        }
    }
}

/// Returns the later fact if it is known, otherwise the earlier one.
pub(crate) fn or<T: Clone>(later: Fact<T>, earlier: &Fact<T>) -> Fact<T> {
    later.or_else(|| earlier.clone())
}

/// Returns the growth of a counter. A counter that went backwards was reset or now belongs to
/// another object, so its growth is unavailable.
pub(crate) fn grown(
    what: impl std::fmt::Display,
    later: &Fact<u64>,
    earlier: &Fact<u64>,
) -> Fact<u64> {
    pair(later, earlier, |later, earlier| {
        let why = || format!("{what} went backwards, from {earlier} to {later}");
        Fact::found(later.checked_sub(*earlier), why)
    })
}

/// Interpolates a count: `fraction` of the way from `earlier` to `later`. A count that went
/// backwards keeps its earlier value.
pub(crate) fn part_way(earlier: &Fact<u64>, later: &Fact<u64>, fraction: f64) -> Fact<u64> {
    both(later, earlier, |later, earlier| {
        let grown = later.saturating_sub(*earlier) as f64 * fraction;
        earlier.saturating_add(grown.round() as u64)
    })
}

/// Adds two counts. A count that is not applicable adds nothing. If one of the counts is
/// unavailable, the sum is unavailable.
pub(crate) fn added(one: &Fact<u64>, other: &Fact<u64>) -> Fact<u64> {
    match (one, other) {
        (Fact::NotApplicable, fact) | (fact, Fact::NotApplicable) => fact.clone(),
        _ => both(one, other, |one, other| one.saturating_add(*other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_snake_case_and_externally_tagged() {
        let facts: [Fact<u64>; 3] = [
            Fact::Known(5),
            Fact::NotApplicable,
            Fact::Unavailable("/x: no".into()),
        ];
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(
            json,
            r#"[{"known":5},"not_applicable",{"unavailable":"/x: no"}]"#
        );
        assert_eq!(
            serde_json::from_str::<[Fact<u64>; 3]>(&json).unwrap(),
            facts
        );
    }

    #[test]
    fn map_changes_only_known_values() {
        assert_eq!(Fact::Known(2).map(|n: u64| n * 3), Fact::Known(6));
        assert_eq!(Fact::NotApplicable.map(|n: u64| n), Fact::NotApplicable);
        let missing: Fact<u64> = Fact::Unavailable("gone".into());
        assert_eq!(missing.clone().map(|n| n + 1).why(), Some("gone"));
        assert_eq!(missing.known(), None);
        assert_eq!(missing.or_else(|| Fact::Known(1)), Fact::Known(1));
        assert_eq!(Fact::Known(3).as_ref().known(), Some(&&3));
    }
}
