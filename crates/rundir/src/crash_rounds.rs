//! The results of crash rounds: what each round verified, and what all rounds show together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use workload::Action;

use crate::ack_log::loss::LossKind;
use crate::ack_log::outcome::Outcome;
use crate::verify_log::Verified;

/// Confidence level of [`loss_share_max`].
const CONFIDENCE: f64 = 0.95;

/// Returns the largest share of crashes with a loss for which `crashes` crashes without a loss have
/// a probability of 5 %: 1 - 0.05^(1/n), which is below 3/n. `None` without a crash.
pub fn loss_share_max(crashes: u32) -> Option<f64> {
    (crashes > 0).then(|| 1.0 - (1.0 - CONFIDENCE).powf(1.0 / f64::from(crashes)))
}

/// How the run of a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundEnd {
    /// The crash interrupted the run.
    Crashed,
    /// The run ended by itself before the crash, so this round tells nothing about crashes.
    EndedBefore,
}

/// The first loss of its operation and kind in a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossExample {
    pub round: u32,
    pub what: Action,
    pub kind: LossKind,
    pub path: String,
    /// The state in which verification found the path, as a sentence.
    pub why: String,
    /// The latest entries of the log about the path.
    pub history: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashRound {
    /// Number of the round, from 1.
    pub round: u32,
    /// Time from the end of the preparation to the crash.
    pub delay_ns: u64,
    /// The request or event at which the round crashed after that time; `None` if it crashed at
    /// once.
    #[serde(default)]
    pub moment: Option<String>,
    pub end: RoundEnd,
    pub in_flight: u64,
    pub checked: u64,
    pub operations: Vec<Outcome>,
    pub examples: Vec<LossExample>,
    /// The reason why no path could be checked: the run directory does not exist after the crash.
    pub directory_lost: Option<String>,
    pub foreign: u64,
    pub foreign_first: Option<String>,
    /// The acknowledgement log; `None` if it was removed, because the round shows no loss.
    pub ack_log: Option<String>,
    /// What could not be removed from the target after the round, with the reasons.
    pub left: Vec<String>,
}

impl CrashRound {
    /// A round in which no path was checked.
    pub const fn unchecked(round: u32, delay_ns: u64, end: RoundEnd) -> Self {
        Self {
            round,
            delay_ns,
            moment: None,
            end,
            in_flight: 0,
            checked: 0,
            operations: Vec::new(),
            examples: Vec::new(),
            directory_lost: None,
            foreign: 0,
            foreign_first: None,
            ack_log: None,
            left: Vec::new(),
        }
    }

    pub fn crashed(round: u32, delay_ns: u64, verified: &Verified) -> Self {
        Self {
            in_flight: verified.in_flight,
            checked: verified.checked,
            operations: verified.operations.clone(),
            foreign: verified.foreign,
            foreign_first: verified.foreign_first.clone(),
            ..Self::unchecked(round, delay_ns, RoundEnd::Crashed)
        }
    }

    pub fn has_loss(&self) -> bool {
        let has_loss = |outcome: &Outcome| outcome.losses() > 0;
        self.directory_lost.is_some() || self.operations.iter().any(has_loss)
    }
}

/// The results of all rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrashReport {
    pub tool: String,
    pub target: String,
    /// How a round crashed the system.
    pub crash: String,
    /// Whether the crash ended more than the run itself. Otherwise the rounds show nothing about
    /// durability.
    pub crashes_system: bool,
    pub durability: String,
    pub seed: u64,
    pub rounds_planned: u32,
    pub rounds_performed: u32,
    /// Number of rounds in which the crash interrupted the run.
    pub crashes: u32,
    pub crashes_with_loss: u32,
    pub directories_lost: u32,
    pub operations: Vec<Outcome>,
    pub foreign: u64,
    pub foreign_first: Option<String>,
    /// The first loss of each operation and kind.
    pub examples: Vec<LossExample>,
    /// Upper limit of the share of crashes that lose an acknowledged operation, with a confidence
    /// of 95 %; `None` if a loss was found, or the system was not crashed.
    pub loss_share_max: Option<f64>,
    /// Whether a signal ended the rounds early.
    pub interrupted: bool,
    /// File from which `--resume` continues.
    pub state: String,
    pub rounds: Vec<CrashRound>,
}

impl CrashReport {
    /// Computes the sums over `rounds`, and fills them in.
    #[must_use]
    pub fn with_rounds(self, rounds: Vec<CrashRound>) -> Self {
        let has_crashed = |round: &&CrashRound| round.end == RoundEnd::Crashed;
        let crashed = || rounds.iter().filter(has_crashed);
        let mut operations: BTreeMap<Action, Outcome> = BTreeMap::new();
        for outcome in crashed().flat_map(|round| &round.operations) {
            let sum = operations.entry(outcome.what);
            sum.or_insert_with(|| Outcome::new(outcome.what))
                .add(outcome);
        }
        let mut examples: Vec<LossExample> = Vec::new();
        for example in crashed().flat_map(|round| &round.examples) {
            let is_same =
                |known: &LossExample| (known.what, known.kind) == (example.what, example.kind);
            if !examples.iter().any(is_same) {
                examples.push(example.clone());
            }
        }
        let count = |condition: &dyn Fn(&CrashRound) -> bool| {
            crashed().filter(|round| condition(round)).count() as u32
        };
        let (crashes, lossy) = (count(&|_| true), count(&CrashRound::has_loss));
        Self {
            rounds_performed: rounds.len() as u32,
            crashes,
            crashes_with_loss: lossy,
            directories_lost: count(&|round| round.directory_lost.is_some()),
            operations: operations.into_values().collect(),
            foreign: crashed().map(|round| round.foreign).sum(),
            foreign_first: crashed().find_map(|round| round.foreign_first.clone()),
            examples,
            loss_share_max: loss_share_max(crashes).filter(|_| lossy == 0 && self.crashes_system),
            rounds,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_is_exact_and_below_three_divided_by_the_number_of_crashes() {
        assert_eq!(loss_share_max(0), None);
        assert!((loss_share_max(1).unwrap() - 0.95).abs() < 1e-12);
        let of_200 = loss_share_max(200).unwrap();
        assert!((of_200 - 0.014_867).abs() < 1e-6, "{of_200}");
        for crashes in 1..2_000 {
            assert!(loss_share_max(crashes).unwrap() < 3.0 / f64::from(crashes));
        }
    }
}
