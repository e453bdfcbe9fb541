//! The thread that looks on while workers work: lets them pass the borders of stages together, has
//! file systems sync, watches that the place is still the same and that nobody is stalled, and
//! tells those who watch how far it is.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use measure::{Slice, Slices};
use record::{
    Fact, HostId, MachineOverTime, Pauses, PhaseEvidence, PhaseRecord, PhaseSync, Record,
    SteadyFound,
};
use rustix::pipe::PipeFlags;
use spec::Drive;
use system::{MountChanges, Sources, Waited, WatchedAccount, WatchedDevices};
use workload::{Action, End, Phase, Role};

use crate::acknowledged::AcknowledgedByAll;
use crate::control::Control;
use crate::counter_baseline::Since;
use crate::events::{Event, Progress, Stage};
use crate::path_builder::Namer;
use crate::pauses::PauseWatch;
use crate::processes::AtBarrier;
use crate::servers::WatchedServers;
use crate::timed_call::{TELL_EVERY, Waiter};
use crate::worker::{Answer, PhaseReport, Rendezvous, Report};
use rundir::owned_files::{Landmarks, OwnedDirectories};
use rundir::worker_status::{Slot, UnderWay};

mod barrier;
mod completed;
mod evidence;
mod evidence_watch;
mod machine;
mod machine_watch;
mod rounds;
mod stalled;
mod time;
mod wait_times;

use evidence_watch::EvidenceWatch;
use machine_watch::MachineWatch;
use rounds::{Rounds, Seconds};

/// How often the place is looked at.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// A run that is given up waits so long for those workers that are not stalled.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// After deletion the space is waited for so long, and as long again as the deletion took.
const SPACE_BACK_MAX: Duration = Duration::from_secs(2);
/// The space is back when no more than this is missing, and what the run's own directories take.
const SPACE_SLACK_BYTES: u64 = 1 << 20;

/// What a worker says.
#[derive(Debug)]
pub(crate) enum Message {
    /// It waits to begin a stage in which it has so much to do.
    Begins(Stage, u64),
    /// It still waits; so many files it has, and some of them by their places and numbers.
    Samples((u64, Vec<(u32, u64)>)),
    /// It has ended a stage.
    Ended(Stage, (u64, u64), End),
    /// What it did in a second of the phase that goes on.
    Slice(Role, Slice<Action>),
    /// What it did in a phase.
    Phase(Box<PhaseReport>),
    /// It is done with everything, or could not begin.
    Done(Box<Result<Report, String>>),
}

/// A worker's end: it waits for an answer before each stage.
pub(crate) struct Border {
    /// Which of this process's workers it is.
    pub index: u32,
    pub messages: Sender<(u32, Message)>,
    pub answers: Receiver<Answer>,
}

impl Rendezvous for Border {
    fn begins(&mut self, stage: Stage, total: u64) -> Answer {
        self.ask(Message::Begins(stage, total))
    }

    fn samples(&mut self, sample: (u64, Vec<(u32, u64)>)) -> Answer {
        self.ask(Message::Samples(sample))
    }

    fn ended(&mut self, stage: Stage, done: (u64, u64), end: End) {
        // Nobody left to be told is no reason to stop.
        let _ = self
            .messages
            .send((self.index, Message::Ended(stage, done, end)));
    }

    fn slice(&mut self, role: Role, slice: Slice<Action>) {
        let _ = self
            .messages
            .send((self.index, Message::Slice(role, slice)));
    }

    fn reports(&mut self, phase: PhaseReport) {
        let _ = self
            .messages
            .send((self.index, Message::Phase(Box::new(phase))));
    }
}

impl Border {
    fn ask(&self, message: Message) -> Answer {
        // A supervisor that is gone has nothing more to allow.
        let told = self.messages.send((self.index, message));
        told.ok()
            .and_then(|()| self.answers.recv().ok())
            .unwrap_or(Answer::Stop)
    }
}

/// Stops the workers as soon as a change of mounts takes their place away: calls by path would meet
/// what lies beneath. Watches until what it gives is dropped; gives nothing where the system has no
/// such watch, and the looks of every second remain.
pub(crate) fn watch_mounts(control: Control, landmarks: Landmarks) -> Option<OwnedFd> {
    let changes = MountChanges::watch(&Sources::default()).ok()?;
    let (until, end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).ok()?;
    let watching = thread::Builder::new()
        .name("mounts".to_owned())
        .spawn(move || {
            while let Ok(Waited::Changed) = changes.wait(&until) {
                if landmarks.look().is_err() {
                    // The landmarks keep what was found, and who looks on says it.
                    control.stop();
                }
            }
        });
    watching.ok().map(|_| end)
}

