//! Overhead: the time that the program itself takes for operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;

use record::run::{Actual, PhaseRecord};

/// Overhead of the program during the transactions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverheadSummary {
    /// A worker's time for one operation on the engine `null`, in nanoseconds.
    pub ns_per_operation: f64,
    /// Overhead of all operations of the transactions, divided by the workers' time in the
    /// transactions. For a load sweep, this is the maximum over its load levels, because workers
    /// mostly wait at low loads. Null if the workers took no time.
    pub fraction: Option<f64>,
}

pub(crate) fn summary(actual: &Actual) -> Option<OverheadSummary> {
    let Fact::Known(own) = &actual.overhead else {
        return None;
    };
    let fractions = actual
        .transactions()
        .filter_map(|phase| fraction(phase, own.ns_per_operation));
    Some(OverheadSummary {
        ns_per_operation: own.ns_per_operation,
        fraction: fractions.reduce(f64::max),
    })
}

/// Overhead of all operations of a phase as a share of the workers' time; `None` if the workers
/// took no time.
pub(crate) fn fraction(phase: &PhaseRecord, ns_per_operation: f64) -> Option<f64> {
    let operations: u64 = phase.workers.iter().map(|worker| worker.operations).sum();
    let times = phase
        .workers
        .iter()
        .map(|worker| worker.ended_ns.saturating_sub(worker.began_ns));
    let ns: u64 = times.sum();
    (ns > 0).then(|| ns_per_operation * operations as f64 / ns as f64)
}
