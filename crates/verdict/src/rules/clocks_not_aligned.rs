//! **`clocks-not-aligned`** (DOUBTFUL). The clocks of the ranks could not be compared closely
//! enough for so short a run: the borders of what was measured are not known better. *Threshold*:
//! moments of two ranks may be off by more than 1 % of the measured time. *Evidence*: the errors of
//! the offsets in `cluster.ranks`, twice the greatest; those of round trips between the hosts.
//! *What to do*: measure longer, or find what delays messages between the hosts.

use super::rule::*;
use crate::summary::ranks;

/// The share of the measured time that clocks of ranks may be apart: borders of what was measured
/// are off by so much, and what an achieved rate may lack is as much.
const MAX: f64 = 0.01;

/// The clocks of ranks could not be compared closely enough for so short a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClocksNotAligned {
    /// Moments of two ranks may be off by so much, in nanoseconds.
    pub error_ns: u64,
    /// How long was measured, in nanoseconds.
    pub measured_ns: u64,
}

impl Rule for ClocksNotAligned {
    const ADVICE: &str = "Measure longer, or find what delays messages between the hosts. Rates \
                          are off by the same share.";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let error_ns = ranks::clock_error(record.cluster.as_ref()?).into_known()?;
        let measured_ns = ranks::judged(record)?.measured_ns();
        (measured_ns > 0 && share(error_ns, measured_ns) > MAX).then_some(Self {
            error_ns,
            measured_ns,
        })
    }

    fn sentence(&self) -> String {
        format!(
            "Clocks of ranks may be {} apart, {} of the measured time (threshold {}).",
            latency(self.error_ns as f64),
            percent(share(self.error_ns, self.measured_ns)),
            percent(MAX)
        )
    }
}
