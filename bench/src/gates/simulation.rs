//! Simulated studies: the results of runs are numbers, drawn in order of time with noise, drift and
//! periodic disturbances.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::{LN_2, TAU};

use study::{
    Baseline, BlockAttempt, ComparedSide, Gate, GateError, GateRules, Metric, Observed,
    Requirement, SideGroup, Subject,
};
use verdict::Level;

use crate::draws::Draws;

/// The noise in the logarithm of a run's result.
#[derive(Clone, Copy, Debug)]
pub(super) enum RunNoise {
    /// Normal noise with this standard deviation.
    Normal(f64),
    /// Student's t distribution: degrees of freedom, and scale. Few degrees of freedom result in a
    /// heavy tail.
    Tail(u32, f64),
    /// Cauchy noise with this scale.
    Cauchy(f64),
    /// Normal noise with a standard deviation (first value). A share of the runs (second value)
    /// achieve only half of the rate.
    Outliers(f64, f64),
    /// Losses from an exponential distribution with this mean, and no gains.
    Exponential(f64),
    /// Half of the runs, chosen at random, achieve only 0.9 of the rate.
    TwoModes,
    /// Normal noise with a standard deviation (first value), and a correlation of each run with the
    /// previous run (second value).
    Successive(f64, f64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    noise: RunNoise,
    /// Linear change of the logarithm of the result, from the first run to the last. Losses are
    /// negative.
    drift: f64,
    /// Period of a disturbance of 10 %, in runs; 0 for none.
    period: f64,
}

pub(super) const fn setting(name: &'static str, noise: RunNoise) -> Setting {
    Setting {
        name,
        noise,
        drift: 0.0,
        period: 0.0,
    }
}

/// Normal noise with a linear change (see [`Setting::drift`]) or a periodic disturbance (period in
/// runs).
const fn disturbed(name: &'static str, spread: f64, drift: f64, period: f64) -> Setting {
    Setting {
        drift,
        period,
        ..setting(name, RunNoise::Normal(spread))
    }
}

pub(super) const SETTINGS: [Setting; 16] = [
    setting("normal, 3 %", RunNoise::Normal(0.03)),
    setting("normal, 0.5 %", RunNoise::Normal(0.005)),
    setting("t with 3 degrees", RunNoise::Tail(3, 0.017)),
    setting("t with 2 degrees", RunNoise::Tail(2, 0.015)),
    setting("Cauchy", RunNoise::Cauchy(0.009)),
    setting("5 % of runs at half", RunNoise::Outliers(0.01, 0.05)),
    setting("20 % of runs at half", RunNoise::Outliers(0.01, 0.2)),
    setting("exponential losses", RunNoise::Exponential(0.05)),
    setting("two modes", RunNoise::TwoModes),
    setting("correlation 0.5", RunNoise::Successive(0.03, 0.5)),
    setting("correlation 0.9", RunNoise::Successive(0.03, 0.9)),
    setting("correlation -0.5", RunNoise::Successive(0.03, -0.5)),
    disturbed("drift of 50 %", 0.01, -0.5, 0.0),
    disturbed("drift of 10 %", 0.001, -0.1, 0.0),
    disturbed("period of 3 runs", 0.01, 0.0, 3.0),
    disturbed("period of 7 runs", 0.01, 0.0, 7.0),
];

impl Draws {
    fn noise(&mut self, noise: RunNoise, state: &mut f64) -> f64 {
        match noise {
            RunNoise::Normal(spread) => spread * self.normal(),
            RunNoise::Tail(degrees, scale) => {
                let squares: f64 = (0..degrees).map(|_| self.normal().powi(2)).sum();
                scale * self.normal() / (squares / f64::from(degrees)).sqrt()
            }
            RunNoise::Cauchy(scale) => {
                (scale * (TAU / 2.0 * (self.unit() - 0.5)).tan()).clamp(-5.0, 5.0)
            }
            RunNoise::Outliers(spread, share) => {
                let lost = if self.unit() < share { LN_2 } else { 0.0 };
                spread * self.normal() - lost
            }
            RunNoise::Exponential(scale) => scale * (1.0 - self.unit()).ln(),
            RunNoise::TwoModes => {
                let lost = if self.unit() < 0.5 { 0.9_f64.ln() } else { 0.0 };
                0.003 * self.normal() + lost
            }
            RunNoise::Successive(spread, correlation) => {
                *state =
                    correlation * *state + (1.0 - correlation * correlation).sqrt() * self.normal();
                spread * *state
            }
        }
    }
}

/// A study of a baseline and a candidate.
pub(super) struct Simulated {
    group: SideGroup,
    draws: Draws,
    setting: Setting,
    /// For [`RunNoise::Successive`]: the noise of the previous run, in standard deviations.
    state: f64,
    phase: f64,
    /// The candidate's true rate, relative to the baseline.
    ratio: f64,
    has_twin: bool,
    /// Number of runs that have been drawn.
    runs: u32,
    /// Number of runs before the first gate. [`Setting::drift`] is spread over these runs.
    runs_planned: u32,
}

impl Simulated {
    pub(super) fn new(
        (seed, study): (u64, u32),
        setting: Setting,
        (blocks, has_twin): (u32, bool),
        ratio: f64,
    ) -> Self {
        let side = |label: &str| ComparedSide {
            label: label.to_owned(),
            runs: Vec::new(),
        };
        let mut draws = Draws::new(seed, "simulated gates", study);
        let mut simulated = Self {
            group: SideGroup {
                baseline: Baseline {
                    side: side("base"),
                    twin: has_twin.then(|| side("base")),
                },
                sides: vec![side("new")],
            },
            state: draws.normal(),
            phase: TAU * draws.unit(),
            draws,
            setting,
            ratio,
            has_twin,
            runs: 0,
            runs_planned: blocks * if has_twin { 3 } else { 2 },
        };
        simulated.add(1..=blocks);
        simulated
    }

