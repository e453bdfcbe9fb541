//! Counts of the verdicts of many runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use verdict::Level;

use crate::observed::Observed;

/// Numbers of runs by the level of their verdict, and by the rules that the verdicts name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    pub valid: u32,
    pub doubtful: u32,
    /// INVALID runs, which comparisons exclude.
    pub invalid: u32,
    /// Number of DOUBTFUL runs whose verdict names a rule, by the name of the rule.
    pub doubtful_reasons: BTreeMap<String, u32>,
    /// Number of INVALID runs whose verdict names a rule, by the name of the rule.
    pub invalid_reasons: BTreeMap<String, u32>,
}

impl VerdictCounts {
    pub fn of<'a>(runs: impl IntoIterator<Item = &'a Observed>) -> Self {
        let mut counts = Self::default();
        for run in runs {
            let (runs, reasons) = match run.level {
                Level::Valid => (&mut counts.valid, None),
                Level::Doubtful => (&mut counts.doubtful, Some(&mut counts.doubtful_reasons)),
                Level::Invalid => (&mut counts.invalid, Some(&mut counts.invalid_reasons)),
            };
            *runs += 1;
            if let Some(reasons) = reasons {
                for reason in &run.reasons {
                    *reasons.entry(reason.clone()).or_default() += 1;
                }
            }
        }
        counts
    }

    /// The sum of the counts of several groups of runs.
    pub fn sum<'a>(groups: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        for counts in groups {
            sum.valid += counts.valid;
            sum.doubtful += counts.doubtful;
            sum.invalid += counts.invalid;
            for (sums, reasons) in [
                (&mut sum.doubtful_reasons, &counts.doubtful_reasons),
                (&mut sum.invalid_reasons, &counts.invalid_reasons),
            ] {
                for (reason, runs) in reasons {
                    *sums.entry(reason.clone()).or_default() += *runs;
                }
            }
        }
        sum
    }

    pub const fn runs(&self, level: Level) -> u32 {
        match level {
            Level::Valid => self.valid,
            Level::Doubtful => self.doubtful,
            Level::Invalid => self.invalid,
        }
    }

    /// Whether more than half of the runs that are not INVALID are DOUBTFUL.
    pub const fn are_mostly_doubtful(&self) -> bool {
        self.doubtful > self.valid
    }

    pub const fn all(&self) -> u32 {
        self.valid + self.doubtful + self.invalid
    }
}
