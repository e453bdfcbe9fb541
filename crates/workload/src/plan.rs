//! The plan of a run: its operations and peak sizes, computed from the stream alone, without access
//! to the target.

pub mod followed;
mod level;
mod volume;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::level::Level;
pub use self::volume::Volume;
use crate::WorkloadError;
use crate::fingerprint::{self, Fingerprint, INTENTS_IN_FINGERPRINT, StreamHash, StreamHasher};
use crate::intent::{Action, End, Phase, Stream};
use crate::mix::Mix;
use crate::skip::Skipped;
use crate::stream::ClassicStream;
use crate::table::MemoryHint;
use crate::whole::{Work, Workload};

/// The number of operations of one action in one phase, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub operations: u64,
    /// The number of bytes that the operations read or write.
    pub bytes: u64,
}

/// Operations and peak sizes of a workload, computed from its streams without access to the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The operations of each phase, in the order of [`Phase::ALL`]; actions that do not occur are
    /// absent.
    pub tallies: [BTreeMap<Action, Tally>; 3],
    /// Whether the plan assumes that the workers of a shared pool are equally fast. In this case
    /// the run will differ from the plan.
    pub is_estimate: bool,
    /// The number of intents without an operation: skipped operations, and operations that a bias
    /// of -1 disables.
    pub nothing: u64,
    /// The number of skipped operations for each reason, without operations that a bias of -1
    /// disables.
    pub skipped: Skipped,
    pub transactions: u64,
    /// The reason why the transactions end in a run without errors or signals.
    pub end: End,
    pub files_peak: u64,
    /// The largest number of content bytes at one time.
    pub bytes_peak: u64,
    /// The peak sizes on each volume that was passed to the planner.
    pub volumes: Vec<Volume>,
    /// The bytes read, as the original PostMark sums them: in integers (edition 1.0) or in 32-bit
    /// floats (edition 1.5), which lose digits.
    pub classic_bytes_read: f64,
    /// The bytes written, summed like `classic_bytes_read`.
    pub classic_bytes_written: f64,
    pub fingerprint: Fingerprint,
    pub stream_hash: StreamHash,
}

impl Plan {
    pub fn tally(&self, phase: Phase, action: Action) -> Tally {
        self.tallies[phase as usize]
            .get(&action)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the number of operations and bytes of an action in all phases together.
    pub fn total(&self, action: Action) -> Tally {
        let tallies = Phase::ALL.map(|phase| self.tally(phase, action));
        Tally {
            operations: tallies.iter().map(|tally| tally.operations).sum(),
            bytes: tallies.iter().map(|tally| tally.bytes).sum(),
        }
    }

    fn bytes(&self, moves: impl Fn(Action) -> bool) -> u64 {
        Action::operations()
            .filter(|action| moves(*action))
            .map(|action| self.total(action).bytes)
            .sum()
    }

    pub fn bytes_read(&self) -> u64 {
        self.bytes(Action::moves_bytes_in)
    }

    /// Returns the number of bytes read divided by the number of bytes written; `None` if no bytes
    /// are written. The ratio shows which edition of PostMark produced a published table.
    pub fn read_to_written(&self) -> Option<f64> {
        let written = self.bytes_written();
        (written > 0).then(|| self.bytes_read() as f64 / written as f64)
    }

    pub fn bytes_written(&self) -> u64 {
        self.bytes(Action::moves_bytes_out)
    }
}

/// Computes a plan by drawing the operations of a workload's streams.
#[derive(Debug)]
pub struct Planner<'a> {
    workload: &'a Workload,
    /// The index of the volume that contains each target.
    volume_of: Vec<usize>,
    volumes: Vec<Level>,
    /// The maximum number of transactions to plan in each stream; `None` for all transactions.
    transactions: Option<Vec<u64>>,
}

/// The number of directories in each tree that a workload copies.
fn tree_directories(workload: &Workload) -> u64 {
    workload.mix().map_or(1, Mix::tree_directories)
}

impl<'a> Planner<'a> {
    /// Creates a planner for a single volume with blocks of one byte.
    pub fn new(workload: &'a Workload) -> Self {
        Self::with_volumes(workload, vec![0; workload.location_weights().len()], &[1])
    }

    /// Creates a planner for several volumes. `volume_of` contains the index of the volume for each
    /// target. `block_bytes` contains the allocation unit of each volume.
    ///
    /// # Panics
    /// Panics if the index of a volume is out of range, or if `volume_of` does not contain one
    /// index for each target.
    pub fn with_volumes(
        workload: &'a Workload,
        volume_of: Vec<usize>,
        block_bytes: &[u64],
    ) -> Self {
        assert!(
            volume_of.len() == workload.location_weights().len()
                && volume_of.iter().all(|v| *v < block_bytes.len()),
            "every location names a volume"
        );
        let level = |block: &u64| Level::new(*block, tree_directories(workload));
        Self {
            workload,
            volume_of,
            volumes: block_bytes.iter().map(level).collect(),
            transactions: None,
        }
    }

