//! What the program itself cost, beside what the run took.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;

use record::run::{Actual, PhaseRecord};

/// What the program itself cost in the transactions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverheadSummary {
    /// A worker's time for one operation on the null storage, in nanoseconds.
    pub ns_per_operation: f64,
    /// That, for every operation of the transactions, over the times that the workers were in
    /// them; of a sweep the greatest of its steps, since most of them have workers who wait.
    /// Nothing where they took no time.
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

fn fraction(phase: &PhaseRecord, ns_per_operation: f64) -> Option<f64> {
    let operations: u64 = phase.workers.iter().map(|worker| worker.operations).sum();
    let times = phase
        .workers
        .iter()
        .map(|worker| worker.ended_ns.saturating_sub(worker.began_ns));
    let ns: u64 = times.sum();
    (ns > 0).then(|| ns_per_operation * operations as f64 / ns as f64)
}
