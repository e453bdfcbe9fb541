//! Results of studies, and the share of studies with a given result, such as a failed gate.

use crate::result::Result;
use std::fmt;
use std::time::Duration;

use study::{Decision, Estimate, Gate};

use crate::limit::Share;
use crate::noise::Noise;
use crate::process::caught;
use crate::statistics::clopper_pearson;

/// The results of one study, the result of its gate, and the true ratio of the rates.
pub(super) struct Found {
    pub(super) seed: u64,
    /// The estimated ratio of the candidate's rate to the baseline's. `None` if too many runs were
    /// INVALID.
    pub(super) estimate: Option<Estimate>,
    /// The true ratio of the rates: 1 for identical systems, else computed from the known delay.
    pub(super) known: f64,
    pub(super) is_doubtful: bool,
    /// A/A noise: standard deviation of ln(second run / first run) of the baseline.
    pub(super) noise: Option<f64>,
    /// The gate over the study; `None` if it refused to decide.
    pub(super) gate: Option<Gate>,
    pub(super) took: Duration,
}

impl Found {
    pub(super) fn is_shown(&self) -> bool {
        self.estimate.is_some_and(|estimate| estimate.is_shown)
    }

    /// Whether a difference was shown and the candidate is the slower one.
    pub(super) fn is_slower(&self) -> bool {
        self.estimate
            .is_some_and(|estimate| estimate.is_shown && estimate.ratio < 1.0)
    }

    pub(super) fn holds_known(&self) -> bool {
        let interval = self.estimate.and_then(|estimate| estimate.interval);
        interval.is_some_and(|interval| (interval.low..=interval.high).contains(&self.known))
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {:4}  ", self.seed)?;
        match self.estimate {
            Some(estimate) => write!(f, "ratio {:.3} ", estimate.ratio)?,
            None => write!(f, "no comparison ")?,
        }
        if let Some(interval) = self.estimate.and_then(|estimate| estimate.interval) {
            write!(f, "[{:.3}, {:.3}] ", interval.low, interval.high)?;
        }
        let shown = if self.is_shown() {
            "shown"
        } else {
            "not shown"
        };
        let outside = if self.holds_known() { "" } else { " OUTSIDE" };
        write!(f, "{shown}  known {:.3}{outside}  gate ", self.known)?;
        match &self.gate {
            Some(gate) => {
                let needed = gate
                    .blocks_needed_to_pass
                    .map_or_else(|| "?".to_owned(), |blocks| blocks.to_string());
                write!(f, "{} ({needed} blocks needed)", gate.decision.name())?;
            }
            None => write!(f, "refused")?,
        }
        if let Some(noise) = self.noise {
            write!(f, "  A/A noise {:.1} %", noise * 100.0)?;
        }
        let doubtful = if self.is_doubtful { "  DOUBTFUL" } else { "" };
        write!(f, "{doubtful}  {:.1} s", self.took.as_secs_f64())
    }
}

pub(super) struct GateShares {
    pub(super) passed: Share,
    pub(super) failed: Share,
}

/// The results of all studies of one kind.
pub(super) struct Told {
    pub(super) all: Vec<Found>,
    /// Number of studies that did not complete.
    pub(super) stopped: u32,
}

impl Told {
    pub(super) fn perform(
        name: &str,
        count: u64,
        seeds: &mut impl Iterator<Item = u64>,
        study: impl Fn(u64) -> Result<Found>,
    ) -> Result<Self> {
        let noise = Noise::begin();
        let (mut all, mut stopped) = (Vec::new(), 0);
        println!("{name}");
        for (number, seed) in (1..=count).zip(seeds) {
            match study(seed) {
                Ok(found) => {
                    println!("  {number:3}  {found}");
                    all.push(found);
                }
                Err(error) if caught().is_some() => return Err(error),
                Err(error) => {
                    println!("  {number:3}  seed {seed:4}  STOPPED: {error}");
                    stopped += 1;
                }
            }
        }
        println!(
            "{name}: {} studies, {stopped} stopped; {}",
            all.len(),
            noise.end()
        );
        let ratios: Vec<f64> = all
            .iter()
            .filter_map(|found| Some((found.estimate?.ratio / found.known).ln()))
            .collect();
        println!(
            "  estimated over known ratio: {:.3} (geometric mean), with a standard deviation of \
             {:.1} %",
            study::statistics::mean(&ratios).exp(),
            study::statistics::standard_deviation(&ratios).unwrap_or_default() * 100.0
        );
        let told = Self { all, stopped };
        told.show("the twin made the study DOUBTFUL", |found| {
            found.is_doubtful
        });
        Ok(told)
    }

    /// Prints how often a condition was true, with the exact interval of its probability.
    pub(super) fn show(&self, what: &str, is_so: impl Fn(&Found) -> bool) -> Share {
        let mut share = Share::default();
        self.all.iter().for_each(|found| share.add(is_so(found)));
        let (low, high) = clopper_pearson(share.count, share.all);
        println!(
            "  {what:48} {:3} of {}  ({:.1} % to {:.1} %)",
            share.count,
            share.all,
            low * 100.0,
            high * 100.0
        );
        share
    }

    pub(super) fn show_gate(&self) -> GateShares {
        let decided = |decision: Decision| {
            self.show(&format!("the gate {}", decision.name()), |found| {
                found
                    .gate
                    .as_ref()
                    .is_some_and(|gate| gate.decision == decision)
            })
        };
        let shares = GateShares {
            passed: decided(Decision::Passed),
            failed: decided(Decision::Failed),
        };
        decided(Decision::Undecided);
        shares
    }
}
