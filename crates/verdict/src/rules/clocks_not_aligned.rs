//! **`clocks-not-aligned`** (DOUBTFUL). The clocks of the ranks could not be aligned closely enough
//! for so short a run: start and end of the measured time are uncertain. *Threshold*: moments of
//! two ranks may be off by more than 1 % of the measured time. *Evidence*: twice the greatest error
//! of the offsets in `cluster.ranks`, which are measured by round trips between the hosts. *What to
//! do*: measure longer, or find what delays messages between the hosts.

use super::rule::*;
use crate::summary::ranks;

/// Maximum error between the clocks of ranks, as a share of the measured time. It equals the 1 % by
/// which an achieved rate may be below the requested rate of an open loop.
const MAX: f64 = 0.01;

/// The clocks of the ranks could not be aligned closely enough for so short a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClocksNotAligned {
    /// Maximum error between moments of two ranks, in nanoseconds.
    pub error_ns: u64,
    /// Time from the start of the first measured segment to the end of the last, in nanoseconds.
    pub measured_ns: u64,
}

impl Rule for ClocksNotAligned {
    const ADVICE: &str = "measure longer, or find what delays messages between the hosts";

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
            "clocks of ranks up to {} apart, {} of the measured time, limit {}",
            latency(self.error_ns as f64),
            percent(share(self.error_ns, self.measured_ns)),
            percent(MAX)
        )
    }
}