/// Watchers are told of a second so long after its end.
const HANDED_OVER_WITHIN: Duration = Duration::from_millis(500);

/// What was seen of a run.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// The number of the first worker.
    pub first_worker: u32,
    /// By worker; nothing of those that did not come back.
    pub reports: Vec<Option<Result<Report, String>>>,
    /// By worker, what it did.
    pub phases: Vec<Vec<PhaseReport>>,
    /// The transactions of the loads that came to their end, in order; all other phases are in
    /// `phases` alone.
    pub loads: Vec<PhaseRecord>,
    /// The last of them as all ranks together have performed it.
    pub load_of_all: Option<PhaseRecord>,
    /// What the rule of steady state found, and which segment is the first of its window.
    pub steady: Option<(SteadyFound, u32)>,
    /// By phase, what all of them did in each second.
    pub slices: BTreeMap<Phase, Slices<(Role, Action)>>,
    /// By phase, what the kernel counted over its time.
    pub machine: BTreeMap<Phase, MachineOverTime>,
    /// By phase, how the program paused.
    pub pauses: BTreeMap<Phase, Pauses>,
    /// What became of the place, where that was not well.
    pub gone: Option<String>,
    /// After which phase, how the file systems synced.
    pub synced: BTreeMap<Phase, PhaseSync>,
    /// Why sync failed, or dropping caches.
    pub failed: Option<String>,
    /// Somebody did not come back: nothing of theirs is to be touched.
    pub abandoned: bool,
    /// A pool that was taken from an earlier run has begun to change.
    pub in_use: bool,
    /// By phase, what shows who served it.
    pub evidence: BTreeMap<Phase, PhaseEvidence>,
}

impl Watched {
    /// What was seen beside the work of a phase.
    pub(crate) fn take_beside(&mut self, phase: Phase) -> Beside {
        Beside {
            slices: self.slices.remove(&phase).unwrap_or_default(),
            machine: self.machine.remove(&phase),
            pauses: self.pauses.remove(&phase),
            sync: self.synced.remove(&phase),
            evidence: self.evidence.remove(&phase),
            steady: if phase == Phase::Transactions {
                self.steady.take()
            } else {
                None
            },
        }
    }
}

/// What was seen beside the work of a phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    /// What all workers did in each second.
    pub slices: Slices<(Role, Action)>,
    /// What the kernel counted over its time.
    pub machine: Option<MachineOverTime>,
    /// How the program paused.
    pub pauses: Option<Pauses>,
    /// The writing back that followed.
    pub sync: Option<PhaseSync>,
    /// What shows who served it.
    pub evidence: Option<PhaseEvidence>,
    /// What the rule of steady state found, and which segment is the first of its window.
    pub steady: Option<(SteadyFound, u32)>,
}

/// Names things of a pool that a worker is at.
pub(crate) struct PoolOfWorker {
    pub namer: Namer,
    /// Its directory in each location; nothing where there is one pool.
    pub directory: Option<String>,
}

