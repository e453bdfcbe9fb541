//! What a verdict is made of, besides the summary.

use record::run::Record;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;
use workload::Phase;

use super::processors;
use super::steadiness::{self, Steadiness};

/// What a verdict is made of, besides what other parts of the summary have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// How long it was measured; nothing of a sweep, and where the run is partial.
    pub measured: Option<Measured>,
    /// Whether the rate stayed the same.
    pub steadiness: Fact<Steadiness>,
    /// The program's own share of the workers' time in the transactions, from 0 to 1.
    pub overhead_fraction: Fact<f64>,
    /// What other programs used of all processors' time during the run, from 0 to 1, in user mode.
    pub others_fraction: Fact<f64>,
    /// What the FUSE servers of the targets used of all processors' time during the run, from 0 to
    /// 1, in user mode; it is not in `others_fraction`.
    pub fuse_servers_fraction: Fact<f64>,
    /// What the hypervisor gave to others of all processors' time during the run, from 0 to 1.
    pub steal_fraction: Fact<f64>,
}

/// What was measured: the transactions; where none were asked for, the preparation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Which phase.
    pub phase: Phase,
    /// How long, in nanoseconds.
    pub ns: u64,
    /// Operations that were completed in that time, by all workers.
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
