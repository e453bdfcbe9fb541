//! Counters of one of several hosts in a phase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Fact, Host};

use crate::evidence::PhaseEvidence;

/// Identity of a host. The boot identifier alone is not enough, because all containers of one
/// machine share it. The name alone is not enough, because two machines may have the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct HostId {
    /// Network name of the host (`nodename` of uname(2)).
    pub hostname: String,
    /// Boot identifier of the host's kernel.
    pub boot_id: Fact<String>,
}

impl HostId {
    /// Creates the identity from facts that were read on the host.
    pub fn of(host: &Host) -> Self {
        Self {
            hostname: host.hostname.clone(),
            boot_id: host.boot_id.clone(),
        }
    }

    /// Whether both hosts run on one kernel. The kernel's counters then include the work of both
    /// hosts. If a boot identifier is unknown, two hosts have the same kernel only if their
    /// identities are equal.
    pub fn has_kernel_of(&self, other: &Self) -> bool {
        match (&self.boot_id, &other.boot_id) {
            (Fact::Known(own), Fact::Known(others)) => own == others,
            _ => self == other,
        }
    }
}

/// Counters of one host in a phase that several ranks performed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostPhase {
    /// Name and boot identifier of the host.
    pub host: HostId,
    /// Number of ranks on the host that performed the phase.
    pub ranks: u32,
    /// Processor time of the host's workers; null if it was not counted.
    pub workers: Option<HostWorkers>,
    /// Evidence of whether the page cache, a device or a server performed the phase's operations.
    /// Counters of processes are summed over the host's ranks. Counters of the kernel are those
    /// that the host's first rank read. Null if the I/O engine uses no file system.
    pub evidence: Option<PhaseEvidence>,
}

/// Processor time of a host's workers in the measured segments of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostWorkers {
    /// Number of workers whose processor time is known.
    pub count: u64,
    /// Processor time of the `count` workers, in nanoseconds.
    pub cpu_ns: u64,
    /// Duration of the measured segments, multiplied by `count`, in nanoseconds: the upper limit of
    /// `cpu_ns`.
    pub ns: u64,
}
