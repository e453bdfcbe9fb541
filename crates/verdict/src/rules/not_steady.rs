//! **`not-steady`** (DOUBTFUL). The rate changed during the measurement, by more than its noise
//! explains. Only DOUBTFUL, because no steady state was requested. *Threshold*: the least-squares
//! line through the rates rises or falls by more than 10 % of the average, or the rates of five
//! equal parts of the time differ by more than 20 %; these are the limits of SNIA (Solid State
//! Storage Performance Test Specification 2.0.1, steady state). The change must also exceed the one
//! that a constant rate shows by chance: in 1 % of runs for the line (Student's t, two-sided), and
//! in 0.1 % of runs for the parts (Tukey's studentized range). *Evidence*: in a closed loop, the
//! operations of each whole measured second in which all workers worked. They are averaged to at
//! most 20 batch means (Schmeiser 1982). The test of the line uses the variance of these means
//! about the line, and the test of the parts uses their variance within the parts. Noise is also
//! estimated by renewal theory, and the larger estimate is used: n operations whose latencies have
//! the coefficient of variation c have the variance c²·n (Cox: Renewal Theory, 1962). For
//! exponential latencies this is a Poisson process. Not judged if there are fewer than 6 such
//! seconds, or if an operation took longer than a fifth of the time; the report states the reason.
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
