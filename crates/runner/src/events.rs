//! Events of a run, which it sends to a sink such as a progress display.

use measure::SliceMeter;
use record::{Completed, Load, MachineSlice, Record, Stalled};
use rundir::prepare::OtherUser;
use workload::{Action, End, Phase};

/// A part of a run, as displays show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Subdirectories are created before the clocks start. Occurs only if locations contain
    /// subdirectories.
    MakeDirectories,
    /// A phase of the workload.
    Phase(Phase),
    /// The pool of an earlier run is checked, by count and by sample.
    Take,
    /// Dirty data of a phase is written back.
    PhaseSync,
    /// Waits until the file system reports the space of deleted files as free.
    FreeSpace,
    /// Every file is read once, so that the page cache contains it.
    Warm,
    /// The kernel is advised to drop file contents from the page cache.
    Cool,
    /// The names of the pool are checked.
    Check,
    /// Ranks check operations that other ranks acknowledged.
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

/// Results of one second of a phase that are available soon after it. Only the record includes
/// results of workers that report later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Second {
    pub phase: Phase,
    /// Number of the second since the start of the phase, from 0.
    pub number: u64,
    /// Meters of all roles and workers by kind of operation; empty if no operation completed in
    /// this second.
    pub meters: Vec<(Action, SliceMeter)>,
    /// Counters of the kernel; `None` if they were not read at the end of this second.
    pub machine: Option<Box<MachineSlice>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// All file access on the targets uses the rights of another user.
    OtherUser(OtherUser),
    /// A stage started.
    PhaseStarted(Stage, Progress),
    /// One of several loads, by its number from 0, is about to be applied to this run's pool or
    /// to that of the next run.
    Load(u32, Load),
    /// Progress of a stage, sent a few times a second without delaying the workers.
    PhaseProgress(Stage, Progress),
    /// A second of a phase ended. Sent only if the run records intervals.
    Second(Second),
    /// A stage ended. `End` is the reason why the transactions ended, and `Complete` for other
    /// stages.
    PhaseEnded(Stage, Progress, End),
    /// A stage ended early because of an error or an interruption.
    PhaseAborted(Stage, Progress),
    /// A worker, or the run itself, has been in one operation for unusually long.
    Stalled(Stalled),
    /// All preflight checks passed and the first stage is about to start. Contains the record of a
    /// run that performs nothing. Sent only if [`Events::takes_records`] is true.
    RecordOpened(Box<Record>),
    /// A part of the run completed and its file systems are synced. Sent while all workers wait,
    /// outside of every phase. The last one is the deletion, sent after waiting for its space to
    /// become free. Runs that do not sync send no event for phases.
    PhaseRecorded(Box<Completed>),
    /// The merged record of all ranks so far, sent on rank 0 of several: at the start of the run,
    /// and after each part that all ranks completed. Sent only if [`Events::takes_records`] is
    /// true.
    RecordMerged(Box<Record>),
}

/// A sink of events.
pub trait Events {
    fn event(&mut self, event: Event);

    /// Whether the sink takes partial records. Each costs a copy of the workers' results so far.
    fn takes_records(&self) -> bool {
        false
    }
}

/// A sink that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl Events for NoEvents {
    fn event(&mut self, _: Event) {}
}
