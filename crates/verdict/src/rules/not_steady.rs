//! **`not-steady`** (DOUBTFUL). The rate changed during the measurement, by more than its noise
//! explains. Only DOUBTFUL, because no steady state was requested. *Threshold*: the least-squares
//! line through the rates rises or falls by more than 10 % of the average, or the rates of five
//! equal parts of the time differ by more than 20 %; these are the limits of SNIA (Solid State
//! Storage Performance Test Specification 2.0.1, steady state). A change beyond its limit must also
//! exceed what a constant rate shows by chance: in 1 % of runs for the line (Student's t,
//! two-sided), in 0.1 % for the parts (Tukey's studentized range). *Evidence*: in a closed loop,
//! the operations of each whole measured second in which all workers worked. They are averaged to
//! at most 20 batch means (Schmeiser 1982). The first test uses the variance of these means about
//! the line, the second their variance within the parts. The variance is at least that of the
//! number of renewals, c²·n for n operations whose latencies have the coefficient of variation c
//! (Cox: Renewal Theory, 1962): for exponential service that is the Poisson law. Not judged, with
//! the reason: fewer than 6 such seconds; an operation that took longer than a fifth of the time.
//! Open loops are not judged, because the arrivals determine their rate. The first line of the
//! report shows the drift and its noise. If the noise is above the limit, a small change would not
//! have been found. *What to do*: use a warm-up or a longer run.

use super::rule::*;
use super::steadiness::{Steadiness, judged};

/// The rate changed during the measurement, by more than its noise explains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct NotSteady {
    /// The change, with its limits.
    pub found: Steadiness,
}

impl Rule for NotSteady {
    const ADVICE: &str = "Add warm-up (--warm-up) or measure longer (--for).";

    fn find(record: &Record, seen: &Seen) -> Option<Self> {
        let found = *seen.steadiness.known()?;
        let has_rule = judged(record)?.steady.is_some();
        (!has_rule && !found.is_steady()).then_some(Self { found })
    }

    fn sentence(&self) -> String {
        format!("Not steady: {}", self.found.in_numbers())
    }
}
