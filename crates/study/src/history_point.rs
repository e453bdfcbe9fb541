//! The runs of a history, and what they have in common.

use serde::{Deserialize, Serialize};
use verdict::Level;

/// What all runs of a series have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeriesKey {
    pub host: String,
    /// The workload: its preset, or else `classic` or `mix`.
    pub workload: String,
    pub fingerprint: String,
    pub engine: String,
    /// Settings that differ from those of the original PostMark.
    pub settings: Vec<String>,
    /// File systems and devices, or the request for a scratch file system.
    pub target: String,
    /// The durability level that acknowledged changes had reached.
    pub durability: String,
}

/// A run of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryPoint {
    /// Number of the run in the archive.
    pub run: u64,
    pub id: String,
    pub begun_unix_ns: u64,
    /// The note or the value of the tag by which the history is ordered; `None` for an order by
    /// time.
    pub label: Option<String>,
    pub verdict: Level,
    /// Value of the metric, in its unit; `None` if the run does not contain the metric.
    pub value: Option<f64>,
    /// Mean value of the A/A control in the block of the run; `None` without a control.
    pub control: Option<f64>,
}

impl HistoryPoint {
    /// The value that the history is calculated from. INVALID runs have none.
    pub fn counted(&self) -> Option<f64> {
        self.value.filter(|_| self.verdict != Level::Invalid)
    }
}
