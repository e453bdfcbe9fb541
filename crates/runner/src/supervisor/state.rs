//! The state of the supervisor: the workers, the current stage, and the inputs and observations of
//! the run.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rundir::worker_status::UnderWay;
use workload::{End, Phase};

use super::evidence_watch::EvidenceWatch;
use super::machine_watch::MachineWatch;
use super::observations::RunObservations;
use super::rounds::{Rounds, Seconds};
use super::watch::Watch;
use crate::control::Control;
use crate::events::{Event, Stage};
use crate::timed_call::Waiter;
use crate::worker::Answer;

/// The operation in one slot of a worker, as the supervisor last read it. A worker has a slot, or
/// flight, for each operation that can be in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenFlight {
    pub(super) worker: usize,
    pub(super) flight: usize,
    pub(super) under_way: Option<UnderWay>,
    pub(super) since: Instant,
    /// Index of the operation in [`Waiter::stalled`], once it has been reported as stalled.
    pub(super) stalled: Option<usize>,
}

impl SeenFlight {
    fn new(worker: usize, flight: usize) -> Self {
        Self {
            worker,
            flight,
            under_way: None,
            since: Instant::now(),
            stalled: None,
        }
    }
}

/// Supervises the workers and decides at barriers how the run continues.
pub(crate) struct Supervisor<'e> {
    pub(super) watch: Watch,
    pub(super) waiter: Waiter<'e>,
    pub(super) watched: RunObservations,
    pub(super) seen: Vec<SeenFlight>,
    /// Whether workers currently use the pools that they check for other ranks.
    pub(super) is_across: bool,
    /// Number of workers that wait at a barrier.
    pub(super) waiting: u32,
    /// Number of items of each worker in the stage after the barrier.
    pub(super) totals: Vec<u64>,
    /// Number of workers that have not ended.
    pub(super) alive: u32,
    /// Number of workers that have started the current stage.
    pub(super) at_work: u32,
    pub(super) current: Option<Stage>,
    /// Whether all workers wait at the barrier before transactions. There they wait for a load or
    /// for the end of the run.
    pub(super) awaits_load: bool,
    /// Three values about the current stage: the number of workers that have ended it, the numbers
    /// of their items, and the reason why it ended. Items are counted as done (including failed
    /// ones) and as completed.
    pub(super) ended: (u32, (u64, u64), End),
    /// The phase that all workers have ended and that has not been synced.
    pub(super) unsynced: Option<Phase>,
    /// A synced phase whose event has not been sent, because the run waits for free space first.
    pub(super) untold: Option<Phase>,
    pub(super) stage_began: Instant,
    pub(super) seconds: Seconds,
    pub(super) rounds: Rounds,
    pub(super) machine: MachineWatch,
    pub(super) evidence: EvidenceWatch,
    /// Whether the last transactions ended because the pool ran empty.
    pub(super) ran_dry: bool,
    /// Start of the current transactions by the run's clock; `None` if no transactions are in
    /// progress.
    pub(super) transactions_began_ns: Option<u64>,
    pub(super) deletion_took: Duration,
    /// Time at which the run's directories were last checked. `look` is the channel on which the
    /// check in progress sends its result.
    pub(super) looked: Instant,
    pub(super) look: Option<Receiver<Result<(), String>>>,
    pub(super) stopping_since: Option<Instant>,
    pub(super) free_before: Option<u64>,
}

impl<'e> Supervisor<'e> {
    pub(super) fn new(watch: Watch, waiter: Waiter<'e>) -> Self {
        let workers = watch.answers.len();
        let flights = watch.slots.iter().enumerate();
        let seen = flights
            .flat_map(|(worker, slots)| {
                (0..slots.len()).map(move |flight| SeenFlight::new(worker, flight))
            })
            .collect();
        Self {
            free_before: None,
            machine: MachineWatch::new(watch.devices.clone()),
            evidence: EvidenceWatch::new(watch.account.clone(), watch.servers.clone()),
            watched: RunObservations {
                first_worker: watch.first_worker,
                reports: (0..workers).map(|_| None).collect(),
                phases: (0..workers).map(|_| Vec::new()).collect(),
                ..RunObservations::default()
            },
            watch,
            waiter,
            seen,
            is_across: false,
            waiting: 0,
            totals: vec![0; workers],
            alive: workers as u32,
            at_work: 0,
            current: None,
            awaits_load: false,
            ended: (0, (0, 0), End::Complete),
            unsynced: None,
            untold: None,
            stage_began: Instant::now(),
            seconds: Seconds::default(),
            rounds: Rounds::default(),
            ran_dry: false,
            transactions_began_ns: None,
            deletion_took: Duration::ZERO,
            looked: Instant::now(),
            look: None,
            stopping_since: None,
        }
    }

    /// Whether another load can be applied. False if the run stops, and false if the pool has run
    /// empty, because another load would have no files.
    pub(crate) fn takes_loads(&self) -> bool {
        self.awaits_load && !self.ran_dry && !self.is_stopping()
    }

    /// Whether the run syncs file systems between phases.
    pub(crate) fn syncs(&self) -> bool {
        self.watch.sync
    }

    pub(crate) fn control(&self) -> Control {
        self.waiter.control.clone()
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.waiter.events.event(event);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.waiter.control.is_stopping()
    }

    pub(super) fn fail(&mut self, why: String) {
        self.watched.failed = Some(why);
        self.waiter.control.stop();
    }

    pub(super) fn answer(&mut self, answer: Answer) {
        self.waiting = 0;
        for answers in &self.watch.answers {
            // The error is ignored: a worker that has ended needs no answer.
            let _ = answers.send(answer);
        }
    }

    /// Renews the heartbeat of the run.
    pub(super) fn tick(&self) {
        self.watch.owned.life().tick((self.watch.now_ns)());
    }

    pub(super) fn now_ns(&self) -> u64 {
        (self.watch.now_ns)().saturating_sub(self.watch.origin_ns)
    }
}
