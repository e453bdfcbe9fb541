//! Processor time that workers spend before operations, which simulates an application that
//! computes between its system calls.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::intent::Action;
use crate::mix::Weights;
use crate::quantity::{duration_ns, duration_text};

/// The largest processor time that can be requested before one operation, in nanoseconds.
const MAX_NS: u64 = 10_000_000_000;

/// The processor time that a worker spends before an operation, for each action. Serialised as its
/// text form, such as `deliver=120us,read=5us`; `none` without processor time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(none|[a-z-]+=[0-9]+[a-z]+(,[a-z-]+=[0-9]+[a-z]+)*)$"))]
pub struct Compute(BTreeMap<Action, u64>);

impl Compute {
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the processor time that a worker spends before an operation of this action, in
    /// nanoseconds.
    pub fn ns_of(&self, action: Action) -> u64 {
        self.0.get(&action).copied().unwrap_or(0)
    }

    /// Returns the largest processor time before an operation of any action, in nanoseconds.
    pub fn max_ns(&self) -> u64 {
        self.0.values().copied().max().unwrap_or(0)
    }

    /// Checks that the mix contains every action for which a time is set.
    pub(crate) fn validate(&self, weights: &Weights) -> Result<(), WorkloadError> {
        let mut actions = self.0.keys();
        let vain = actions.find(|action| weights.get(**action) == 0);
        vain.map_or(Ok(()), |action| {
            let name = action.name();
            Err(invalid!(
                "--compute {name}=...: the mix has no {name} (leave it out, or add it to --mix)"
            ))
        })
    }
}

impl fmt::Display for Compute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("none");
        }
        for (index, (action, ns)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}={}", action.name(), duration_text(*ns))?;
        }
        Ok(())
    }
}

text_form!(Compute);

impl FromStr for Compute {
    type Err = WorkloadError;

    /// Accepts text such as `deliver=120us,read=5us`, or `none`.
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let mut all = BTreeMap::new();
        if text.trim() == "none" {
            return Ok(Self(all));
        }
        for part in text.split(',').map(str::trim) {
            let (name, time) = part.split_once('=').ok_or_else(|| {
                invalid!("'{part}' is not an operation with its time (write it like deliver=120us)")
            })?;
            let name = name.trim();
            let action = Action::of_mix(name).ok_or_else(|| {
                let known = Action::words();
                invalid!("unknown operation '{name}' (known: {known})")
            })?;
            let ns = duration_ns(time)?;
            ensure!(
                (1..=MAX_NS).contains(&ns),
                "'{part}': expected a time from 1ns to {} (leave {name} out for none)",
                duration_text(MAX_NS)
            );
            ensure!(
                all.insert(action, ns).is_none(),
                "the operation {name} occurs twice"
            );
        }
        Ok(Self(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compute_round_trips_as_text() {
        for (text, deliver, read) in [
            ("none", 0, 0),
            ("deliver=120us", 120_000, 0),
            ("read=5us,deliver=1500ns", 1_500, 5_000),
        ] {
            let compute: Compute = text.parse().unwrap();
            assert_eq!(compute.ns_of(Action::Deliver), deliver, "{text}");
            assert_eq!(compute.ns_of(Action::Read), read, "{text}");
            assert_eq!(compute.max_ns(), deliver.max(read), "{text}");
            assert_eq!(compute.to_string(), text);
            assert_eq!(compute.is_none(), text == "none");
        }
    }

    #[test]
    fn invalid_compute_options_are_refused() {
        for (text, words) in [
            ("", "is not an operation with its time"),
            ("120us", "is not an operation with its time"),
            ("parse=1us", "unknown operation 'parse' (known: create"),
            ("nothing=1us", "unknown operation 'nothing'"),
            ("read=-1us", "'-1us'"),
            ("read=5", "has no unit of time"),
            ("read=0", "expected a time from 1ns to 10s"),
            ("read=11s", "expected a time from 1ns to 10s"),
            ("read=1us,read=2us", "the operation read occurs twice"),
        ] {
            let said = text.parse::<Compute>().unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
