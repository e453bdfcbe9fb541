//! Sends completed phases as parts of the record, to event sinks that take records. Phases are sent
//! at barriers, while all workers wait.

use record::{Completed, CompletedPart, PhaseRecord};
use workload::Phase;

use super::observations::PhaseObservations;
use super::state::Supervisor;
use crate::events::Event;
use crate::processes::AtBarrier;
use crate::worker::PhaseReport;
use crate::workers::aggregate;

impl Supervisor<'_> {
    /// Called when a phase has ended and its file systems are synced. The preparation is sent to
    /// the event sink at once. The deletion is sent after the wait for free space. Transactions are
    /// sent when [`Self::tell_load`] is called.
    pub(super) fn phase_synced(&mut self, phase: Phase) {
        match phase {
            Phase::Prepare => self.tell_phase(phase),
            Phase::Transactions => {
                let workers =
                    aggregate::take_phase(&mut self.watched.phases, phase, self.watch.first_worker);
                let beside = self.watched.take_beside(phase);
                let load = aggregate::phase_record(phase, workers, &self.watch.drive, beside);
                // The results of all ranks are merged, so that all ranks make the same decision
                // about further loads.
                let own = self.of_this_host(load.clone());
                let of_all = self.meet(AtBarrier {
                    phase: Some(own),
                    ran_dry: self.ran_dry,
                    ..AtBarrier::default()
                });
                self.watched.loads.push(load);
                self.ran_dry |= of_all.as_ref().is_some_and(|all| all.ran_dry);
                self.watched.load_of_all = of_all.and_then(|all| all.phase);
            }
            Phase::Delete => self.untold = Some(phase),
        }
    }

    /// At the end of the run, sends the last phase if it completed and has not been sent.
    pub(super) fn tell_last(&mut self) {
        if let Some(phase) = self.untold.or(self.unsynced) {
            self.tell_phase(phase);
        }
    }

    fn tell_phase(&mut self, phase: Phase) {
        let is_heard = self.watch.since.is_some() || self.watch.merged.is_some();
        if !is_heard || !self.watch.sync {
            // Nothing is sent between the phases of a run without sync. The whole-second times of
            // the original PostMark would include the time for storing the record.
            return;
        }
        let workers: Vec<(u32, PhaseReport)> = (self.watch.first_worker..)
            .zip(&self.watched.phases)
            .flat_map(|(worker, reports)| {
                reports.iter().map(move |report| (worker, report.clone()))
            })
            .filter(|(_, report)| report.phase == phase)
            .collect();
        let beside = PhaseObservations {
            steady: None,
            ..self.watched.of_phase(phase).clone()
        };
        let record = aggregate::phase_record(phase, workers, &self.watch.drive, beside);
        let own = record.complete.then_some(record);
        let of_all = match self.watch.merged.is_some() {
            true => {
                let of_all = own.clone().map(|phase| self.of_this_host(phase));
                self.meet(AtBarrier {
                    phase: of_all,
                    ..AtBarrier::default()
                })
                .and_then(|all| all.phase)
            }
            false => None,
        };
        if let Some(own) = own {
            self.tell_part(CompletedPart::Phase(Box::new(own)));
        }
        if let Some(of_all) = of_all {
            self.tell_merged(CompletedPart::Phase(Box::new(of_all)));
        }
    }

    /// Converts a phase to the form in which phases of several ranks are merged.
    fn of_this_host(&self, phase: PhaseRecord) -> PhaseRecord {
        match &self.watch.host {
            Some(host) => phase.of_rank(host),
            None => phase,
        }
    }

    /// Sends the results of the last load to the event sink. `as_part` converts the phase of the
    /// load to a part of the record.
    pub(crate) fn tell_load(&mut self, as_part: impl Fn(PhaseRecord) -> CompletedPart) {
        if let (Some(_), Some(load)) = (&self.watch.since, self.watched.loads.last()) {
            let part = as_part(load.clone());
            self.tell_part(part);
        }
        if let (Some(_), Some(load)) = (&self.watch.merged, &self.watched.load_of_all) {
            let part = as_part(load.clone());
            self.tell_merged(part);
        }
    }

    /// Adds a part that all ranks completed to the merged record, and sends the merged record.
    fn tell_merged(&mut self, part: CompletedPart) {
        let (Some(merged), Some(since), true) = (
            &mut self.watch.merged,
            &self.watch.since,
            self.waiter.control.is_first(),
        ) else {
            return;
        };
        let during = since.during();
        merged.add(Completed { part, during });
        let merged = merged.clone();
        self.tell(Event::RecordMerged(merged));
    }

    fn tell_part(&mut self, part: CompletedPart) {
        if let Some(since) = &self.watch.since {
            let during = since.during();
            self.tell(Event::PhaseRecorded(Box::new(Completed { part, during })));
        }
    }
}
