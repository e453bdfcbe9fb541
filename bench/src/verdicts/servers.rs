//! Error rates of the rule `not-steady` for simulated servers whose operations have a known
//! distribution of durations.
//!
//! Simulated workers perform operations one after another, with durations drawn from the
//! distribution. The code that judges a run ([`measure::steady::change`]) is applied to the number
//! of operations in each second and to the durations of all operations.

use std::fmt::Write as _;

use measure::Histogram;
use measure::steady::change;

use crate::draws::Draws;
use crate::limit::{Limit, Share};

/// Maximum share of servers with constant speed that are flagged.
const FALSE_ALARMS: Limit = Limit::AtMost(0.02);
/// Minimum share of servers with a drift of [`DRIFT`] in a minute that are flagged.
const FINDS: Limit = Limit::AtLeast(0.9);
const DRIFT: f64 = -0.2;
/// Length of a warm-up, as a multiple of the mean duration of an operation.
const WARM_UP: f64 = 200.0;

/// Distribution of an operation's duration, with mean 1.
#[derive(Clone, Copy, Debug)]
enum Law {
    Exponential,
    /// 2 % of the operations take 100 times as long as the other operations.
    Bimodal,
    /// A log-normal distribution with sigma 1.5.
    Lognormal,
    Constant,
}

