//! The stages of a run: workers wait at a barrier before each stage and start it together.

use std::time::Instant;

use record::PhaseRecord;
use spec::{Cache, PhaseLoad};
use workload::{End, Phase};

use super::observations::RunObservations;
use super::rounds::{Rounds, Seconds};
use super::state::Supervisor;
use super::watch::Watch;
use crate::events::{Event, Progress, Stage};
use crate::pauses::PauseWatch;
use crate::processes::AtBarrier;
use crate::timed_call::Waiter;
use crate::worker::Answer;

impl<'e> Supervisor<'e> {
    /// Supervises the workers until the pool is ready and all workers wait for a load, or until the
    /// run has ended.
    pub(crate) fn begin(watch: Watch, waiter: Waiter<'e>) -> Self {
        let mut supervisor = Self::new(watch, waiter);
        supervisor.look_at_space();
        supervisor.look_on();
        supervisor
    }

    /// Performs transactions as the phase of a workload, which has its own end, rate and cache
    /// state, and then syncs. Returns the phase merged from all ranks; `None` if it did not
    /// complete.
    pub(crate) fn apply_phase(&mut self, load: &PhaseLoad) -> Option<&PhaseRecord> {
        self.watch.drive.stop = load.stop;
        self.watch.drop_caches = load.cache == Cache::Cold;
        self.apply(load.rate())
    }

    /// Performs transactions and then syncs. `rate` is the offered rate of an open loop; `None` is
    /// a closed loop. Returns the phase merged from all ranks; `None` if it did not complete.
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

    /// Ends the run without another load: supervises the workers until all of them have ended or
    /// are abandoned.
    pub(crate) fn end(mut self) -> (RunObservations, Waiter<'e>) {
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
            // No later stage syncs this phase, so it is synced now.
            self.sync_together(phase);
        }
        self.wait_for_space();
        self.tell_last();
        // The end of the run is a barrier, at which the directories are checked for the last time.
        self.wait_for_look();
        drop(self.watch.mounts);
        (self.watched, self.waiter)
    }

    pub(super) fn stage_ended(&mut self, stage: Stage) {
        // The counts come from the workers' messages, because the shared counters may already
        // belong to the next stage.
        let (_, (done, completed), end) = self.ended;
        let progress = Progress {
            done,
            completed,
            total: Some(done),
        };
        if let Stage::Phase(phase) = stage {
            self.end_counting(phase);
            self.tell_seconds(phase, true);
            self.unsynced = Some(phase);
        }
        self.tell(Event::PhaseEnded(stage, progress, end));
        self.current = None;
        if stage == Stage::Phase(Phase::Transactions) {
            self.ran_dry |= end != End::Complete;
            self.transactions_ended();
        }
        if stage == Stage::Phase(Phase::Delete) {
            self.deletion_took = self.stage_began.elapsed();
        }
        self.ended = (0, (0, 0), End::Complete);
    }

    /// Called when all workers wait at the barrier before a stage.
    pub(super) fn arrived(&mut self, stage: Stage) {
        if !self.asks_for_sample(stage) {
            self.pass(stage);
        }
    }

    /// Syncs the previous phase. Then starts the stage, or waits for a load if the stage is the
    /// transactions.
    pub(super) fn pass(&mut self, stage: Stage) {
        if stage != Stage::Phase(Phase::Transactions) {
            self.close_sample();
        }
        if let Some(phase) = self.unsynced.take() {
            self.sync_together(phase);
            self.phase_synced(phase);
        }
        if self.watched.abandoned {
            // A call did not return, so no further calls are made on the file system.
            return self.answer(Answer::Stop);
        }
        self.wait_for_look();
        self.awaits_load = stage == Stage::Phase(Phase::Transactions) && !self.is_stopping();
        if !self.awaits_load {
            self.begin_stage(stage);
        }
    }

    /// Syncs after all ranks have ended the phase, so that no rank's sync overlaps another rank's
    /// operations.
    fn sync_together(&mut self, phase: Phase) {
        self.meet(AtBarrier::default());
        self.sync(phase);
    }

    /// Called when `stage` starts. Workers may change to other pools in this stage. Messages then
    /// use the file names of the new pools.
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

    /// Lets the waiting workers start a stage, unless the run stops.
    fn begin_stage(&mut self, stage: Stage) {
        self.turn(stage);
        if self.watch.reuse && stage != Stage::Take && !self.watched.in_use && !self.is_stopping() {
            self.begin_use();
        }
        if stage == Stage::Cool {
            self.write_back();
        }
        if stage == Stage::Phase(Phase::Transactions) && !self.is_stopping() {
            self.drop_caches();
            self.look_at_residency();
        }
        let goes_on = !self.is_stopping() && self.meet_and_tell();
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
                self.tell(Event::PhaseStarted(stage, progress));
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
        self.answer(Answer::go_if(goes_on));
    }
}
