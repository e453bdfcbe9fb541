//! Simulated runs with known numbers and reproducible noise.

use std::collections::{BTreeMap, BTreeSet};

use study::{Baseline, BlockAttempt, ComparedSide, Metric, Observed, Subject, UnlikeWhat};
use testkit::Random;
use verdict::Level;

/// Returns an observed run. The conditions of all runs from this function are equal, so that the
/// runs are comparable.
pub fn run(block: Option<u32>, values: &[(Metric, f64)]) -> Observed {
    Observed {
        conditions: BTreeMap::from([
            (UnlikeWhat::Fingerprint, "f".to_owned()),
            (UnlikeWhat::DurabilityTier, "page-cache".to_owned()),
            (UnlikeWhat::CacheState, "as-is".to_owned()),
            (UnlikeWhat::Host, "h".to_owned()),
        ]),
        ..bare(block, values)
    }
}

/// Returns a run without conditions, for simulations of many runs.
fn bare(block: Option<u32>, values: &[(Metric, f64)]) -> Observed {
    Observed {
        run: None,
        block: block.map(|number| BlockAttempt {
            study: "s".to_owned(),
            is_interleaved: true,
            number,
            attempt: 1,
        }),
        subject: Subject::default(),
        level: Level::Valid,
        begun_unix_ns: 0,
        elapsed_s: 30.0,
        needed_s: Default::default(),
        values: values.iter().copied().collect(),
        conditions: BTreeMap::new(),
        reasons: BTreeSet::new(),
        advice: BTreeMap::new(),
        incomplete: BTreeMap::new(),
    }
}

/// Returns a configuration with the given rates in transactions a second, one run for each block.
pub fn in_blocks(label: &str, rates: &[f64]) -> ComparedSide {
    let runs = (1..).zip(rates);
    ComparedSide {
        label: label.to_owned(),
        runs: runs
            .map(|(block, rate)| run(Some(block), &[(Metric::Transactions, *rate)]))
            .collect(),
    }
}

/// Returns a configuration with the given rates in transactions a second, whose runs belong to no
/// block.
pub fn apart(label: &str, rates: &[f64]) -> ComparedSide {
    let mut side = in_blocks(label, rates);
    for run in &mut side.runs {
        run.block = None;
    }
    side
}

/// A random permutation of `0..count`.
pub fn order(random: &mut Random, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, (random.unit() * (last + 1) as f64) as usize);
    }
    order
}

/// A machine on which successive runs are correlated: the logarithms of its values are an
/// autoregressive sequence.
pub struct Machine {
    noise: Random,
    metrics: Vec<Metric>,
    /// Correlation of successive runs, from 0 to below 1.
    correlation: f64,
    /// Standard deviation of the logarithm of one run.
    deviation: f64,
    state: Vec<f64>,
}

/// Parameters of a simulated study.
#[derive(Clone, Copy, Debug)]
pub struct Noisy {
    /// The standard deviation of the log ratio of two runs of a block.
    pub spread: f64,
    /// Correlation of successive runs.
    pub correlation: f64,
    /// Whether the baseline runs twice in a block.
    pub has_twin: bool,
}

impl Noisy {
    fn cells(self) -> usize {
        if self.has_twin { 3 } else { 2 }
    }
}

impl Machine {
    pub fn new(seed: u64, noisy: Noisy, metrics: &[Metric]) -> Self {
        let cells = noisy.cells() as f64;
        // The order of a block's n cells is random. Two cells are `gap` runs apart with the
        // probability 2 (n - gap) / (n (n - 1)).
        let gaps = (1..noisy.cells()).map(|gap| {
            let probability = 2.0 * (cells - gap as f64) / (cells * (cells - 1.0));
            probability * noisy.correlation.powi(gap as i32)
        });
        let correlation_in_block: f64 = gaps.sum();
        let mut noise = Random(seed);
        let state = metrics.iter().map(|_| noise.normal()).collect();
        Self {
            noise,
            metrics: metrics.to_vec(),
            correlation: noisy.correlation,
            deviation: noisy.spread / (2.0 * (1.0 - correlation_in_block)).sqrt(),
            state,
        }
    }

    fn next(&mut self) -> Vec<f64> {
        let rest = (1.0 - self.correlation.powi(2)).sqrt();
        for state in &mut self.state {
            *state = self.correlation * *state + rest * self.noise.normal();
        }
        self.state
            .iter()
            .map(|state| state * self.deviation)
            .collect()
    }

    /// Adds blocks to a study. In every metric, the candidate's values are `ratio` times the
    /// baseline's.
    pub fn blocks(
        &mut self,
        study: &mut (Baseline, ComparedSide),
        blocks: std::ops::RangeInclusive<u32>,
        ratio: f64,
    ) {
        let (baseline, side) = study;
        let mut sides: Vec<&mut ComparedSide> = vec![side, &mut baseline.side];
        sides.extend(&mut baseline.twin);
        for block in blocks {
            for cell in order(&mut self.noise, sides.len()) {
                let factor = if cell == 0 { ratio } else { 1.0 };
                let logs = self.next();
                let values: Vec<(Metric, f64)> = self
                    .metrics
                    .iter()
                    .zip(logs)
                    .map(|(metric, log)| (*metric, 1000.0 * factor * log.exp()))
                    .collect();
                sides[cell].runs.push(bare(Some(block), &values));
            }
        }
    }
}

pub fn empty(noisy: Noisy) -> (Baseline, ComparedSide) {
    let side = |label: &str| ComparedSide {
        label: label.to_owned(),
        runs: Vec::new(),
    };
    let baseline = Baseline {
        side: side("base"),
        twin: noisy.has_twin.then(|| side("twin")),
    };
    (baseline, side("new"))
}
