//! How often rules of verdicts flag what they should not, and find what they should: rates of false
//! alarms and of finds, with the limits that are promised.
//!
//! - `not-steady` ([`servers`]): simulated servers of constant and of falling speed.
//! - `paused` ([`pauses`]): runs of the program that are stopped, and runs beside busy loops.
//! - Gates ([`crate::gates`]): simulated studies.
//!
//! `pool-changed-size`, `reads-from-memory` and the other rules that compare a count with a fixed
//! threshold decide the same for the same run: they have no rates, and the tests of `record` have
//! both sides of each threshold.

mod pauses;
mod servers;

use std::error::Error;
use std::path::Path;

use crate::gates::{self, GatesSize};
use crate::statistics::clopper_pearson;

/// How many of each. A part of which there are 0 is left out.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct VerdictsOptions {
    /// Simulated series of each server; 0 leaves them out.
    #[arg(long, default_value_t = 1_000)]
    pub series: u32,
    /// Runs with each pattern of stops, and beside busy loops; 0 leaves them out.
    #[arg(long, default_value_t = 20)]
    pub runs: u32,
    /// Studies of each setting of gates; 0 leaves them out.
    #[arg(long, default_value_t = 2_000)]
    pub studies: u32,
    /// The seed of all that is drawn.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// End with code 1 where the counts disagree with the limits.
    #[arg(long)]
    pub check: bool,
}

/// Performs all parts and prints their rates. Whether the counts agree with the limits.
///
/// # Errors
/// Where a run fails, or a gate cannot decide at all.
pub fn perform(ours: &Path, size: VerdictsOptions) -> Result<bool, Box<dyn Error>> {
    let mut holds = true;
    if size.series > 0 {
        holds &= servers::perform(size.series, size.seed);
    }
    if size.runs > 0 {
        holds &= pauses::perform(ours, size.runs, size.seed)?;
    }
    if size.studies > 0 {
        holds &= gates::perform(GatesSize {
            studies: size.studies,
            seed: size.seed,
        })?;
    }
    Ok(holds)
}

/// What is promised of a rate.
#[derive(Clone, Copy, Debug)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Shown only.
    None,
}

/// How often a reason was given.
#[derive(Clone, Copy, Debug, Default)]
struct Flagged {
    count: usize,
    all: usize,
}

impl Flagged {
    fn share(self) -> f64 {
        self.count as f64 / self.all.max(1) as f64
    }

    /// Whether the count agrees with the limit, by the exact 95 % interval.
    fn agrees(self, limit: Limit) -> bool {
        let interval = || clopper_pearson(self.count, self.all);
        match limit {
            Limit::AtMost(most) => self.share() <= most || interval().0 <= most,
            Limit::AtLeast(least) => self.share() >= least || interval().1 >= least,
            Limit::None => true,
        }
    }

    /// The share with a mark: `~` if it is beyond the limit, but by no more than chance explains.
    fn show(self, limit: Limit) -> String {
        let share = self.share();
        let is_within = match limit {
            Limit::AtMost(most) => share <= most,
            Limit::AtLeast(least) => share >= least,
            Limit::None => true,
        };
        let mark = match (is_within, self.agrees(limit)) {
            (true, _) => "",
            (false, true) => " ~",
            (false, false) => " MISSED",
        };
        format!("{:.1} %{mark}", 100.0 * share)
    }
}
