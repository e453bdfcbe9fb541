//! The noise of a series of measurements: outliers, the spread of a run, and the correlation of
//! each run with the previous one. All estimates use differences of neighbours, so that changes of
//! the level hardly affect them.

/// Number of runs whose median is the level around a run: the run itself and its nearest
/// neighbours. A step remains sharp, and up to three neighbouring outliers have no influence.
const MEDIAN_RUNS: usize = 7;
/// A value farther than this from the level around it is moved to this distance, in robust standard
/// deviations. With two outliers in succession, the change statistic is then at most 3 √2.
const CLIP_DEVIATIONS: f64 = 3.0;
/// Ratio of the standard deviation of a normal distribution to its median absolute deviation.
const DEVIATION_OF_MEDIAN: f64 = 1.482_602_218_505_602;
/// Ratio of the standard deviation of a normal distribution to its mean absolute deviation: √(π/2).
const DEVIATION_OF_MEAN: f64 = 1.253_314_137_315_500_3;
/// Differences beyond this number of robust standard deviations are steps or outliers. The noise is
/// estimated without them.
const TRIM_DEVIATIONS: f64 = 3.0;
/// Variance of a normal distribution that is cut at [`TRIM_DEVIATIONS`], relative to the whole.
const TRIMMED_VARIANCE: f64 = 0.973_337;
/// Maximum correlation of neighbours; a higher estimate cannot be distinguished from a drift.
const CORRELATION_MAX: f64 = 0.9;
/// Weight of the assumption that runs are independent, in runs. The estimate of a correlation from
/// n independent runs has the variance 2 / n, so that ten runs often seem strongly correlated. With
/// a normal prior of mean 0 and variance 1 / 5, the expected correlation is the estimate times
/// n / (n + 10).
const INDEPENDENT_RUNS: f64 = 10.0;

/// Noise of a series of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesNoise {
    /// Standard deviation of a single run around its level.
    pub deviation: f64,
    /// Correlation of each run with the previous one, from 0 to 0.9. Negative estimates count as 0.
    pub correlation: f64,
}

impl SeriesNoise {
    /// Estimates the noise of runs in parts of constant level, from differences within the parts:
    /// a difference across a change of the level would count as noise and as correlation. With D1
    /// and D2, the mean squares of the differences between runs one and two places apart, a
    /// first-order autoregressive series has D1 = 2σ²(1 − ρ) and D2 = 2σ²(1 − ρ²), so
    /// ρ = D2 / D1 − 1. [`INDEPENDENT_RUNS`] then moves the estimate towards 0.
    pub fn of(parts: &[&[f64]]) -> Self {
        let (near, far) = (mean_square(parts, 1), mean_square(parts, 2));
        let runs: usize = parts.iter().map(|part| part.len()).sum();
        let trust = runs as f64 / (runs as f64 + INDEPENDENT_RUNS);
        let correlation = match near > 0.0 {
            true => trust * (far / near - 1.0).clamp(0.0, CORRELATION_MAX),
            false => 0.0,
        };
        Self {
            deviation: (near / 2.0 / (1.0 - correlation)).sqrt(),
            correlation,
        }
    }

    /// Factor of the variance of a mean of many runs, compared with independent runs:
    /// (1 + ρ) / (1 − ρ).
    pub fn variance_factor(&self) -> f64 {
        (1.0 + self.correlation) / (1.0 - self.correlation)
    }

    /// Standard deviation of a mean of many runs, multiplied by the square root of their number.
    pub fn long_run_deviation(&self) -> f64 {
        self.deviation * self.variance_factor().sqrt()
    }
}

/// Mean square of the differences between values `distance` places apart in one part, without
/// steps and outliers. If most differences are 0, the mean square includes all differences.
fn mean_square(parts: &[&[f64]], distance: usize) -> f64 {
    let pairs = parts
        .iter()
        .flat_map(|part| part.iter().zip(part.iter().skip(distance)));
    let mut differences: Vec<f64> = pairs.map(|(one, other)| (other - one).abs()).collect();
    let median = median(&mut differences);
    let (limit, variance) = match median > 0.0 {
        true => (
            TRIM_DEVIATIONS * DEVIATION_OF_MEDIAN * median,
            TRIMMED_VARIANCE,
        ),
        false => (f64::INFINITY, 1.0),
    };
    let (mut sum, mut count) = (0.0, 0_u32);
    for difference in differences {
        if difference <= limit {
            sum += difference * difference;
            count += 1;
        }
    }
    match count {
        0 => 0.0,
        count => sum / f64::from(count) / variance,
    }
}

/// Standard deviation of normal differences with these absolute values, hardly affected by steps
/// and outliers. Changes the order of the values. If most differences are 0, so is the median, and
/// the result is derived from the mean.
fn robust_deviation(differences: &mut [f64]) -> f64 {
    let median = median(differences);
    if median > 0.0 || differences.is_empty() {
        return DEVIATION_OF_MEDIAN * median;
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    DEVIATION_OF_MEAN * mean
}

/// Moves outliers towards the level around them: the median of the nearest runs. The result has the
/// same steps and the same noise as the series.
pub fn without_outliers(values: &[f64]) -> Vec<f64> {
    let mut differences: Vec<f64> = values
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .collect();
    let deviation = robust_deviation(&mut differences) / std::f64::consts::SQRT_2;
    let reach = CLIP_DEVIATIONS * deviation;
    let last = values.len().saturating_sub(MEDIAN_RUNS);
    let clipped = values.iter().enumerate().map(|(place, value)| {
        let from = place.saturating_sub(MEDIAN_RUNS / 2).min(last);
        let mut nearest = values[from..(from + MEDIAN_RUNS).min(values.len())].to_vec();
        let level = median(&mut nearest);
        level + (value - level).clamp(-reach, reach)
    });
    clipped.collect()
}

/// The median; 0 without values. Changes the order of the values.
fn median(values: &mut [f64]) -> f64 {
    let (count, middle) = (values.len(), values.len() / 2);
    if count == 0 {
        return 0.0;
    }
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    match count % 2 {
        1 => *upper,
        _ => {
            let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            f64::midpoint(lower, *upper)
        }
    }
}
