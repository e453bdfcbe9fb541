//! Seconds that nobody was told of yet, and the rounds of a rule of steady state.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::SliceMeter;
use measure::steady::{self, DRIFT_MAX, WINDOW_ROUNDS};
use record::{SteadyAsked, SteadyFound, SteadyRule};
use workload::Action;

use crate::processes::Meeting;

/// Seconds of the phase that goes on that nobody was told of yet.
#[derive(Default)]
pub(super) struct Seconds {
    pub(super) open: BTreeMap<u64, BTreeMap<Action, SliceMeter>>,
    /// What was told reaches so far.
    pub(super) next: u64,
}

/// The rounds of a rule of steady state: rates of transactions, seen from outside.
#[derive(Default)]
pub(super) struct Rounds {
    /// When the current round began, and what was done by then; nothing before the first.
    pub(super) round: Option<Mark>,
    pub(super) second: Option<Mark>,
    /// Transactions a second of each round.
    pub(super) rates: Vec<f64>,
    /// Transactions a second of each second of each round.
    pub(super) seconds: Vec<Vec<f64>>,
    /// The round that has just ended, of which other ranks have not told all yet.
    pub(super) ended: Option<Meeting>,
}

/// A moment, by the time since the transactions began, and what was done by then.
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
    /// What was found, with the rounds that there are.
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

    /// The number of the window's first round.
    pub(super) fn window(&self) -> u32 {
        self.rates.len().saturating_sub(WINDOW_ROUNDS) as u32
    }
}
