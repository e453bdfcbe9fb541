//! What one of several hosts counted in a phase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Fact, Host};

use crate::evidence::PhaseEvidence;

/// What tells hosts apart: two containers of one machine have the same boot, and two machines may
/// have the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct HostId {
    /// Its name.
    pub hostname: String,
    /// The boot of its kernel.
    pub boot_id: Fact<String>,
}

impl HostId {
    /// That of a host.
    pub fn of(host: &Host) -> Self {
        Self {
            hostname: host.hostname.clone(),
            boot_id: host.boot_id.clone(),
        }
    }

    /// Whether both have the same kernel: its counters are of both. Where the boots are not known,
    /// the names tell.
    pub fn has_kernel_of(&self, other: &Self) -> bool {
        match (&self.boot_id, &other.boot_id) {
            (Fact::Known(own), Fact::Known(others)) => own == others,
            _ => self == other,
        }
    }
}

/// What one host counted in a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostPhase {
    /// Which host.
    pub host: HostId,
    /// How many ranks on it performed the phase.
    pub ranks: u32,
    /// Processor time of the workers there; nothing where it was not counted.
    pub workers: Option<HostWorkers>,
    /// What shows who served it: what processes count, added over its ranks; what the kernel
    /// counts, as its first rank read it. Nothing where the storage touches no file system.
    pub evidence: Option<PhaseEvidence>,
}

/// Processor time of the workers of a host while a phase was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostWorkers {
    /// Workers whose time is known.
    pub count: u64,
    /// Their processor time, in nanoseconds.
    pub cpu_ns: u64,
    /// The time in which they could have used it, in nanoseconds: that of each worker, added up.
    pub ns: u64,
}
