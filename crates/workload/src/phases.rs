//! The phases of a mix: a sequence of parts with their own operations, such as unpack, scan and
//! remove.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::intent::Action;
use crate::mix::Weights;

/// The largest number of phases of one workload.
pub const PHASES_MAX: usize = 64;
/// The largest number of characters in the name of a phase.
const NAME_MAX: usize = 32;

/// One phase of a mix: its name and the operations of each worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseWork {
    /// Name of the phase, such as `unpack`.
    pub name: String,
    /// The operations of the phase.
    pub operations: PhaseOperations,
    /// The largest number of operations of each worker; null if something else ends the phase: the
    /// end of the walk, or a time.
    #[serde(with = "crate::endless")]
    #[schemars(with = "Option<u64>")]
    pub transactions: u64,
}

/// The operations of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseOperations {
    /// Operations that are drawn by weight.
    Mix(Weights),
    /// The same operation on each file of the pool, or on each directory, once and in the order of
    /// the directories. A walk that creates files fills the directories in their order, with as
    /// many files as the initial pool has.
    Walk(Action),
}

impl PhaseOperations {
    /// Returns the weights of the operations; a walk consists of a single operation.
    pub fn weights(&self) -> Weights {
        match self {
            Self::Mix(weights) => weights.clone(),
            Self::Walk(action) => Weights::default().with(*action, 1),
        }
    }
}

impl fmt::Display for PhaseWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.operations {
            PhaseOperations::Mix(weights) => write!(f, "{}:mix:{weights}", self.name)?,
            PhaseOperations::Walk(action) => write!(f, "{}:walk:{}", self.name, action.name())?,
        }
        write!(f, ":{}", self.transactions)
    }
}

/// Whether a phase can walk the pool with this action: it must use each file or each directory by
/// itself. Links and directories that a mix creates are no files of the pool.
pub fn can_walk(action: Action) -> bool {
    action.is_asked_for()
        && !matches!(
            action,
            Action::Link
                | Action::InstallLink
                | Action::SymbolicLink
                | Action::ReadLink
                | Action::MakeDirectory
                | Action::RemoveDirectory
                | Action::MakeDirectoryExisting
        )
}

/// Checks the names and operations of all phases.
pub(crate) fn validate(phases: &[PhaseWork]) -> Result<(), WorkloadError> {
    ensure!(
        phases.len() <= PHASES_MAX,
        "{} phases are too many (at most {PHASES_MAX})",
        phases.len()
    );
    for (number, phase) in phases.iter().enumerate() {
        let name = &phase.name;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        ensure!(
            (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_plain),
            "invalid name '{name}' of a phase: expected 1 to {NAME_MAX} small letters, digits and \
             hyphens, like scan-cold"
        );
        ensure!(
            phases[..number].iter().all(|other| other.name != *name),
            "two phases have the name '{name}' (use another name, like {name}-2)"
        );
        ensure!(
            phase.operations.weights().sum() > 0,
            "phase '{name}': all operations have the weight 0"
        );
        if let PhaseOperations::Walk(action) = phase.operations {
            ensure!(
                can_walk(action),
                "phase '{name}' cannot walk with {}: a walk uses each file or each directory of \
                 the pool (use a mix)",
                action.name()
            );
        }
    }
    Ok(())
}

/// Returns the sum of the phases' weights, which contains all operations of the phases.
pub fn weights_of_all(phases: &[PhaseWork]) -> Weights {
    phases.iter().fold(Weights::default(), |sum, phase| {
        let weights = phase.operations.weights();
        weights.actions().fold(sum, |sum, action| {
            let both = sum.get(action).saturating_add(weights.get(action));
            sum.with(action, both)
        })
    })
}
