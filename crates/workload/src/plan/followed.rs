//! The part of a large workload that a plan computes operation by operation.

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::intent::{Action, Phase};
use crate::whole::Workload;

/// The part of a workload that a plan computes operation by operation, because planning the
/// complete workload would take too much time or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Followed {
    /// Files of each pool that were computed; the other files are assumed to be similar.
    pub files: u64,
    /// Transactions of each worker that were computed; the plan does not include the other
    /// transactions.
    pub transactions: u64,
}

impl Followed {
    /// The maximum number of computed files in all pools together. With this number, a plan takes
    /// less than 400 MB of memory and a few seconds, including the deletion of the files.
    pub const FILES_MAX: u64 = 10_000_000;
    /// The maximum number of computed transactions of all workers together. With this number, a
    /// plan takes a few seconds.
    pub const TRANSACTIONS_MAX: u64 = 20_000_000;

    /// Returns the part of a workload to compute; `None` if the complete workload is small enough.
    pub fn of(workload: &Workload) -> Option<Self> {
        // A replay has a limit of its own.
        if workload.replay().is_some() {
            return None;
        }
        let files_max = (Self::FILES_MAX / u64::from(workload.streams().max(1))).max(1);
        let transactions_max =
            (Self::TRANSACTIONS_MAX / u64::from(workload.workers.count().max(1))).max(1);
        let followed = Self {
            files: workload.files().min(files_max),
            transactions: workload.transactions().min(transactions_max),
        };
        let is_whole =
            (followed.files, followed.transactions) == (workload.files(), workload.transactions());
        (!is_whole).then_some(followed)
    }

    /// Returns the workload reduced to this part.
    pub fn part(self, workload: &Workload) -> Workload {
        workload
            .with_files(self.files)
            .with_transactions(self.transactions)
    }

    /// Extends the plan of this part to the complete workload. The plan assumes that the remaining
    /// files are created before the transactions, exist at the peak, and are deleted after the
    /// transactions.
    #[must_use]
    pub fn extend(self, mut plan: Plan, workload: &Workload) -> Plan {
        let pools = u64::from(workload.streams());
        let more = workload
            .files()
            .saturating_sub(self.files)
            .saturating_mul(pools);
        if more == 0 {
            return plan;
        }
        let created = plan.tally(Phase::Prepare, Action::Create);
        // Returns the bytes of the `more` remaining files, given the bytes of the computed files.
        let of_files =
            |bytes: u64| (bytes as f64 * (more as f64 / created.operations.max(1) as f64)) as u64;
        let more_bytes = of_files(created.bytes);
        let (files_before, bytes_before) =
            (plan.files_peak.max(1) as f64, plan.bytes_peak.max(1) as f64);
        plan.files_peak = plan.files_peak.saturating_add(more);
        plan.bytes_peak = plan.bytes_peak.saturating_add(more_bytes);
        let (files_times, bytes_times) = (
            plan.files_peak as f64 / files_before,
            plan.bytes_peak as f64 / bytes_before,
        );
        for volume in &mut plan.volumes {
            volume.files_peak = (volume.files_peak as f64 * files_times) as u64;
            volume.bytes_peak = (volume.bytes_peak as f64 * bytes_times) as u64;
            volume.allocated_bytes_peak = (volume.allocated_bytes_peak as f64 * bytes_times) as u64;
        }
        plan.classic_bytes_written += more_bytes as f64;
        for (phase, action, bytes) in [
            (Phase::Prepare, Action::Create, more_bytes),
            (Phase::Delete, Action::Delete, 0),
        ] {
            let tally = plan.tallies[phase as usize].entry(action).or_default();
            tally.operations = tally.operations.saturating_add(more);
            tally.bytes = tally.bytes.saturating_add(bytes);
        }
        plan
    }
}
