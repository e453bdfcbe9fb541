//! The operations of a replay, as its workers perform them.

use engine::{FileSync, OperationSyncs, Policies};

use crate::intent::{Action, Intent, Kept, Pause};

/// An operation of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub action: Action,
    /// Fields as in [`Intent`].
    pub place: u32,
    pub number: u32,
    pub other: u32,
    /// The directory of the other name, if that is another one.
    pub other_place: Option<u32>,
    pub syncs: OperationSyncs,
    pub file: u32,
    pub version: u32,
    pub bytes: u64,
    pub size_bytes: u64,
    pub offset_bytes: u64,
    /// The time from the start of the trace to the operation, in nanoseconds.
    pub due_ns: u64,
    /// The first of the step's dependencies, and their number.
    pub dependencies: (u32, u8),
}

impl Step {
    pub const NOTHING: Self = Self {
        action: Action::Nothing,
        place: 0,
        number: 0,
        other: 0,
        other_place: None,
        syncs: OperationSyncs {
            file: FileSync::None,
            directories: false,
        },
        file: 0,
        version: 0,
        bytes: 0,
        size_bytes: 0,
        offset_bytes: 0,
        due_ns: 0,
        dependencies: (0, 0),
    };

    /// The intent of the step. In the transactions, each step is a transaction.
    pub fn intent(&self, is_transaction: bool) -> Intent {
        Intent {
            action: self.action,
            ends_transaction: is_transaction,
            place: self.place,
            number: match self.action {
                Action::StatMissing | Action::OpenMissing => u64::from(self.number) | MISSING,
                _ => self.number.into(),
            },
            bytes: self.bytes,
            size_bytes: self.size_bytes,
            offset_bytes: self.offset_bytes,
            other: self.other.into(),
            other_place: self.other_place,
            file: self.file.into(),
            version: self.version,
            ..Intent::NOTHING
        }
    }
}

/// Added to the numbers in names that never exist.
const MISSING: u64 = 1 << 47;

/// An operation starts only after another worker has completed this number of its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    pub worker: u32,
    pub completed: u32,
}

/// All operations of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The operations that create what the trace uses before it creates it.
    pub prepared: Vec<Step>,
    /// The operations of all workers, in the order of the trace.
    pub all: Vec<Step>,
    /// For each worker, the indices of its operations.
    pub of_workers: Vec<Vec<u32>>,
    pub dependencies: Vec<Dependency>,
    /// The time before each operation; empty if it is not replayed.
    pub pauses: Vec<Pause>,
    /// The policies that most operations of each kind had. With these policies, each operation
    /// makes its own syncs.
    pub policies: Policies,
    /// For each directory, the number of the directory that contains it, which is lower.
    pub parents: Vec<Option<u32>>,
    /// The objects that exist after the last operation.
    pub remaining: Vec<Kept>,
}

impl Steps {
    /// The operation of a worker with this index, which counts from 0.
    #[inline]
    pub fn of_worker(&self, worker: u32, index: usize) -> Option<&Step> {
        let step = *self.of_workers.get(worker as usize)?.get(index)?;
        self.all.get(step as usize)
    }

    /// The time that a worker spends before the operation with this index.
    pub fn pause(&self, worker: u32, index: usize) -> Pause {
        let of_worker = self.of_workers.get(worker as usize);
        let step = of_worker.and_then(|steps| steps.get(index));
        let pause = step.and_then(|step| self.pauses.get(*step as usize));
        pause.copied().unwrap_or(Pause::NONE)
    }

    /// The dependencies of an operation.
    #[inline]
    pub fn dependencies(&self, step: &Step) -> &[Dependency] {
        let (first, count) = (
            step.dependencies.0 as usize,
            usize::from(step.dependencies.1),
        );
        self.dependencies
            .get(first..first + count)
            .unwrap_or_default()
    }

    /// The names of all directories as paths, each with a final slash, such as `s0/s3/`.
    pub fn paths(&self) -> Vec<Vec<u8>> {
        let mut paths: Vec<Vec<u8>> = Vec::with_capacity(self.parents.len());
        for (place, parent) in self.parents.iter().enumerate() {
            let above = parent.and_then(|parent| paths.get(parent as usize));
            let mut path = above.cloned().unwrap_or_default();
            path.extend(format!("s{place}/").bytes());
            paths.push(path);
        }
        paths
    }

    /// The workers' shares of what is prepared, or of what remains, are spread evenly.
    pub fn share(&self, len: usize, worker: u32) -> usize {
        let workers = self.of_workers.len().max(1);
        (len + workers - 1).saturating_sub(worker as usize) / workers
    }

    /// The index of the object number `index` in a worker's share.
    pub fn in_share(&self, index: usize, worker: u32) -> usize {
        index * self.of_workers.len().max(1) + worker as usize
    }
}
