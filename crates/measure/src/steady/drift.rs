//! The slope rule: the drift of a run and its confidence interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::{average, first_or_last, windows};
use crate::line::Line;

/// The number of batches that a window is divided into. Numbers between 10 and 30 are recommended
/// for any length (Schmeiser: Batch Size Effects in the Analysis of Simulation Output, Operations
/// Research 30(3), 1982).
pub const BATCHES: usize = 20;
/// The largest drift of a steady run over a window, as a fraction of the window's average. This is
/// also SNIA's limit for the slope excursion.
pub const DRIFT_MAX: f64 = 0.10;

/// Residuals below this fraction of the average are rounding errors, so their correlation is
/// ignored.
const ROUNDING: f64 = 1e-12;

/// The 97.5 % quantiles of Student's t distribution for 1 to 18 degrees of freedom.
const STUDENT: [f64; BATCHES - 2] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101,
];

/// The drift of a window of slices, and whether the window is steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// Whether the confidence interval of the drift is completely within the limit.
    pub is_steady: bool,
    /// The window's first slice, from 0.
    pub begins: usize,
    /// The number of slices in the window.
    pub window: usize,
    /// The mean of the window's slices, in the unit of the slices.
    pub average: f64,
    /// The rise of the least-squares line over the window, as a fraction of the average.
    pub drift: f64,
    /// The 95 % confidence interval of the drift; null if the slices are too strongly correlated.
    pub interval: Option<(f64, f64)>,
    /// The correlation of the residuals of neighbouring batches.
    pub autocorrelation: f64,
    /// The number of independent batches that would give the precision of these correlated batches.
    pub batches_effective: f64,
    /// The requested limit for the drift, as a fraction of the average.
    pub limit: f64,
}

/// Judges all slices as one window. The window is steady if it drifts up or down by at most `limit`
/// of its average, with a confidence of 95 %. So a short or noisy window is not steady, because it
/// does not allow a conclusion.
///
/// Slices are not independent: a slow second often follows another. Neighbours are therefore
/// averaged to [`BATCHES`] batch means, whose correlation decreases with the length of the batches
/// (Conway: Some Tactical Problems in Digital Simulation, Management Science 10(1), 1963). A line
/// is fitted to the batch means, with residuals `e`. The remaining correlation is treated as that
/// of a first-order autoregression, as by Santer and others (Statistical Significance of Trends and
/// Trend Differences in Layer-Average Atmospheric Temperature Time Series, Journal of Geophysical
/// Research 105(D6), 2000):
///
/// ```text
/// r        = max(0, sum(e[i] e[i+1]) / sum(e[i]^2))
/// n        = 20 (1 - r) / (1 + r)
/// s        = sqrt(sum(e[i]^2) / (n - 2) / sum((x[i] - mean(x))^2))
/// interval = (slope ± t(97.5 %, floor(n - 2)) s) × slices / average
/// ```
///
/// The rule assumes that batch means are approximately normal and that their correlation has this
/// form. Periods longer than the window look like a drift. An example is a file system that writes
/// back its log every few minutes, if only one write-back is in the window. A window with fewer
/// than three effective batches has no interval and is not steady.
///
/// Returns `None` for fewer slices than batches, or if the average is not above 0.
pub fn drift(slices: &[f64], limit: f64) -> Option<Drift> {
    let average = average(slices)?;
    if slices.len() < BATCHES {
        return None;
    }
    let means = batch_means(slices, BATCHES);
    let line = Line::through(&means)?;
    let residuals: Vec<f64> = means.iter().map(|mean| line.residual(*mean)).collect();
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let autocorrelation = if squares > BATCHES as f64 * (ROUNDING * average).powi(2) {
        products / squares
    } else {
        0.0
    };
    let kept = autocorrelation.max(0.0);
    let batches_effective = BATCHES as f64 * (1.0 - kept) / (1.0 + kept);
    let share = slices.len() as f64 / average;
    let interval = student(batches_effective - 2.0).map(|t| {
        let error = (squares / (batches_effective - 2.0) / line.squares_x).sqrt();
        (
            (line.slope - t * error) * share,
            (line.slope + t * error) * share,
        )
    });
    Some(Drift {
        is_steady: interval.is_some_and(|(low, high)| -limit <= low && high <= limit),
        begins: 0,
        window: slices.len(),
        average,
        drift: line.slope * share,
        interval,
        autocorrelation,
        batches_effective,
        limit,
    })
}