    /// Limits the number of transactions in each stream; `of_streams` is indexed by the stream's
    /// number. With a limit, the fingerprint and the hash differ from those of the complete
    /// workload.
    #[must_use]
    pub fn with_transactions(mut self, of_streams: Vec<u64>) -> Self {
        self.transactions = Some(of_streams);
        self
    }

    /// Computes the plan like [`Self::plan_with_hint`], without a hint.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid.
    pub fn plan(self) -> Result<Plan, WorkloadError> {
        self.plan_with_hint(|_| ())
    }

    /// Computes the plan. `hint` receives the memory of each classic stream's table before the
    /// first access.
    ///
    /// Private pools are planned one after the other. Their peak sizes are summed, as if all
    /// workers reached their peaks at the same time.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid.
    pub fn plan_with_hint(mut self, hint: MemoryHint) -> Result<Plan, WorkloadError> {
        let mut sum = Sum::default();
        let mut firsts = Vec::new();
        let directories = tree_directories(self.workload);
        for number in 0..self.workload.streams() {
            let mut volumes: Vec<Level> = self
                .volumes
                .iter()
                .map(|volume| Level::new(volume.peak.block_bytes, directories))
                .collect();
            let most = self.transactions.iter().flatten().nth(number as usize);
            let part = most.map(|most| self.workload.with_transactions(*most));
            let workload = part.as_ref().unwrap_or(self.workload);
            let first = match &workload.work {
                Work::Classic(classic) => {
                    let mut stream =
                        ClassicStream::without_text(&workload.classic_of(classic, number), hint)?;
                    self.follow(&mut stream, &mut volumes, &mut sum)
                }
                Work::Mix(_) => {
                    self.follow(&mut *workload.stream(number, hint)?, &mut volumes, &mut sum)
                }
            };
            firsts.push(first);
            for (all, one) in self.volumes.iter_mut().zip(volumes) {
                all.add_peaks(&one);
            }
        }
        let is_estimate = self.is_estimate();
        if self.workload.replay().is_some() {
            firsts.clear();
        }
        if let (true, Some(mix)) = (is_estimate, self.workload.mix()) {
            firsts = (0..self.workload.workers.count())
                .map(|worker| fingerprint::first_drafts(self.workload, mix, worker))
                .collect();
        }
        Ok(self.sum_up(sum, firsts))
    }

    /// Whether the order of the workers' operations is not known.
    fn is_estimate(&self) -> bool {
        self.workload.workers.is_shared() && self.workload.replay().is_none()
    }

    fn sum_up(&self, sum: Sum, firsts: Vec<StreamHasher>) -> Plan {
        let mut plan = Plan {
            nothing: sum
                .tallies
                .iter()
                .map(|actions| actions.0[Action::Nothing as usize].operations)
                .sum(),
            tallies: sum.tallies.map(|actions| {
                let occurs = |action: &Action| actions.0[*action as usize].operations > 0;
                let tally = |action: Action| (action, actions.0[action as usize]);
                Action::operations().filter(occurs).map(tally).collect()
            }),
            skipped: sum.skipped,
            is_estimate: self.is_estimate(),
            transactions: sum.transactions,
            end: sum.end,
            files_peak: sum.files_peak,
            bytes_peak: sum.bytes_peak,
            volumes: self.volumes.iter().map(Level::volume).collect(),
            classic_bytes_read: sum.classic_bytes_read.into(),
            classic_bytes_written: sum.classic_bytes_written.into(),
            fingerprint: fingerprint::of_first_intents(self.workload, firsts),
            stream_hash: StreamHash::of_all(sum.hashes),
        };
        let edition = self.workload.classic().map(|classic| classic.edition);
        if edition.is_some_and(|edition| edition.rules().whole_sums) {
            plan.classic_bytes_read = plan.bytes_read() as f64;
            plan.classic_bytes_written = plan.bytes_written() as f64;
        }
        plan
    }

