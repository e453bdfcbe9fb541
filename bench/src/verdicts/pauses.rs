//! Error rates of the rule `paused`: for runs that are stopped for a known time, and for runs that
//! are not stopped, but compete with busy loops for the processors.

use crate::result::Result;
use std::fs::create_dir;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::draws::Draws;
use crate::limit::{Limit, Share};
use crate::noise::Noise;
use crate::process::Started;

/// Minimum share of stopped runs that the rule must flag.
const FINDS: Limit = Limit::AtLeast(0.95);
/// Maximum share of runs without stops, beside busy loops, that the rule may flag.
const FALSE_ALARMS: Limit = Limit::AtMost(0.01);
/// Number of busy loops that compete with the runs for the processors.
const BUSY_LOOPS: usize = 6;
/// Number of runs at the same time. Each run does little work and takes ten seconds, so several run
/// at once.
const AT_ONCE: usize = 5;
/// Time limit of a run. A longer run is an error.
const PATIENCE: Duration = Duration::from_secs(120);
const RUN: &str = "run --mix read=1 --files 100 --rate 200 --for 10s --archive none --quiet \
                   --format json --target";

/// A pattern in which a run is stopped: one stop of this length in each period.
#[derive(Clone, Copy, Debug)]
struct Stops {
    stop: Duration,
    period: Duration,
}

const fn stops(stop_ms: u64, period_ms: u64) -> Stops {
    Stops {
        stop: Duration::from_millis(stop_ms),
        period: Duration::from_millis(period_ms),
    }
}

const PATTERNS: [Stops; 4] = [
    stops(200, 4_000),
    stops(500, 10_000),
    stops(1_000, 5_000),
    stops(450, 1_000),
];

/// Whether the JSON of a run contains the reason `paused`.
fn is_paused(json: &str) -> Result<bool> {
    let document: Value = serde_json::from_str(json)?;
    let reasons = document["summary"]["verdict"]["reasons"].as_array();
    let reasons = reasons.ok_or("the run's document has no verdict")?;
    Ok(reasons.iter().any(|reason| reason["reason"] == "paused"))
}

/// Performs a run. With `stops`, stops the run once in each period. The first stop occurs after a
/// random part of a period. Returns whether the rule flags the run.
fn run(ours: &Path, target: &Path, stops: Option<Stops>, draws: &mut Draws) -> Result<bool> {
    create_dir(target)?;
    let mut started = Started::new(Command::new(ours).args(RUN.split(' ')).arg(target))?;
    if let Some(Stops { stop, period }) = stops {
        let mut wait = period.mul_f64(draws.unit());
        while started.end_within(wait)?.is_none() {
            started.signal(Signal::STOP);
            thread::sleep(stop);
            started.signal(Signal::CONT);
            wait = period.saturating_sub(stop);
        }
    }
    let ended = started.end_within(PATIENCE)?;
    let [output, error] = started.streams()?;
    match ended {
        Some(status) if status.success() => is_paused(&output),
        Some(status) => Err(format!("a run ended with {status}: {error}").into()),
        None => Err(format!("a run did not end within {} s", PATIENCE.as_secs()).into()),
    }
}

/// Performs `runs` runs, [`AT_ONCE`] at a time, and counts those that the rule flags.
fn flagged(ours: &Path, runs: u32, seed: u64, stops: Option<Stops>) -> Result<Share> {
    let scene = tempfile::Builder::new()
        .prefix("postmark-verdicts-")
        .tempdir_in("/dev/shm")?;
    let mut found = Share::default();
    let numbers: Vec<u32> = (0..runs).collect();
    for wave in numbers.chunks(AT_ONCE) {
        let results: Vec<Result<bool, String>> = thread::scope(|scope| {
            let run_one = |number: u32| {
                let target = scene.path().join(format!("run-{number}"));
                scope.spawn(move || {
                    let mut draws = Draws::new(seed, "stopped runs", number);
                    run(ours, &target, stops, &mut draws).map_err(|error| error.to_string())
                })
            };
            let started: Vec<_> = wave.iter().map(|&number| run_one(number)).collect();
            let panicked = |_| Err("a thread of the benchmark panicked".to_owned());
            started
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(panicked))
                .collect()
        });
        for result in results {
            found.add(result?);
        }
    }
    Ok(found)
}

/// Calls a function while [`BUSY_LOOPS`] busy loops use processors.
fn beside_busy_loops<A>(work: impl FnOnce() -> A) -> A {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..BUSY_LOOPS {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        result
    })
}

/// Performs all runs and prints how many of them the rule flags. Returns whether the shares of
/// flagged runs keep the limits `FINDS` and `FALSE_ALARMS`.
///
/// # Errors
/// Returns an error if a run fails.
pub fn perform(ours: &Path, runs: u32, seed: u64) -> Result<bool> {
    let mut holds = true;
    println!("paused, {runs} runs of 10 s each, {AT_ONCE} at a time, with stops (at least 95 %)");
    for stops in PATTERNS {
        let noise = Noise::begin();
        let found = flagged(ours, runs, seed, Some(stops))?;
        holds &= found.agrees(FINDS);
        println!(
            "  {:4.2} s of each {:2} s  {:14}  {} of {}; {}",
            stops.stop.as_secs_f64(),
            stops.period.as_secs(),
            found.show(FINDS),
            found.count,
            found.all,
            noise.end()
        );
    }
    println!("paused, {runs} runs without stops beside {BUSY_LOOPS} busy loops (at most 1 %)");
    let noise = Noise::begin();
    let found = beside_busy_loops(|| flagged(ours, runs, seed, None))?;
    holds &= found.agrees(FALSE_ALARMS);
    println!(
        "  {:14}  {} of {}; {}",
        found.show(FALSE_ALARMS),
        found.count,
        found.all,
        noise.end()
    );
    Ok(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_paused_is_read_from_the_verdict_of_a_run() {
        let with =
            |reasons: &str| format!(r#"{{"summary":{{"verdict":{{"reasons":[{reasons}]}}}}}}"#);
        assert!(is_paused(&with(r#"{"reason":"other-load"},{"reason":"paused"}"#)).unwrap());
        assert!(!is_paused(&with(r#"{"reason":"other-load"}"#)).unwrap());
        assert!(is_paused("{}").is_err());
    }
}
