//! What a run would do, added up from its stream without touching anything.

use serde::{Deserialize, Serialize};

use crate::classic::Classic;
use crate::fingerprint::{self, Fingerprint, INTENTS_IN_FINGERPRINT, StreamHash, StreamHasher};
use crate::intent::{Action, End, Intent, Phase, Stream};
use crate::stream::{ClassicStream, StreamError};
use crate::table::MemoryHint;

/// Operations of one action in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many operations.
    pub operations: u64,
    /// Bytes that they read or write.
    pub bytes: u64,
}

/// One file system that takes a part of the pool: several locations on one file system are one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// The unit in which the file system gives out space, in bytes.
    pub block_bytes: u64,
    /// The most files that lie there at once.
    pub files_peak: u64,
    /// The most bytes of contents that lie there at once.
    pub bytes_peak: u64,
    /// The most bytes that those contents take there at once, every file rounded up to whole blocks.
    pub allocated_bytes_peak: u64,
}

/// What a workload's whole stream would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// By phase (in the order of [`Phase::ALL`]), by action (in the order of [`Action::OPERATIONS`]).
    pub tallies: [[Tally; 4]; 3],
    /// Halves of transactions without an operation: the file had its greatest size, or the table was full.
    pub nothing: u64,
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
    /// All bytes read, as the original's 32-bit float would have them.
    pub classic_bytes_read: f32,
    /// All bytes written, as the original's 32-bit float would have them.
    pub classic_bytes_written: f32,
    /// The workload's fingerprint.
    pub fingerprint: Fingerprint,
    /// The hash of the whole stream.
    pub stream_hash: StreamHash,
}

impl Plan {
    /// Operations and bytes of an action in a phase.
    pub fn tally(&self, phase: Phase, action: Action) -> Tally {
        self.tallies[phase as usize]
            .get(action as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Operations and bytes of an action in all phases.
    pub fn total(&self, action: Action) -> Tally {
        let mut total = Tally::default();
        for phase in Phase::ALL {
            let tally = self.tally(phase, action);
            total.operations += tally.operations;
            total.bytes += tally.bytes;
        }
        total
    }

    /// Bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.total(Action::Read).bytes
    }

    /// Bytes read divided by bytes written: the mark of an edition in published tables. Nothing where none is written.
    pub fn read_to_written(&self) -> Option<f64> {
        let written = self.bytes_written();
        (written > 0).then(|| self.bytes_read() as f64 / written as f64)
    }

    /// Bytes written, by creations and appends.
    pub fn bytes_written(&self) -> u64 {
        self.total(Action::Create).bytes + self.total(Action::Append).bytes
    }
}

/// Adds up a stream.
#[derive(Debug)]
pub struct Planner<'a> {
    workload: &'a Classic,
    /// The volume of each location.
    volume_of: Vec<usize>,
    volumes: Vec<Level>,
}

/// A volume with what lies on it now.
#[derive(Clone, Copy, Debug)]
struct Level {
    files: u64,
    bytes: u64,
    blocks: u64,
    blocks_peak: u64,
    peak: Volume,
}

impl Level {
    fn new(block_bytes: u64) -> Self {
        Self {
            files: 0,
            bytes: 0,
            blocks: 0,
            blocks_peak: 0,
            peak: Volume {
                block_bytes: block_bytes.max(1),
                files_peak: 0,
                bytes_peak: 0,
                allocated_bytes_peak: 0,
            },
        }
    }

    #[inline]
    fn take(&mut self, intent: &Intent) {
        let block = self.peak.block_bytes;
        match intent.action {
            Action::Create | Action::Append => {
                let before = intent.size_bytes.div_ceil(block);
                self.files += u64::from(intent.action == Action::Create);
                self.bytes += intent.bytes;
                self.blocks += (intent.size_bytes + intent.bytes).div_ceil(block) - before;
                self.peak.files_peak = self.peak.files_peak.max(self.files);
                self.peak.bytes_peak = self.peak.bytes_peak.max(self.bytes);
                self.blocks_peak = self.blocks_peak.max(self.blocks);
            }
            Action::Delete => {
                self.files -= 1;
                self.bytes -= intent.size_bytes;
                self.blocks -= intent.size_bytes.div_ceil(block);
            }
            Action::Read | Action::Nothing => {}
        }
    }

