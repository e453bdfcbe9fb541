//! Which load the transactions begin with: the one that was said, or the rungs of a ladder one after another.

use record::ladder::next_load;
use record::{CompletedPart, Load, Rung, RungSummary};
use spec::Pace;
use workload::Phase;
use workload::arrivals::check_rate;

use super::Supervisor;
use crate::crew::sum;
use crate::events::Event;

impl Supervisor<'_, '_> {
    /// All wait to begin transactions: at which rate they are to; inside nothing: in a closed loop. Nothing where the last
    /// rung has been climbed.
    pub(super) fn next_transactions(&mut self) -> Option<Option<f64>> {
        let drive = self.watch.drive;
        let Some(ladder) = &drive.ladder else {
            return Some(match drive.pace {
                Pace::Closed => None,
                Pace::Open { per_second, .. } => Some(per_second),
            });
        };
        self.end_rung();
        if self.ran_dry {
            // Whatever comes is no load any more.
            return None;
        }
        let summaries: Vec<RungSummary> = self.watched.rungs.iter().map(RungSummary::of).collect();
        let load = next_load(ladder, &summaries)?;
        let rate = match load {
            Load::Closed => None,
            // Nothing can arrive at any other.
            Load::Rate(rate) => Some(rate).filter(|rate| check_rate(*rate).is_ok()).map(Some)?,
            // Other workers have other pools: that is for other runs.
            Load::Workers(_) => return None,
        };
        self.watched.climbing = Some(load);
        let number = self.watched.rungs.len() as u32;
        self.events.event(Event::Rung(number, load));
        Some(rate)
    }

    /// Makes a rung of what was done since it began.
    fn end_rung(&mut self) {
        let Some(load) = self.watched.climbing.take() else {
            return;
        };
        let workers = sum::take_phase(&mut self.watched.phases, Phase::Transactions);
        let beside = self.watched.take_beside(Phase::Transactions);
        let rung = Rung {
            load,
            workers: workers.len() as u32,
            phases: vec![sum::phase_record(
                Phase::Transactions,
                workers,
                self.watch.drive,
                beside,
            )],
            of_run: None,
        };
        if self.watch.during.is_some() {
            self.tell_part(CompletedPart::Rung(rung.clone()));
        }
        self.watched.rungs.push(rung);
    }
}
