//! The load of a run: what ends the transactions, when they are due, and the sweep.

use std::time::Duration;

use document::units::rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::arrivals::ArrivalProcess;

use crate::serial::ns;
use crate::settings::SteadyRule;
use crate::sweep::Climb;

/// How the transactions are driven.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drive {
    /// So long they are performed before they are measured, in nanoseconds; on a sweep: on each
    /// step.
    #[serde(rename = "warm_up_ns", with = "ns")]
    #[schemars(with = "u64")]
    pub warm_up: Duration,
    /// What ends them; on a sweep: each step.
    pub stop: Stop,
    /// When they are due; on a sweep that says so itself.
    pub pace: Pace,
    /// The sweep that is climbed; nothing where none is.
    pub sweep: Option<Sweep>,
}

impl Drive {
    /// The options that make it differ from the original's way.
    pub(crate) fn options(&self) -> Vec<&'static str> {
        let stop = match self.stop {
            Stop::Transactions => None,
            Stop::After(_) => Some("--for"),
            Stop::Steady(_) => Some("--steady"),
        };
        let is_rate = matches!(self.pace, Pace::Open { .. });
        let others = [
            // A sweep brings its own warm-up.
            (!self.warm_up.is_zero() && self.sweep.is_none()).then_some("--warm-up"),
            is_rate.then_some("--rate"),
            stop,
            self.sweep.is_some().then_some("--sweep"),
        ];
        others.into_iter().flatten().collect()
    }

    /// How many transactions arrive a second, where that does not depend on those before.
    pub fn rate(&self) -> Option<f64> {
        match self.pace {
            Pace::Closed => None,
            Pace::Open { per_second, .. } => Some(per_second),
        }
    }

    /// How transactions arrive that are due by themselves; nothing where none are, whatever load is
    /// applied.
    pub fn arrivals(&self) -> Option<ArrivalProcess> {
        match (&self.sweep, self.pace) {
            (Some(sweep), _) => Some(sweep.arrivals),
            (None, Pace::Open { arrivals, .. }) => Some(arrivals),
            (None, Pace::Closed) => None,
        }
    }

    /// Which segment of the transactions comes after the warm-up.
    pub fn first_round(&self) -> u32 {
        u32::from(!self.warm_up.is_zero())
    }

    /// The rule of steady state that ends them.
    pub fn steady(&self) -> Option<&SteadyAsked> {
        match &self.stop {
            Stop::Steady(asked) => Some(asked),
            Stop::Transactions | Stop::After(_) => None,
        }
    }
}

/// What ends the transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Their number, which is the workload's.
    #[default]
    Transactions,
    /// Time, in nanoseconds, from the end of the warm-up on; or the workload's number, where that
    /// is reached before.
    #[serde(rename = "after_ns", with = "ns")]
    #[schemars(with = "u64")]
    After(Duration),
    /// A steady state, or the last round that is allowed; or the workload's number, where that is
    /// reached before.
    Steady(SteadyAsked),
}

/// When transactions are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// A worker's next one when its last one is done.
    #[default]
    Closed,
    /// So many a second of all workers together, whatever becomes of them.
    Open {
        /// Transactions a second.
        per_second: f64,
        /// How they arrive.
        arrivals: ArrivalProcess,
    },
}

/// A sweep of loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// What differs. A run climbs rates on its one pool; what needs a pool for each step is for
    /// several runs.
    pub climb: Climb,
    /// How transactions arrive on a step with a rate.
    pub arrivals: ArrivalProcess,
    /// Whether every step has a pool made anew.
    pub fresh: bool,
    /// The latency that 99 % of the operations are to stay below, in nanoseconds; nothing where no
    /// SLO was said.
    pub slo_p99_ns: Option<u64>,
}

/// Steady state as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyAsked {
    /// By which rule.
    pub rule: SteadyRule,
    /// How long a round is, in nanoseconds.
    pub round_ns: u64,
    /// No more rounds than these.
    pub rounds_max: u32,
}

/// What reports say of a sweep.
pub(crate) fn shown_sweep(drive: &Drive) -> Option<String> {
    let sweep = drive.sweep.as_ref()?;
    let what = match &sweep.climb {
        Climb::Rates(_) => format!("sweep of rates ({} arrivals)", sweep.arrivals),
        Climb::OfClosedLoop(_) => format!(
            "sweep of percentages of the closed loop's rate ({} arrivals)",
            sweep.arrivals
        ),
        Climb::Workers(_) => "sweep of workers".to_owned(),
        Climb::Ranks(_) => "sweep of ranks".to_owned(),
    };
    let pool = match sweep.fresh {
        true => "a pool for each step",
        false => "one pool for all steps",
    };
    Some(format!("{what} with {pool}"))
}

/// What reports say of the end of the transactions.
pub(crate) fn shown_stop(drive: &Drive) -> Option<String> {
    let what = match drive.sweep {
        Some(_) => "each step",
        None => "transactions",
    };
    match drive.stop {
        Stop::Transactions => None,
        Stop::After(time) => Some(format!("{what} for {} s", seconds(time))),
        Stop::Steady(steady) => Some(format!(
            "transactions until steady (rule {}, rounds of {} s, at most {})",
            steady.rule.name(),
            steady.round_ns as f64 / 1e9,
            steady.rounds_max
        )),
    }
}

/// What reports say of the warm-up.
pub(crate) fn shown_warm_up(drive: &Drive) -> Option<String> {
    let seconds = seconds(drive.warm_up);
    (!drive.warm_up.is_zero()).then(|| format!("after a warm-up of {seconds} s"))
}

/// What reports say of an open loop.
pub(crate) fn shown_rate(drive: &Drive) -> Option<String> {
    let Pace::Open {
        per_second,
        arrivals,
    } = drive.pace
    else {
        return None;
    };
    let rate = rate(Some(per_second));
    Some(format!("requested rate {rate}/s ({arrivals} arrivals)"))
}

fn seconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e9
}
