//! The runs of a history, and the key of their series.

use serde::{Deserialize, Serialize};
use verdict::Level;

/// The common properties of all runs of a series.
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
    /// The cell of a study; empty for a run outside of a study.
    pub cell: String,
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

impl SeriesKey {
    /// The series in one line, without the settings. The strings are those of records.
    pub fn one_line(&self) -> String {
        let digits = self.fingerprint.rsplit(':').next().unwrap_or_default();
        let digits: String = digits.chars().take(8).collect();
        let cell = match self.cell.is_empty() {
            true => String::new(),
            false => format!(", cell {}", self.cell),
        };
        format!(
            "{} ({digits}), {}, {}, durability {}, on {}{cell}",
            self.workload, self.engine, self.target, self.durability, self.host
        )
    }
}

impl HistoryPoint {
    /// The value that the history is calculated from. INVALID runs have none.
    pub fn counted(&self) -> Option<f64> {
        self.value.filter(|_| self.verdict != Level::Invalid)
    }
}
