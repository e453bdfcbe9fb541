//! How the transactions are driven, as meant.

use std::time::Duration;

use measure::steady::{BATCHES, WINDOW_ROUNDS};
use record::{Climb, LadderAsked, SteadyAsked, SteadyRule};
use runner::{Drive, Keeping, Ladder, Pace, Stop};
use workload::Workload;
use workload::arrivals::{ArrivalProcess, check_rate};
use workload::mix::Think;
use workload::quantity::duration_text;

use super::MeaningError;
use super::error::refuse;
use crate::said::{LadderSaid, Options, PerSecond, Time};

/// A rung is measured for at least so long.
const RUNG_MIN: Duration = Duration::from_secs(10);
/// A rung is warmed up for so long where nothing else is said.
const RUNG_WARM_UP: Duration = Duration::from_secs(2);
/// A round is so long where nothing else is said.
const ROUND: Duration = Duration::from_secs(10);
/// No more rounds where nothing else is said: after so many SNIA's specification lets a test end without a steady state.
const ROUNDS_MAX: u32 = 25;

/// And never more than these.
const ROUNDS_LIMIT: u32 = 1_000;

/// Whether something else than their number ends the transactions.
pub(super) fn ends_otherwise(options: &Options) -> bool {
    options.run_for.is_some() || options.steady.is_some() || options.ladder.is_some()
}

fn time(said: Option<Time>) -> Option<Duration> {
    said.map(|time| Duration::from_nanos(time.0))
}

