//! **`allocated-during-run`** (DOUBTFUL). The target is on a sparse file, which allocates space
//! when a block is written for the first time: a second run on the same blocks is faster.
//! *Threshold*: the files grow by more than 10 % of the bytes that were written to the devices in
//! the transactions and in the sync after them. *Evidence*: the growth of the files below the
//! target's loop devices. The kernel does not count the growth of other thin devices. *What to do*:
//! `fallocate` the file before the run.

use super::rule::*;
use crate::summary::evidence::phase_evidence;

/// Maximum space that the files below a device allocate, as a share of the bytes written to the
/// device. It equals the 10 % by which the rate of a steady run may change.
const MAX: f64 = 0.10;

/// The files below the target's loop device allocated space during the transactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AllocatedDuringRun {
    /// Growth of the files below the targets' loop devices, in bytes.
    pub allocated_bytes: u64,
    /// Bytes written to the devices in the transactions and in the sync after them.
    pub written_bytes: u64,
}

impl Rule for AllocatedDuringRun {
    const ADVICE: &str =
        "allocate it before the run (fallocate), or repeat the run on the same image";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        if record.actual.is_partial() {
            return None;
        }
        record.actual.transactions().find_map(|phase| {
            let seen = phase.evidence.as_ref()?;
            let mut allocated_bytes = *seen.performing.allocated_bytes.known()?;
            if let Some(syncing) = &seen.syncing {
                allocated_bytes = allocated_bytes.saturating_add(*syncing.allocated_bytes.known()?);
            }
            let written_bytes = *phase_evidence(record, phase)?.writes.device_bytes.known()?;
            (share(allocated_bytes, written_bytes) > MAX).then_some(Self {
                allocated_bytes,
                written_bytes,
            })
        })
    }

    fn sentence(&self) -> String {
        format!(
            "the loop device's sparse file allocated {} of {} written ({}, limit {})",
            bytes(self.allocated_bytes as f64),
            bytes(self.written_bytes as f64),
            percent(share(self.allocated_bytes, self.written_bytes)),
            percent(MAX)
        )
    }
}
