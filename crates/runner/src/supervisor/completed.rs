//! What is completed is told as a part of the record: at borders, where all workers wait, for those who take records.

use record::{Completed, CompletedPart};
use workload::Phase;

use super::{Beside, Supervisor};
use crate::crew::sum;
use crate::events::Event;
use crate::worker::PhaseReport;

impl Supervisor<'_, '_> {
    /// A phase has ended and the file systems have settled. Transactions of a ladder are told as its rungs, and the deletion when
    /// its space has been waited for.
    pub(super) fn tell_settled(&mut self, phase: Phase) {
        match phase {
            Phase::Delete => self.untold = Some(phase),
            Phase::Transactions if self.watch.drive.ladder.is_some() => {}
            Phase::Prepare | Phase::Transactions => self.tell_phase(phase),
        }
    }

    /// All is over: what was not told yet is the phase that ended last, where it came to its end.
    pub(super) fn tell_last(&mut self) {
        let is_rung = |phase: Phase| phase == Phase::Transactions && self.watch.drive.ladder.is_some();
        let last = self.untold.or(self.unsettled).filter(|phase| !is_rung(*phase));
        if let Some(phase) = last {
            self.tell_phase(phase);
        }
    }

    fn tell_phase(&mut self, phase: Phase) {
        if self.watch.during.is_none() || !self.watch.settle {
            // Without settling one phase follows the other at once, and the original's whole seconds run on between them:
            // whoever keeps what is told would be in the numbers.
            return;
        }
        let workers: Vec<(u32, PhaseReport)> = (0..)
            .zip(&self.watched.phases)
            .flat_map(|(worker, reports)| reports.iter().map(move |report| (worker, report.clone())))
            .filter(|(_, report)| report.phase == phase)
            .collect();
        let beside = Beside {
            slices: self.watched.slices.get(&phase).cloned().unwrap_or_default(),
            machine: self.watched.machine.get(&phase).cloned(),
            settle: self.watched.settled.get(&phase).cloned(),
            steady: self.watched.steady.clone().filter(|_| phase == Phase::Transactions),
        };
        let record = sum::phase_record(phase, workers, self.watch.drive, beside);
        if record.complete {
            self.tell_part(CompletedPart::Phase(Box::new(record)));
        }
    }

    pub(super) fn tell_part(&mut self, part: CompletedPart) {
        if let Some(during) = self.watch.during {
            let completed = Completed { part, during: during() };
            self.events.event(Event::Completed(Box::new(completed)));
        }
    }
}
