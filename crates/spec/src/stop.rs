//! The end of transactions, their due times, and the load of a phase of the workload.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::arrivals::ArrivalProcess;

use crate::serial::ns;
use crate::settings::{Cache, SteadyRule};

/// The condition that ends the transactions: their number, a time, or a steady state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The transactions end after the workload's number of transactions.
    #[default]
    Transactions,
    /// The transactions end after this time in nanoseconds, counted from the end of the warm-up.
    /// The transactions end earlier if the workload's number of transactions is reached.
    #[serde(rename = "after_ns", with = "ns")]
    #[schemars(with = "u64")]
    After(Duration),
    /// The transactions end when a steady state or the maximum number of rounds is reached. The
    /// transactions end earlier if the workload's number of transactions is reached.
    Steady(SteadyAsked),
}

/// When transactions are due: after the previous one (closed loop), or at an offered rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Closed loop: a worker issues its next transaction when its previous one is done.
    #[default]
    Closed,
    /// Open loop: transactions are due at this rate, for all workers together, whether or not
    /// earlier ones are done.
    Open {
        /// Offered rate of all workers together, in transactions/s.
        per_second: f64,
        /// How transactions arrive: at constant intervals, or as a Poisson process.
        arrivals: ArrivalProcess,
    },
}

/// A request to run until the rate is steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyAsked {
    /// The rule that decides from the rounds whether the rate is steady.
    pub rule: SteadyRule,
    /// Length of a round, in nanoseconds: at least 1 s, by default 10 s.
    pub round_ns: u64,
    /// Number of rounds after which the run ends even if the rate is not steady; by default 25.
    pub rounds_max: u32,
}

/// The load of one phase of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseLoad {
    /// The condition that ends the phase. A phase also ends when its walk or its number of
    /// transactions is complete.
    pub stop: Stop,
    /// The times at which transactions are due.
    pub pace: Pace,
    /// State of the page cache before the phase.
    pub cache: Cache,
}

impl PhaseLoad {
    /// Offered rate of an open loop, in transactions/s; `None` for a closed loop.
    pub fn rate(&self) -> Option<f64> {
        match self.pace {
            Pace::Closed => None,
            Pace::Open { per_second, .. } => Some(per_second),
        }
    }
}