    pub(super) fn add(&mut self, blocks: std::ops::RangeInclusive<u32>) {
        for number in blocks {
            let mut cells: Vec<usize> = (0..if self.has_twin { 3 } else { 2 }).collect();
            for last in (1..cells.len()).rev() {
                let other = (self.draws.unit() * (last + 1) as f64) as usize;
                cells.swap(last, other);
            }
            for cell in cells {
                let run = self.run(number, if cell == 0 { self.ratio } else { 1.0 });
                let Baseline { side, twin } = &mut self.group.baseline;
                match (cell, twin) {
                    (0, _) => self.group.sides[0].runs.push(run),
                    (2, Some(twin)) => twin.runs.push(run),
                    _ => side.runs.push(run),
                }
            }
        }
    }

    fn run(&mut self, number: u32, ratio: f64) -> Observed {
        let at = f64::from(self.runs);
        self.runs += 1;
        let mut log = self.draws.noise(self.setting.noise, &mut self.state) + ratio.ln();
        log += self.setting.drift * at / f64::from(self.runs_planned);
        if self.setting.period > 0.0 {
            log += 0.1 * (TAU * at / self.setting.period + self.phase).sin();
        }
        Observed {
            run: None,
            block: Some(BlockAttempt {
                study: String::new(),
                is_interleaved: true,
                number,
                attempt: 1,
            }),
            subject: Subject::default(),
            level: Level::Valid,
            elapsed_s: 30.0,
            begun_unix_ns: u64::from(self.runs) * 30_000_000_000,
            values: BTreeMap::from([(Metric::Transactions, 1_000.0 * log.exp())]),
            needed_s: BTreeMap::new(),
            conditions: BTreeMap::new(),
            reasons: BTreeSet::new(),
            advice: BTreeMap::new(),
            incomplete: BTreeMap::new(),
        }
    }

    pub(super) fn gate(&self, requirement: &Requirement) -> Result<Gate, GateError> {
        Gate::of(
            vec![self.group.clone()],
            std::slice::from_ref(requirement),
            GateRules::default(),
        )
    }
}
