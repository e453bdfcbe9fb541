//! The seconds of the current phase that wait to be sent as events, and the rounds of the
//! steady-state rule.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::SliceMeter;
use measure::steady::{self, DRIFT_MAX, WINDOW_ROUNDS};
use record::{SteadyAsked, SteadyFound, SteadyRule};
use workload::Action;

use crate::processes::Meeting;

/// Seconds of the current phase that have not been sent as events.
#[derive(Default)]
pub(super) struct Seconds {
    pub(super) open: BTreeMap<u64, BTreeMap<Action, SliceMeter>>,
    /// Index of the first second that has not been sent as an event.
    pub(super) next: u64,
}

/// The rounds of the steady-state rule, with the transaction rates that the supervisor measures.
#[derive(Default)]
pub(super) struct Rounds {
    /// Start of the current round; `None` before the first round.
    pub(super) round: Option<Mark>,
    /// Start of the current second of the round; `None` before the first round.
    pub(super) second: Option<Mark>,
    /// Average transaction rate of each completed round, in transactions/s.
    pub(super) rates: Vec<f64>,
    /// For each round, the transaction rate of each of its seconds, in transactions/s.
    pub(super) seconds: Vec<Vec<f64>>,
    /// The barrier after the round that has just ended. `None` once the rates of all ranks have
    /// arrived.
    pub(super) ended: Option<Meeting>,
}

/// A time since the transactions started, and the number of transactions completed by that time.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) at: Duration,
    pub(super) done: u64,
}

impl Mark {
    pub(super) fn rate_until(self, now: Self) -> f64 {
        let seconds = now.at.saturating_sub(self.at).as_secs_f64();
        now.done.saturating_sub(self.done) as f64 / seconds.max(1e-9)
    }
}

pub(super) const SECOND: Duration = Duration::from_secs(1);

impl Rounds {
    /// Applies the steady-state rule to the completed rounds.
    pub(super) fn found(&self, asked: SteadyAsked) -> SteadyFound {
        let first = self.rates.len().saturating_sub(WINDOW_ROUNDS);
        let seconds: Vec<f64> = self.seconds[first.min(self.seconds.len())..].concat();
        let is_whole = self.rates.len() >= WINDOW_ROUNDS;
        let snia = steady::window(&self.rates[first..]).filter(|_| is_whole);
        let slope = steady::drift(&seconds, DRIFT_MAX).filter(|_| is_whole);
        SteadyFound {
            is_steady: match asked.rule {
                SteadyRule::Snia => snia.is_some_and(|verdict| verdict.is_steady),
                SteadyRule::Slope => slope.is_some_and(|verdict| verdict.is_steady),
            },
            rounds: self.rates.clone(),
            seconds,
            snia,
            slope,
        }
    }

    /// Number of the first round in the window of the steady-state rule.
    pub(super) fn window(&self) -> u32 {
        self.rates.len().saturating_sub(WINDOW_ROUNDS) as u32
    }
}