impl Law {
    const fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::Bimodal => "2 % 100 times longer",
            Self::Lognormal => "lognormal, sigma 1.5",
            Self::Constant => "deterministic",
        }
    }

    fn draw(self, draws: &mut Draws) -> f64 {
        match self {
            Self::Exponential => draws.exponential(),
            Self::Bimodal if draws.unit() < 0.02 => 100.0 / 2.98,
            Self::Bimodal => 1.0 / 2.98,
            Self::Lognormal => (1.5 * draws.normal() - 1.125).exp(),
            Self::Constant => 1.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// The window begins after a warm-up, when each worker has an operation in progress.
    Warm,
    /// The window begins with the first operation of each worker.
    Fresh,
}

#[derive(Clone, Copy, Debug)]
struct SimulatedServer {
    law: Law,
    /// Operations/s of all workers together, without drift.
    rate: f64,
    workers: u32,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    start: Start,
    seconds: u32,
    /// Linear change of the speed from the beginning to the end of the window, as a share of the
    /// mean speed. It is negative if the speed falls.
    drift: f64,
}

impl SimulatedServer {
    /// The number of operations that complete in each second, and the durations of all of them.
    fn measure(self, window: Window, draws: &mut Draws) -> (Vec<f64>, Histogram) {
        let length = f64::from(window.seconds);
        let mut counts = vec![0.0; window.seconds as usize];
        let mut durations = Histogram::default();
        let mean = f64::from(self.workers) / self.rate;
        for _ in 0..self.workers {
            let mut at = match window.start {
                Start::Warm => -mean * (WARM_UP + draws.unit()),
                Start::Fresh => 0.0,
            };
            while at < length {
                let speed = 1.0 + window.drift * (at.max(0.0) / length - 0.5);
                let duration = mean * self.law.draw(draws) / speed;
                at += duration;
                if at < 0.0 {
                    continue;
                }
                if let Some(count) = counts.get_mut(at as usize) {
                    *count += 1.0;
                    durations.record((duration * 1e9) as u64);
                }
            }
        }
        (counts, durations)
    }

    /// The share of series that the rule flags as not steady, and the number of series that it
    /// could not judge.
    fn judge(self, window: Window, series: u32, seed: u64) -> (Share, u32) {
        let mut found = Share::default();
        let mut not_judged = 0;
        for number in 0..series {
            let mut draws = Draws::new(seed, "simulated servers", number);
            let (counts, durations) = self.measure(window, &mut draws);
            let judged = change(&counts, 1_000_000_000, &durations);
            not_judged += u32::from(judged.is_err());
            found.add(judged.is_ok_and(|change| !change.is_steady));
        }
        (found, not_judged)
    }
}

/// Judges a server over each window and prints a line with the shares. Returns whether the shares
/// agree with the limit.
fn row(
    server: SimulatedServer,
    windows: &[Window],
    limit: Limit,
    (series, seed): (u32, u64),
) -> bool {
    let (mut holds, mut line, mut notes) = (true, String::new(), String::new());
    for window in windows {
        let (found, not_judged) = server.judge(*window, series, seed);
        holds &= found.agrees(limit);
        let _ = write!(line, "  {:14}", found.show(limit));
        if not_judged > 0 {
            let share = 100.0 * f64::from(not_judged) / f64::from(series);
            let _ = write!(notes, "  {} s: {share:.1} % not judged", window.seconds);
        }
    }
    println!(
        "  {:20} {:5.0}/s {:2} workers{line}{notes}",
        server.law.name(),
        server.rate,
        server.workers
    );
    holds
}

/// Prints rows for one worker and for four at each rate. Returns whether all agree with the limit.
fn rows(law: Law, rates: &[f64], windows: &[Window], limit: Limit, sample: (u32, u64)) -> bool {
    let mut holds = true;
    for &rate in rates {
        for workers in [1, 4] {
            holds &= row(
                SimulatedServer { law, rate, workers },
                windows,
                limit,
                sample,
            );
        }
    }
    holds
}

/// Simulates all servers and prints the shares of servers that the rule flags. Returns whether the
/// shares keep the limits `FALSE_ALARMS` and `FINDS`.
pub fn perform(series: u32, seed: u64) -> bool {
    const RATES: &[f64] = &[20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0];
    const BIMODAL_RATES: &[f64] = &[100.0, 671.0, 2_500.0];
    let mut holds = true;
    println!(
        "{series} series of each simulated server, seed {seed}; ~: within chance of the limit"
    );
    for start in [Start::Warm, Start::Fresh] {
        println!(
            "not-steady, constant speed, {} (at most 2 %): 10 s, 20 s, 60 s",
            match start {
                Start::Warm => "after a warm-up",
                Start::Fresh => "from the first operation",
            }
        );
        let windows = [10, 20, 60].map(|seconds| Window {
            start,
            seconds,
            drift: 0.0,
        });
        for (law, rates) in [
            (Law::Exponential, RATES),
            (Law::Bimodal, BIMODAL_RATES),
            (Law::Lognormal, RATES),
            (Law::Constant, RATES),
        ] {
            holds &= rows(law, rates, &windows, FALSE_ALARMS, (series, seed));
        }
    }
    // `finds_slowdowns` is called first, so that it prints its rows even if `holds` is false.
    finds_slowdowns(series, seed) && holds
}

/// Simulates servers whose speed falls. Returns whether the fall is detected as often as promised.
fn finds_slowdowns(series: u32, seed: u64) -> bool {
    let mut holds = true;
    println!(
        "not-steady, speed falls by 20 % in 60 s (at least 90 %; no limit where times vary more)"
    );
    let window = Window {
        start: Start::Warm,
        seconds: 60,
        drift: DRIFT,
    };
    for law in [
        Law::Exponential,
        Law::Constant,
        Law::Bimodal,
        Law::Lognormal,
    ] {
        let limit = match law {
            Law::Exponential | Law::Constant => FINDS,
            Law::Bimodal | Law::Lognormal => Limit::None,
        };
        let rates = [100.0, 200.0, 500.0, 1_000.0];
        holds &= rows(law, &rates, &[window], limit, (series, seed));
    }
    holds
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERIES: u32 = 250;

    fn share(server: SimulatedServer, window: Window) -> f64 {
        server.judge(window, SERIES, 17).0.share()
    }

    #[test]
    fn servers_of_constant_speed_are_steady() {
        for seconds in [10, 60] {
            for start in [Start::Warm, Start::Fresh] {
                for (law, rate, workers) in [
                    (Law::Exponential, 20.0, 1),
                    (Law::Exponential, 50.0, 1),
                    (Law::Exponential, 50.0, 4),
                    (Law::Exponential, 100.0, 1),
                    (Law::Bimodal, 50.0, 4),
                    (Law::Bimodal, 100.0, 1),
                    (Law::Lognormal, 50.0, 1),
                    (Law::Lognormal, 100.0, 4),
                    (Law::Constant, 100.0, 1),
                ] {
                    let server = SimulatedServer { law, rate, workers };
                    let window = Window {
                        start,
                        seconds,
                        drift: 0.0,
                    };
                    // Even if the rule flags only 1 % of all such servers, chance may raise the
                    // share in 250 series to 2.8 %.
                    let share = share(server, window);
                    assert!(share <= 0.028, "{server:?}, {window:?}: {share}");
                }
            }
        }
    }

    #[test]
    fn drift_of_20_percent_is_detected_in_a_minute_at_100_operations_per_second() {
        for (rate, workers) in [(100.0, 1), (100.0, 4), (200.0, 1)] {
            let server = SimulatedServer {
                law: Law::Exponential,
                rate,
                workers,
            };
            let window = Window {
                start: Start::Warm,
                seconds: 60,
                drift: DRIFT,
            };
            // The rule flags about 93 % of these servers. In 250 series, chance may reduce the
            // share to 89 %.
            let share = share(server, window);
            assert!(share >= 0.89, "{server:?}: {share}");
        }
    }

    #[test]
    fn server_after_warm_up_has_its_full_rate_in_the_first_second() {
        for law in [
            Law::Exponential,
            Law::Bimodal,
            Law::Lognormal,
            Law::Constant,
        ] {
            let server = SimulatedServer {
                law,
                rate: 100.0,
                workers: 4,
            };
            let window = Window {
                start: Start::Warm,
                seconds: 6,
                drift: 0.0,
            };
            let series = 400;
            let mut first = 0.0;
            for number in 0..series {
                first += server.measure(window, &mut Draws::new(3, "test", number)).0[0];
            }
            // The number of operations in a second has a variance of at most about 2,300. The
            // bimodal law has this variance, and the other laws have smaller ones.
            let mean = first / f64::from(series);
            assert!(
                (mean - 100.0).abs() < 4.0 * (2_300.0 / f64::from(series)).sqrt(),
                "{law:?}: {mean}"
            );
        }
    }
}
