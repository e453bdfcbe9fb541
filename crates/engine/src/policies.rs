//! The durability policies of a workload: one for all operations, and others for single actions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::action::Action;
use crate::durability::{Durability, DurabilityError};
use crate::operation::OperationKind;

/// Durability policies by action. In text form, for example `fsync+dir,rename=none`, or
/// `deliver=fsync+dir` if the other actions sync nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// The policy of all actions without a policy of their own.
    pub rest: Durability,
    own: BTreeMap<Action, Durability>,
}

/// The reason why a text is not a valid list of durability policies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoliciesError {
    /// A policy is invalid.
    #[error(transparent)]
    Policy(#[from] DurabilityError),
    /// The name before `=` does not denote an action that changes files or directories.
    #[error(
        "'{0}' is no operation of a mix that changes something (use one of: {changing})",
        changing = changing()
    )]
    Action(String),
    /// An action, or the policy of all other actions, is given twice.
    #[error("'{0}' is given twice")]
    Twice(String),
    /// A batch is combined with policies of single actions, although a batch counts the changes of
    /// all actions.
    #[error("batch:N counts all changes (leave out the policies of single operations)")]
    Batch,
}

fn changing() -> String {
    let names: Vec<&str> = Action::asked_for()
        .filter(|action| !action.reads())
        .map(Action::name)
        .collect();
    names.join(", ")
}

impl Policies {
    /// Returns the policy of an action, which is the policy of the operation that performs the
    /// action.
    pub fn of(&self, action: Action) -> Durability {
        action
            .performs()
            .map_or(self.rest, |kind| self.of_kind(kind))
    }

    /// Checks that each policy of a single action has an effect.
    ///
    /// # Errors
    /// Describes the first action that the workload does not perform, or that its policy does not
    /// sync.
    pub fn check(&self, is_performed: impl Fn(Action) -> bool) -> Result<(), String> {
        for (action, policy) in &self.own {
            let name = action.name();
            if !is_performed(*action) {
                return Err(format!(
                    "--durability {name}={policy}: the workload performs no {name} (leave it out)"
                ));
            }
            let covers = action.performs().is_some_and(|kind| policy.covers(kind));
            if *policy != Durability::None && !covers {
                return Err(format!(
                    "--durability {name}={policy}: this policy does not sync {name} (use \
                     fsync+dir or none)"
                ));
            }
        }
        Ok(())
    }

    /// Removes the policies of single actions for which `is_performed` returns `false`.
    pub fn retain(&mut self, is_performed: impl Fn(Action) -> bool) {
        self.own.retain(|action, _| is_performed(*action));
    }

    /// Returns the policy of the operations of a kind. The policy of `delete` also applies to the
    /// removal of links, because these actions perform the same operation.
    pub fn of_kind(&self, kind: OperationKind) -> Durability {
        let mut own = self.own.iter();
        own.find(|(action, _)| action.performs() == Some(kind))
            .map_or(self.rest, |(_, policy)| *policy)
    }

    /// Returns the policy of the remaining actions ([`rest`](Self::rest)), followed by the policies
    /// of single actions.
    pub fn all(&self) -> impl Iterator<Item = Durability> {
        std::iter::once(self.rest).chain(self.own.values().copied())
    }

    /// Whether at least one action syncs.
    pub fn sync(&self) -> bool {
        self.all().any(|policy| policy != Durability::None)
    }
}

impl From<Durability> for Policies {
    fn from(rest: Durability) -> Self {
        Self {
            rest,
            own: BTreeMap::new(),
        }
    }
}

impl fmt::Display for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.own.is_empty() {
            return fmt::Display::fmt(&self.rest, f);
        }
        let mut separator = "";
        if self.rest != Durability::None {
            write!(f, "{}", self.rest)?;
            separator = ",";
        }
        for (action, policy) in &self.own {
            write!(f, "{separator}{}={policy}", action.name())?;
            separator = ",";
        }
        Ok(())
    }
}

impl FromStr for Policies {
    type Err = PoliciesError;

    fn from_str(text: &str) -> Result<Self, PoliciesError> {
        let mut rest = None;
        let mut own = BTreeMap::new();
        for part in text.split(',') {
            let is_twice = match part.split_once('=') {
                None => rest.replace(part.parse()?).is_some(),
                Some((name, policy)) => {
                    let action = Action::of_mix(name.trim()).filter(|action| !action.reads());
                    let action = action.ok_or_else(|| PoliciesError::Action(name.to_owned()))?;
                    own.insert(action, policy.trim().parse()?).is_some()
                }
            };
            if is_twice {
                return Err(PoliciesError::Twice(part.to_owned()));
            }
        }
        let policies = Self {
            rest: rest.unwrap_or_default(),
            own,
        };
        let is_batch = |policy: Durability| matches!(policy, Durability::Batch(_));
        if !policies.own.is_empty() && policies.all().any(is_batch) {
            return Err(PoliciesError::Batch);
        }
        Ok(policies)
    }
}

impl Serialize for Policies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Policies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_by_action_round_trip() {
        for (text, deliver, rename, delete) in [
            ("none", "none", "none", "none"),
            ("fsync+dir", "fsync+dir", "fsync+dir", "fsync+dir"),
            ("batch:8", "batch:8", "batch:8", "batch:8"),
            ("deliver=fsync+dir", "fsync+dir", "none", "none"),
            (
                "fsync,rename=none,deliver=fsync+dir",
                "fsync+dir",
                "none",
                "fsync",
            ),
        ] {
            let policies: Policies = text.parse().unwrap();
            assert_eq!(policies.of(Action::Deliver).to_string(), deliver);
            assert_eq!(policies.of_kind(OperationKind::Rename).to_string(), rename);
            assert_eq!(policies.of(Action::Delete).to_string(), delete);
            assert_eq!(policies.of(Action::RemoveLink).to_string(), delete);
            assert_eq!(policies.sync(), text != "none");
            let json = serde_json::to_string(&policies).unwrap();
            assert_eq!(serde_json::from_str::<Policies>(&json).unwrap(), policies);
        }
    }

    #[test]
    fn invalid_policies_are_refused() {
        for (text, words) in [
            ("deliver=often", "expected none, fdatasync"),
            (
                "read=fsync",
                "'read' is no operation of a mix that changes something",
            ),
            ("flag=fsync", "use one of: create, append"),
            ("fsync,none", "given twice"),
            ("rename=fsync,rename=none", "given twice"),
            ("batch:8,rename=none", "counts all changes"),
            ("", "expected none"),
        ] {
            let said = text.parse::<Policies>().unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
