//! The state of the supervisor: of the workers, of the current stage, and of what it watches.

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

/// What a worker has on one of its flights, as its supervisor sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenFlight {
    pub(super) worker: usize,
    pub(super) flight: usize,
    pub(super) under_way: Option<UnderWay>,
    pub(super) since: Instant,
    /// Its place among those that are stalled.
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

/// Looks on, and decides at borders.
pub(crate) struct Supervisor<'e> {
    pub(super) watch: Watch,
    pub(super) waiter: Waiter<'e>,
    pub(super) watched: RunObservations,
    pub(super) seen: Vec<SeenFlight>,
    /// Whether workers are at the pools that they check for others.
    pub(super) is_across: bool,
    /// Workers that wait at a border, and what each has to do behind it.
    pub(super) waiting: u32,
    pub(super) totals: Vec<u64>,
    /// Workers that have not ended.
    pub(super) alive: u32,
    /// Workers that have begun the current stage.
    pub(super) at_work: u32,
    pub(super) current: Option<Stage>,
    /// All wait to begin transactions: for a load, or to hear that there is none.
    pub(super) awaits_load: bool,
    /// The workers that have ended the current stage, and what they have done in it.
    pub(super) ended: (u32, (u64, u64), End),
    /// The stage that all have ended, and not synced yet.
    pub(super) unsynced: Option<Phase>,
    /// The phase that has synced, and is told when its space has been waited for.
    pub(super) untold: Option<Phase>,
    pub(super) stage_began: Instant,
    pub(super) seconds: Seconds,
    pub(super) rounds: Rounds,
    pub(super) machine: MachineWatch,
    pub(super) evidence: EvidenceWatch,
    /// Transactions have ended because the pool had nothing left for them.
    pub(super) ran_dry: bool,
    /// While they go on, by the run's clock.
    pub(super) transactions_began_ns: Option<u64>,
    pub(super) deletion_took: Duration,
    /// When the place was last looked at, and the look that goes on.
    pub(super) looked: Instant,
    pub(super) look: Option<Receiver<Result<(), String>>>,
    pub(super) stopping_since: Option<Instant>,
    pub(super) free_before: Option<u64>,
}

impl<'e> Supervisor<'e> {
    /// The state before anything has begun.
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

    /// Whether another load can be applied: not where the run is to stop, nor where the pool has
    /// run dry, since whatever comes is no load any more.
    pub(crate) fn takes_loads(&self) -> bool {
        self.awaits_load && !self.ran_dry && !self.is_stopping()
    }

    /// Whether file systems sync between phases.
    pub(crate) fn syncs(&self) -> bool {
        self.watch.sync
    }

    pub(crate) fn control(&self) -> Control {
        self.waiter.control.clone()
    }

    /// Tells those who watch of something.
    pub(crate) fn tell(&mut self, event: Event) {
        self.waiter.events.event(event);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.waiter.control.is_stopping()
    }

    /// The run has failed, and stops.
    pub(super) fn fail(&mut self, why: String) {
        self.watched.failed = Some(why);
        self.waiter.control.stop();
    }

    pub(super) fn answer(&mut self, answer: Answer) {
        self.waiting = 0;
        for answers in &self.watch.answers {
            // A worker waits for this answer, or has ended and needs none.
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
