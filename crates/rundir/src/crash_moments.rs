//! The results of crash rounds by the moment of the crash.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ack_log::outcome::Outcome;
use crate::crash_round::CrashRound;

/// The crashes at one moment, with the losses that break a promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MomentOutcome {
    /// The request or event; `None` for crashes at a random time.
    pub moment: Option<String>,
    pub crashes: u32,
    pub crashes_with_loss: u32,
    pub directories_lost: u32,
    pub lost: u64,
    pub torn: u64,
    pub resurrected: u64,
}

/// Sums the crashed rounds of each moment.
pub(crate) fn moments<'a>(rounds: impl Iterator<Item = &'a CrashRound>) -> Vec<MomentOutcome> {
    let mut moments: BTreeMap<Option<&String>, MomentOutcome> = BTreeMap::new();
    for round in rounds {
        let of = moments.entry(round.moment.as_ref()).or_default();
        of.moment.clone_from(&round.moment);
        of.crashes += 1;
        of.crashes_with_loss += u32::from(round.has_loss());
        of.directories_lost += u32::from(round.directory_lost.is_some());
        for outcome in round.operations.iter().map(Outcome::broken) {
            of.lost += outcome.lost;
            of.torn += outcome.torn;
            of.resurrected += outcome.resurrected;
        }
    }
    moments.into_values().collect()
}
