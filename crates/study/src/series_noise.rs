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
/// Differences beyond this number of robust standard deviations are steps or outliers. The noise is
/// estimated without them.
const TRIM_DEVIATIONS: f64 = 3.0;
/// Variance of a normal distribution that is cut at [`TRIM_DEVIATIONS`], relative to the whole.
const TRIMMED_VARIANCE: f64 = 0.973_337;
/// Maximum correlation of neighbours; a higher estimate cannot be distinguished from a drift.
const CORRELATION_MAX: f64 = 0.9;

/// Noise of a series of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesNoise {
    /// Standard deviation of a single run around its level.
    pub deviation: f64,
    /// Correlation of each run with the previous one, from 0 to 0.9. Negative estimates count as 0.
    pub correlation: f64,
}

impl SeriesNoise {
    /// Estimates the noise. With D1 and D2, the mean squares of the differences between runs one
    /// and two places apart, a first-order autoregressive series has D1 = 2σ²(1 − ρ) and
    /// D2 = 2σ²(1 − ρ²), so ρ = D2 / D1 − 1.
    pub fn of(values: &[f64]) -> Self {
        let (near, far) = (mean_square(values, 1), mean_square(values, 2));
        let correlation = match near > 0.0 {
            true => (far / near - 1.0).clamp(0.0, CORRELATION_MAX),
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

/// Mean square of the differences between values `distance` places apart, without steps and
/// outliers.
fn mean_square(values: &[f64], distance: usize) -> f64 {
    let pairs = values.iter().zip(values.iter().skip(distance));
    let differences: Vec<f64> = pairs.map(|(one, other)| (other - one).abs()).collect();
    let limit = TRIM_DEVIATIONS * DEVIATION_OF_MEDIAN * median(&differences);
    let (mut sum, mut count) = (0.0, 0_u32);
    for difference in differences {
        if difference <= limit {
            sum += difference * difference;
            count += 1;
        }
    }
    match count {
        0 => 0.0,
        count => sum / f64::from(count) / TRIMMED_VARIANCE,
    }
}

/// Moves outliers towards the level around them: the median of the nearest runs. The result has the
/// same steps and the same noise as the series.
pub fn without_outliers(values: &[f64]) -> Vec<f64> {
    let differences: Vec<f64> = values
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .collect();
    let deviation = DEVIATION_OF_MEDIAN * median(&differences) / std::f64::consts::SQRT_2;
    let reach = CLIP_DEVIATIONS * deviation;
    let last = values.len().saturating_sub(MEDIAN_RUNS);
    let clipped = values.iter().enumerate().map(|(place, value)| {
        let from = place.saturating_sub(MEDIAN_RUNS / 2).min(last);
        let level = median(&values[from..(from + MEDIAN_RUNS).min(values.len())]);
        level + (value - level).clamp(-reach, reach)
    });
    clipped.collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    if sorted.is_empty() {
        return 0.0;
    }
    let middle = sorted.len() / 2;
    let (below, upper, _) = sorted.select_nth_unstable_by(middle, f64::total_cmp);
    match values.len() % 2 {
        1 => *upper,
        _ => {
            let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            f64::midpoint(lower, *upper)
        }
    }
}