/// What the supervisor is to do, and with what.
pub(crate) struct Watch {
    pub messages: Receiver<(u32, Message)>,
    /// The number of this process's first worker among those of all ranks; all that is here by
    /// worker begins with it.
    pub first_worker: u32,
    /// By worker.
    pub answers: Vec<Sender<Answer>>,
    /// By worker, of each of its flights.
    pub slots: Vec<Vec<Arc<Slot>>>,
    /// By worker, the pool that it is at.
    pub pools: Vec<PoolOfWorker>,
    /// Those that workers turn to after the preparation; empty where they stay at theirs.
    pub neighbours: Vec<PoolOfWorker>,
    /// Those that workers check for others; empty where they check none.
    pub checked: Vec<PoolOfWorker>,
    pub owned: Arc<dyn OwnedDirectories>,
    pub landmarks: Landmarks,
    pub sync: bool,
    /// Whether caches are dropped before the transactions.
    pub drop_caches: bool,
    /// Whether the pool is one of an earlier run.
    pub reuse: bool,
    pub drive: Drive,
    /// The devices to be watched, where the kernel's counters are to be read over time.
    pub devices: Option<Fact<WatchedDevices>>,
    /// Nothing where nobody watches for pauses.
    pub pauses: Option<PauseWatch>,
    /// What is to be read at the borders of phases; nothing where the storage touches no file
    /// system.
    pub account: Option<WatchedAccount>,
    /// The servers whose traffic belongs to it; nothing where the storage speaks to none.
    pub servers: Option<WatchedServers>,
    /// The machine, for a run of several ranks.
    pub host: Option<HostId>,
    /// What workers have acknowledged, for those of other ranks.
    pub acknowledged: AcknowledgedByAll,
    pub now_ns: Box<dyn Fn() -> u64>,
    pub origin_ns: u64,
    /// When the machine's counters began to count for the run; nothing where nobody takes records.
    pub since: Option<Arc<Since>>,
    /// Where somebody on the first of several ranks takes records: the record of all ranks, on
    /// that one as far as they have come.
    pub merged: Option<Box<Record>>,
    /// Mounts are watched until it is dropped.
    pub mounts: Option<OwnedFd>,
}

/// What a worker has on one of its flights, as its supervisor sees it.
#[derive(Clone, Copy, Debug)]
struct SeenFlight {
    worker: usize,
    flight: usize,
    under_way: Option<UnderWay>,
    since: Instant,
    /// Its place among those that are stalled.
    stalled: Option<usize>,
}

/// Looks on, and decides at borders.
pub(crate) struct Supervisor<'e> {
    watch: Watch,
    waiter: Waiter<'e>,
    watched: Watched,
    seen: Vec<SeenFlight>,
    /// Whether workers are at the pools that they check for others.
    is_across: bool,
    /// Workers that wait at a border, and what each has to do behind it.
    waiting: u32,
    totals: Vec<u64>,
    /// Workers that have not ended.
    alive: u32,
    /// Workers that have begun the current stage.
    at_work: u32,
    current: Option<Stage>,
    /// All wait to begin transactions: for a load, or to hear that there is none.
    awaits_load: bool,
    /// The workers that have ended the current stage, and what they have done in it.
    ended: (u32, (u64, u64), End),
    /// The stage that all have ended, and not synced yet.
    unsynced: Option<Phase>,
    /// The phase that has synced, and is told when its space has been waited for.
    untold: Option<Phase>,
    stage_began: Instant,
    seconds: Seconds,
    rounds: Rounds,
    machine: MachineWatch,
    evidence: EvidenceWatch,
    /// Transactions have ended because the pool had nothing left for them.
    ran_dry: bool,
    /// While they go on, by the run's clock.
    transactions_began_ns: Option<u64>,
    deletion_took: Duration,
    /// When the place was last looked at, and the look that goes on.
    looked: Instant,
    look: Option<Receiver<Result<(), String>>>,
    stopping_since: Option<Instant>,
    free_before: Option<u64>,
}

