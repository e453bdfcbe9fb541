//! Means, intervals and tests of samples of log ratios. `docs/reference/comparisons.md` contains
//! the formulas and sources.

pub use record::{Middle, mean, standard_deviation};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// Default error of a table: with a probability of 95 %, all of its intervals contain the true
/// ratios.
pub const ALPHA: f64 = 0.05;

/// Minimum number of blocks, or of runs of each configuration, for an interval.
pub const BLOCKS_MIN: u32 = 5;

/// Statistical power: the probability that an existing difference is shown. The reported number of
/// needed blocks has this power.
pub const POWER: f64 = 0.8;

/// Maximum number of blocks of a study. A larger number is not reported as needed.
pub const BLOCKS_MAX: u32 = 10_000;

/// An estimated mean whose error has a Student's t distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub mean: f64,
    pub standard_error: f64,
    pub degrees: f64,
}

impl Mean {
    /// The mean of independent samples; `None` for fewer than two samples, which have no standard
    /// deviation.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let spread = standard_deviation(samples)?;
        let count = samples.len() as f64;
        Some(Self {
            mean: mean(samples),
            standard_error: spread / count.sqrt(),
            degrees: count - 1.0,
        })
    }

    /// The difference between the means of `samples` and `others`, which are independent and whose
    /// variances may differ (Welch 1947). `None` if `samples` or `others` contains fewer than two
    /// values.
    pub fn of_difference(samples: &[f64], others: &[f64]) -> Option<Self> {
        let (one, other) = (Self::of(samples)?, Self::of(others)?);
        let (one_squared, other_squared) =
            (one.standard_error.powi(2), other.standard_error.powi(2));
        let sum = one_squared + other_squared;
        let degrees = if sum > 0.0 {
            sum.powi(2)
                / (one_squared.powi(2) / one.degrees + other_squared.powi(2) / other.degrees)
        } else {
            one.degrees + other.degrees
        };
        Some(Self {
            mean: one.mean - other.mean,
            standard_error: sum.sqrt(),
            degrees,
        })
    }

    /// Two-sided confidence interval of the true mean, with a confidence of 1 - `alpha`.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = student_quantile(1.0 - alpha / 2.0, self.degrees) * self.standard_error;
        (self.mean - half, self.mean + half)
    }

    /// Lower confidence bound of the true mean, with a confidence of 1 - `alpha`.
    pub fn lower_bound(&self, alpha: f64) -> f64 {
        self.mean - student_quantile(1.0 - alpha, self.degrees) * self.standard_error
    }

    /// Probability of a mean at least as far from 0 as this one, if the true mean is 0.
    pub fn p_of_zero(&self) -> f64 {
        let below = |mean: f64| Self { mean, ..*self }.p_below(0.0);
        (2.0 * below(-self.mean.abs())).min(1.0)
    }

    /// Probability of a mean at most as high as this one, if the true mean is `at_least`. A small
    /// probability is evidence that the true mean is lower.
    pub fn p_below(&self, at_least: f64) -> f64 {
        let distance = self.mean - at_least;
        if self.standard_error == 0.0 {
            return if distance < 0.0 { 0.0 } else { 1.0 };
        }
        student(self.degrees).map_or(1.0, |student| student.cdf(distance / self.standard_error))
    }
}

pub fn student_quantile(probability: f64, degrees: f64) -> f64 {
    student(degrees).map_or(f64::INFINITY, |student| student.inverse_cdf(probability))
}

fn student(degrees: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees).ok()
}

/// Probability that a standard normal variable is at most `value`.
pub(crate) fn normal_distribution(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// Error probabilities of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// One-sided probability of showing a difference that does not exist.
    pub false_alarm: f64,
    /// Probability of not showing a difference that exists.
    pub miss: f64,
}

impl Errors {
    /// The error probabilities of one end of a two-sided interval whose false alarms have the
    /// probability `alpha`, with the usual [`POWER`].
    pub fn of_interval(alpha: f64) -> Self {
        Self {
            false_alarm: alpha / 2.0,
            miss: 1.0 - POWER,
        }
    }

    /// Minimum difference, in standard errors, that is shown with these error probabilities.
    fn standard_errors(self, degrees: f64) -> f64 {
        student_quantile(1.0 - self.false_alarm, degrees)
            + student_quantile(1.0 - self.miss, degrees)
    }

    /// The smallest difference of means that is shown with these error probabilities, if the
    /// standard error of the difference is `standard_error`.
    pub fn smallest_detectable(self, standard_error: f64, degrees: f64) -> f64 {
        self.standard_errors(degrees) * standard_error
    }

