//! The phases of a workload as options: the tables `[[phase]]` of a configuration file.

use serde::{Deserialize, Serialize};
use workload::{Action, Weights};

use crate::settings::Cache;
use crate::values::{Count, PerSecond, Time};

/// An entry of `[[phase]]` in a configuration file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PhaseOption {
    /// The name of the phase in reports, such as `unpack`.
    pub name: String,
    /// The weights of the phase's operations, in the form of `--mix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Weights>,
    /// The operation that the phase performs once on each file, or on each directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<Action>,
    /// Duration of the phase.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub run_for: Option<Time>,
    /// Largest number of operations of each worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions: Option<Count>,
    /// Offered transactions/s of all workers together; a closed loop without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<PerSecond>,
    /// Page cache before the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
}
