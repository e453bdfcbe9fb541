//! A phase of a worker: the loop of operations, and the start and report of the phase.

use std::collections::BTreeMap;

use measure::SLICE_NS;
use workload::{End, Phase, StreamHasher};

use super::phase_stats::Done;
use super::report::PhaseReport;
use super::state::{Left, Worker};
use crate::clock::Clock as _;
use crate::events::Stage;

impl Worker {
    /// Performs a phase and reports its results, even if it ends early.
    pub(super) fn phase(&mut self, phase: Phase) -> Result<(), Left> {
        let mut done = self.begin_phase(phase);
        let left = self.perform_intents(&mut done);
        // Operations in flight always complete and are counted, even after an error.
        let left = left.and(self.complete_all(&mut done));
        self.report_phase(&mut done, left.is_ok());
        if left.is_err() {
            self.note_wall_clock();
        }
        left?;
        let end = match phase {
            Phase::Transactions if self.skips.can_do_nothing => End::NothingPossible,
            Phase::Transactions => self.tools.source.end(),
            Phase::Prepare | Phase::Delete => End::Complete,
        };
        match phase {
            Phase::Prepare => {}
            Phase::Transactions => {
                self.note_wall_clock();
                self.report.end = Some(end);
            }
            Phase::Delete => {
                self.note_wall_clock();
                self.finish_hash();
            }
        }
        let counts = (done.published, done.completed);
        self.rendezvous.ended(Stage::Phase(phase), counts, end);
        Ok(())
    }

    fn begin_phase(&mut self, phase: Phase) -> Done {
        let phase_began_ns = self.tools.control.phase_began_ns();
        if phase == Phase::Transactions {
            self.tools
                .pacer
                .begin(phase_began_ns, self.tools.control.rate());
        }
        Done {
            phase,
            origin_ns: self.tools.origin_ns,
            phase_began_ns,
            role: self.config.role,
            slice: 0,
            slice_ends_ns: if self.config.slices {
                phase_began_ns + SLICE_NS
            } else {
                u64::MAX
            },
            ended: Vec::new(),
            published: 0,
            completed: 0,
            first_round: self.config.first_round,
            slowest: BTreeMap::new(),
            current: self.segment(phase, self.tools.clock.now_ns()),
        }
    }

    fn report_phase(&mut self, done: &mut Done, complete: bool) {
        let ended_ns = self.tools.clock.now_ns();
        let done_by_all = self.tools.control.progress().completed;
        let origin_ns = self.tools.origin_ns;
        // If the worker still waits for the due time of a transaction, this transaction has not
        // started. The transaction is counted as waiting if its due time is before the end of the
        // phase.
        let due_ns = self.due_ns.take();
        let caught_up_ns = self.caught_up_ns.take();
        let is_open = done.phase == Phase::Transactions && self.tools.pacer.is_open();
        let waiting = is_open.then(|| {
            let waited_for = due_ns.is_some_and(|due_ns| due_ns <= ended_ns);
            u64::from(waited_for) + self.tools.pacer.waiting(ended_ns)
        });
        self.end_slice(done, ended_ns);
        let segments = done.finish(ended_ns);
        let slowest = self.name_slowest(std::mem::take(&mut done.slowest));
        let waits = self.take_waits();
        self.rendezvous.reports(PhaseReport {
            phase: done.phase,
            role: self.config.role,
            complete,
            ended_ns: ended_ns.saturating_sub(origin_ns),
            slowest,
            segments,
            waiting,
            caught_up_ns: caught_up_ns.map(|ns| ns.saturating_sub(origin_ns)),
            waits,
            done_by_all,
        });
    }

    /// Records the wall clock in whole seconds, as the original PostMark does.
    pub(super) fn note_wall_clock(&mut self) {
        self.report.borders_s.push(self.tools.clock.wall_s());
    }

    /// Stores the hash of the worker's stream if the worker performed the whole stream.
    fn finish_hash(&mut self) {
        if self.tools.source.is_pure()
            && self.config.reuse.is_none()
            && !self.tools.control.is_over()
        {
            let hasher = std::mem::replace(&mut self.config.hasher, StreamHasher::narrow());
            self.report.stream_hash = Some(hasher.finish());
        }
    }
}
