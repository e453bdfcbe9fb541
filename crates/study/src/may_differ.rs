//! The conditions in which compared runs may differ (`--unlike`).

use std::str::FromStr;

use crate::observed::{Unlike, UnlikeWhat};

/// The conditions in which compared runs may differ. By default, they may differ in none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MayDiffer {
    conditions: Vec<UnlikeWhat>,
    /// Whether the shares of skipped or failed operations may differ by more than 1 %.
    pub shares: bool,
}

/// The name of the shares of skipped or failed operations.
const SHARES: &str = "shares";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a condition (expected all, or some of {names}, like host,medium)",
    names = names()
)]
pub struct UnknownCondition(String);

fn names() -> String {
    let names = UnlikeWhat::ALL.map(UnlikeWhat::name);
    format!("{}, {SHARES}", names.join(", "))
}

impl MayDiffer {
    /// Removes the differences that are allowed.
    pub fn others(&self, mut differences: Vec<Unlike>) -> Vec<Unlike> {
        differences.retain(|one| !self.conditions.contains(&one.what));
        differences
    }
}

impl FromStr for MayDiffer {
    type Err = UnknownCondition;

    fn from_str(text: &str) -> Result<Self, UnknownCondition> {
        if text == "all" {
            let conditions = UnlikeWhat::ALL.to_vec();
            return Ok(Self {
                conditions,
                shares: true,
            });
        }
        let mut allowed = Self::default();
        for name in text.split(',').map(str::trim) {
            let condition = UnlikeWhat::ALL.into_iter().find(|one| one.name() == name);
            match condition {
                Some(condition) => allowed.conditions.push(condition),
                None if name == SHARES => allowed.shares = true,
                None => return Err(UnknownCondition(name.to_owned())),
            }
        }
        Ok(allowed)
    }
}

/// Returns the option that allows these differences, like `--unlike=host,medium`.
pub fn option(differences: &[Unlike]) -> String {
    let names: Vec<&str> = differences.iter().map(|one| one.what.name()).collect();
    format!("--unlike={}", names.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_named_one_by_one_or_all_at_once() {
        let all: MayDiffer = "all".parse().unwrap();
        assert!(all.shares);
        let unlike = |what| Unlike {
            what,
            side: Vec::new(),
            baseline: Vec::new(),
        };
        let differences = || vec![unlike(UnlikeWhat::Host), unlike(UnlikeWhat::Medium)];
        assert_eq!(option(&differences()), "--unlike=host,medium");
        assert_eq!(all.others(differences()), []);
        let host: MayDiffer = "host".parse().unwrap();
        assert_eq!(host.others(differences()), [unlike(UnlikeWhat::Medium)]);
        assert!(!host.shares);
        let wrong = "hosts".parse::<MayDiffer>().unwrap_err().to_string();
        assert!(wrong.contains("'hosts'") && wrong.contains("cache, host, medium"));
    }
}
