//! Means, intervals and tests of samples of log ratios. `docs/specification.md`, "Comparisons", has
//! the formulas and sources.

pub use record::Middle;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// The error of a table where nothing else is asked for: its intervals all hold with 95 %.
pub const ALPHA: f64 = 0.05;

/// So many blocks, or runs of each side, does an interval need at least.
pub const BLOCKS_MIN: u32 = 5;

/// A difference that exists is shown with this probability, where so many blocks are asked for that
/// it is.
pub const POWER: f64 = 0.8;

/// More blocks are asked of nobody, and no study has more.
pub const BLOCKS_MAX: u32 = 10_000;

/// A mean with what its uncertainty is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The arithmetic mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
}

impl Mean {
    /// Of independent samples; nothing of fewer than two, which have no spread.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let spread = standard_deviation(samples)?;
        let count = samples.len() as f64;
        Some(Self {
            mean: mean(samples),
            standard_error: spread / count.sqrt(),
            degrees: count - 1.0,
        })
    }

    /// Of the difference of two means of independent samples whose variances may differ (Welch
    /// 1947); nothing where one of them has fewer than two.
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

    /// The interval that has the true mean with the probability 1 - `alpha`, half of which lies
    /// beyond each end.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = student_quantile(1.0 - alpha / 2.0, self.degrees) * self.standard_error;
        (self.mean - half, self.mean + half)
    }

    /// The true mean lies above it with the probability 1 - `alpha`.
    pub fn lower_bound(&self, alpha: f64) -> f64 {
        self.mean - student_quantile(1.0 - alpha, self.degrees) * self.standard_error
    }

    /// The probability of a mean as far from 0 as this one, or farther, where the true one is 0.
    pub fn p_of_zero(&self) -> f64 {
        let below = |mean: f64| Self { mean, ..*self }.p_below(0.0);
        (2.0 * below(-self.mean.abs())).min(1.0)
    }

    /// The probability of a mean as low as this one, or lower, where the true one is `at_least`:
    /// small where it is not.
    pub fn p_below(&self, at_least: f64) -> f64 {
        let distance = self.mean - at_least;
        if self.standard_error == 0.0 {
            return if distance < 0.0 { 0.0 } else { 1.0 };
        }
        student(self.degrees).map_or(1.0, |student| student.cdf(distance / self.standard_error))
    }
}

/// The arithmetic mean; 0 of nothing.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len().max(1) as f64
}

/// Of a sample, with one degree of freedom gone; nothing of fewer than two.
pub fn standard_deviation(samples: &[f64]) -> Option<f64> {
    if samples.len() < 2 {
        return None;
    }
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    Some((squares / (samples.len() - 1) as f64).sqrt())
}

/// The value below which Student's t lies with this probability.
pub fn student_quantile(probability: f64, degrees: f64) -> f64 {
    student(degrees).map_or(f64::INFINITY, |student| student.inverse_cdf(probability))
}

fn student(degrees: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees).ok()
}

/// The value below which the standard normal distribution lies with this probability.
fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// Error probabilities on the two sides of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// That something is shown that is not there, on one side.
    pub false_alarm: f64,
    /// That something is not shown that is there.
    pub miss: f64,
}

impl Errors {
    /// Of an interval with error `alpha` on both sides, with the usual [`POWER`].
    pub fn of_interval(alpha: f64) -> Self {
        Self {
            false_alarm: alpha / 2.0,
            miss: 1.0 - POWER,
        }
    }

    /// How many standard errors a difference must have to be shown with these errors.
    fn standard_errors(self, degrees: f64) -> f64 {
        student_quantile(1.0 - self.false_alarm, degrees)
            + student_quantile(1.0 - self.miss, degrees)
    }

    /// The smallest difference of means of so many samples that is shown with these errors, where
    /// they have this standard error.
    pub fn smallest_shown(self, standard_error: f64, degrees: f64) -> f64 {
        self.standard_errors(degrees) * standard_error
    }

    /// How many samples of this standard deviation show a difference; nothing where [`BLOCKS_MAX`]
    /// do not, or there is no difference.
    pub fn blocks_needed(self, difference: f64, spread: f64) -> Option<u32> {
        let shows = |blocks: u32| {
            let count = f64::from(blocks);
            self.smallest_shown(spread / count.sqrt(), count - 1.0) <= difference.abs()
        };
        // Quantiles of Student's t are farther out than those of the normal distribution: fewer
        // than that are never enough.
        let standard_errors =
            normal_quantile(1.0 - self.false_alarm) + normal_quantile(1.0 - self.miss);
        let least = (standard_errors * spread / difference.abs()).powi(2).ceil();
        if difference == 0.0 || !least.is_finite() || least > f64::from(BLOCKS_MAX) {
            return None;
        }
        // It is a whole number within range.
        let least = (least as u32).max(BLOCKS_MIN);
        (least..=BLOCKS_MAX).find(|blocks| shows(*blocks))
    }
}

/// A standard deviation that was estimated from samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatedDeviation {
    /// The estimate.
    pub deviation: f64,
    /// Its degrees of freedom; infinite where the true one is known.
    pub degrees: f64,
}

impl EstimatedDeviation {
    /// The least number of samples with which the lower bound of a mean, of which `false_pass` lies
    /// beyond, is within `margin` of the true mean with the probability 1 - `miss`. Nothing
    /// where [`BLOCKS_MAX`] are too few.
    ///
    /// The true standard deviation may be larger than the estimate. The probability therefore
    /// includes how the estimate varies: it is that of a noncentral t, whose noncentrality is
    /// the quantile of the bound.
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

/// The probability that a one-sided test of Student's with the error `alpha` rejects, where the
/// true mean lies so many standard errors beyond what is tested.
pub fn power(standard_errors: f64, alpha: f64, degrees: f64) -> f64 {
    let (bound, normal) = (student_quantile(1.0 - alpha, degrees), Normal::standard());
    let rejected =
        |(estimated, weight): &(f64, f64)| weight * normal.cdf(standard_errors - bound * estimated);
    deviation_weights(degrees).iter().map(rejected).sum()
}

/// What an estimated standard deviation may be over the true one, each with its probability: the
/// root of chi-square over its degrees of freedom, as points for Simpson's rule.
fn deviation_weights(degrees: f64) -> Vec<(f64, f64)> {
    /// Simpson's rule has an even number of intervals.
    const INTERVALS: u32 = 40;
    /// Beyond so many standard deviations there is nothing left to add.
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
