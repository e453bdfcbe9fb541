//! The distributions of a workload, as functions from a number to the share of values up to it.

use workload::Weights;
use workload::compute::Compute;
use workload::mix::Think;
use workload::names::{NameForm, Names};
use workload::sizes::Sizes;

/// A function from a number to the share (0 to 1) of values that are at most this number.
pub(crate) type Cdf<'a> = Box<dyn Fn(u64) -> f64 + 'a>;

/// The length in bytes of names in the form of Maildir, with numbers below a million million.
const MAILDIR_LENGTH: u64 = 29;

/// Returns the smallest number up to which `share` of the values are.
pub(crate) fn quantile(cdf: &Cdf<'_>, share: f64) -> u64 {
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        match cdf(middle) >= share {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// Returns the distribution in which all values are equal.
pub(crate) fn of_one(value: u64) -> Cdf<'static> {
    Box::new(move |number| f64::from(u8::from(number >= value)))
}

/// Returns the distribution of sizes; `None` for distributions with parameters, which are not
/// learned.
pub(crate) fn of_sizes(sizes: &Sizes) -> Option<Cdf<'_>> {
    match sizes {
        Sizes::Fixed(size) => Some(of_one(*size)),
        Sizes::Uniform { low, high } => {
            Some(Box::new(move |number| share_up_to(number, *low, *high)))
        }
        Sizes::Histogram(bins) => {
            let weights: f64 = bins.iter().map(|bin| bin.weight as f64).sum();
            Some(Box::new(move |number| {
                let below = bins
                    .iter()
                    .map(|bin| bin.weight as f64 * share_up_to(number, bin.low, bin.high));
                below.sum::<f64>() / weights
            }))
        }
        Sizes::Lognormal { .. } | Sizes::Exponential { .. } => None,
    }
}

/// The share of the numbers from `low` to `high` that are at most `number`.
fn share_up_to(number: u64, low: u64, high: u64) -> f64 {
    match number {
        _ if number < low => 0.0,
        _ if number >= high => 1.0,
        _ => (number - low + 1) as f64 / ((high - low) as f64 + 1.0),
    }
}

/// Returns the distribution of the sizes of `parts` parts into which `all` things are divided
/// evenly.
pub(crate) fn of_even_parts(all: u64, parts: u64) -> Cdf<'static> {
    // Parts without things do not count, as directories without files do not.
    let parts = parts.min(all).max(1);
    let (least, larger) = (all / parts, all % parts);
    Box::new(move |number| match number {
        _ if number < least => 0.0,
        _ if number == least => (parts - larger) as f64 / parts as f64,
        _ => 1.0,
    })
}

/// Returns the distribution of the lengths of the names of files with the numbers from 0 to
/// `files`.
pub(crate) fn of_names(names: Names, files: u64) -> Cdf<'static> {
    let least = match names.form {
        NameForm::Decimal => 1,
        NameForm::Maildir => return of_one(MAILDIR_LENGTH),
        NameForm::Hashed => return of_one(names.length.into()),
        NameForm::Padded => u64::from(names.length),
    };
    Box::new(move |length| {
        let numbers =
            u32::try_from(length).map_or(u64::MAX, |length| 10_u64.saturating_pow(length));
        match length >= least {
            true => numbers.min(files.max(1)) as f64 / files.max(1) as f64,
            false => 0.0,
        }
    })
}

/// Returns the distribution of pauses in nanoseconds.
pub(crate) fn of_think(think: Think) -> Cdf<'static> {
    match think {
        Think::None => of_one(0),
        Think::Fixed(ns) => of_one(ns),
        Think::Exponential(mean) => {
            let mean = mean.max(1) as f64;
            Box::new(move |ns| match ns {
                u64::MAX => 1.0,
                ns => -(-(ns as f64) / mean).exp_m1(),
            })
        }
    }
}

/// Returns the distribution of the processor time before an operation in nanoseconds.
pub(crate) fn of_compute<'a>(compute: &'a Compute, weights: &'a Weights) -> Cdf<'a> {
    let all = weights.sum().max(1) as f64;
    Box::new(move |ns| {
        let actions = weights
            .actions()
            .filter(|action| compute.ns_of(*action) <= ns);
        let below = actions.map(|action| u64::from(weights.get(action)));
        below.sum::<u64>() as f64 / all
    })
}

#[cfg(test)]
mod tests {
    use engine::Action;

    use super::*;

    fn at(cdf: &Cdf<'_>, numbers: &[u64]) -> Vec<f64> {
        numbers.iter().map(|number| cdf(*number)).collect()
    }

    #[test]
    fn shares_are_those_of_the_values_up_to_a_number() {
        assert_eq!(at(&of_one(3), &[2, 3, 4]), [0.0, 1.0, 1.0]);
        let sizes: Sizes = "histogram:0..9=1,20=3".parse().unwrap();
        let sizes = of_sizes(&sizes).unwrap();
        assert_eq!(
            at(&sizes, &[0, 4, 9, 19, 20]),
            [0.025, 0.125, 0.25, 0.25, 1.0]
        );
        assert_eq!(quantile(&sizes, 0.125), 4);
        assert_eq!(quantile(&sizes, 0.5), 20);
        assert_eq!(at(&of_even_parts(10, 4), &[1, 2, 3]), [0.0, 0.5, 1.0]);
        assert_eq!(at(&of_even_parts(2, 4), &[0, 1]), [0.0, 1.0]);
        let names = of_names("padded:2".parse().unwrap(), 1000);
        assert_eq!(at(&names, &[1, 2, 3, 40]), [0.0, 0.1, 1.0, 1.0]);
        let compute: Compute = "read=5us".parse().unwrap();
        let weights = Weights::default()
            .with(Action::Read, 1)
            .with(Action::Stat, 3);
        let compute = of_compute(&compute, &weights);
        assert_eq!(at(&compute, &[0, 4_999, 5_000]), [0.75, 0.75, 1.0]);
        let think = of_think(Think::Exponential(1000));
        assert!((quantile(&think, 0.5) as f64 - 693.0).abs() <= 1.0);
    }
}