    fn volume(&self) -> Volume {
        Volume {
            allocated_bytes_peak: self.blocks_peak * self.peak.block_bytes,
            ..self.peak
        }
    }
}

impl<'a> Planner<'a> {
    /// A planner that knows nothing of the target: one volume with blocks of one byte.
    pub fn new(workload: &'a Classic) -> Self {
        Self::with_volumes(workload, vec![0; workload.weights.len()], &[1])
    }

    /// A planner that follows what lies on each volume: `volume_of` names the volume of every location,
    /// `block_bytes` the unit in which each volume gives out space.
    ///
    /// # Panics
    /// Where a location names a volume that is not there.
    pub fn with_volumes(workload: &'a Classic, volume_of: Vec<usize>, block_bytes: &[u64]) -> Self {
        assert!(
            volume_of.len() == workload.weights.len() && volume_of.iter().all(|v| *v < block_bytes.len()),
            "every location names a volume"
        );
        Self {
            workload,
            volume_of,
            volumes: block_bytes.iter().map(|block| Level::new(*block)).collect(),
        }
    }

    /// Takes the whole stream and adds it up.
    ///
    /// # Errors
    /// Where the workload has no stream.
    pub fn plan(self) -> Result<Plan, StreamError> {
        self.plan_with_hint(|_| ())
    }

    /// The same, with a hint about the memory of the stream's table.
    ///
    /// # Errors
    /// Where the workload has no stream.
    pub fn plan_with_hint(mut self, hint: MemoryHint) -> Result<Plan, StreamError> {
        let mut stream = ClassicStream::with_hint(self.workload, hint)?;
        let mut whole = StreamHasher::default();
        let mut first = StreamHasher::default();
        let mut all = Level::new(1);
        let mut tallies = [[Tally::default(); 5]; 3];
        let (mut classic_bytes_read, mut classic_bytes_written) = (0_f32, 0_f32);
        let mut left = INTENTS_IN_FINGERPRINT;
        // A location's volume is asked for by place, and there is mostly one.
        let one_volume = self.volumes.len() == 1;
        for phase in Phase::ALL {
            while let Some(intent) = stream.next(phase) {
                whole.take(&intent);
                if left > 0 {
                    first.take(&intent);
                    left -= 1;
                }
                let tally = &mut tallies[phase as usize][intent.action as usize];
                tally.operations += 1;
                tally.bytes += intent.bytes;
                match intent.action {
                    Action::Read => classic_bytes_read += intent.bytes as f32,
                    Action::Create | Action::Append => classic_bytes_written += intent.bytes as f32,
                    Action::Delete | Action::Nothing => {}
                }
                all.take(&intent);
                let volume = if one_volume {
                    0
                } else {
                    self.volume_of[self.workload.location_of(intent.place)]
                };
                self.volumes[volume].take(&intent);
            }
        }
        Ok(Plan {
            nothing: tallies
                .iter()
                .map(|actions| actions[Action::Nothing as usize].operations)
                .sum(),
            tallies: tallies.map(|actions| [actions[0], actions[1], actions[2], actions[3]]),
            transactions: stream.transactions_begun(),
            end: stream.end(),
            files_peak: all.peak.files_peak,
            bytes_peak: all.peak.bytes_peak,
            volumes: self.volumes.iter().map(Level::volume).collect(),
            classic_bytes_read,
            classic_bytes_written,
            fingerprint: fingerprint::of_first_intents(self.workload, first),
            stream_hash: whole.finish(),
        })
    }
}
