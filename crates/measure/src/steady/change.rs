//! Tests whether a rate changed while it was measured, or only varied by its own noise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drift::{BATCHES, DRIFT_MAX, batch_means};
use super::window::{EXCURSION_MAX, WINDOW_ROUNDS, average};
use crate::histogram::Histogram;
use crate::line::Line;

/// The smallest number of slices in which a change can be tested. With fewer slices, the variance
/// within rounds cannot be estimated.
pub const SLICES_MIN: usize = WINDOW_ROUNDS + 1;

/// The limits for the slope of the line, in standard errors: the 0.995 quantiles of Student's t
/// distribution for 4 to 18 degrees of freedom (the number of batches minus 2). At a constant rate,
/// the slope exceeds its limit in 1 % of runs.
const LINE: [f64; BATCHES - SLICES_MIN + 1] = [
    4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
    2.898, 2.878,
];
/// The limit for the slope of the line if the variance is known: the 0.995 quantile of the standard
/// normal distribution.
const LINE_KNOWN: f64 = 2.576;

/// The limits for the range of the rounds' means, in standard errors: the 0.999 quantiles of the
/// studentized range of five means for 1 to 15 degrees of freedom (the number of batches minus 5).
/// At a constant rate, the range exceeds its limit in 0.1 % of runs.
const ROUNDS: [f64; BATCHES - SLICES_MIN + 1] = [
    1657.5, 78.43, 29.13, 18.23, 13.93, 11.72, 10.40, 9.522, 8.906, 8.449, 8.098, 7.820, 7.595,
    7.409, 7.252,
];
/// The limit for the range of the rounds' means if the variance is known.
const ROUNDS_KNOWN: f64 = 5.484;

/// The change of a rate over a window, and the change that noise can explain. Drift and excursion
/// are fractions of the average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateChange {
    /// Whether the rate did not change significantly. A drift or an excursion is significant if it
    /// exceeds both its limit and what noise can explain.
    pub is_steady: bool,
    /// The number of slices in the window.
    pub window: usize,
    /// The mean rate of the slices, in the unit of the tested rates.
    pub average: f64,
    /// The rise of the least-squares line over the window, as a fraction of the average.
    pub drift: f64,
    /// The drift that noise can explain, as a fraction of the average. If the rate is constant, at
    /// most 1 % of runs have a greater drift, up or down.
    pub drift_by_chance: f64,
    /// The lowest mean of the five rounds, in the unit of the slices.
    pub slowest: f64,
    /// The highest mean of the five rounds, in the unit of the slices.
    pub fastest: f64,
    /// The difference between the highest and the lowest mean of the five rounds, as a fraction of
    /// the average.
    pub excursion: f64,
    /// The excursion that noise can explain, as a fraction of the average. If the rate is constant,
    /// at most 0.1 % of runs have a greater excursion.
    pub excursion_by_chance: f64,
}

impl RateChange {
    /// Returns whether the drift, up or down, exceeds both its limit and `drift_by_chance`.
    pub fn drifts(&self) -> bool {
        self.drift.abs() > DRIFT_MAX.max(self.drift_by_chance)
    }

    /// Returns whether the excursion exceeds both its limit and `excursion_by_chance`.
    pub fn varies(&self) -> bool {
        self.excursion > EXCURSION_MAX.max(self.excursion_by_chance)
    }
}

/// The reason why a window cannot be tested for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotJudged {
    /// The window contains fewer slices than [`SLICES_MIN`].
    FewSlices,
    /// The average of the window is not positive.
    NothingDone,
    /// An operation took longer than a round, so that the number of operations per round depends on
    /// chance.
    LongOperations,
}

impl NotJudged {
    /// Returns the reason as text, for slices of one second.
    pub const fn why(self) -> &'static str {
        match self {
            Self::FewSlices => "fewer than 6 whole seconds were measured with all workers active",
            Self::NothingDone => "no operation completed in these seconds",
            Self::LongOperations => "an operation took longer than a fifth of the measured time",
        }
    }
}