/// Returns the result of [`drift`] for the first steady window of `window` slices, or for the last
/// window if none is steady. Returns `None` if no window can be judged.
///
/// A window starts at every slice, and among many windows some seem steady by chance. So the first
/// steady window of a long run is a point to start the measurement, but no proof of a steady state.
/// [`drift`] then tests the measured slices as one window.
pub fn drifts(slices: &[f64], window: usize, limit: f64) -> Option<Drift> {
    let verdicts = windows(slices, window).filter_map(|(begins, values)| {
        Some(Drift {
            begins,
            ..drift(values, limit)?
        })
    });
    first_or_last(verdicts, |verdict| verdict.is_steady)
}

/// Returns for each batch its middle, as a number of slices from the start, and its mean. The
/// lengths of batches differ by at most one slice.
pub(super) fn batch_means(slices: &[f64], batches: usize) -> Vec<(f64, f64)> {
    (0..batches)
        .map(|batch| {
            let from = batch * slices.len() / batches;
            let to = (batch + 1) * slices.len() / batches;
            let mean = slices[from..to].iter().sum::<f64>() / (to - from) as f64;
            ((from + to) as f64 / 2.0, mean)
        })
        .collect()
}

/// Returns the 97.5 % quantile of Student's t distribution. The degrees of freedom are rounded
/// down, so that the interval is slightly too wide rather than too narrow. Returns `None` below one
/// degree.
fn student(degrees: f64) -> Option<f64> {
    let whole = if degrees >= 1.0 {
        degrees as usize
    } else {
        return None;
    };
    STUDENT.get(whole.min(STUDENT.len()) - 1).copied()
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

    /// Returns slices with the mean 100 and a total drift of `drift`. Their noise is normal, with
    /// the standard deviation `deviation` and the given correlation of neighbours.
    fn series(
        noise: &mut Noise,
        length: u32,
        deviation: f64,
        correlation: f64,
        drift: f64,
    ) -> Vec<f64> {
        let fresh = (1.0 - correlation * correlation).sqrt();
        let mut last = noise.normal();
        (0..length)
            .map(|slice| {
                last = correlation * last + fresh * noise.normal();
                100.0
                    + deviation * last
                    + 100.0 * drift * (f64::from(slice) / f64::from(length) - 0.5)
            })
            .collect()
    }

    #[test]
    fn alternating_slices_have_the_computed_drift_and_interval() {
        // The values (y) of the slices (x) alternate between 101 and 99, with one slice per batch.
        // For the deviations from the means, the products add up to -10, the squares of x to 665,
        // and those of y to 20.
        let slices: Vec<f64> = (0..20)
            .map(|slice| if slice % 2 == 0 { 101.0 } else { 99.0 })
            .collect();
        let drift = drift(&slices, DRIFT_MAX).unwrap();
        close(drift.average, 100.0);
        close(drift.drift, -10.0 / 665.0 * 20.0 / 100.0);
        // The squares of the residuals add up to 20 - 100 / 665. Neighbours differ in sign, so all
        // 20 batches count as independent, with 18 degrees of freedom.
        assert!(drift.autocorrelation < -0.9);
        close(drift.batches_effective, 20.0);
        let half = 2.101 * ((20.0_f64 - 100.0 / 665.0) / 18.0 / 665.0).sqrt() * 20.0 / 100.0;
        let (low, high) = drift.interval.unwrap();
        close(low, drift.drift - half);
        close(high, drift.drift + half);
        close(half, 0.017_111_3);
        assert!(drift.is_steady);
    }

    #[test]
    fn batches_include_every_slice() {
        let slices: Vec<f64> = (0..47).map(f64::from).collect();
        let means = batch_means(&slices, BATCHES);
        assert_eq!(means.len(), BATCHES);
        // Slice i has the value i and its middle at i + 1/2, so every batch mean is 1/2 below the
        // middle of the batch.
        assert!(
            means
                .iter()
                .all(|(middle, mean)| (middle - mean - 0.5).abs() < 1e-9)
        );
        assert_eq!((means[0], means[19]), ((1.0, 0.5), (45.5, 45.0)));
    }

    #[test]
    fn the_drift_of_a_line_is_its_rise() {
        let slices: Vec<f64> = (0..200)
            .map(|slice| 100.0 + 0.05 * f64::from(slice))
            .collect();
        // The line rises by 10 over the window, relative to the average 104.975.
        let found = drift(&slices, DRIFT_MAX).unwrap();
        close(found.drift, 10.0 / 104.975);
        assert!(found.is_steady);
        assert!(drift(&slices, 0.09).is_some_and(|found| !found.is_steady));
    }

    #[test]
    fn a_step_is_not_steady_until_it_has_passed() {
        let slices: Vec<f64> = (0..400)
            .map(|slice| if slice < 100 { 100.0 } else { 120.0 })
            .collect();
        // The step of 20 is in the middle of the first 200 slices. The slope times the window is
        // 1.5 times the step: 30. The drift is 30 divided by the average, 110.
        let middle = drift(&slices[..200], DRIFT_MAX).unwrap();
        assert!(!middle.is_steady);
        assert!((middle.drift - 30.0 / 110.0).abs() < 0.01, "{middle:?}");
        let found = drifts(&slices, 200, DRIFT_MAX).unwrap();
        assert!(
            found.is_steady && (90..=100).contains(&found.begins),
            "{found:?}"
        );
    }

    #[test]
    fn noise_is_steady_when_the_window_is_long_enough() {
        let mut noise = Noise::new(5);
        let slices = series(&mut noise, 600, 10.0, 0.0, 0.0);
        // The standard error of the drift is deviation × sqrt(12 / slices): 1.4 % for 600 slices,
        // 7.7 % for 20.
        assert!(drift(&slices, DRIFT_MAX).is_some_and(|found| found.is_steady));
        let short = drift(&slices[..20], DRIFT_MAX).unwrap();
        assert!(!short.is_steady, "{short:?}");
        // A series that drifts by twice the limit must never be steady, even with noise.
        for _ in 0..200 {
            let slices = series(&mut noise, 600, 10.0, 0.5, 0.2);
            assert!(drift(&slices, DRIFT_MAX).is_some_and(|found| !found.is_steady));
            assert_eq!(
                drifts(&slices, 600, DRIFT_MAX).map(|found| found.is_steady),
                Some(false)
            );
        }
    }

    #[test]
    fn confidence_interval_contains_the_true_drift_at_the_stated_rate() {
        let mut noise = Noise::new(7);
        // 2,000 windows measure a coverage of 95 % with an error of ±1 % (two standard deviations).
        // With the correlation 0.9, slices are correlated over about ten seconds, and a batch is
        // only 15 slices long. The coverage is then slightly lower.
        for (correlation, least) in [(0.0, 0.94), (0.6, 0.94), (0.9, 0.90)] {
            let held = (0..2_000)
                .filter(|_| {
                    let slices = series(&mut noise, 300, 10.0, correlation, 0.05);
                    let (low, high) = drift(&slices, DRIFT_MAX)
                        .unwrap()
                        .interval
                        .unwrap_or((-1.0, 1.0));
                    // Noise also changes the average and thus the true drift of 5 %, but only
                    // slightly.
                    low <= 0.05 && 0.05 <= high
                })
                .count() as f64
                / 2_000.0;
            println!("correlation {correlation}: {held}");
            assert!(
                (least..=0.99).contains(&held),
                "correlation {correlation}: {held}"
            );
        }
    }

    #[test]
    fn strongly_correlated_slices_are_not_steady() {
        // The slices form one slow wave over the window. The fitted line is flat, but the residuals
        // are too correlated for a conclusion.
        let wave: Vec<f64> = (0..200)
            .map(|slice| 100.0 + (std::f64::consts::TAU * f64::from(slice) / 200.0).cos())
            .collect();
        let found = drift(&wave, DRIFT_MAX).unwrap();
        assert!(!found.is_steady && found.interval.is_none(), "{found:?}");
        assert!(found.batches_effective < 3.0);
    }

    #[test]
    fn windows_without_a_positive_mean_have_no_drift() {
        assert_eq!(drift(&[1.0; BATCHES - 1], DRIFT_MAX), None);
        assert_eq!(drift(&[0.0; 100], DRIFT_MAX), None);
        assert_eq!(drift(&[f64::NAN; 100], DRIFT_MAX), None);
        assert_eq!(drifts(&[1.0; 100], 101, DRIFT_MAX), None);
        assert!(
            drift(&[1.0; BATCHES], 0.0)
                .is_some_and(|found| found.is_steady && found.interval == Some((0.0, 0.0)))
        );
    }
}
