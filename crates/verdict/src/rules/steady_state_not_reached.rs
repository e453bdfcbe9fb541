//! **`steady-state-not-reached`** (INVALID). A rule of steady state was to end the transactions,
//! and did not. Such a run promises the rate of a steady state, and its number is another one.
//! *Threshold*: the [rule](#steady-state) of the run. *Evidence*: the rates of the rounds. *What to
//! do*: use a warm-up, or longer or more rounds.

use spec::SteadyRule;

use super::rule::*;
use super::steadiness::{Steadiness, judged};

/// The transactions were to go on until they were steady, and were not when they ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SteadyStateNotReached {
    /// By which rule.
    pub rule: SteadyRule,
    /// How many rounds there were.
    pub rounds: u64,
    /// The last window; nothing where there was none that could be judged.
    pub last: Option<Steadiness>,
}

impl Rule for SteadyStateNotReached {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str = "Add warm-up (--warm-up), use longer or more rounds, or look for the \
                          cause in the time series.";

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
        format!(
            "Steady state (rule {}) was not reached after {}{}",
            self.rule.name(),
            counted(self.rounds, "round"),
            last.map_or(".".to_owned(), |last| format!(": {}", last.in_numbers()))
        )
    }
}
