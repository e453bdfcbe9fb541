//! **`partial`** (INVALID). The run did not complete: a signal ended it, it failed, or its target
//! disappeared. The numbers describe only the part that was performed. The length, the steadiness
//! and the rate of such a run are not judged. *Threshold*: any such end. *Evidence*:
//! `actual.outcome`. *What to do*: repeat the run, after removing the cause.

use record::run::Outcome;

use super::rule::*;

/// The run did not complete, so its numbers describe only a part of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Partial {
    /// How the run ended: a signal ended it, the target disappeared, it failed, or the program was
    /// killed.
    pub outcome: Outcome,
}

impl Rule for Partial {
    const LEVEL: Level = Level::Invalid;

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        record.actual.is_partial().then(|| Self {
            outcome: record.actual.outcome.clone(),
        })
    }

    fn sentence(&self) -> String {
        let how = match &self.outcome {
            Outcome::Interrupted { signal } => {
                format!("the run was interrupted by signal {signal}")
            }
            Outcome::PlaceGone { .. } => "the run directory disappeared".to_owned(),
            Outcome::Unfinished => "the program was killed before the run ended".to_owned(),
            Outcome::Failed { .. } | Outcome::Complete => "the run failed".to_owned(),
        };
        format!("{how}, so the numbers cover only a part")
    }

    fn advice(&self) -> &'static str {
        match self.outcome {
            Outcome::Interrupted { .. } | Outcome::Unfinished | Outcome::Complete => {
                "let the run complete"
            }
            Outcome::PlaceGone { .. } | Outcome::Failed { .. } => {
                "remove the reported cause, and repeat the run"
            }
        }
    }
}