/// Tests whether a rate changed. The two quantities that SNIA limits, the rise of the line and the
/// excursion of five rounds, are compared with their limits and with the noise. A rate changed if
/// one of these quantities exceeds both its limit and its noise.
///
/// Noise is estimated twice, and the larger estimate is used:
///
/// - From the slices. Neighbouring slices are averaged to at most [`BATCHES`] batch means, which
///   are less correlated. The variance of the batch means about the line gives the noise of the
///   rise (Student's t). The variance within rounds gives the noise of the excursion (Tukey's
///   studentized range).
/// - From the durations of the operations, by renewal theory (`counting_error`). This estimate
///   includes effects that last longer than a slice. The estimate is needed because the variance of
///   few slices can be too small by chance.
///
/// `durations` contains the operations in the window. If it is empty, only the slices are used.
///
/// # Errors
/// Returns the reason why the window is not judged.
pub fn change(
    slices: &[f64],
    width_ns: u64,
    durations: &Histogram,
) -> Result<RateChange, NotJudged> {
    if slices.len() < SLICES_MIN {
        return Err(NotJudged::FewSlices);
    }
    let average = average(slices).ok_or(NotJudged::NothingDone)?;
    let longest_ns = durations.max_ns().unwrap_or(0);
    if longest_ns as f64 > width_ns as f64 * slices.len() as f64 / WINDOW_ROUNDS as f64 {
        return Err(NotJudged::LongOperations);
    }
    judge(slices, average, counting_error(durations)).ok_or(NotJudged::NothingDone)
}

fn judge(slices: &[f64], average: f64, counting_error: f64) -> Option<RateChange> {
    let batches = batch_means(slices, BATCHES.min(slices.len()));
    let count = batches.len();
    let counting_variance = (counting_error * average).powi(2) * count as f64;

    let line = Line::through(&batches)?;
    let squares: f64 = batches
        .iter()
        .map(|batch| line.residual(*batch).powi(2))
        .sum();
    let share = slices.len() as f64 / average;
    let line_error = |variance: f64| (variance / line.squares_x).sqrt() * share;
    let by_residuals = LINE[count - SLICES_MIN] * line_error(squares / (count - 2) as f64);

    let rounds = rounds_of(&batches);
    let means = rounds.map(mean);
    let within: f64 = rounds
        .iter()
        .zip(means)
        .flat_map(|(round, mean)| round.iter().map(move |(_, value)| (value - mean).powi(2)))
        .sum();
    let slowest = means.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The rounds' lengths differ by at most one batch. The error is that of the shortest round.
    let round_error = |variance: f64| (variance / (count / WINDOW_ROUNDS) as f64).sqrt() / average;
    let by_rounds =
        ROUNDS[count - SLICES_MIN] * round_error(within / (count - WINDOW_ROUNDS) as f64);

    let found = RateChange {
        is_steady: true,
        window: slices.len(),
        average,
        drift: line.slope * share,
        drift_by_chance: by_residuals.max(LINE_KNOWN * line_error(counting_variance)),
        slowest,
        fastest,
        excursion: (fastest - slowest) / average,
        excursion_by_chance: by_rounds.max(ROUNDS_KNOWN * round_error(counting_variance)),
    };
    Some(RateChange {
        is_steady: !found.drifts() && !found.varies(),
        ..found
    })
}

/// Returns the relative standard deviation of the number of operations that complete in a window.
/// The formula assumes that each worker starts an operation when its previous one ends. The number
/// n of these operations then has the variance n·c², where c is the coefficient of variation of the
/// durations (Cox: Renewal Theory, 1962). For exponential durations, this is a Poisson process.
/// Returns 0 without durations.
fn counting_error(durations: &Histogram) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (ns, times) in durations.durations() {
        let (ns, times) = (ns as f64, times as f64);
        count += times;
        sum += ns * times;
        squares += ns * ns * times;
    }
    if sum <= 0.0 {
        return 0.0;
    }
    // The square of the result is c² / n, where n is `count` and c the coefficient of variation.
    // c² = squares / n / mean² - 1, and mean = sum / n.
    (squares / (sum * sum) - 1.0 / count).max(0.0).sqrt()
}

fn rounds_of(batches: &[(f64, f64)]) -> [&[(f64, f64)]; WINDOW_ROUNDS] {
    let border = |round: usize| round * batches.len() / WINDOW_ROUNDS;
    std::array::from_fn(|round| &batches[border(round)..border(round + 1)])
}