impl<'e> Supervisor<'e> {
    /// Looks on until the pool is there and all workers wait for a load, or the run is over.
    pub(crate) fn begin(watch: Watch, waiter: Waiter<'e>) -> Self {
        let workers = watch.answers.len();
        let seen = |worker, flight| SeenFlight {
            worker,
            flight,
            under_way: None,
            since: Instant::now(),
            stalled: None,
        };
        let flights = watch.slots.iter().enumerate();
        let flights = flights
            .flat_map(|(worker, slots)| (0..slots.len()).map(move |flight| (worker, flight)));
        let seen = flights
            .map(|(worker, flight)| seen(worker, flight))
            .collect();
        let mut supervisor = Self {
            free_before: None,
            machine: MachineWatch::new(watch.devices.clone()),
            evidence: EvidenceWatch::new(watch.account.clone(), watch.servers.clone()),
            watched: Watched {
                first_worker: watch.first_worker,
                reports: (0..workers).map(|_| None).collect(),
                phases: (0..workers).map(|_| Vec::new()).collect(),
                ..Watched::default()
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
        };
        supervisor.look_at_space();
        supervisor.look_on();
        supervisor
    }

    /// Lets the workers perform transactions, so many a second or in a closed loop, until they have
    /// ended and the file systems have synced. Gives what they came to; nothing where they did
    /// not come to their end.
    pub(crate) fn apply(&mut self, rate: Option<f64>) -> Option<&PhaseRecord> {
        if !std::mem::take(&mut self.awaits_load) {
            return None;
        }
        let number = self.watched.loads.len();
        self.waiter.control.begin_transactions(rate);
        self.begin_stage(Stage::Phase(Phase::Transactions));
        self.look_on();
        self.watched.loads.get(number)?;
        self.watched.load_of_all.as_ref()
    }

    /// Whether another load can be applied: not where the run is to stop, nor where the pool has
    /// run dry, since whatever comes is no load any more.
    pub(crate) fn takes_loads(&self) -> bool {
        self.awaits_load && !self.ran_dry && !self.waiter.control.is_stopping()
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

    /// No load follows: looks on until all workers are done, or do not come back.
    pub(crate) fn end(mut self) -> (Watched, Waiter<'e>) {
        if std::mem::take(&mut self.awaits_load) {
            self.answer(Answer::Past);
        }
        self.look_on();
        if let Some(Stage::Phase(phase)) = self.current {
            self.end_counting(phase);
        }
        if let Some(stage) = self.current {
            self.tell(Event::PhaseAborted(stage, self.waiter.control.progress()));
        } else if let (false, Some(phase)) = (self.watched.abandoned, self.unsynced) {
            // Nothing follows.
            self.meet(AtBarrier::default());
            self.sync(phase);
        }
        self.wait_for_space();
        self.tell_last();
        // The end is a border, too.
        self.wait_for_look();
        drop(self.watch.mounts);
        (self.watched, self.waiter)
    }

    fn look_on(&mut self) {
        while self.alive > 0 && !self.awaits_load {
            self.watch.owned.life().tick((self.watch.now_ns)());
            self.drive();
            let message = self.watch.messages.recv_timeout(
                self.until_next_turn()
                    .min(self.machine.until_due(self.now_ns())),
            );
            match message {
                Ok((worker, message)) => self.hear(worker, message),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(stage) = self.current {
                        self.waiter
                            .events
                            .event(Event::PhaseProgress(stage, self.waiter.control.progress()));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.machine.second(self.now_ns());
            if let Some(Stage::Phase(phase)) = self.current {
                self.tell_seconds(phase, false);
            }
            self.look_at_place();
            self.look_for_stalled();
            if self.watched.abandoned || self.is_to_be_given_up() {
                self.watched.abandoned = true;
                self.waiter.control.stop();
                self.name_the_last();
                self.hear_the_others();
                // Nobody is waited for any more.
                self.alive = 0;
            }
        }
    }

    /// What those have to say who are not stalled.
    fn hear_the_others(&mut self) {
        self.answer(Answer::Stop);
        let began = Instant::now();
        while self.alive > 0 && began.elapsed() < LAST_WORDS {
            if let Ok((worker, message)) = self.watch.messages.recv_timeout(TELL_EVERY) {
                self.hear(worker, message);
                self.answer(Answer::Stop);
            }
        }
    }

    fn hear(&mut self, worker: u32, message: Message) {
        match message {
            Message::Begins(stage, total) => {
                self.waiting += 1;
                self.totals[worker as usize] = total;
                if self.waiting == self.alive {
                    self.border(stage);
                }
            }
            Message::Samples(sample) => {
                self.waiting += 1;
                self.evidence.take_sample(worker, sample);
                if self.waiting == self.alive {
                    self.sampled();
                }
            }
            Message::Ended(stage, done, end) => {
                self.ended.0 += 1;
                self.ended.1.0 += done.0;
                self.ended.1.1 += done.1;
                if self.ended.2 == End::Complete {
                    self.ended.2 = end;
                }
                if self.ended.0 == self.at_work {
                    self.stage_ended(stage);
                }
            }
            Message::Slice(role, slice) => self.take_slice(role, slice),
            Message::Phase(report) => self.watched.phases[worker as usize].push(*report),
            Message::Done(report) => {
                self.alive -= 1;
                let well =
                    matches!(&*report, Ok(report) if report.failed.is_none() && !report.is_stopped);
                self.watched.reports[worker as usize] = Some(*report);
                if !well {
                    self.waiter.control.stop();
                }
                // Those who wait for this one wait in vain.
                if self.waiting > 0 && self.waiting == self.alive {
                    self.answer(if self.waiter.control.is_stopping() {
                        Answer::Stop
                    } else {
                        Answer::Go
                    });
                }
            }
        }
    }

    fn stage_ended(&mut self, stage: Stage) {
        // The counters may be the next stage's already.
        let (_, (done, completed), end) = self.ended;
        let progress = Progress {
            done,
            completed,
            total: Some(done),
        };
        if let Stage::Phase(phase) = stage {
            self.end_counting(phase);
            self.tell_seconds(phase, true);
        }
        self.waiter
            .events
            .event(Event::PhaseEnded(stage, progress, end));
        self.current = None;
        if stage == Stage::Phase(Phase::Transactions) {
            self.ran_dry |= end != End::Complete;
            self.transactions_ended();
        }
        if stage == Stage::Phase(Phase::Delete) {
            self.deletion_took = self.stage_began.elapsed();
        }
        self.ended = (0, (0, 0), End::Complete);
        if let Stage::Phase(phase) = stage {
            self.unsynced = Some(phase);
        }
    }

    /// All wait to begin a stage.
    fn border(&mut self, stage: Stage) {
        if !self.asks_for_sample(stage) {
            self.pass(stage);
        }
    }

    /// Nothing more is asked of the workers before the stage.
    fn pass(&mut self, stage: Stage) {
        if stage != Stage::Phase(Phase::Transactions) {
            self.close_sample();
        }
        if let Some(phase) = self.unsynced.take() {
            // Nobody's sync is to be in another's work.
            self.meet(AtBarrier::default());
            self.sync(phase);
            self.phase_synced(phase);
        }
        if self.watched.abandoned {
            // A file system that does not answer is not asked for anything else.
            return self.answer(Answer::Stop);
        }
        self.wait_for_look();
        self.awaits_load =
            stage == Stage::Phase(Phase::Transactions) && !self.waiter.control.is_stopping();
        if !self.awaits_load {
            self.begin_stage(stage);
        }
    }

    /// Workers turn to other pools with some stages.
    fn turn(&mut self, stage: Stage) {
        let Watch {
            pools,
            neighbours,
            checked,
            ..
        } = &mut self.watch;
        if stage == Stage::Take && !neighbours.is_empty() {
            *pools = std::mem::take(neighbours);
        }
        if (stage == Stage::CheckAcross) != self.is_across {
            self.is_across = !self.is_across;
            std::mem::swap(pools, checked);
        }
    }

    /// Lets all who wait go on, if nothing stands in the way.
    fn begin_stage(&mut self, stage: Stage) {
        self.turn(stage);
        if self.watch.reuse
            && stage != Stage::Take
            && !self.watched.in_use
            && !self.waiter.control.is_stopping()
        {
            self.begin_use();
        }
        if stage == Stage::Cool {
            self.write_back();
        }
        if stage == Stage::Phase(Phase::Transactions) && !self.waiter.control.is_stopping() {
            self.drop_caches();
            self.look_at_residency();
        }
        let goes_on = !self.waiter.control.is_stopping() && self.meet_and_tell();
        if goes_on {
            for (slots, total) in self.watch.slots.iter().zip(&self.totals) {
                slots[0].begin(*total);
            }
            if let Stage::Phase(_) = stage {
                self.machine.begin(self.now_ns());
                self.watch.pauses.iter_mut().for_each(PauseWatch::begin);
                self.evidence.begin();
            }
            if self.current != Some(stage) {
                let progress = self.waiter.control.progress();
                self.waiter
                    .events
                    .event(Event::PhaseStarted(stage, progress));
            }
            self.current = Some(stage);
            self.at_work = self.alive;
            self.stage_began = Instant::now();
            self.seconds = Seconds::default();
            self.waiter.control.begin_phase((self.watch.now_ns)());
            if stage == Stage::Phase(Phase::Transactions) {
                self.transactions_began_ns = Some((self.watch.now_ns)());
                self.rounds = Rounds::default();
            }
        }
        self.answer(if goes_on { Answer::Go } else { Answer::Stop });
    }

    fn answer(&mut self, answer: Answer) {
        self.waiting = 0;
        for answers in &self.watch.answers {
            // A worker waits for this answer, or has ended and needs none.
            let _ = answers.send(answer);
        }
    }

    fn now_ns(&self) -> u64 {
        (self.watch.now_ns)().saturating_sub(self.watch.origin_ns)
    }
}