fn text(time: Duration) -> String {
    duration_text(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// What options of driving come to.
pub(super) fn mean(options: &Options) -> Result<Drive, MeaningError> {
    let run_for = time(options.run_for);
    if run_for.is_some_and(|time| time.is_zero()) {
        return refuse("--for 0s: nothing would be done: give a time like 2m, or --transactions 0 to do nothing");
    }
    if let Some(ladder) = &options.ladder {
        return climb(options, ladder, run_for);
    }
    for (option, is_said) in [
        ("--fresh", options.fresh == Some(true)),
        ("--goal", options.goal.is_some()),
    ] {
        if is_said {
            return refuse(format!(
                "{option} without --ladder: it says how loads are climbed: add --ladder auto, or leave {option} out"
            ));
        }
    }
    let stop = match options.steady {
        Some(rule) => Stop::Steady(steady(rule.into(), time(options.round), run_for)?),
        None if options.round.is_some() => {
            return refuse(
                "--round without --steady: only its rules know rounds: add --steady snia, or leave --round out",
            );
        }
        None => run_for.map_or(Stop::Transactions, Stop::After),
    };
    Ok(Drive {
        warm_up: time(options.warm_up).unwrap_or_default(),
        stop,
        pace: pace(options)?,
        ladder: None,
    })
}

fn pace(options: &Options) -> Result<Pace, MeaningError> {
    match (options.rate.map(|rate| rate.0), options.arrivals) {
        (None, None) => Ok(Pace::Closed),
        (None, Some(form)) => refuse(format!(
            "--arrivals {form} without --rate: nothing arrives: say how many a second with --rate"
        )),
        (Some(rate), form) => {
            check_rate(rate).map_err(|wrong| MeaningError::Contradiction(format!("--rate: {wrong}")))?;
            refuse_think(options, "--rate")?;
            Ok(Pace::Open {
                rate,
                arrivals: form.unwrap_or(ArrivalProcess::Poisson),
            })
        }
    }
}

fn refuse_think(options: &Options, option: &str) -> Result<(), MeaningError> {
    if options.think.is_some_and(|think| think.0 != Think::None) {
        return refuse(format!(
            "{option} and --think: one says when operations are due, the other how long to wait after the last one: leave one out"
        ));
    }
    Ok(())
}

/// Rounds that can find a steady state.
fn steady(rule: SteadyRule, round: Option<Duration>, run_for: Option<Duration>) -> Result<SteadyAsked, MeaningError> {
    let name = rule.name();
    let window = WINDOW_ROUNDS as u32;
    let round = round.unwrap_or(ROUND);
    if round < Duration::from_secs(1) {
        return refuse(format!(
            "--round {}: a round is at least a second: the rates of shorter ones are mostly chance",
            text(round)
        ));
    }
    // The slope is judged on the whole seconds of the window's rounds, of which each one's border may take one.
    let round_min = Duration::from_secs(BATCHES.div_ceil(WINDOW_ROUNDS) as u64 + 1);
    if rule == SteadyRule::Slope && round < round_min {
        return refuse(format!(
            "--steady slope --round {}: its {window} rounds may have fewer than the {BATCHES} whole seconds that the rule needs, so it \
             could never come true: give --round {} or longer",
            text(round),
            text(round_min)
        ));
    }
    let rounds_max = match run_for {
        None => ROUNDS_MAX,
        Some(run_for) => u32::try_from(run_for.as_nanos() / round.as_nanos()).unwrap_or(u32::MAX),
    };
    if rounds_max > ROUNDS_LIMIT {
        return refuse(format!(
            "--steady {name} with --for {}: there is room for {rounds_max} rounds of {}, and at most {ROUNDS_LIMIT} rounds are judged: give \
             a longer --round",
            text(run_for.unwrap_or_default()),
            text(round)
        ));
    }
    if rounds_max < window {
        return refuse(format!(
            "--steady {name} with --for {}: there is room for {rounds_max} rounds of {}, and the rule judges {window}, so it could \
             never come true: give --for {} or longer, or a shorter --round",
            text(run_for.unwrap_or_default()),
            text(round),
            text(round * window)
        ));
    }
    let round_ns = u64::try_from(round.as_nanos()).unwrap_or(u64::MAX);
    if round_ns.checked_mul(rounds_max.into()).is_none() {
        return refuse(format!(
            "--round {}: {rounds_max} of them are longer than can be told: give a shorter one",
            text(round)
        ));
    }
    Ok(SteadyAsked {
        rule,
        round_ns,
        rounds_max,
    })
}

fn climb(options: &Options, said: &LadderSaid, run_for: Option<Duration>) -> Result<Drive, MeaningError> {
    let LadderSaid(climb) = said;
    let workers = matches!(climb, Climb::Workers(_));
    if let Some(PerSecond(rate)) = options.rate {
        return refuse(format!(
            "--rate {rate} with --ladder {said}: the ladder says the rates itself: leave one out"
        ));
    }
    if options.steady.is_some() || options.round.is_some() {
        return refuse(
            "--steady or --round with --ladder: a rung ends by its time, all of them alike: leave one out, and give a --warm-up that is \
             long enough",
        );
    }
    if let Some(transactions) = options.transactions.filter(|count| count.0 != Workload::ENDLESS) {
        return refuse(format!(
            "--transactions {} with --ladder: rungs end by time: say with --for how long each is to be",
            transactions.0
        ));
    }
    if workers {
        let said = [
            ("--workers", options.workers.is_some()),
            ("--writers", options.writers.is_some()),
            ("--readers", options.readers.is_some()),
            ("--arrivals", options.arrivals.is_some()),
            ("--goal", options.goal.is_some()),
            ("--beyond-cache", options.beyond_cache.is_some()),
        ];
        if let Some((option, _)) = said.iter().find(|(_, is_said)| *is_said) {
            return refuse(format!(
                "{option} with --ladder workers=…: its rungs are closed loops of so many workers with a pool each: leave {option} out"
            ));
        }
    } else {
        refuse_think(options, "--ladder")?;
    }
    if let Climb::Rates(rates) = climb {
        for rate in rates {
            check_rate(*rate).map_err(|wrong| MeaningError::Contradiction(format!("--ladder: {wrong}")))?;
        }
    }
    let run_for = run_for.unwrap_or(RUNG_MIN);
    if run_for < RUNG_MIN {
        return refuse(format!(
            "--for {} with --ladder: a rung is measured for at least {}: shorter ones tell little of a queue",
            text(run_for),
            text(RUNG_MIN)
        ));
    }
    let arrivals = options.arrivals.unwrap_or(ArrivalProcess::Poisson);
    Ok(Drive {
        warm_up: time(options.warm_up).unwrap_or(RUNG_WARM_UP),
        stop: Stop::After(run_for),
        pace: Pace::Closed,
        ladder: Some(Ladder {
            asked: LadderAsked {
                climb: climb.clone(),
                arrivals: arrivals.to_string(),
                fresh: workers || options.fresh == Some(true),
                goal_p99_ns: options.goal.map(|goal| goal.0),
            },
            arrivals,
        }),
    })
}

/// Refuses what contradicts the work.
pub(super) fn judge(drive: &Drive, keeping: Keeping, workload: &Workload) -> Result<(), MeaningError> {
    let Some(ladder) = &drive.ladder else {
        return Ok(());
    };
    if ladder.asked.fresh && (keeping.keep || keeping.reuse) {
        return refuse(
            "--keep or --reuse with a pool for each rung: none of them is the one to be kept: leave --fresh out",
        );
    }
    if let Climb::Workers(workers) = &ladder.asked.climb {
        if workload.crew.is_shared() {
            return refuse(
                "--ladder workers=…: this work has one pool for writers and readers: its rungs would differ in more than their number: \
                 climb rates, or take a work whose workers have a pool each",
            );
        }
        if let Some(too_many) = workers.iter().find(|count| **count > Workload::WORKERS_MAX) {
            return refuse(format!(
                "--ladder: {too_many} workers: give 1 to {}",
                Workload::WORKERS_MAX
            ));
        }
    }
    Ok(())
}