fn mean(round: &[(f64, f64)]) -> f64 {
    round.iter().map(|(_, value)| value).sum::<f64>() / round.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    fn close(read: f64, expected: f64) {
        assert!(
            (read - expected).abs() < 1e-6,
            "{read} instead of {expected}"
        );
    }

    #[test]
    fn alternating_slices_have_the_computed_limits() {
        // The values (y) of the slices (x) alternate between 101 and 99. For the deviations from
        // the means, the products add up to -5, the squares of x to 82.5, and those of y to 10.
        let slices: Vec<f64> = (0..10)
            .map(|slice| if slice % 2 == 0 { 101.0 } else { 99.0 })
            .collect();
        let found = judge(&slices, 100.0, 0.0).unwrap();
        close(found.drift, -5.0 / 82.5 * 10.0 / 100.0);
        let left: f64 = 10.0 - 25.0 / 82.5;
        close(
            found.drift_by_chance,
            3.355 * (left / 8.0 / 82.5).sqrt() / 10.0,
        );
        // Each of the five rounds has two slices, 101 and 99, and the mean 100. The variance within
        // the rounds is 10 / 5 = 2, with 5 degrees of freedom (limit 13.93).
        close(found.excursion, 0.0);
        close(
            found.excursion_by_chance,
            13.93 * (2.0_f64 / 2.0).sqrt() / 100.0,
        );
        assert!(found.is_steady);
        // A relative error of 10 % for the whole window means an error of 10 % × sqrt(10) = 31.6 %
        // for each of the ten slices.
        let noisy = judge(&slices, 100.0, 0.1).unwrap();
        close(
            noisy.drift_by_chance,
            2.576 * 0.1 * (10.0_f64 / 82.5).sqrt() * 10.0,
        );
        close(noisy.excursion_by_chance, 5.484 * 0.1 * 5.0_f64.sqrt());
    }

    #[test]
    fn rates_without_noise_are_steady_only_within_the_limits() {
        for length in [SLICES_MIN, 10, 19, 20, 60, 233] {
            let ramp = |drift: f64| -> Vec<f64> {
                let at = |slice: usize| (slice as f64 + 0.5) / length as f64 - 0.5;
                (0..length)
                    .map(|slice| 100.0 * (1.0 + drift * at(slice)))
                    .collect()
            };
            for (drift, is_steady) in [(0.09, true), (0.11, false), (-0.09, true), (-0.11, false)] {
                let found = judge(&ramp(drift), 100.0, 0.0).unwrap();
                assert_eq!(found.is_steady, is_steady, "{length}: {found:?}");
                close(found.drift, drift);
            }
        }
        // A fast first round is not a linear drift, but the excursion of the rounds shows it.
        let burst: Vec<f64> = (0..10)
            .map(|slice| if slice < 2 { 150.0 } else { 100.0 })
            .collect();
        let found = judge(&burst, 110.0, 0.01).unwrap();
        assert!(found.varies() && !found.is_steady, "{found:?}");
        close(found.excursion, 50.0 / 110.0);
        assert!(judge(&burst, 110.0, 0.1).is_some_and(|found| found.is_steady));
    }

    #[test]
    fn the_counting_error_of_exponential_durations_matches_poisson() {
        let mut noise = Noise::new(11);
        let exponential = (0..10_000).map(|_| (-1e6 * (1.0 - noise.unit()).ln()) as u64);
        let error = counting_error(&of(exponential));
        assert!((error - 0.01).abs() < 0.000_5, "{error}");
        close(counting_error(&of([1_000; 50])), 0.0);
        // Half of the operations take 1 ns and the others 3 ns, so the coefficient of variation is
        // 1/2. The error of 100 operations is 1/2 divided by the square root of 100: 0.05.
        close(
            counting_error(&of((0..100).map(|number| 1 + number % 2 * 2))),
            0.05,
        );
        close(counting_error(&of([])), 0.0);
    }

    fn of(durations: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        durations.into_iter().for_each(|ns| histogram.record(ns));
        histogram
    }

    #[test]
    fn noise_exceeds_its_limits_at_the_stated_rates() {
        let mut noise = Noise::new(13);
        for length in [6, 10, 15, 20, 60] {
            let mut exceeded = [0_u32; 2];
            for _ in 0..4_000 {
                let slices: Vec<f64> = (0..length).map(|_| 100.0 + 10.0 * noise.normal()).collect();
                let found = judge(&slices, 100.0, 0.0).unwrap();
                exceeded[0] += u32::from(found.drift.abs() > found.drift_by_chance);
                exceeded[1] += u32::from(found.excursion > found.excursion_by_chance);
            }
            // The expected numbers of series are 1 % and 0.1 % of 4,000: 40 and 4. The numbers
            // found may differ by four standard deviations.
            assert!((15..=65).contains(&exceeded[0]), "{length}: {exceeded:?}");
            assert!(exceeded[1] <= 12, "{length}: {exceeded:?}");
        }
    }

    #[test]
    fn windows_without_a_result_have_a_reason() {
        let with = |slices: &[f64], longest_ns| change(slices, 10, &of([1, 1, longest_ns]));
        assert_eq!(with(&[1.0; SLICES_MIN - 1], 1), Err(NotJudged::FewSlices));
        assert_eq!(with(&[0.0; 20], 1), Err(NotJudged::NothingDone));
        assert_eq!(with(&[f64::NAN; 20], 1), Err(NotJudged::NothingDone));
        assert_eq!(with(&[1.0; 20], 41), Err(NotJudged::LongOperations));
        assert!(with(&[1.0; 20], 40).is_ok_and(|found| found.is_steady));
        assert!(change(&[1.0; 20], 10, &of([])).is_ok());
    }
}
