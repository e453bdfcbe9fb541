//! Conversion of options to the load of a run, and of a load to options.

use std::time::Duration;

use measure::steady::{BATCHES, WINDOW_ROUNDS};
use workload::Workload;
use workload::WorkloadError;
use workload::arrivals::{ArrivalProcess, check_rate};

use crate::config_error::ConfigError;
use crate::draft::Draft;
use crate::limits::SWEEP_STEP_MIN;
use crate::load::{Drive, Sweep};
use crate::options::Options;
use crate::run_spec::RunSpec;
use crate::settings::SteadyRule;
use crate::stop::{Pace, SteadyAsked, Stop};
use crate::sweep::{Climb, SweepOption};
use crate::values::{Count, PerSecond, Time};

/// Default warm-up of a load level.
const SWEEP_STEP_WARM_UP: Duration = Duration::from_secs(2);
/// Default length of a steady-state round.
const ROUND: Duration = Duration::from_secs(10);
/// Default maximum number of steady-state rounds. After this number, SNIA's specification allows a
/// test to end without a steady state.
const ROUNDS_MAX: u32 = 25;

/// Largest value that a user may request for the maximum number of rounds.
const ROUNDS_LIMIT: u32 = 1_000;

/// Whether an option other than the number of transactions ends the run.
pub(crate) fn ends_otherwise(options: &Options) -> bool {
    options.run_for.is_some()
        || options.steady.is_some()
        || options.sweep.is_some()
        || options.has_phases()
}

fn time(said: Option<Time>) -> Option<Duration> {
    said.map(Time::duration)
}

pub(crate) fn set_run_for(draft: &mut Draft<'_>, time: Time) -> Result<(), ConfigError> {
    if time.0 == 0 {
        return Err(ConfigError::invalid(
            "0s",
            "--for",
            "expected a time above 0, like 2m (for no transactions, use --transactions 0)",
        ));
    }
    draft.spec.drive.stop = Stop::After(time.duration());
    Ok(())
}

pub(crate) fn set_rate(draft: &mut Draft<'_>, rate: PerSecond) -> Result<(), ConfigError> {
    let PerSecond(per_second) = rate;
    check_rate(per_second).map_err(|wrong| invalid_rate("--rate", &wrong))?;
    draft.spec.drive.pace = Pace::Open {
        per_second,
        arrivals: arrivals_or_default(draft.options),
    };
    Ok(())
}

fn invalid_rate(option: &str, wrong: &WorkloadError) -> ConfigError {
    ConfigError::new(format!("invalid value for {option}: {wrong}"))
}

pub(crate) fn arrivals_or_default(options: &Options) -> ArrivalProcess {
    options.arrivals.unwrap_or(ArrivalProcess::Poisson)
}

pub(crate) fn set_steady(draft: &mut Draft<'_>, rule: SteadyRule) -> Result<(), ConfigError> {
    let options = draft.options;
    let asked = rounds(rule, time(options.round), time(options.run_for))?;
    draft.spec.drive.stop = Stop::Steady(asked);
    Ok(())
}

/// Refuses rounds that are too short for the steady-state rule.
fn check_round(rule: SteadyRule, round: Duration) -> Result<(), ConfigError> {
    if round < Duration::from_secs(1) {
        return Err(ConfigError::invalid(
            Time::of(round),
            "--round",
            "expected at least 1s (the rates of shorter rounds are mostly chance)",
        ));
    }
    // Each round may lose one of its whole seconds to an incomplete second, so the minimum is one
    // second longer. The slope needs at least `BATCHES` whole seconds in the rounds of the window.
    let round_min = Duration::from_secs(BATCHES.div_ceil(WINDOW_ROUNDS) as u64 + 1);
    if rule == SteadyRule::Slope && round < round_min {
        return Err(ConfigError::new(format!(
            "--round {} is too short for --steady slope: {WINDOW_ROUNDS} rounds must have at least \
             {BATCHES} whole seconds (use --round {} or longer)",
            Time::of(round),
            Time::of(round_min)
        )));
    }
    Ok(())
}

