//! How well a preset predicts an application: ratios of speeds, order of file systems, typical
//! error of a ratio, and distance of file sizes.

use std::collections::BTreeMap;

use super::applications::Pairing;
use super::rounds::Line;
use super::volume::BASELINE;
use crate::statistics::{Median, median};

/// Minimum number of rounds for a 95 % interval of the median. With fewer rounds, even the least
/// and the greatest value enclose the median with a probability below 95 %.
const ROUNDS_MIN: usize = 6;

/// Speeds relative to ext4 for each other file system.
pub type Ratios = BTreeMap<String, Ratio>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median of the rounds' ratios, and its 95 % interval.
    pub median: Median,
    pub rounds: usize,
}

/// The ratios of an application, restricted to some of its steps, or of a preset. No steps means
/// all steps. Rounds in which ext4 was not measured do not count.
pub fn ratios(lines: &[Line], data: &str, name: &str, steps: &[&str]) -> Ratios {
    // Number of operations and their time in seconds, by file system and round.
    let mut totals: BTreeMap<(&str, u32), (u64, f64)> = BTreeMap::new();
    for Line { place, step } in lines {
        let is_step = steps.is_empty() || steps.contains(&step.name.as_str());
        if place.data == data && place.name == name && is_step {
            let total = totals.entry((&place.file_system, place.round)).or_default();
            total.0 += step.operations;
            total.1 += step.seconds;
        }
    }
    let mut by_system: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for ((file_system, round), (operations, seconds)) in &totals {
        let Some((on_ext4, ext4_seconds)) = totals.get(&(BASELINE, *round)) else {
            continue;
        };
        if *file_system != BASELINE {
            let ratio = (*operations as f64 / seconds) / (*on_ext4 as f64 / ext4_seconds);
            by_system
                .entry((*file_system).to_owned())
                .or_default()
                .push(ratio);
        }
    }
    let ratio = |samples: Vec<f64>| Ratio {
        rounds: samples.len(),
        median: median(samples),
    };
    by_system
        .into_iter()
        .map(|(system, samples)| (system, ratio(samples)))
        .collect()
}

/// How well the ratios of a preset agree with those of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Pairs of file systems whose intervals for the application do not overlap: the number that
    /// the preset orders the same way, and the number of all. `None` with fewer than six rounds.
    pub pairs: Option<(usize, usize)>,
    /// The typical error of a predicted ratio: exp of the root mean square of ln(predicted/real).
    /// `None` if no file system has a ratio of both the application and the preset.
    pub factor: Option<f64>,
}

pub fn score(real: &Ratios, predicted: &Ratios) -> Score {
    let common = real
        .iter()
        .filter_map(|(system, ratio)| Some((*ratio, *predicted.get(system)?)));
    let mut common: Vec<(Ratio, Ratio)> = common.collect();
    let squares: Vec<f64> = common
        .iter()
        .map(|(real, predicted)| (predicted.median.value / real.median.value).ln().powi(2))
        .collect();
    let factor = (!squares.is_empty()).then(|| measure::mean(&squares).sqrt().exp());
    let has_intervals = common.iter().all(|(real, _)| real.rounds >= ROUNDS_MIN);
    // ext4 relative to itself: exactly 1.
    let one = Ratio {
        median: Median {
            value: 1.0,
            low: 1.0,
            high: 1.0,
        },
        rounds: usize::MAX,
    };
    common.push((one, one));
    Score {
        pairs: (has_intervals && common.len() > 1).then(|| pairs(&common)),
        factor,
    }
}

/// Pairs of file systems whose real intervals do not overlap: the number that the prediction orders
/// the same way, and the number of all.
fn pairs(systems: &[(Ratio, Ratio)]) -> (usize, usize) {
    let (mut in_order, mut apart) = (0, 0);
    for (real, predicted) in systems {
        for (other, other_predicted) in systems {
            if real.median.high < other.median.low {
                apart += 1;
                in_order += usize::from(predicted.median.value < other_predicted.median.value);
            }
        }
    }
    (in_order, apart)
}

