//! A replay in a workload: its trace, and what the trace contains.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deviation::Deviation;
use super::step::Steps;
use crate::WorkloadError;

/// When the operations of a replay start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// As soon as the operations on which they depend are complete.
    #[default]
    Asap,
    /// Not before their times in the trace.
    Traced,
    /// After the time that their thread spent since its last operation, without the cost of the
    /// tracer and without waits.
    Pauses,
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asap => "asap",
            Self::Traced => "traced",
            Self::Pauses => "pauses",
        })
    }
}

impl FromStr for Timing {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        match text.trim() {
            "asap" => Ok(Self::Asap),
            "traced" => Ok(Self::Traced),
            "pauses" => Ok(Self::Pauses),
            _ => Err(invalid!("expected asap, pauses or traced")),
        }
    }
}

/// The operations of a replay. A record does not contain them, so they are absent in the workload
/// of a record until its trace is read again.
#[derive(Clone, Debug, Default)]
pub struct Loaded(Option<Arc<Steps>>);

impl PartialEq for Loaded {
    /// The digest of the trace identifies the operations.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Loaded {
    pub fn new(steps: Steps) -> Self {
        Self(Some(Arc::new(steps)))
    }

    /// Returns the operations.
    ///
    /// # Errors
    /// Returns an error if they are not loaded.
    pub fn steps(&self) -> Result<&Arc<Steps>, WorkloadError> {
        let steps = self.0.as_ref();
        steps.ok_or_else(|| invalid!("the trace of the replay has not been read"))
    }
}

/// The replay of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The path of the trace, as given.
    pub trace: String,
    /// The SHA-256 digest of the trace, as hexadecimal digits after `sha256:`.
    pub digest: String,
    /// The directory of the trace whose files are replayed, as given; null if it is the deepest
    /// directory that contains 95 % of all changes.
    pub below: Option<String>,
    /// When operations start.
    pub timing: Timing,
    /// The processor time of the traced command without the tracer in nanoseconds, to which the
    /// time of computing is adapted; null if it is not given.
    pub cpu_ns: Option<u64>,
    /// The largest number of operations that the replay may have.
    pub operations_max: u64,
    /// Operations of all workers together.
    pub operations: u64,
    /// Threads of the trace. A worker performs the operations of one thread, or of several threads
    /// that ran one after the other.
    pub threads: u64,
    /// Dependencies between operations of different workers.
    pub dependencies: u64,
    /// Time from the first to the last operation of the trace in nanoseconds; null if the trace
    /// contains no times.
    pub traced_ns: Option<u64>,
    /// Differences between the replay and the trace.
    pub deviations: Vec<Deviation>,
    /// The operations.
    #[serde(skip)]
    #[schemars(skip)]
    pub loaded: Loaded,
}

impl Replay {
    /// Returns what identifies the replay, in a fixed format. The number after `replay=` must be
    /// raised if the operations change that are determined from a trace.
    pub fn canonical(&self) -> String {
        let below = self.below.as_deref().unwrap_or("auto");
        let Self {
            digest,
            timing,
            operations,
            ..
        } = self;
        let cpu = self
            .cpu_ns
            .map_or_else(String::new, |ns| format!(" cpu={ns}"));
        format!("replay=3:{digest} below={below} timing={timing}{cpu} operations={operations}")
    }
}