    /// Minimum number of blocks that show a difference, if the samples have the standard deviation
    /// `spread`. `None` if [`BLOCKS_MAX`] blocks do not suffice, or if the difference is 0.
    pub fn blocks_needed(self, difference: f64, spread: f64) -> Option<u32> {
        let shows = |blocks: u32| {
            let count = f64::from(blocks);
            self.smallest_detectable(spread / count.sqrt(), count - 1.0) <= difference.abs()
        };
        // The search starts at the number of blocks that the normal distribution requires.
        // Student's t never requires fewer, because its quantiles are greater.
        let standard_errors =
            normal_quantile(1.0 - self.false_alarm) + normal_quantile(1.0 - self.miss);
        let least = (standard_errors * spread / difference.abs()).powi(2).ceil();
        if difference == 0.0 || !least.is_finite() || least > f64::from(BLOCKS_MAX) {
            return None;
        }
        // The cast is exact: a whole number within the range of `u32`.
        let least = (least as u32).max(BLOCKS_MIN);
        (least..=BLOCKS_MAX).find(|blocks| shows(*blocks))
    }
}

/// Minimum number of blocks with which a one-sided confidence bound is at most `half_width` away
/// from the mean. The bound has the error `alpha`, and the samples have the standard deviation
/// `spread`. `None` if [`BLOCKS_MAX`] blocks do not suffice.
pub(crate) fn blocks_of_half_width(half_width: f64, spread: f64, alpha: f64) -> Option<u32> {
    let errors = Errors {
        false_alarm: alpha,
        // The normal quantile for a miss probability of 50 % is 0, so only that of the false alarm
        // counts.
        miss: 0.5,
    };
    errors.blocks_needed(half_width, spread)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatedDeviation {
    pub deviation: f64,
    /// Degrees of freedom of the estimate; infinite if the true standard deviation is known.
    pub degrees: f64,
}

impl EstimatedDeviation {
    /// Minimum number of samples for a precise lower confidence bound of a mean. With a probability
    /// of 1 - `miss`, the bound (with error `false_pass`) is then within `margin` of the true mean.
    /// `None` if [`BLOCKS_MAX`] are too few.
    ///
    /// The true standard deviation may exceed the estimate, so the probability is averaged over the
    /// distribution of the estimate. The result is that of a noncentral t distribution.
    pub fn samples_needed(self, margin: f64, false_pass: f64, miss: f64) -> Option<u32> {
        if self.deviation == 0.0 {
            return Some(BLOCKS_MIN);
        }
        let weights = deviation_weights(self.degrees);
        let is_enough = |samples: u32| {
            let count = f64::from(samples);
            let standard_errors = margin * count.sqrt() / self.deviation;
            let bound = student_quantile(1.0 - false_pass, count - 1.0);
            let normal = Normal::standard();
            let within = |(true_ones, weight): &(f64, f64)| {
                weight * normal.cdf(standard_errors * true_ones - bound)
            };
            weights.iter().map(within).sum::<f64>() >= 1.0 - miss
        };
        let (mut too_few, mut enough) = (BLOCKS_MIN - 1, BLOCKS_MIN);
        while !is_enough(enough) {
            if enough == BLOCKS_MAX {
                return None;
            }
            (too_few, enough) = (enough, (2 * enough).min(BLOCKS_MAX));
        }
        while enough - too_few > 1 {
            let middle = u32::midpoint(too_few, enough);
            if is_enough(middle) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        Some(enough)
    }
}

/// Power of a one-sided Student's t test with error `alpha`, if the true mean is `standard_errors`
/// standard errors beyond the tested value.
pub fn power(standard_errors: f64, alpha: f64, degrees: f64) -> f64 {
    let (bound, normal) = (student_quantile(1.0 - alpha, degrees), Normal::standard());
    let rejected =
        |(estimated, weight): &(f64, f64)| weight * normal.cdf(standard_errors - bound * estimated);
    deviation_weights(degrees).iter().map(rejected).sum()
}

/// Distribution of an estimated standard deviation, divided by the true one: values with their
/// weights, as points for Simpson's rule. It is the distribution of the square root of chi-square
/// divided by its degrees of freedom.
fn deviation_weights(degrees: f64) -> Vec<(f64, f64)> {
    /// Simpson's rule requires an even number of intervals.
    const INTERVALS: u32 = 40;
    /// Distance of the first and the last point from 1, in standard deviations. The weights of
    /// points beyond this distance are negligible.
    const DEVIATIONS: f64 = 6.0;
    let half = degrees / 2.0;
    if !half.is_finite() {
        return vec![(1.0, 1.0)];
    }
    let reach = DEVIATIONS / (2.0 * degrees).sqrt();
    let (first, last) = ((1.0 - reach).max(1e-9), 1.0 + reach);
    let width = (last - first) / f64::from(INTERVALS);
    let constant = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    let density = |at: f64| (constant + (degrees - 1.0) * at.ln() - half * at * at).exp();
    let point = |place: u32| {
        let at = first + f64::from(place) * width;
        let factor = match place {
            0 | INTERVALS => 1.0,
            place if place % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (at, density(at) * factor * width / 3.0)
    };
    (0..=INTERVALS).map(point).collect()
}