/// The Kolmogorov-Smirnov distance of two samples: the greatest difference between their empirical
/// distribution functions, from 0 to 1. `None` if a sample is empty.
pub fn kolmogorov_smirnov(one: &[u64], other: &[u64]) -> Option<f64> {
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let [one, other] = [one, other].map(|sample| {
        let mut sorted = sample.to_vec();
        sorted.sort_unstable();
        sorted
    });
    let up_to = |sorted: &[u64], value: u64| {
        sorted.partition_point(|other| *other <= value) as f64 / sorted.len() as f64
    };
    let values = one.iter().chain(&other);
    let differences = values.map(|&value| (up_to(&one, value) - up_to(&other, value)).abs());
    differences.max_by(f64::total_cmp)
}

/// A row of the table: how well a preset predicts an application.
#[derive(Clone, Debug)]
pub struct Found {
    pub pairing: &'static Pairing,
    pub real: Ratios,
    pub predicted: Ratios,
    pub score: Score,
    /// Total variation distance between the call mixes of the application and of the preset.
    pub mixes: Option<f64>,
    /// Kolmogorov-Smirnov distance between the file sizes of the application and of the preset.
    pub sizes: Option<f64>,
    /// Whether the application's files are those of published packages. Only then is a limit of
    /// `sizes` a requirement.
    pub has_real_sizes: bool,
    /// Kolmogorov-Smirnov distance between the file sizes of the application's two data sets: the
    /// limit of `sizes`.
    pub own_sizes: Option<f64>,
}

/// Greatest accepted total variation distance of mixes.
const MIXES_MAX: f64 = 0.10;
/// At least [`CLOSE_COUNT`] rows of the table must have a factor of at most this.
const CLOSE_FACTOR: f64 = 1.15;
const CLOSE_COUNT: usize = 3;

/// The requirements that are not met, as sentences; empty if all are met. A number that was not
/// measured does not meet its requirement.
pub fn missed(found: &[Found]) -> Vec<String> {
    let mut missed: Vec<String> = found.iter().flat_map(missed_by).collect();
    let is_close = |found: &&Found| found.score.factor.is_some_and(|of| of <= CLOSE_FACTOR);
    let close = found.iter().filter(is_close).count();
    if close < CLOSE_COUNT {
        missed.push(format!(
            "{close} rows have a factor of at most {CLOSE_FACTOR}, wanted are {CLOSE_COUNT}"
        ));
    }
    missed
}

fn missed_by(found: &Found) -> Vec<String> {
    let name = format!("{} beside {}", found.pairing.by(), found.pairing.what());
    let mut missed = Vec::new();
    match found.score.pairs {
        Some((in_order, apart)) if in_order == apart => {}
        Some((in_order, apart)) => {
            missed.push(format!("{name}: {in_order} of {apart} pairs are in order"));
        }
        None => missed.push(format!("{name}: pairs need {ROUNDS_MIN} rounds")),
    }
    let mut at_most = |what: &str, value: Option<f64>, limit: f64| match value {
        Some(value) if value <= limit => {}
        Some(value) => {
            missed.push(format!(
                "{name}: the {what} is {value:.2}, wanted at most {limit:.2}"
            ));
        }
        None => missed.push(format!("{name}: the {what} was not measured")),
    };
    at_most("factor", found.score.factor, found.pairing.factor_max);
    at_most("distance of mixes", found.mixes, MIXES_MAX);
    match (found.has_real_sizes, found.own_sizes) {
        (true, Some(own)) => at_most("distance of sizes", found.sizes, own),
        (true, None) => missed.push(format!(
            "{name}: the sizes of both data sets were not traced"
        )),
        (false, _) => {}
    }
    missed
}

#[cfg(test)]
mod tests;
