//! What a workload asks for, in numbers that its description does not hold as such.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Action, Role, Weights, Workers, Workload};

/// How often a mix asks for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Of whose transactions.
    pub role: Role,
    /// Which operation.
    pub action: Action,
    /// Its weight over all weights of that role.
    pub fraction: f64,
}

/// The shares of a mix, by role; empty for other workloads.
pub fn shares(workload: &Workload) -> Vec<Share> {
    let Some(mix) = workload.mix() else {
        return Vec::new();
    };
    let of = |role: Role, weights: &Weights| -> Vec<Share> {
        let sum = weights.sum() as f64;
        let share = |action| Share {
            role,
            action,
            fraction: f64::from(weights.get(action)) / sum,
        };
        weights.actions().map(share).collect()
    };
    match workload.workers {
        Workers::Private { .. } => of(Role::Worker, &mix.weights),
        Workers::Shared {
            writers, readers, ..
        } => {
            let mut shares = Vec::new();
            if writers > 0 {
                shares.extend(of(Role::Writer, &mix.weights.of_those_that_read(false)));
            }
            if readers > 0 {
                shares.extend(of(Role::Reader, &mix.weights.of_those_that_read(true)));
            }
            shares
        }
    }
}

/// The transactions of all workers together, as asked for.
pub fn transactions_meant(workload: &Workload) -> u64 {
    workload
        .transactions()
        .saturating_mul(workload.workers.count().into())
}
