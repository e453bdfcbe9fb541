//! **`steady-state-not-reached`** (INVALID). A steady-state rule was to end the transactions, but
//! they ended without a steady state. The reported rate is therefore not that of a steady state,
//! although the run requested one. *Threshold*: the [rule](load.md#steady-state) of the run.
//! *Evidence*: the rates of the rounds. *What to do*: use a warm-up, or longer or more rounds.

use spec::SteadyRule;

use super::rule::*;
use super::steadiness::{Steadiness, judged};

/// The transactions ended before the requested steady-state rule was met, so their rate is not that
/// of a steady state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SteadyStateNotReached {
    /// The steady-state rule that the run requested.
    pub rule: SteadyRule,
    /// Number of rounds that were performed.
    pub rounds: u64,
    /// Result for the last window; null if no window could be judged.
    pub last: Option<Steadiness>,
}

impl Rule for SteadyStateNotReached {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str = "use a longer --warm-up, or longer or more rounds";

    fn find(record: &Record, seen: &Seen) -> Option<Self> {
        let found = judged(record)?.steady.as_ref()?;
        let rule = record.spec.drive.steady()?.rule;
        (!found.is_steady).then(|| Self {
            rule,
            rounds: found.rounds.len() as u64,
            last: seen.steadiness.known().copied(),
        })
    }

    fn sentence(&self) -> String {
        let last = self.last.as_ref();
        let last = last.map_or(String::new(), |last| format!(", {}", last.in_numbers()));
        format!(
            "no steady state (rule {}) after {}{last}",
            self.rule.name(),
            counted(self.rounds, "round")
        )
    }
}
