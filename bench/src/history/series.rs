//! Simulated histories: the logarithms of the results of successive runs, with noise and one change
//! of a known size.

use crate::draws::Draws;

/// Number of runs of a history.
pub(super) const RUNS: usize = 100;
/// First and last index at which the injected change may be.
const CHANGE_AT: (u64, u64) = (40, 60);

/// Largest distance, in runs, between an injected change and the change that finds it.
pub(super) const NEAR: usize = 5;
/// Numbers of runs after the change with which a history is analysed.
pub(super) const DELAYS: [usize; 14] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40];
pub(super) const NOISE: [f64; 3] = [0.01, 0.03, 0.05];
pub(super) const LOSSES: [f64; 5] = [0.0, 0.01, 0.02, 0.05, 0.1];

/// The changes that a program found in one history.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub(super) changes: Vec<usize>,
    /// Number of runs after the injected change with which it was first found.
    pub(super) delay: Option<usize>,
}

/// What disturbs a history, besides normal noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disturbance {
    Nothing,
    /// 5 % of the runs lose 20 %.
    Outliers,
    /// The level falls evenly, by 5 % over all runs.
    Drift,
    /// Each run is correlated with the previous one by 0.5 (first-order autoregressive noise).
    Correlation,
}

impl Disturbance {
    pub(super) const ALL: [Self; 4] = [
        Self::Nothing,
        Self::Outliers,
        Self::Drift,
        Self::Correlation,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "normal noise",
            Self::Outliers => "outliers",
            Self::Drift => "drift",
            Self::Correlation => "correlated",
        }
    }
}

/// Noise, disturbance and change of a set of histories.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) disturbance: Disturbance,
    /// Standard deviation of a run (0.03 is 3 %).
    pub(super) noise: f64,
    /// The injected loss (0.05 is 5 %); 0 for none.
    pub(super) loss: f64,
}

/// A simulated history.
pub(super) struct Simulated {
    pub(super) values: Vec<f64>,
    /// Index of the first run after the injected change; `None` without a change.
    pub(super) change: Option<usize>,
}

impl Setting {
    /// Returns history `number` of the setting. Histories that differ in the loss only have the
    /// same noise.
    pub(super) fn simulate(self, seed: u64, number: u32) -> Simulated {
        let name = format!("{} {}", self.disturbance.name(), self.noise);
        let mut draws = Draws::new(seed, &name, number);
        let at = draws.between(CHANGE_AT.0, CHANGE_AT.1) as usize;
        let mut noise = draws.normal();
        let mut values = Vec::with_capacity(RUNS);
        for run in 0..RUNS {
            let (new, is_outlier) = (draws.normal(), draws.once_in(20));
            noise = match self.disturbance {
                Disturbance::Correlation => 0.5 * noise + 0.75_f64.sqrt() * new,
                _ => new,
            };
            let mut value = self.noise * noise;
            match self.disturbance {
                Disturbance::Outliers if is_outlier => value += 0.8_f64.ln(),
                Disturbance::Drift => value += 0.95_f64.ln() * run as f64 / RUNS as f64,
                _ => {}
            }
            if run >= at {
                value += (1.0 - self.loss).ln();
            }
            values.push(value);
        }
        Simulated {
            values,
            change: (self.loss > 0.0).then_some(at),
        }
    }
}
