//! What a run would do, added up from its stream without touching anything.

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
use crate::skip::Skipped;
use crate::stream::ClassicStream;
use crate::table::MemoryHint;
use crate::whole::{Work, Workload};

/// Operations of one action in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many operations.
    pub operations: u64,
    /// Bytes that they read or write.
    pub bytes: u64,
}

/// What a workload's whole stream would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// By phase (in the order of [`Phase::ALL`]), the operations that occur in it.
    pub tallies: [BTreeMap<Action, Tally>; 3],
    /// Whether the workers of a shared pool were taken to be equally fast, so that a run will
    /// differ.
    pub is_estimate: bool,
    /// Halves of transactions without an operation: the file had its greatest size, or the table
    /// was full.
    pub nothing: u64,
    /// Operations that are not performed, by reason; halves of pairs that the workload does not
    /// have are not among them.
    pub skipped: Skipped,
    /// Transactions that would be performed.
    pub transactions: u64,
    /// Why they would end.
    pub end: End,
    /// The most files at once.
    pub files_peak: u64,
    /// The most bytes of contents at once.
    pub bytes_peak: u64,
    /// The same for each volume asked about.
    pub volumes: Vec<Volume>,
    /// All bytes read, as the edition adds them up: in whole numbers or in 32-bit floats.
    pub classic_bytes_read: f64,
    /// All bytes written, likewise.
    pub classic_bytes_written: f64,
    /// The workload's fingerprint.
    pub fingerprint: Fingerprint,
    /// The hash of the whole stream.
    pub stream_hash: StreamHash,
}

impl Plan {
    /// Operations and bytes of an action in a phase.
    pub fn tally(&self, phase: Phase, action: Action) -> Tally {
        self.tallies[phase as usize]
            .get(&action)
            .copied()
            .unwrap_or_default()
    }

    /// Operations and bytes of an action in all phases.
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

    /// Bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.bytes(Action::moves_bytes_in)
    }

    /// Bytes read divided by bytes written: the mark of an edition in published tables. Nothing
    /// where none is written.
    pub fn read_to_written(&self) -> Option<f64> {
        let written = self.bytes_written();
        (written > 0).then(|| self.bytes_read() as f64 / written as f64)
    }

    /// Bytes written.
    pub fn bytes_written(&self) -> u64 {
        self.bytes(Action::moves_bytes_out)
    }
}

/// Adds up a stream.
#[derive(Debug)]
pub struct Planner<'a> {
    workload: &'a Workload,
    /// The volume of each location.
    volume_of: Vec<usize>,
    volumes: Vec<Level>,
    /// How many transactions of each stream are taken; nothing where all are.
    transactions: Option<Vec<u64>>,
}

impl<'a> Planner<'a> {
    /// A planner that knows nothing of the target: one volume with blocks of one byte.
    pub fn new(workload: &'a Workload) -> Self {
        Self::with_volumes(workload, vec![0; workload.location_weights().len()], &[1])
    }

    /// A planner that follows what lies on each volume: `volume_of` names the volume of every
    /// location, `block_bytes` the unit in which each volume gives out space.
    ///
    /// # Panics
    /// Where a location names a volume that is not there.
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
        Self {
            workload,
            volume_of,
            volumes: block_bytes.iter().map(|block| Level::new(*block)).collect(),
            transactions: None,
        }
    }

    /// Takes no more than so many transactions of each stream, by its number. Fingerprint and hash
    /// are not those of the whole then.
    #[must_use]
    pub fn with_transactions(mut self, of_streams: Vec<u64>) -> Self {
        self.transactions = Some(of_streams);
        self
    }

    /// Takes the whole stream and adds it up.
    ///
    /// # Errors
    /// Where the workload has no stream.
    pub fn plan(self) -> Result<Plan, WorkloadError> {
        self.plan_with_hint(|_| ())
    }

    /// The same, with a hint about the memory of the stream's table. Private pools are added up one
    /// after the other, phase by phase, so peaks are those of workers that all reach theirs at
    /// once.
    ///
    /// # Errors
    /// Where the workload has no stream.
    pub fn plan_with_hint(mut self, hint: MemoryHint) -> Result<Plan, WorkloadError> {
        let mut sum = Sum::default();
        let mut firsts = Vec::new();
        for number in 0..self.workload.streams() {
            let mut volumes: Vec<Level> = self
                .volumes
                .iter()
                .map(|volume| Level::new(volume.peak.block_bytes))
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
        let is_estimate = self.workload.workers.is_shared();
        if let (true, Some(mix)) = (is_estimate, self.workload.mix()) {
            firsts = (0..self.workload.workers.count())
                .map(|worker| fingerprint::first_drafts(self.workload, mix, worker))
                .collect();
        }
        Ok(self.sum_up(sum, firsts))
    }

    fn sum_up(&self, sum: Sum, firsts: Vec<StreamHasher>) -> Plan {
        let mut plan = Plan {
            nothing: sum
                .tallies
                .iter()
                .map(|actions| actions[Action::Nothing as usize].operations)
                .sum(),
            tallies: sum.tallies.map(|actions| {
                let occurs = |action: &Action| actions[*action as usize].operations > 0;
                let tally = |action: Action| (action, actions[action as usize]);
                Action::operations().filter(occurs).map(tally).collect()
            }),
            skipped: sum.skipped,
            is_estimate: self.workload.workers.is_shared(),
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

    /// Adds one stream up. Gives its first intents.
    fn follow<S: Stream + ?Sized>(
        &self,
        stream: &mut S,
        volumes: &mut [Level],
        sum: &mut Sum,
    ) -> StreamHasher {
        let mut whole = StreamHasher::of(&self.workload.work);
        let mut first = StreamHasher::of(&self.workload.work);
        let mut all = Level::new(1);
        let mut left = INTENTS_IN_FINGERPRINT;
        // A location's volume is asked for by place, and there is mostly one.
        let one_volume = volumes.len() == 1;
        for phase in Phase::ALL {
            while let Some(intent) = stream.next(phase) {
                whole.take(&intent);
                if left > 0 {
                    first.take(&intent);
                    left -= 1;
                }
                let tally = &mut sum.tallies[phase as usize][intent.action as usize];
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

/// What streams come to together.
#[derive(Default)]
struct Sum {
    tallies: [[Tally; Action::COUNT]; 3],
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
    fn a_part_is_followed_where_the_whole_is_too_much() {
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
    fn the_rest_is_reckoned_with_the_part() {
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
