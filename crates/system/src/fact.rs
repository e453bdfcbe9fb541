//! A fact is known, does not apply here, or could not be learned.
//!
//! It is no error type: a reader goes on without the fact and says why it is
//! missing. There is no default value, so that unknown cannot turn into 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known about one thing.
///
/// In JSON: `{"known": 5}`, `"not_applicable"`, `{"unavailable": "why"}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// Read, and this is the value.
    Known(T),
    /// There is no such thing here: no limit is set, the device has no such
    /// property, the file system has no such count.
    NotApplicable,
    /// It could not be read or understood: the file or call, and the answer.
    Unavailable(String),
}

impl<T> Fact<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::NotApplicable | Fact::Unavailable(_) => None,
        }
    }

    /// The value by move, if it is known.
    pub fn into_known(self) -> Option<T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::NotApplicable | Fact::Unavailable(_) => None,
        }
    }

    /// Whether the value is known.
    pub fn is_known(&self) -> bool {
        self.known().is_some()
    }

    /// Why the value is unavailable, if that is what it is.
    pub fn why(&self) -> Option<&str> {
        match self {
            Fact::Unavailable(why) => Some(why),
            Fact::Known(_) | Fact::NotApplicable => None,
        }
    }

    /// The same fact, borrowed. (A reason is cloned.)
    pub fn as_ref(&self) -> Fact<&T> {
        match self {
            Fact::Known(value) => Fact::Known(value),
            Fact::NotApplicable => Fact::NotApplicable,
            Fact::Unavailable(why) => Fact::Unavailable(why.clone()),
        }
    }

    /// The same fact about something computed from the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        self.and_then(|value| Fact::Known(f(value)))
    }

    /// A fact that follows from the value, and that may itself be missing.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Fact<U>) -> Fact<U> {
        match self {
            Fact::Known(value) => f(value),
            Fact::NotApplicable => Fact::NotApplicable,
            Fact::Unavailable(why) => Fact::Unavailable(why),
        }
    }

    /// A value that may have been found, or why there is none.
    pub(crate) fn found(value: Option<T>, why: impl FnOnce() -> String) -> Fact<T> {
        value.map_or_else(|| Fact::Unavailable(why()), Fact::Known)
    }

    /// This fact if it is known, otherwise the other one.
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

/// What follows from two facts; the first that is missing is the reason.
pub(crate) fn pair<T, U, R>(
    later: &Fact<T>,
    earlier: &Fact<U>,
    f: impl FnOnce(&T, &U) -> Fact<R>,
) -> Fact<R> {
    later
        .as_ref()
        .and_then(|later| earlier.as_ref().and_then(|earlier| f(later, earlier)))
}

/// As [`pair`], of what is known wherever both are.
pub(crate) fn both<T, U, R>(
    later: &Fact<T>,
    earlier: &Fact<U>,
    f: impl FnOnce(&T, &U) -> R,
) -> Fact<R> {
    pair(later, earlier, |later, earlier| {
        Fact::Known(f(later, earlier))
    })
}

/// Each of the later readings since the earlier ones.
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

/// What is watched for targets. Found once, read often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched<T> {
    /// What is read.
    pub list: Vec<T>,
    /// Why something that belongs to a target is not in the list; empty if all of it is.
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

    /// What follows from a fact that is known; why it is not is kept.
    pub(crate) fn known<'fact, U>(&mut self, fact: &'fact Fact<U>) -> Option<&'fact U> {
        if let Fact::Unavailable(why) = fact {
            self.unseen(why);
        }
        fact.known()
    }

    /// All of it, unless it is nothing: then the first reason, where there is one.
    pub(crate) fn found(self) -> Fact<Self> {
        match self.unseen.first() {
            Some(why) if self.list.is_empty() => Fact::Unavailable(why.clone()),
            None if self.list.is_empty() => Fact::NotApplicable,
            _ => Fact::Known(self),
        }
    }
}

/// A fact where it is known, otherwise an earlier one of the same.
pub(crate) fn or<T: Clone>(later: Fact<T>, earlier: &Fact<T>) -> Fact<T> {
    later.or_else(|| earlier.clone())
}

/// How far a counter has come. One that went backwards was reset, or is
/// another's by now: how far is not known.
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

/// A count at a moment between two readings, so far on the way. One that went backwards was what it
/// was.
pub(crate) fn part_way(earlier: &Fact<u64>, later: &Fact<u64>, fraction: f64) -> Fact<u64> {
    both(later, earlier, |later, earlier| {
        let grown = later.saturating_sub(*earlier) as f64 * fraction;
        earlier.saturating_add(grown.round() as u64)
    })
}

/// Two counts together. What is not applicable adds nothing, and where one is not known the sum is
/// not.
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
    fn mapping_touches_only_what_is_known() {
        assert_eq!(Fact::Known(2).map(|n: u64| n * 3), Fact::Known(6));
        assert_eq!(Fact::NotApplicable.map(|n: u64| n), Fact::NotApplicable);
        let missing: Fact<u64> = Fact::Unavailable("gone".into());
        assert_eq!(missing.clone().map(|n| n + 1).why(), Some("gone"));
        assert_eq!(missing.known(), None);
        assert_eq!(missing.or_else(|| Fact::Known(1)), Fact::Known(1));
        assert_eq!(Fact::Known(3).as_ref().known(), Some(&&3));
    }
}
