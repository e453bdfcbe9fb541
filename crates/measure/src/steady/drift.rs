//! The slope rule: how much a run drifts, and how sure that is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::{average, first_or_last, windows};
use crate::line::Line;

/// Batches that a window is divided into. Between 10 and 30 are advised, whatever the length
/// (Schmeiser: Batch Size Effects in the Analysis of Simulation Output, Operations Research 30(3),
/// 1982).
pub const BATCHES: usize = 20;
/// The drift over a window that a steady run may have, as a share of its average: what SNIA allows
/// the line.
pub const DRIFT_MAX: f64 = 0.10;

/// Distances from the line that are this share of the average are rounding, and their correlation
/// means nothing.
const ROUNDING: f64 = 1e-12;

/// The 97.5 % quantiles of Student's t distribution for 1 to 18 degrees of freedom.
const STUDENT: [f64; BATCHES - 2] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101,
];

/// A verdict on a window of slices, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// Whether the whole interval lies within the limit.
    pub is_steady: bool,
    /// The window's first slice, from 0.
    pub begins: usize,
    /// How many slices it has.
    pub window: usize,
    /// The mean of its slices, in their unit.
    pub average: f64,
    /// The rise of the line of least squares over the window, as a share of the average.
    pub drift: f64,
    /// Where its 95 % confidence interval begins and ends; nothing where the slices hang together
    /// too closely to say.
    pub interval: Option<(f64, f64)>,
    /// The correlation of neighbouring batches about the line.
    pub autocorrelation: f64,
    /// How many independent batches those are worth.
    pub batches_effective: f64,
    /// The limit that was asked for, as a share of the average.
    pub limit: f64,
}

/// The verdict on all of these slices as one window: steady is what drifts by at most `limit` of
/// its average over the window, up or down, with a confidence of 95 %. So a short or a noisy window
/// is not steady: it does not tell.
///
/// Slices are not independent: a slow second is followed by another. Neighbours are therefore
/// averaged to [`BATCHES`] batch means, which hang together the less the longer they are (Conway:
/// Some Tactical Problems in Digital Simulation, Management Science 10(1), 1963), and a line is
/// laid through these. With `e` their distances from it, what correlation is left is taken as that
/// of a first-order autoregression, as Santer and others do (Statistical Significance of Trends and
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
/// It is assumed that batch means are about normal and that their correlation has that form;
/// periods longer than the window (a file system's log that is written back every few minutes, seen
/// for one) look like a drift. Fewer than three effective batches give no interval and are not
/// steady.
///
/// Nothing for fewer slices than batches, and where the average is not above 0.
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

/// The verdict on the first window of so many slices that is steady; where none is, on the last
/// that there is a verdict on; nothing where there is none. Who looks often finds by chance what is
/// rare: with a window at every slice, the first steady one of a long run is a place to begin to
/// measure, and no proof. What was measured is judged once more by [`drift`], as a whole.
pub fn drifts(slices: &[f64], window: usize, limit: f64) -> Option<Drift> {
    let verdicts = windows(slices, window).filter_map(|(begins, values)| {
        Some(Drift {
            begins,
            ..drift(values, limit)?
        })
    });
    first_or_last(verdicts, |verdict| verdict.is_steady)
}

/// The middle of each batch, in slices from the first, and its mean. Batches differ by at most one
/// slice in length.
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

/// Nothing for less than one degree of freedom; parts of one are left out, which errs to the wide
/// side.
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

    /// About 100, with normal noise of so much and this correlation of neighbours, drifting by
    /// `drift` over all.
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
    fn a_window_has_the_expected_values() {
        // 100 and one more or less in turns, a slice a batch. About the means: products -10,
        // squares of x 665, of y 20.
        let slices: Vec<f64> = (0..20)
            .map(|slice| if slice % 2 == 0 { 101.0 } else { 99.0 })
            .collect();
        let drift = drift(&slices, DRIFT_MAX).unwrap();
        close(drift.average, 100.0);
        close(drift.drift, -10.0 / 665.0 * 20.0 / 100.0);
        // What is left of y is 20 - 100 / 665; neighbours are opposite, so all 20 batches count,
        // with 18 degrees.
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
    fn batches_take_every_slice() {
        let slices: Vec<f64> = (0..47).map(f64::from).collect();
        let means = batch_means(&slices, BATCHES);
        assert_eq!(means.len(), BATCHES);
        // On a line x + 1/2 every batch mean is half a slice below its middle.
        assert!(
            means
                .iter()
                .all(|(middle, mean)| (middle - mean - 0.5).abs() < 1e-9)
        );
        assert_eq!((means[0], means[19]), ((1.0, 0.5), (45.5, 45.0)));
    }

    #[test]
    fn a_line_drifts_by_what_it_rises() {
        let slices: Vec<f64> = (0..200)
            .map(|slice| 100.0 + 0.05 * f64::from(slice))
            .collect();
        // 10 over the window, of 104.975.
        let found = drift(&slices, DRIFT_MAX).unwrap();
        close(found.drift, 10.0 / 104.975);
        assert!(found.is_steady);
        assert!(drift(&slices, 0.09).is_some_and(|found| !found.is_steady));
    }

    #[test]
    fn a_step_is_no_steady_state_until_it_is_over() {
        let slices: Vec<f64> = (0..400)
            .map(|slice| if slice < 100 { 100.0 } else { 120.0 })
            .collect();
        // The step in the middle: a slope of 1.5 times the step over the window, of 110.
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
        // The deviation of a drift is deviation × sqrt(12 / slices): 1.4 % of 600, 7.7 % of 20.
        assert!(drift(&slices, DRIFT_MAX).is_some_and(|found| found.is_steady));
        let short = drift(&slices[..20], DRIFT_MAX).unwrap();
        assert!(!short.is_steady, "{short:?}");
        // What drifts by twice the limit is never taken for steady, noisy or not.
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
    fn the_interval_holds_the_drift_as_often_as_it_says() {
        let mut noise = Noise::new(7);
        // With 2,000 windows a share of 95 % is found within ±1 % (two deviations). With slices
        // that hang together over ten seconds (correlation 0.9), in batches of 15, a little
        // less.
        for (correlation, least) in [(0.0, 0.94), (0.6, 0.94), (0.9, 0.90)] {
            let held = (0..2_000)
                .filter(|_| {
                    let slices = series(&mut noise, 300, 10.0, correlation, 0.05);
                    let (low, high) = drift(&slices, DRIFT_MAX)
                        .unwrap()
                        .interval
                        .unwrap_or((-1.0, 1.0));
                    // The noise moves the average, too, by far less than the drift's interval.
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
    fn what_hangs_together_too_closely_is_not_steady() {
        // One slow wave over the window: flat in the mean, and no telling.
        let wave: Vec<f64> = (0..200)
            .map(|slice| 100.0 + (std::f64::consts::TAU * f64::from(slice) / 200.0).cos())
            .collect();
        let found = drift(&wave, DRIFT_MAX).unwrap();
        assert!(!found.is_steady && found.interval.is_none(), "{found:?}");
        assert!(found.batches_effective < 3.0);
    }

    #[test]
    fn windows_without_a_positive_mean_are_not_judged() {
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
