//! A ladder of loads: which rungs are climbed, what each came to, and where the limits are.

use serde::{Deserialize, Serialize};

use crate::run::PhaseRecord;

/// What differs from rung to rung.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Climb {
    /// Transactions a second, in this order.
    Rates(Vec<f64>),
    /// Rates that are shares of what a closed loop reaches, which is the first rung.
    OfClosedLoop(Vec<f64>),
    /// Workers in a closed loop, in this order.
    Workers(Vec<u32>),
}

/// A ladder as asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LadderAsked {
    /// What differs.
    pub climb: Climb,
    /// `constant` or `poisson`.
    pub arrivals: String,
    /// Whether every rung has a pool made anew.
    pub fresh: bool,
    /// Whether the limits are narrowed down between the rungs that hold and those that do not.
    pub bisect: bool,
    /// The latency that is not to be exceeded, in nanoseconds, by 99 % of the operations of every kind.
    pub goal_p99_ns: Option<u64>,
}

/// One rung.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// Transactions a second that were requested; nothing in a closed loop.
    pub requested_per_second: Option<f64>,
    /// Workers that were at work.
    pub workers: u32,
    /// Transactions that were due and not begun when the rung ended; nothing in a closed loop.
    pub waiting: Option<u64>,
    /// Its phases: the transactions, and with a pool of its own those before and after them.
    pub phases: Vec<PhaseRecord>,
}
