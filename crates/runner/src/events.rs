//! What a run tells while it goes: pushed to a sink; displays are just sinks.

use measure::SliceMeter;
use record::{Completed, Load, MachineSlice, Record, Stalled};
use rundir::prepare::OtherUser;
use workload::{Action, End, Phase};

/// A part of a run as its watchers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The subdirectories are made, before the clocks start. Only where there is more than one.
    MakeDirectories,
    /// A phase of the workload.
    Phase(Phase),
    /// The pool of an earlier run is checked, by count and by sample.
    Take,
    /// What a phase has left in memory is written back.
    PhaseSync,
    /// The file system shows the space of deleted files as free again.
    FreeSpace,
    /// Every file is read once, so that it is in the page cache.
    Warm,
    /// The kernel is advised to forget contents.
    Cool,
    /// The names are checked.
    Check,
    /// Ranks check what others have acknowledged.
    CheckAcross,
    /// The subdirectories are removed, after the clocks have stopped.
    RemoveDirectories,
    /// What an unfinished run has made is removed.
    CleanUp,
}

/// How far a stage has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Done, well or not: files in `Prepare` and `Delete`, transactions in `Transactions`,
    /// directories or files elsewhere.
    pub done: u64,
    /// Those that were completed: neither failed nor skipped.
    pub completed: u64,
    /// All that the stage is to do, where it is known.
    pub total: Option<u64>,
}

/// What was done in a second of a phase, as far as it is known soon after: who is late is in the
/// record only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Second {
    /// Of which phase.
    pub phase: Phase,
    /// Which second from the phase's start, from 0.
    pub number: u64,
    /// By kind of operation, of all roles and workers; none where no operation came to its end in
    /// it.
    pub meters: Vec<(Action, SliceMeter)>,
    /// What the kernel counted; nothing where it was not read at this second's end.
    pub machine: Option<Box<MachineSlice>>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The targets are used with the rights of another user alone.
    OtherUser(OtherUser),
    /// A stage begins.
    PhaseStarted(Stage, Progress),
    /// Of several loads the one of this number, from 0, is about to be applied: to this run's pool,
    /// or to that of the next run.
    Load(u32, Load),
    /// A stage goes on. Several times a second at most, and never in the workers' way.
    PhaseProgress(Stage, Progress),
    /// A second of a phase is over. Only where slices are recorded.
    Second(Second),
    /// A stage has ended. `End` says of the transactions why; of all other stages `Complete`.
    PhaseEnded(Stage, Progress, End),
    /// A stage was left before its end: an error or an interruption.
    PhaseAborted(Stage, Progress),
    /// A worker, or the run itself, has been in one operation for very long.
    Stalled(Stalled),
    /// Nothing refuses the run any more, and its first stage is about to begin: the record as it
    /// would be if nothing else were done. Only to those who take records, as the next one.
    RecordOpened(Box<Record>),
    /// A part has been performed to its end, and the file systems have synced after it: told while
    /// all workers wait, in no phase's time. The deletion is told when its space has been
    /// waited for, as the last one. No phase is told of a run that does not sync.
    PhaseRecorded(Box<Completed>),
    /// The record of all ranks as far as they have come, on the first of several: when the run
    /// begins, and after each part that all have completed. Only to those who take records.
    RecordMerged(Box<Record>),
}

/// Takes events.
pub trait Events {
    /// Something happened.
    fn event(&mut self, event: Event);

    /// Whether the record is told piece by piece: a piece takes a copy of what the workers have
    /// reported.
    fn takes_records(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl Events for NoEvents {
    fn event(&mut self, _: Event) {}
}
