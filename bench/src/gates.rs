//! Checks the promised error rates of gates by simulation, with the code of the gate itself. The
//! simulation counts
//! - how often identical systems fail under many kinds of noise and disturbance,
//! - how often a system with a true loss fails, and
//! - how often identical systems pass with exactly the number of blocks that an earlier gate with
//!   few blocks requested.
//!
//! A simulated run is only a number: the result of the run. Results are drawn in order of time,
//! with noise, drift and periodic disturbances. The order of the systems in a block is drawn as in
//! a study. No program runs and nothing is measured. The same seed always results in the same error
//! rates.

mod simulation;

use study::{Decision, GateError, Requirement};

use self::simulation::{RunNoise, SETTINGS, Setting, Simulated, setting};
use crate::limit::{Limit, Share};

/// Requirement of the gates. Identical systems meet it: their true ratio is 1.
const REQUIREMENT: &str = "transactions >= 0.97";
/// A stricter requirement. A system with a true loss of 3 % does not meet it.
const TIGHT_REQUIREMENT: &str = "transactions >= 0.985";
/// Maximum probability that a gate over identical systems fails, for every simulated kind of noise.
const FALSE_FAILURE: Limit = Limit::AtMost(0.01);
/// Minimum probability that identical systems pass after the number of blocks that a first gate
/// requested.
const PASS: Limit = Limit::AtLeast(0.95);

#[derive(Clone, Copy, Debug)]
pub struct GatesSize {
    /// Number of studies for each setting.
    pub studies: u32,
    /// The seed from which all noise and orders are drawn.
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Decisions {
    passed: Share,
    failed: Share,
}

impl Decisions {
    fn count(&mut self, decision: Decision) {
        self.passed.add(decision == Decision::Passed);
        self.failed.add(decision == Decision::Failed);
    }
}

fn decisions(
    size: GatesSize,
    setting: Setting,
    study: (u32, bool),
    (requirement, ratio): (&Requirement, f64),
) -> Result<Decisions, GateError> {
    let mut decisions = Decisions::default();
    for number in 0..size.studies {
        let simulated = Simulated::new((size.seed, number), setting, study, ratio);
        decisions.count(simulated.gate(requirement)?.decision);
    }
    Ok(decisions)
}

/// Simulates gates over identical systems under each setting, with 5, 10 and 20 blocks, with and
/// without an A/A control.
fn identical(size: GatesSize) -> Result<Vec<(Setting, u32, bool, Decisions)>, GateError> {
    let requirement = required(REQUIREMENT);
    let mut found = Vec::new();
    for blocks in [5, 10, 20] {
        for has_twin in [true, false] {
            for setting in SETTINGS {
                let decisions = decisions(size, setting, (blocks, has_twin), (&requirement, 1.0))?;
                found.push((setting, blocks, has_twin, decisions));
            }
        }
    }
    Ok(found)
}

/// Simulates identical systems with two gates. The first gate decides after `pilot` blocks and
/// requests a number of blocks. The second gate decides after this number.
fn as_asked(
    size: GatesSize,
    setting: Setting,
    (pilot, has_twin): (u32, bool),
) -> Result<Decisions, GateError> {
    let requirement = required(REQUIREMENT);
    let mut decisions = Decisions::default();
    for number in 0..size.studies {
        let mut simulated = Simulated::new((size.seed, number), setting, (pilot, has_twin), 1.0);
        let asked = simulated
            .gate(&requirement)?
            .blocks_needed_to_pass
            .unwrap_or(pilot);
        simulated.add(pilot + 1..=asked);
        decisions.count(simulated.gate(&requirement)?.decision);
    }
    Ok(decisions)
}

fn required(text: &str) -> Requirement {
    // All requirements are constants that the tests parse, so parsing cannot fail.
    text.parse().unwrap_or_else(|error| unreachable!("{error}"))
}

/// Runs all simulations and prints the results. Returns whether the shares of gates that failed and
/// passed keep the limits `FALSE_FAILURE` and `PASS`.
///
/// # Errors
/// Returns an error if a gate cannot decide.
pub fn perform(size: GatesSize) -> Result<bool, GateError> {
    let mut holds = true;
    println!(
        "identical systems, {REQUIREMENT}, {} studies of each: gates that fail (promised: 1 % at \
         most) and pass",
        size.studies
    );
    for (setting, blocks, has_twin, decisions) in identical(size)? {
        let is_kept = decisions.failed.agrees(FALSE_FAILURE);
        holds &= is_kept;
        println!(
            "  {blocks:2} blocks {}  {:22} failed {:5.2} %  passed {:5.1} %{}",
            control(has_twin),
            setting.name,
            100.0 * decisions.failed.share(),
            100.0 * decisions.passed.share(),
            broken(is_kept)
        );
    }
    println!(
        "true losses, normal noise of 3 % of a run, with A/A control: gates that fail and pass"
    );
    for text in [REQUIREMENT, TIGHT_REQUIREMENT] {
        for blocks in [5, 10, 20] {
            for loss in [0.03, 0.05, 0.1] {
                let required = required(text);
                let decisions =
                    decisions(size, SETTINGS[0], (blocks, true), (&required, 1.0 - loss))?;
                println!(
                    "  {text}  {blocks:2} blocks  loss {:2.0} %  failed {:5.1} %  passed {:5.1} %",
                    100.0 * loss,
                    100.0 * decisions.failed.share(),
                    100.0 * decisions.passed.share()
                );
            }
        }
    }
    println!(
        "identical systems with exactly the blocks that a first gate asks for: gates that pass \
         (promised: 95 %)"
    );
    for has_twin in [true, false] {
        for pilot in [5, 10] {
            for spread in [0.02, 0.05, 0.1] {
                let of_asked = setting("normal", RunNoise::Normal(spread));
                let decisions = as_asked(size, of_asked, (pilot, has_twin))?;
                let is_kept = decisions.passed.agrees(PASS);
                holds &= is_kept;
                println!(
                    "  first {pilot:2} blocks {}  runs of {:2.0} %  passed {:5.1} %{}",
                    control(has_twin),
                    100.0 * spread,
                    100.0 * decisions.passed.share(),
                    broken(is_kept)
                );
            }
        }
    }
    Ok(holds)
}

const fn control(has_twin: bool) -> &'static str {
    if has_twin {
        "with A/A control   "
    } else {
        "without A/A control"
    }
}

const fn broken(is_kept: bool) -> &'static str {
    if is_kept { "" } else { "  BROKEN" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_over_identical_systems_seldom_fails_under_any_disturbance() {
        let size = GatesSize {
            studies: 40,
            seed: 1,
        };
        let found = identical(size).unwrap();
        assert_eq!(found.len(), 96);
        for (setting, blocks, has_twin, decisions) in found {
            assert!(
                decisions.failed.agrees(FALSE_FAILURE),
                "{blocks} blocks, {}, {}: {decisions:?}",
                control(has_twin),
                setting.name
            );
        }
        // With Student's t alone, gates would fail too often in these two settings: in 2.8 % and in
        // 1.3 % of the studies. The limit is 1 %.
        let size = GatesSize {
            studies: 1_000,
            seed: 1,
        };
        for (setting, has_twin) in [(SETTINGS[14], true), (SETTINGS[12], false)] {
            let decisions =
                decisions(size, setting, (5, has_twin), (&required(REQUIREMENT), 1.0)).unwrap();
            assert!(
                decisions.failed.share() <= 0.01,
                "{}: {decisions:?}",
                setting.name
            );
        }
    }
}
