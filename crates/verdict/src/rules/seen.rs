use record::run::Record;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;
use workload::Phase;

use super::processors;
use super::steadiness::{self, Steadiness};

/// The facts that the rules of the verdict examine and that the rest of the summary does not
/// contain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// The measured phase; null for a load sweep and for a partial run.
    pub measured: Option<Measured>,
    /// Whether the rate was constant. Not applicable to an open loop, whose arrivals determine the
    /// rate.
    pub steadiness: Fact<Steadiness>,
    /// Share of overhead in the workers' time during the transactions, from 0 to 1.
    pub overhead_fraction: Fact<f64>,
    /// Share of other programs in all processors' time during the run, in user mode, from 0 to 1.
    pub others_fraction: Fact<f64>,
    /// Share of the targets' FUSE servers in all processors' time during the run, in user mode,
    /// from 0 to 1. `others_fraction` excludes this share.
    pub fuse_servers_fraction: Fact<f64>,
    /// Share of CPU steal in all processors' time during the run, from 0 to 1.
    pub steal_fraction: Fact<f64>,
}

/// The phase that a verdict judges: the transactions, or the preparation if no transactions were
/// requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// `transactions` or `prepare`.
    pub phase: Phase,
    /// Measured time, in nanoseconds.
    pub ns: u64,
    /// Operations of all workers that completed in that time.
    pub operations: u64,
}

impl Seen {
    pub(super) fn of(record: &Record) -> Self {
        let measured = steadiness::judged(record).map(|phase| Measured {
            phase: phase.phase,
            ns: phase.measured_ns(),
            operations: phase.tried().0,
        });
        Self {
            measured,
            steadiness: steadiness::steadiness(record),
            overhead_fraction: processors::overhead_fraction(record),
            others_fraction: processors::others_fraction(record),
            fuse_servers_fraction: processors::fuse_servers_fraction(record),
            steal_fraction: processors::steal_fraction(record),
        }
    }
}
