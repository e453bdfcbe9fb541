//! Error rates of verdict rules: shares of false alarms and of detected problems, with the promised
//! limits.
//!
//! - `not-steady` ([`servers`]): simulated servers of constant and of falling speed.
//! - `paused` ([`pauses`]): runs of the program that are stopped, and runs beside busy loops.
//! - Gates ([`crate::gates`]): simulated studies.
//!
//! Rules that compare a count with a fixed threshold, such as `pool-changed-size` and
//! `reads-from-memory`, always decide the same for the same run. They have no error rates, and the
//! tests of the crate `verdict` cover both sides of each threshold.

mod pauses;
mod servers;

use crate::result::Result;
use std::path::Path;

use crate::gates::{self, GatesSize};

#[derive(Clone, Copy, Debug, clap::Args)]
pub struct VerdictsOptions {
    /// Number of simulated series of each server; 0 leaves them out.
    #[arg(long, default_value_t = 1_000)]
    pub series: u32,
    /// Number of runs in each experiment that stops the program or keeps the processors busy; 0
    /// leaves these experiments out.
    #[arg(long, default_value_t = 20)]
    pub runs: u32,
    /// Number of simulated studies for each setting of gates; 0 leaves them out.
    #[arg(long, default_value_t = 2_000)]
    pub studies: u32,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// End with code 1 if the counts disagree with the limits.
    #[arg(long)]
    pub check: bool,
}

/// Measures the error rates of all rules with simulated series, runs and simulated studies, and
/// prints the rates. Returns whether all error rates keep their limits.
///
/// # Errors
/// Returns an error if a run fails, or if a gate cannot decide.
pub fn perform(ours: &Path, size: VerdictsOptions) -> Result<bool> {
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