/// Resolves the length and the maximum number of steady-state rounds. Refuses a number of rounds
/// that is too low or too high.
fn rounds(
    rule: SteadyRule,
    round: Option<Duration>,
    run_for: Option<Duration>,
) -> Result<SteadyAsked, ConfigError> {
    let window = WINDOW_ROUNDS as u32;
    let round = round.unwrap_or(ROUND);
    check_round(rule, round)?;
    let rounds_max = match run_for {
        None => ROUNDS_MAX,
        Some(run_for) => u32::try_from(run_for.as_nanos() / round.as_nanos()).unwrap_or(u32::MAX),
    };
    let has = format!(
        "for --steady {}: it has {rounds_max} rounds of {}, and",
        rule.name(),
        Time::of(round)
    );
    let time = Time::of(run_for.unwrap_or_default());
    if rounds_max > ROUNDS_LIMIT {
        return Err(ConfigError::new(format!(
            "--for {time} is too long {has} at most {ROUNDS_LIMIT} are allowed (use a longer \
             --round)"
        )));
    }
    if rounds_max < window {
        return Err(ConfigError::new(format!(
            "--for {time} is too short {has} the rule needs {window} (use --for {} or longer, or \
             a shorter --round)",
            Time::of(round * window)
        )));
    }
    let Time(round_ns) = Time::of(round);
    if round_ns.checked_mul(rounds_max.into()).is_none() {
        return Err(ConfigError::invalid(
            Time::of(round),
            "--round",
            format_args!(
                "{rounds_max} rounds of this length overflow the clock (use a shorter one)"
            ),
        ));
    }
    Ok(SteadyAsked {
        rule,
        round_ns,
        rounds_max,
    })
}

/// Checks the load levels of a sweep. The command line accepts only valid load levels, but a record
/// may contain any numbers.
pub(crate) fn check_sweep(options: &Options) -> Result<(), ConfigError> {
    let checked = options
        .sweep
        .as_ref()
        .map_or(Ok(()), |sweep| sweep.0.check());
    checked.map_err(|wrong| ConfigError::new(format!("invalid value for --sweep: {wrong}")))
}

pub(crate) fn set_sweep(draft: &mut Draft<'_>, said: SweepOption) -> Result<(), ConfigError> {
    let options = draft.options;
    let SweepOption(climb) = said;
    if let Climb::Rates(rates) = &climb {
        for rate in rates {
            check_rate(*rate).map_err(|wrong| invalid_rate("--sweep", &wrong))?;
        }
    }
    let run_for = time(options.run_for).unwrap_or(SWEEP_STEP_MIN);
    if run_for < SWEEP_STEP_MIN {
        let least = Time::of(SWEEP_STEP_MIN);
        let expected = format_args!(
            "a level of --sweep needs at least {least} to show write-back and a growing queue"
        );
        return Err(ConfigError::invalid(Time::of(run_for), "--for", expected));
    }
    draft.spec.drive = Drive {
        warm_up: time(options.warm_up).unwrap_or(SWEEP_STEP_WARM_UP),
        stop: Stop::After(run_for),
        pace: Pace::Closed,
        sweep: Some(Sweep {
            fresh: climb.is_of_counts() || options.fresh == Some(true),
            climb,
            arrivals: arrivals_or_default(options),
            slo_operation: options.slo.and_then(|slo| slo.operation),
            slo_p99_ns: options.slo.map(|slo| slo.p99_ns),
        }),
    };
    Ok(())
}

/// Returns the number of transactions as an option; `None` if the number is unlimited and another
/// condition ends the run.
pub(crate) fn transactions(spec: &RunSpec) -> Option<Count> {
    let is_ended = spec.drive.stop != Stop::Transactions || spec.drive.sweep.is_some();
    let transactions = spec.workload.transactions();
    (!is_ended || transactions != Workload::ENDLESS).then_some(Count(transactions))
}

pub(crate) fn run_for(drive: &Drive) -> Option<Time> {
    match drive.stop {
        Stop::Transactions => None,
        Stop::After(time) => Some(Time::of(time)),
        Stop::Steady(asked) => Some(Time(asked.round_ns.saturating_mul(asked.rounds_max.into()))),
    }
}

/// Returns the warm-up as an option; `None` if it is 0 s, the default. For a sweep, a zero warm-up
/// is returned as well, because the default of a sweep is 2 s.
pub(crate) fn warm_up(drive: &Drive) -> Option<Time> {
    let is_of_levels = |sweep: &Sweep| !sweep.climb.is_of_phases();
    let is_needed = !drive.warm_up.is_zero() || drive.sweep.as_ref().is_some_and(is_of_levels);
    is_needed.then(|| Time::of(drive.warm_up))
}

/// Returns the arrival process as an option; `None` if transactions have no due times.
pub(crate) fn arrivals(drive: &Drive) -> Option<ArrivalProcess> {
    let is_closed = |sweep: &Sweep| match &sweep.climb {
        Climb::Phases(loads) => loads.iter().all(|load| load.rate().is_none()),
        climb => climb.is_of_counts(),
    };
    match drive.sweep.as_ref().is_some_and(is_closed) {
        true => None,
        false => drive.arrivals(),
    }
}
