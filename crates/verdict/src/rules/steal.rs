//! **`steal`** (DOUBTFUL, INVALID). The hypervisor withheld processor time from this machine. Time
//! counts as steal only if a task was ready to run, so the run lost this time. *Threshold*: more
//! than 1 % of all processors' time (an achieved rate may be below the requested one by this
//! share); INVALID: more than 10 % (the drift that is allowed for a steady run). *Evidence*: steal
//! in `/proc/stat`. Not judged for runs below 1 s. *What to do*: use a machine that is not shared.

use super::rule::*;

/// Maximum share of CPU steal in all processors' time. It equals the 1 % by which an achieved rate
/// may be below the requested rate of an open loop.
const MAX: f64 = 0.01;

/// Share of CPU steal above which the run is INVALID. It equals the 10 % by which the rate of a
/// steady run may change.
const INVALID: f64 = 0.10;

/// The hypervisor took processor time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Steal {
    /// Share of CPU steal in all processors' time, from 0 to 1.
    pub fraction: f64,
}

impl Rule for Steal {
    const ADVICE: &str = "use a machine that is not shared";

    fn find(_: &Record, seen: &Seen) -> Option<Self> {
        let fraction = *seen.steal_fraction.known()?;
        (fraction > MAX).then_some(Self { fraction })
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.fraction > INVALID)
    }

    fn sentence(&self) -> String {
        format!(
            "{} of the processor time taken by the hypervisor, limit {}",
            percent(self.fraction),
            percent(MAX)
        )
    }
}
