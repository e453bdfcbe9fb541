//! How the transactions are driven: what it can be, what options of it come to, and the options
//! that come to it.

use std::time::Duration;

use measure::steady::{BATCHES, WINDOW_ROUNDS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Workload;
use workload::arrivals::{ArrivalProcess, check_rate};
use workload::mix::Think;

use crate::config_error::{ConfigError, refuse_any};
use crate::limits::SWEEP_STEP_MIN;
use crate::options::Options;
use crate::serial::ns;
use crate::settings::SteadyRule;
use crate::sweep::{Climb, SloOption, SweepOption};
use crate::values::{PerSecond, Time};

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

/// A step is warmed up for so long where nothing else is said.
const SWEEP_STEP_WARM_UP: Duration = Duration::from_secs(2);
/// A round is so long where nothing else is said.
const ROUND: Duration = Duration::from_secs(10);
/// No more rounds where nothing else is said: after so many SNIA's specification lets a test end
/// without a steady state.
const ROUNDS_MAX: u32 = 25;

/// And never more than these.
const ROUNDS_LIMIT: u32 = 1_000;

/// Whether something else than their number ends the transactions.
pub(crate) fn ends_otherwise(options: &Options) -> bool {
    options.run_for.is_some() || options.steady.is_some() || options.sweep.is_some()
}

fn time(said: Option<Time>) -> Option<Duration> {
    said.map(|time| Duration::from_nanos(time.0))
}

/// What options of driving come to.
pub(crate) fn mean(options: &Options) -> Result<Drive, ConfigError> {
    let run_for = time(options.run_for);
    if run_for.is_some_and(|time| time.is_zero()) {
        return Err(ConfigError::NoTime);
    }
    if let Some(sweep) = &options.sweep {
        return climb(options, sweep, run_for);
    }
    let of_sweeps = [
        ("--fresh", options.fresh == Some(true)),
        ("--slo", options.slo.is_some()),
    ];
    refuse_any(&of_sweeps, ConfigError::WithoutSweep)?;
    let stop = match options.steady {
        Some(rule) => Stop::Steady(steady(rule, time(options.round), run_for)?),
        None if options.round.is_some() => return Err(ConfigError::RoundWithoutSteady),
        None => run_for.map_or(Stop::Transactions, Stop::After),
    };
    Ok(Drive {
        warm_up: time(options.warm_up).unwrap_or_default(),
        stop,
        pace: pace(options)?,
        sweep: None,
    })
}

fn pace(options: &Options) -> Result<Pace, ConfigError> {
    match (options.rate.map(|rate| rate.0), options.arrivals) {
        (None, None) => Ok(Pace::Closed),
        (None, Some(form)) => Err(ConfigError::ArrivalsWithoutRate(form)),
        (Some(per_second), form) => {
            check_rate(per_second).map_err(|wrong| ConfigError::Rate("--rate", wrong))?;
            refuse_think(options, "--rate")?;
            Ok(Pace::Open {
                per_second,
                arrivals: form.unwrap_or(ArrivalProcess::Poisson),
            })
        }
    }
}

fn refuse_think(options: &Options, option: &'static str) -> Result<(), ConfigError> {
    if options.think.is_some_and(|think| think.0 != Think::None) {
        return Err(ConfigError::Think(option));
    }
    Ok(())
}

/// Rounds that can find a steady state.
fn steady(
    rule: SteadyRule,
    round: Option<Duration>,
    run_for: Option<Duration>,
) -> Result<SteadyAsked, ConfigError> {
    let window = WINDOW_ROUNDS as u32;
    let round = round.unwrap_or(ROUND);
    if round < Duration::from_secs(1) {
        return Err(ConfigError::ShortRound(Time::of(round)));
    }
    // The slope is judged on the whole seconds of the window's rounds, of which each one's border
    // may take one.
    let round_min = Duration::from_secs(BATCHES.div_ceil(WINDOW_ROUNDS) as u64 + 1);
    if rule == SteadyRule::Slope && round < round_min {
        return Err(ConfigError::SlopeRound {
            round: Time::of(round),
            window,
            needed: BATCHES,
            least: Time::of(round_min),
        });
    }
    let rounds_max = match run_for {
        None => ROUNDS_MAX,
        Some(run_for) => u32::try_from(run_for.as_nanos() / round.as_nanos()).unwrap_or(u32::MAX),
    };
    let (rule_name, time) = (rule.name(), Time::of(run_for.unwrap_or_default()));
    if rounds_max > ROUNDS_LIMIT {
        return Err(ConfigError::ManyRounds {
            rule: rule_name,
            time,
            rounds: rounds_max,
            round: Time::of(round),
            most: ROUNDS_LIMIT,
        });
    }
    if rounds_max < window {
        return Err(ConfigError::FewRounds {
            rule: rule_name,
            time,
            rounds: rounds_max,
            round: Time::of(round),
            window,
            least: Time::of(round * window),
        });
    }
    let Time(round_ns) = Time::of(round);
    if round_ns.checked_mul(rounds_max.into()).is_none() {
        return Err(ConfigError::LongRounds(Time::of(round), rounds_max));
    }
    Ok(SteadyAsked {
        rule,
        round_ns,
        rounds_max,
    })
}

fn climb(
    options: &Options,
    said: &SweepOption,
    run_for: Option<Duration>,
) -> Result<Drive, ConfigError> {
    let SweepOption(climb) = said;
    climb.check().map_err(ConfigError::Sweep)?;
    if let Some(PerSecond(rate)) = options.rate {
        return Err(ConfigError::RateAndSweep(rate, said.clone()));
    }
    if options.steady.is_some() || options.round.is_some() {
        return Err(ConfigError::SteadyAndSweep);
    }
    if let Some(transactions) = options
        .transactions
        .filter(|count| count.0 != Workload::ENDLESS)
    {
        return Err(ConfigError::TransactionsAndSweep(transactions.0));
    }
    if climb.is_of_counts() {
        let of_loads = [
            ("--arrivals", options.arrivals.is_some()),
            ("--slo", options.slo.is_some()),
            ("--working-set", options.working_set.is_some()),
        ];
        let of_workers = [
            ("--workers", options.workers.is_some()),
            ("--writers", options.writers.is_some()),
            ("--readers", options.readers.is_some()),
        ];
        if let Climb::Ranks(_) = climb {
            refuse_any(&of_loads, ConfigError::SweepOfRanks)?;
        } else {
            refuse_any(&of_workers, ConfigError::SweepOfWorkers)?;
            refuse_any(&of_loads, ConfigError::SweepOfWorkers)?;
        }
    } else {
        refuse_think(options, "--sweep")?;
    }
    if let Climb::Rates(rates) = climb {
        for rate in rates {
            check_rate(*rate).map_err(|wrong| ConfigError::Rate("--sweep", wrong))?;
        }
    }
    let run_for = run_for.unwrap_or(SWEEP_STEP_MIN);
    if run_for < SWEEP_STEP_MIN {
        return Err(ConfigError::ShortSweepStep(Time::of(run_for)));
    }
    Ok(Drive {
        warm_up: time(options.warm_up).unwrap_or(SWEEP_STEP_WARM_UP),
        stop: Stop::After(run_for),
        pace: Pace::Closed,
        sweep: Some(Sweep {
            climb: climb.clone(),
            arrivals: options.arrivals.unwrap_or(ArrivalProcess::Poisson),
            fresh: climb.is_of_counts() || options.fresh == Some(true),
            slo_p99_ns: options.slo.map(|slo| slo.0),
        }),
    })
}

/// The options that come to this.
pub(crate) fn say(drive: &Drive, options: &mut Options) {
    match drive.stop {
        Stop::Transactions => {}
        Stop::After(time) => options.run_for = Some(Time::of(time)),
        Stop::Steady(asked) => {
            options.steady = Some(asked.rule);
            options.round = Some(Time(asked.round_ns));
            options.run_for = Some(Time(asked.round_ns.saturating_mul(asked.rounds_max.into())));
        }
    }
    // A step has a warm-up of its own where none is said.
    if !drive.warm_up.is_zero() || drive.sweep.is_some() {
        options.warm_up = Some(Time::of(drive.warm_up));
    }
    if let Pace::Open {
        per_second,
        arrivals,
    } = drive.pace
    {
        options.rate = Some(PerSecond(per_second));
        options.arrivals = Some(arrivals);
    }
    if let Some(sweep) = &drive.sweep {
        options.arrivals = (!sweep.climb.is_of_counts()).then_some(sweep.arrivals);
        options.sweep = Some(SweepOption(sweep.climb.clone()));
        options.fresh = sweep.fresh.then_some(true);
        options.slo = sweep.slo_p99_ns.map(SloOption);
    }
}
