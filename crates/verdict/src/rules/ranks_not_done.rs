//! **`ranks-not-done`** (INVALID). A rank failed or was stopped, or its part of the record is
//! missing (`postmark collect`). The numbers include only the parts that exist. *Threshold*: one
//! rank. *Evidence*: `cluster.ranks` and `cluster.missing`. *What to do*: read the messages of the
//! rank and the logs of its host, and repeat the run.

use document::units::numbers;
use record::run::Outcome;

use super::rule::*;

/// Ranks failed, or their part of the record is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RanksNotDone {
    /// Numbers of the ranks that did not complete.
    pub failed: Vec<u32>,
    /// Numbers of the ranks whose part of the record is missing.
    pub missing: Vec<u32>,
    /// Number of ranks that were started.
    pub launched: u32,
}

impl Rule for RanksNotDone {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str = "read the ranks' messages and the logs of their hosts";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let cluster = record.cluster.as_ref()?;
        let ranks = cluster.ranks.iter();
        let failed: Vec<u32> = ranks
            .filter(|rank| rank.outcome != Outcome::Complete)
            .map(|rank| rank.rank)
            .collect();
        let missing: Vec<u32> = cluster.missing.iter().map(|missing| missing.rank).collect();
        (!failed.is_empty() || !missing.is_empty()).then_some(Self {
            failed,
            missing,
            launched: cluster.launched,
        })
    }

    fn sentence(&self) -> String {
        let parts = [
            ("failed or stopped", &self.failed),
            ("missing", &self.missing),
        ];
        let parts = parts.into_iter().filter(|(_, all)| !all.is_empty());
        let parts: Vec<String> = parts
            .map(|(what, all)| format!("{what} {}", numbers(all)))
            .collect();
        format!(
            "{} of {} did not complete the run ({})",
            grouped((self.failed.len() + self.missing.len()) as u64),
            counted(self.launched.into(), "rank"),
            parts.join("; ")
        )
    }
}