    /// Adds one stream to the totals, and returns a hasher of the stream's first intents.
    fn follow<S: Stream + ?Sized>(
        &self,
        stream: &mut S,
        volumes: &mut [Level],
        sum: &mut Sum,
    ) -> StreamHasher {
        let mut whole = StreamHasher::of(&self.workload.work);
        let mut first = StreamHasher::of(&self.workload.work);
        let mut all = Level::new(1, tree_directories(self.workload));
        let mut left = INTENTS_IN_FINGERPRINT;
        // With a single volume, the usual case, the target of each file need not be computed.
        let one_volume = volumes.len() == 1;
        for phase in Phase::ALL {
            while let Some(intent) = stream.next(phase) {
                whole.take(&intent);
                if left > 0 {
                    first.take(&intent);
                    left -= 1;
                }
                let tally = &mut sum.tallies[phase as usize].0[intent.action as usize];
                tally.operations += 1;
                tally.bytes += intent.bytes;
                if intent.action.moves_bytes_in() {
                    sum.classic_bytes_read += intent.bytes as f32;
                } else if intent.action.moves_bytes_out() {
                    sum.classic_bytes_written += intent.bytes as f32;
                }
                if let Some(reason) = intent.skip {
                    *sum.skipped.get_mut(reason) += 1;
                }
                all.take(&intent);
                let volume = if one_volume {
                    0
                } else {
                    self.volume_of[self.workload.location_of(intent.place)]
                };
                volumes[volume].take(&intent);
            }
        }
        sum.transactions += stream.transactions_begun();
        if sum.end == End::Complete {
            sum.end = stream.end();
        }
        sum.files_peak += all.peak.files_peak;
        sum.bytes_peak += all.peak.bytes_peak;
        sum.hashes.push(whole.finish());
        first
    }
}

/// The numbers of operations and bytes of one phase, indexed by action.
struct Tallies([Tally; Action::COUNT]);

impl Default for Tallies {
    fn default() -> Self {
        Self([Tally::default(); Action::COUNT])
    }
}

/// The totals of all streams.
#[derive(Default)]
struct Sum {
    tallies: [Tallies; 3],
    skipped: Skipped,
    transactions: u64,
    end: End,
    files_peak: u64,
    bytes_peak: u64,
    classic_bytes_read: f32,
    classic_bytes_written: f32,
    hashes: Vec<StreamHash>,
}

#[cfg(test)]
mod tests {
    use super::followed::Followed;
    use super::*;
    use crate::mix::Mix;
    use crate::whole::Workers;

    #[test]
    fn large_workloads_are_planned_in_part() {
        let mix = |files, transactions| {
            Workload::from(Mix {
                files,
                transactions,
                ..Mix::default()
            })
        };
        assert_eq!(Followed::of(&mix(10_000_000, 20_000_000)), None);
        let followed = |files, transactions| {
            Some(Followed {
                files,
                transactions,
            })
        };
        assert_eq!(Followed::of(&mix(1 << 35, 10)), followed(10_000_000, 10));
        assert_eq!(Followed::of(&mix(10, 1 << 40)), followed(10, 20_000_000));
        let of_many = Workload {
            workers: Workers::Private { workers: 4096 },
            ..mix(1 << 35, 1 << 40)
        };
        assert_eq!(Followed::of(&of_many), followed(2_441, 4_882));
    }

    #[test]
    fn plans_extended_from_a_part_approximate_complete_plans() {
        for workers in [Workers::ONE, Workers::Private { workers: 3 }] {
            let workload = Workload {
                workers,
                ..Mix {
                    files: 30_000,
                    transactions: 2_000,
                    ..Mix::default()
                }
                .into()
            };
            let part = Followed {
                files: 7_000,
                transactions: 2_000,
            };
            let planner = |workload: &Workload| {
                Planner::with_volumes(workload, vec![0], &[4_096])
                    .plan()
                    .unwrap()
            };
            let whole = planner(&workload);
            let reckoned = part.extend(planner(&part.part(&workload)), &workload);
            let created = |plan: &Plan| plan.tally(Phase::Prepare, Action::Create).operations;
            assert_eq!(created(&reckoned), created(&whole), "{workers:?}");
            for (what, number, right) in [
                ("files", reckoned.files_peak, whole.files_peak),
                ("bytes", reckoned.bytes_peak, whole.bytes_peak),
                (
                    "allocated",
                    reckoned.volumes[0].allocated_bytes_peak,
                    whole.volumes[0].allocated_bytes_peak,
                ),
                (
                    "on the volume",
                    reckoned.volumes[0].files_peak,
                    whole.volumes[0].files_peak,
                ),
                ("written", reckoned.bytes_written(), whole.bytes_written()),
                (
                    "deleted",
                    reckoned.total(Action::Delete).operations,
                    whole.total(Action::Delete).operations,
                ),
            ] {
                let off = number as f64 / right as f64 - 1.0;
                assert!(off.abs() < 0.03, "{workers:?} {what}: {number} and {right}");
            }
        }
    }
}
