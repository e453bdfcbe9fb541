//! The relative frequencies of the operations in a mix.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::intent::Action;

/// The relative frequency of each operation. Serialised as its text form, such as
/// `read=5,create=2,delete=2`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[a-z-]+=[0-9]+(,[a-z-]+=[0-9]+)*$"))]
pub struct Weights([u32; Action::COUNT]);

impl Default for Weights {
    fn default() -> Self {
        Self([0; Action::COUNT])
    }
}

impl Weights {
    pub fn get(&self, action: Action) -> u32 {
        self.0[action as usize]
    }

    #[must_use]
    pub fn with(mut self, action: Action, weight: u32) -> Self {
        self.0[action as usize] = weight;
        self
    }

    /// Returns the actions whose weight is above 0.
    pub fn actions(&self) -> impl Iterator<Item = Action> + '_ {
        Action::operations().filter(|action| self.get(*action) > 0)
    }

    pub fn sum(&self) -> u64 {
        self.0.iter().map(|weight| u64::from(*weight)).sum()
    }

    /// If `reads` is true, keeps only the weights of actions that change nothing. If it is false,
    /// keeps only the weights of all other actions.
    #[must_use]
    pub fn of_those_that_read(&self, reads: bool) -> Self {
        let mut some = self.clone();
        for action in Action::ALL {
            if action.reads() != reads {
                some.0[*action as usize] = 0;
            }
        }
        some
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, action) in self.actions().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}={}", action.name(), self.get(action))?;
        }
        Ok(())
    }
}

impl From<Weights> for String {
    fn from(weights: Weights) -> Self {
        weights.to_string()
    }
}

impl TryFrom<String> for Weights {
    type Error = WorkloadError;

    /// Also accepts removals of links, which only the weights of a replay contain.
    fn try_from(text: String) -> Result<Self, WorkloadError> {
        Self::parse(&text, |name| {
            Action::operations().find(|action| action.name() == name)
        })
    }
}

impl FromStr for Weights {
    type Err = WorkloadError;

    /// Accepts text such as `read=5,append=2,create=1,delete=1`.
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        Self::parse(text, Action::of_mix)
    }
}

impl Weights {
    fn parse(
        text: &str,
        action_of: impl Fn(&str) -> Option<Action>,
    ) -> Result<Self, WorkloadError> {
        let mut weights = Self::default();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let wrong_form = || {
                invalid!(
                    "'{part}' is not an operation with its weight (write it like \
                     read=5,create=2,delete=2)"
                )
            };
            let (name, weight) = part.split_once('=').ok_or_else(wrong_form)?;
            let action = action_of(name.trim()).ok_or_else(|| {
                invalid!(
                    "unknown operation '{}' (known: {})",
                    name.trim(),
                    Action::asked_for()
                        .map(Action::name)
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            })?;
            if weights.get(action) > 0 {
                return Err(invalid!("the operation {} occurs twice", action.name()));
            }
            weights.0[action as usize] = weight.trim().parse().map_err(|_| wrong_form())?;
        }
        if weights.sum() == 0 {
            return Err(none());
        }
        Ok(weights)
    }
}

pub(super) fn none() -> WorkloadError {
    invalid!("all operations have the weight 0 (use at least one, like read=1)")
}
