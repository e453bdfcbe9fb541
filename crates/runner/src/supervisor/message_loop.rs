//! The loop that receives the workers' messages. Between messages it checks time limits, the run's
//! directories and stalled workers.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use workload::End;

use super::messages::Message;
use super::state::Supervisor;
use crate::events::{Event, Stage};
use crate::timed_call::TELL_EVERY;
use crate::worker::{Answer, Report};

/// Time to wait for workers that are not stalled, after the run was abandoned.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Supervisor<'_> {
    pub(super) fn look_on(&mut self) {
        while self.alive > 0 && !self.awaits_load {
            self.tick();
            self.drive();
            let message = self.watch.messages.recv_timeout(
                self.until_next_turn()
                    .min(self.machine.until_due(self.now_ns())),
            );
            match message {
                Ok((worker, message)) => self.hear(worker, message),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(stage) = self.current {
                        self.tell(Event::PhaseProgress(stage, self.waiter.control.progress()));
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
                // The run does not wait for stalled workers.
                self.alive = 0;
            }
        }
    }

    /// Receives the last messages of workers that are not stalled.
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
                    self.arrived(stage);
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
            Message::Done(report) => self.worker_done(worker, *report),
        }
    }

    fn worker_done(&mut self, worker: u32, report: Result<Report, String>) {
        self.alive -= 1;
        let well = matches!(&report, Ok(report) if report.failed.is_none() && !report.is_stopped);
        self.watched.reports[worker as usize] = Some(report);
        if !well {
            self.waiter.control.stop();
        }
        // The workers at the barrier must not wait for this worker, which has ended.
        if self.waiting > 0 && self.waiting == self.alive {
            self.answer(Answer::go_if(!self.is_stopping()));
        }
    }
}
