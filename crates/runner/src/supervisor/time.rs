//! Actions at fixed times: the end of the warm-up, of rounds and of transactions, and the events
//! for completed seconds.

use std::time::Duration;

use measure::{Slice, SliceMeter};
use record::{SteadyAsked, SteadyFound};
use spec::Stop;
use workload::{Action, Phase, Role};

use super::rounds::{Mark, SECOND};
use super::state::Supervisor;
use crate::events::{Event, Second, Stage};
use crate::pauses::PauseWatch;
use crate::processes::{AtBarrier, Round};
use crate::timed_call::TELL_EVERY;

/// Polling interval after the end of a round, until the rates of the other ranks have arrived.
const ROUND_TOLD: Duration = Duration::from_millis(1);
/// Delay after which a completed second is sent. Within this delay, workers deliver their results
/// of that second.
const HANDED_OVER_WITHIN: Duration = Duration::from_millis(500);

impl Supervisor<'_> {
    /// Ends the warm-up, rounds and transactions when their time limit is reached.
    pub(super) fn drive(&mut self) {
        let Some(elapsed) = self.transactions_elapsed() else {
            return;
        };
        let warm_up = self.watch.drive.warm_up;
        if elapsed < warm_up {
            return;
        }
        match self.watch.drive.stop {
            Stop::Transactions => self.leave_warm_up(),
            Stop::After(time) => {
                self.leave_warm_up();
                if elapsed >= warm_up + time {
                    self.end_transactions();
                }
            }
            Stop::Steady(asked) => self.drive_rounds(asked, elapsed),
        }
    }

    /// Time since the current transactions started; `None` if no transactions are in progress.
    fn transactions_elapsed(&self) -> Option<Duration> {
        let began_ns = self.transactions_began_ns?;
        Some(Duration::from_nanos(
            (self.watch.now_ns)().saturating_sub(began_ns),
        ))
    }

    fn leave_warm_up(&mut self) {
        self.waiter
            .control
            .begin_segment(self.watch.drive.first_round());
    }

    fn end_transactions(&mut self) {
        self.waiter.control.end_transactions();
        self.transactions_began_ns = None;
    }

    /// Records completed seconds and rounds, and applies the steady-state rule.
    fn drive_rounds(&mut self, asked: SteadyAsked, elapsed: Duration) {
        let now = Mark {
            at: elapsed,
            done: self.waiter.control.progress().completed,
        };
        if self.rounds.ended.is_some() {
            return self.hear_round(asked, now);
        }
        let rounds = &mut self.rounds;
        let (Some(round), Some(second)) = (rounds.round, rounds.second) else {
            (rounds.round, rounds.second) = (Some(now), Some(now));
            rounds.seconds.push(Vec::new());
            return self.leave_warm_up();
        };
        let is_over = now.at.saturating_sub(round.at) >= Duration::from_nanos(asked.round_ns);
        // The remainder at the end of a round counts as a second if it lasts at least 0.9 s.
        let length = now.at.saturating_sub(second.at);
        if length >= SECOND || (is_over && length >= SECOND * 9 / 10) {
            if let Some(seconds) = rounds.seconds.last_mut() {
                seconds.push(second.rate_until(now));
            }
            rounds.second = Some(now);
        }
        if !is_over {
            return;
        }
        let own = Round {
            rate: round.rate_until(now),
            seconds: rounds.seconds.pop().unwrap_or_default(),
        };
        rounds.ended = Some(self.waiter.control.processes().meet(AtBarrier {
            round: Some(own),
            ..AtBarrier::default()
        }));
        self.hear_round(asked, now);
    }

    /// Completes a round if the rates of all processes have arrived.
    fn hear_round(&mut self, asked: SteadyAsked, now: Mark) {
        let met = self.rounds.ended.as_mut();
        match met.and_then(|meeting| meeting.wait(Duration::ZERO)) {
            None => {}
            Some(Ok(AtBarrier {
                round: Some(round), ..
            })) => self.round_ended(asked, round, now),
            Some(_) => self.waiter.control.stop(),
        }
    }

    /// Adds the merged rates of a completed round and decides whether the transactions end.
    fn round_ended(&mut self, asked: SteadyAsked, round: Round, now: Mark) {
        let rounds = &mut self.rounds;
        rounds.ended = None;
        rounds.rates.push(round.rate);
        rounds.seconds.push(round.seconds);
        (rounds.round, rounds.second) = (Some(now), Some(now));
        let found = rounds.found(asked);
        if found.is_steady || rounds.rates.len() >= asked.rounds_max as usize {
            self.steady_found(found);
            return self.end_transactions();
        }
        rounds.seconds.push(Vec::new());
        let next = self.watch.drive.first_round() + rounds.rates.len() as u32;
        self.waiter.control.begin_segment(next);
    }

    /// Called when the transactions have ended. If they ended before the steady-state rule decided,
    /// the result is "not steady".
    pub(super) fn transactions_ended(&mut self) {
        self.transactions_began_ns = None;
        let known = &self.watched.of_phase(Phase::Transactions).steady;
        if let (Stop::Steady(asked), None) = (self.watch.drive.stop, known) {
            self.steady_found(SteadyFound {
                is_steady: false,
                ..self.rounds.found(asked)
            });
        }
    }

    fn steady_found(&mut self, found: SteadyFound) {
        let first = self.watch.drive.first_round() + self.rounds.window();
        self.watched.of_phase(Phase::Transactions).steady = Some((found, first));
    }

    /// Longest time to wait for messages: until the warm-up, the measurement, a steady-state round
    /// or a second of the round ends, but at most [`TELL_EVERY`].
    pub(super) fn until_next_turn(&self) -> Duration {
        let Some(elapsed) = self.transactions_elapsed() else {
            return TELL_EVERY;
        };
        let warm_up = self.watch.drive.warm_up;
        let end = match self.watch.drive.stop {
            Stop::Transactions => None,
            Stop::After(time) => Some(warm_up + time),
            // The supervisor polls for the rates of other ranks.
            Stop::Steady(_) if self.rounds.ended.is_some() => Some(elapsed + ROUND_TOLD),
            Stop::Steady(asked) => {
                let round = self
                    .rounds
                    .round
                    .map(|mark| mark.at + Duration::from_nanos(asked.round_ns));
                let second = self.rounds.second.map(|mark| mark.at + SECOND);
                [round, second].into_iter().flatten().min()
            }
        };
        let turns = [Some(warm_up), end].into_iter().flatten();
        turns
            .filter_map(|turn| turn.checked_sub(elapsed))
            .fold(TELL_EVERY, Duration::min)
    }

    /// Adds one interval of a worker to the current phase. The interval cannot belong to another
    /// phase, because workers start a phase only after all have sent their results of the previous
    /// one.
    pub(super) fn take_slice(&mut self, role: Role, slice: Slice<Action>) {
        let Some(Stage::Phase(phase)) = self.current else {
            return;
        };
        let slices = &mut self.watched.of_phase(phase).slices;
        for (action, meter) in slice.meters {
            if slice.index >= self.seconds.next {
                let second = self.seconds.open.entry(slice.index).or_default();
                second.entry(action).or_default().merge(&meter);
            }
            slices.add(slice.index, (role, action), meter);
        }
    }

    /// Sends completed seconds as events. If the phase has ended, sends all seconds. Otherwise
    /// sends those that ended long enough ago for workers to deliver their results.
    pub(super) fn tell_seconds(&mut self, phase: Phase, is_over: bool) {
        let late = self
            .stage_began
            .elapsed()
            .saturating_sub(HANDED_OVER_WITHIN)
            .as_secs();
        while let Some(entry) = self.seconds.open.first_entry() {
            let number = *entry.key();
            if !is_over && number >= late {
                break;
            }
            let meters = entry.remove().into_iter().collect();
            self.seconds.next = number + 1;
            self.tell_second(phase, number, meters);
        }
        if is_over {
            self.tell_idle_seconds(phase, u64::MAX);
        }
    }

    /// Ends the collection of counters, pauses and evidence for a phase that has ended or was
    /// aborted.
    pub(super) fn end_counting(&mut self, phase: Phase) {
        let now_ns = self.now_ns();
        let observations = self.watched.of_phase(phase);
        observations.machine = self.machine.end(now_ns);
        observations.pauses = self.watch.pauses.as_ref().map(PauseWatch::end);
        observations.evidence = self.evidence.end();
    }

    /// Sends the event of a second, after the events of earlier seconds without completed
    /// operations.
    pub(super) fn tell_second(
        &mut self,
        phase: Phase,
        number: u64,
        meters: Vec<(Action, SliceMeter)>,
    ) {
        self.tell_idle_seconds(phase, number);
        let machine = self.machine.of(number).map(Box::new);
        self.tell(Event::Second(Second {
            phase,
            number,
            meters,
            machine,
        }));
    }

    /// Sends the seconds before `before` in which no operation completed.
    pub(super) fn tell_idle_seconds(&mut self, phase: Phase, before: u64) {
        while let Some(slice) = self.machine.before(before) {
            self.tell(Event::Second(Second {
                phase,
                number: slice.index,
                meters: Vec::new(),
                machine: Some(Box::new(slice)),
            }));
        }
    }
}
