//! Distributions of file sizes, with their means and limits.

mod normal;
pub mod sampler;
pub mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;

/// The largest size of a new file: 1 GiB.
pub const SIZE_MAX_BYTES: u64 = 1 << 30;
pub const BINS_MAX: usize = 1 << 16;
/// The largest standard deviation of the logarithm of sizes in a lognormal distribution.
const SIGMA_MAX: f64 = 10.0;

const FORMS: &str = "4KiB, 500..10000, lognormal:median=8KiB,sigma=1.2,max=1MiB, \
                     exponential:mean=16KiB,max=1MiB or \
                     histogram:0..1KiB=30,1KiB..8KiB=50,64KiB=20";

/// The distribution of sizes, in bytes. Serialised as its text form, such as `500..10000`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^([0-9].*|(lognormal|exponential|histogram):.+)$"))]
pub enum Sizes {
    /// All sizes are this number of bytes.
    Fixed(u64),
    /// All sizes from `low` to `high` are equally likely.
    Uniform {
        /// The smallest size in bytes.
        low: u64,
        /// The largest size in bytes.
        high: u64,
    },
    /// The logarithm of the size is normally distributed. A size outside of the bounds is replaced
    /// by the nearer bound.
    Lognormal {
        /// The median in bytes: without bounds, half of the sizes are below it.
        median: u64,
        /// The standard deviation of the size's natural logarithm.
        sigma: f64,
        /// The lower bound of sizes in bytes.
        low: u64,
        /// The upper bound of sizes in bytes.
        high: u64,
    },
    /// Sizes are exponentially distributed. A size outside of the bounds is replaced by the nearer
    /// bound.
    Exponential {
        /// The mean of sizes without bounds, in bytes.
        mean: u64,
        /// The lower bound of sizes in bytes.
        low: u64,
        /// The upper bound of sizes in bytes.
        high: u64,
    },
    /// A bin is drawn by its weight. All sizes within the bin are equally likely.
    Histogram(Vec<Bin>),
}

/// A bin of a histogram: a range of sizes with its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The smallest size in the bin, in bytes.
    pub low: u64,
    /// The largest size in the bin, in bytes.
    pub high: u64,
    /// The frequency of the bin, relative to the other bins.
    pub weight: u64,
}

impl Sizes {
    /// Returns the smallest size that can be drawn.
    pub fn low(&self) -> u64 {
        self.bounds().0
    }

    /// Returns the largest size that can be drawn.
    pub fn high(&self) -> u64 {
        self.bounds().1
    }

    fn bounds(&self) -> (u64, u64) {
        match self {
            Self::Fixed(size) => (*size, *size),
            Self::Uniform { low, high }
            | Self::Lognormal { low, high, .. }
            | Self::Exponential { low, high, .. } => (*low, *high),
            Self::Histogram(bins) => {
                let drawn = bins.iter().filter(|bin| bin.weight > 0);
                let low = drawn.clone().map(|bin| bin.low).min();
                let high = drawn.map(|bin| bin.high).max();
                (low.unwrap_or(0), high.unwrap_or(0))
            }
        }
    }

    /// Returns the mean of the sizes, including the effect of the lower and upper bound.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(size) => *size as f64,
            Self::Uniform { low, high } => (*low as f64 + *high as f64) / 2.0,
            Self::Lognormal {
                median,
                sigma,
                low,
                high,
            } => lognormal_mean(*median as f64, *sigma, *low as f64, *high as f64),
            Self::Exponential { mean, low, high } => {
                let mean = *mean as f64;
                *low as f64
                    + mean * (libm::exp(-(*low as f64) / mean) - libm::exp(-(*high as f64) / mean))
            }
            Self::Histogram(bins) => {
                let weights: f64 = bins.iter().map(|bin| bin.weight as f64).sum();
                let sizes =
                    |bin: &Bin| (bin.low as f64 + bin.high as f64) / 2.0 * bin.weight as f64;
                bins.iter().map(sizes).sum::<f64>() / weights
            }
        }
    }

    pub fn validate(&self) -> Result<(), WorkloadError> {
        match self {
            Self::Fixed(_) | Self::Uniform { .. } => {}
            Self::Lognormal { median, sigma, .. } => {
                // This condition also refuses NaN.
                if !(*sigma > 0.0 && *sigma <= SIGMA_MAX) {
                    return Err(invalid_sigma(sigma));
                }
                something("median", *median)?;
            }
            Self::Exponential { mean, .. } => something("mean", *mean)?,
            Self::Histogram(bins) => {
                bins.iter()
                    .try_for_each(|bin| check_bounds(bin.low, bin.high))?;
                let sum = bins
                    .iter()
                    .try_fold(0_u64, |sum, bin| sum.checked_add(bin.weight));
                ensure!(
                    sum != Some(0),
                    "all bins of the histogram have the weight 0 (at least one needs a weight of \
                     1 or more)"
                );
                ensure!(
                    sum.is_some() && bins.len() <= BINS_MAX,
                    "the histogram is too large (at most {BINS_MAX} bins, with a sum of weights \
                     below 2^64)"
                );
            }
        }
        let (low, high) = self.bounds();
        check_bounds(low, high)
    }
}

fn check_bounds(low: u64, high: u64) -> Result<(), WorkloadError> {
    ensure!(
        low <= high,
        "the lower bound {low} is above the upper bound {high} (write {high}..{low})"
    );
    ensure!(
        high <= SIZE_MAX_BYTES,
        "the size of {high} bytes is too large (at most 1GiB)"
    );
    Ok(())
}

fn invalid_sigma(sigma: &dyn std::fmt::Display) -> WorkloadError {
    invalid!("invalid sigma '{sigma}': expected a number above 0 and up to {SIGMA_MAX}, like 1.2")
}

fn something(name: &'static str, bytes: u64) -> Result<(), WorkloadError> {
    ensure!(bytes > 0, "invalid {name} 0: expected at least 1 byte");
    check_bounds(bytes, bytes)
}

fn lognormal_mean(median: f64, sigma: f64, low: f64, high: f64) -> f64 {
    let deviation = |size: f64| {
        if size > 0.0 {
            libm::log(size / median) / sigma
        } else {
            f64::NEG_INFINITY
        }
    };
    let (from, to) = (deviation(low), deviation(high));
    let inside = normal::normal(to - sigma) - normal::normal(from - sigma);
    let inside = if inside > 0.0 {
        median * libm::exp(sigma * sigma / 2.0) * inside
    } else {
        0.0
    };
    low * normal::normal(from) + inside + high * normal::normal(-to)
}

#[cfg(test)]
mod tests;
