//! Events that a run sends to an event sink, such as a progress display.

use std::time::Duration;

use measure::SliceMeter;
use record::{Completed, Load, MachineSlice, Record, Stalled};
use rundir::prepare::OtherUser;
use workload::{Action, End, Phase};

/// A part of a run that progress displays show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Subdirectories are created before the timed phases. Occurs only if the workload has
    /// subdirectories.
    MakeDirectories,
    /// A phase of the workload: preparation, transactions or deletion.
    Phase(Phase),
    /// A pool that an earlier run or another worker created is checked before the transactions.
    Take,
    /// Dirty data of a phase is written back.
    PhaseSync,
    /// The run waits until the file system reports the space of deleted files as free.
    FreeSpace,
    /// Every file is read once, so that the page cache contains it.
    Warm,
    /// The kernel is advised to drop file contents from the page cache.
    Cool,
    /// After the transactions, names and sizes in the pool are compared with the expected ones.
    Check,
    /// Each rank checks that acknowledged operations of another rank are visible.
    CheckAcross,
    RemoveDirectories,
    /// The files of an unfinished run are removed.
    CleanUp,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of items done, including failed ones: files in `Prepare` and `Delete`, transactions
    /// in `Transactions`, directories or files in other stages.
    pub done: u64,
    /// Number of completed items, without failed and skipped ones.
    pub completed: u64,
    /// Number of items of the stage; `None` if unknown.
    pub total: Option<u64>,
}

/// Results of one second of a phase, as far as they are available soon after that second. Results
/// that workers report later are only in the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Second {
    pub phase: Phase,
    /// Index of the second within its phase, from 0.
    pub number: u64,
    /// Latency meters for each kind of operation, over all roles and workers; empty if no operation
    /// completed in this second.
    pub meters: Vec<(Action, SliceMeter)>,
    /// Counters of the kernel; `None` if they were not read at the end of this second.
    pub machine: Option<Box<MachineSlice>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The run accesses files with the rights of this user, not with those of the process's own
    /// user.
    OtherUser(OtherUser),
    PhaseStarted(Stage, Progress),
    /// A load is about to be applied. The number is the index of the load in its sequence, from 0.
    /// The duration is the estimated maximum time until the last load ends; `None` if it is
    /// unknown. If each load has a new pool, the event comes before the pool is created.
    Load(u32, Load, Option<Duration>),
    /// A phase of the workload is about to begin. The number is its position, from 0; its name
    /// follows.
    WorkloadPhase(u32, String),
    /// Progress of a stage, sent a few times a second without delaying the workers.
    PhaseProgress(Stage, Progress),
    /// A second of a phase ended. Sent only if the run records intervals.
    Second(Second),
    /// A stage ended. `End` is the reason why the transactions ended, and `Complete` for other
    /// stages.
    PhaseEnded(Stage, Progress, End),
    /// A stage ended early because of an error or an interruption.
    PhaseAborted(Stage, Progress),
    /// A worker, or a preparation or clean-up call of the run, has not returned for unusually long.
    Stalled(Stalled),
    /// All preflight checks passed and the first stage is about to start. Contains the initial
    /// record, without results. Sent only if [`Events::takes_records`] is true.
    RecordOpened(Box<Record>),
    /// A phase or a load has completed. Sent between phases, while no worker performs operations.
    /// If the run syncs, the event follows the sync of the phase. The event of the deletion also
    /// follows [`Stage::FreeSpace`]. Runs that do not sync send this event only for load levels of
    /// a sweep.
    PhaseRecorded(Box<Completed>),
    /// The merged record of all ranks, without incomplete phases. Only rank 0 of a run with several
    /// ranks sends it: at the start of the run, and after each phase that all ranks completed. Sent
    /// only if [`Events::takes_records`] is true.
    RecordMerged(Box<Record>),
}

pub trait Events {
    fn event(&mut self, event: Event);

    /// Whether the sink uses partial records. Each partial record costs a copy of the results that
    /// the workers have reported.
    fn takes_records(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl Events for NoEvents {
    fn event(&mut self, _: Event) {}
}
