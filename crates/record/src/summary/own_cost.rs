//! What the program itself cost, beside what the run took.

use observe::Fact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::Actual;

/// What the program itself cost in the transactions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnCostSummary {
    /// A worker's time for one operation on the null storage, in nanoseconds.
    pub ns_per_operation: f64,
    /// That, for every operation of the transactions, over the times that the workers were in them; nothing where they
    /// took no time.
    pub fraction: Option<f64>,
}

pub(super) fn summary(actual: &Actual) -> Option<OwnCostSummary> {
    let Fact::Known(own) = &actual.own_cost else {
        return None;
    };
    let workers = || actual.transactions().flat_map(|phase| &phase.workers);
    let operations: u64 = workers().map(|worker| worker.operations).sum();
    let ns: u64 = workers()
        .map(|worker| worker.ended_ns.saturating_sub(worker.began_ns))
        .sum();
    Some(OwnCostSummary {
        ns_per_operation: own.ns_per_operation,
        fraction: (ns > 0).then(|| own.ns_per_operation * operations as f64 / ns as f64),
    })
}
