//! **`partial`** (INVALID). The run did not complete: a signal ended it, it failed, or its target
//! disappeared. The numbers cover the part that was performed. The length, the steadiness and the
//! rate of such a run are not judged. *Threshold*: any such end. *Evidence*: `actual.outcome`.
//! *What to do*: repeat the run, after removing the cause.

use record::run::Outcome;

use super::rule::*;

/// The run did not complete, so its numbers cover only a part of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Partial {
    /// How the run ended.
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
                format!("The run was interrupted by signal {signal}")
            }
            Outcome::PlaceGone { .. } => "The run directory disappeared".to_owned(),
            Outcome::Unfinished => "The program was killed before the run ended".to_owned(),
            Outcome::Failed { .. } | Outcome::Complete => "The run failed".to_owned(),
        };
        format!("{how}. The numbers cover only the time before that.")
    }

    fn advice(&self) -> &'static str {
        match self.outcome {
            Outcome::Interrupted { .. } | Outcome::Unfinished | Outcome::Complete => {
                "Repeat the run and let it complete."
            }
            Outcome::PlaceGone { .. } | Outcome::Failed { .. } => {
                "Remove the cause that the report names, and repeat the run."
            }
        }
    }
}
