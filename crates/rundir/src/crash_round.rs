//! The result of one crash round.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Action;

use crate::ack_log::loss::LossKind;
use crate::ack_log::outcome::Outcome;
use crate::verify_log::Verified;

/// How the run of a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundEnd {
    /// The crash interrupted the run.
    Crashed,
    /// The run ended by itself before the crash, so this round tells nothing about crashes.
    EndedBefore,
}

/// The first loss of its operation and kind in a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrashRound {
    /// Number of the round, from 1.
    pub round: u32,
    /// Time from the end of the preparation to the crash.
    pub delay_ns: u64,
    /// The request or event at which the round crashed after that time; `None` if it crashed at
    /// once.
    #[serde(default)]
    pub moment: Option<String>,
    /// The request or event that the round waited for in vain, before it crashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<String>,
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
    /// The round whose run made the pool; `None` if that is the run of this round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<u32>,
    /// Process number of the run that made the pool, if the next run can continue on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Number of paths that were made or removed, so that the next run can continue.
    #[serde(default)]
    pub repaired: u64,
    /// The reason why the next run cannot continue on the pool, although it was to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_continued: Option<String>,
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
            missed: None,
            end,
            in_flight: 0,
            checked: 0,
            operations: Vec::new(),
            examples: Vec::new(),
            directory_lost: None,
            foreign: 0,
            foreign_first: None,
            ack_log: None,
            pool: None,
            process: None,
            repaired: 0,
            not_continued: None,
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

    /// Whether the crash undid something that was promised. The run directory is synced under
    /// every policy.
    pub fn has_loss(&self) -> bool {
        let has_loss = |outcome: &Outcome| outcome.broken().losses() > 0;
        self.directory_lost.is_some() || self.operations.iter().any(has_loss)
    }

    /// Whether the crash undid acknowledged changes that nothing promised to keep.
    pub fn has_allowed_loss(&self) -> bool {
        self.operations.iter().any(|outcome| outcome.allowed() > 0)
    }
}
