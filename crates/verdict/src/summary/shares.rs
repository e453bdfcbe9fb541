//! The share of each operation in a mix, derived from its weights.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Action, Role, Weights, Workers, Workload};

/// Share of one operation in a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Role of the workers that perform the operation.
    pub role: Role,
    /// The operation, such as `read`.
    pub action: Action,
    /// Weight of the operation divided by the sum of the role's weights, from 0 to 1.
    pub fraction: f64,
}

/// Returns the shares of a mix, by role; empty for other workloads.
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
        // All workers of a replay perform all operations.
        _ if mix.replay.is_some() => of(Role::Writer, &mix.weights),
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

/// Returns the number of transactions that the workload requests of all workers together.
pub fn transactions_meant(workload: &Workload) -> u64 {
    workload.transactions_of_all()
}
