//! The order of the runs of a history.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use study::HistoryPoint;

use super::select::Member;

/// What determines the order of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The time at which the runs began.
    Time,
    /// The notes of the runs.
    Note,
    /// The values of a tag: `commit` orders by tags like `commit:9f3a` or `commit=9f3a`.
    Tag(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected time, note or tag:NAME, like tag:commit")]
pub struct InvalidOrder;

impl FromStr for Order {
    type Err = InvalidOrder;

    fn from_str(text: &str) -> Result<Self, InvalidOrder> {
        match text {
            "time" => Ok(Self::Time),
            "note" => Ok(Self::Note),
            _ => match text.strip_prefix("tag:") {
                Some(name) if !name.is_empty() => Ok(Self::Tag(name.to_owned())),
                _ => Err(InvalidOrder),
            },
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("time"),
            Self::Note => f.write_str("note"),
            Self::Tag(name) => write!(f, "tag:{name}"),
        }
    }
}

impl Order {
    /// The value by which a run is placed; `None` if the run has none.
    fn label(&self, member: &Member) -> Option<String> {
        match self {
            Self::Time => None,
            Self::Note => member.note.clone().filter(|note| !note.is_empty()),
            Self::Tag(name) => member.tags.iter().find_map(|tag| {
                let rest = tag.strip_prefix(name.as_str())?;
                let value = rest.strip_prefix([':', '='])?;
                Some(value.to_owned())
            }),
        }
    }

    /// What runs without a label lack, for a message.
    pub(super) fn missing(&self) -> String {
        match self {
            Self::Time => "a time".to_owned(),
            Self::Note => "a note".to_owned(),
            Self::Tag(name) => format!("a tag {name}:VALUE"),
        }
    }
}

/// Orders runs, and returns the number of those that have no label. Labels that are all version
/// numbers (`7`, `v1.10.2`) are ordered as such; other labels by the first run of each. Runs with
/// the same label are ordered by time.
pub(super) fn in_order(mut members: Vec<Member>, by: &Order) -> (Vec<HistoryPoint>, u64) {
    members.sort_by_key(|member| (member.point.begun_unix_ns, member.point.run));
    if *by == Order::Time {
        return (members.into_iter().map(|member| member.point).collect(), 0);
    }
    let all = members.len();
    let labelled = members.into_iter().filter_map(|mut member| {
        let label = by.label(&member)?;
        member.point.label = Some(label.clone());
        Some((label, member.point))
    });
    let mut labelled: Vec<(String, HistoryPoint)> = labelled.collect();
    let without = (all - labelled.len()) as u64;
    let versions: Option<Vec<Vec<u64>>> =
        labelled.iter().map(|(label, _)| version(label)).collect();
    match versions {
        Some(_) => labelled.sort_by_key(|(label, _)| version(label)),
        None => {
            let mut first: BTreeMap<String, usize> = BTreeMap::new();
            for (label, _) in &labelled {
                let next = first.len();
                first.entry(label.clone()).or_insert(next);
            }
            labelled.sort_by_key(|(label, _)| first.get(label).copied());
        }
    }
    let points = labelled.into_iter().map(|(_, point)| point);
    (points.collect(), without)
}

/// The parts of a version number; `None` for other texts.
fn version(label: &str) -> Option<Vec<u64>> {
    let digits = label.strip_prefix('v').unwrap_or(label);
    digits.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_parts() {
        assert!(version("v1.10.2") > version("1.9"));
        assert_eq!(version("9f3a"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn invalid_orders_are_rejected() {
        for text in ["", "tag", "tag:", "commit", "Time"] {
            assert_eq!(text.parse::<Order>(), Err(InvalidOrder), "{text}");
        }
        assert_eq!("tag:commit".parse(), Ok(Order::Tag("commit".to_owned())));
    }
}
