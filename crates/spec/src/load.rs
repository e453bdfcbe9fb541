//! The load of a run: the condition that ends the transactions, their due times, and the load
//! sweep.

use std::time::Duration;

use document::units::{counted, rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Action;
use workload::arrivals::ArrivalProcess;

use crate::serial::ns;
use crate::stop::{Pace, SteadyAsked, Stop};
use crate::sweep::{Climb, SloOption};

/// The load: how the transactions are paced and what ends them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drive {
    /// Warm-up before the measurement, in nanoseconds. In a sweep, each load level has this
    /// warm-up.
    #[serde(rename = "warm_up_ns", with = "ns")]
    #[schemars(with = "u64")]
    pub warm_up: Duration,
    /// The condition that ends the transactions. In a sweep, this condition ends each load level.
    pub stop: Stop,
    /// The times at which transactions are due. In a sweep, the load levels determine these times.
    pub pace: Pace,
    /// The load sweep (`--sweep`); null for a run with a single load.
    pub sweep: Option<Sweep>,
}

impl Drive {
    /// Returns the options that set a load which the original PostMark does not support.
    pub(crate) fn options(&self) -> Vec<&'static str> {
        let stop = match self.stop {
            Stop::Transactions => None,
            Stop::After(_) => Some("--for"),
            Stop::Steady(_) => Some("--steady"),
        };
        let is_rate = matches!(self.pace, Pace::Open { .. });
        let others = [
            // Every sweep has a warm-up, so `--warm-up` is listed only without a sweep.
            (!self.warm_up.is_zero() && self.sweep.is_none()).then_some("--warm-up"),
            is_rate.then_some("--rate"),
            stop,
            self.sweep
                .as_ref()
                .map(|sweep| match sweep.climb.is_of_phases() {
                    true => "[[phase]]",
                    false => "--sweep",
                }),
        ];
        others.into_iter().flatten().collect()
    }

    /// Offered rate of an open loop, in transactions/s; `None` for a closed loop.
    pub fn rate(&self) -> Option<f64> {
        match self.pace {
            Pace::Closed => None,
            Pace::Open { per_second, .. } => Some(per_second),
        }
    }

    /// The arrival process of a load sweep or an open loop; `None` for a closed loop.
    pub fn arrivals(&self) -> Option<ArrivalProcess> {
        match (&self.sweep, self.pace) {
            (Some(sweep), _) => Some(sweep.arrivals),
            (None, Pace::Open { arrivals, .. }) => Some(arrivals),
            (None, Pace::Closed) => None,
        }
    }

    /// The number of the first segment after the warm-up: 1 if there is a warm-up (segment 0),
    /// otherwise 0.
    pub fn first_round(&self) -> u32 {
        u32::from(!self.warm_up.is_zero())
    }

    /// The steady state that the run must reach; `None` if something else ends the transactions.
    pub fn steady(&self) -> Option<&SteadyAsked> {
        match &self.stop {
            Stop::Steady(asked) => Some(asked),
            Stop::Transactions | Stop::After(_) => None,
        }
    }
}

/// A load sweep: several load levels that are measured one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// What varies between load levels. A sweep of rates can use one pool and one run. A sweep with
    /// a new pool for each level consists of several runs.
    pub climb: Climb,
    /// The arrival process of load levels with an offered rate.
    pub arrivals: ArrivalProcess,
    /// Whether a new pool is created for every load level.
    pub fresh: bool,
    /// The operation to which the SLO applies; absent if it applies to all operations together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo_operation: Option<Action>,
    /// SLO: 99 % of the operations must be faster than this time in nanoseconds; null without an
    /// SLO.
    pub slo_p99_ns: Option<u64>,
}

impl Sweep {
    pub fn slo(&self) -> Option<SloOption> {
        let operation = self.slo_operation;
        self.slo_p99_ns
            .map(|p99_ns| SloOption { operation, p99_ns })
    }
}

/// Describes the load sweep for reports; `None` without a sweep.
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
        Climb::Phases(loads) => return Some(counted(loads.len() as u64, "phase")),
    };
    let pool = match sweep.fresh {
        true => "a pool for each level",
        false => "one pool for all levels",
    };
    Some(format!("{what} with {pool}"))
}

/// Describes for reports what ends the transactions.
pub(crate) fn shown_stop(drive: &Drive) -> Option<String> {
    let what = match drive.sweep {
        Some(_) => "each level",
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

/// Describes the warm-up for reports; `None` without a warm-up.
pub(crate) fn shown_warm_up(drive: &Drive) -> Option<String> {
    let seconds = seconds(drive.warm_up);
    (!drive.warm_up.is_zero()).then(|| format!("after a warm-up of {seconds} s"))
}

/// Describes the offered rate for reports; `None` for a closed loop.
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
