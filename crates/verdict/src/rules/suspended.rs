//! **`suspended`** (INVALID). The machine was suspended. Durations do not include that time, but
//! devices were switched off, and their caches are empty. *Threshold*: any such time. *Evidence*:
//! the time by which `CLOCK_BOOTTIME` gained on `CLOCK_MONOTONIC`. *What to do*: keep the machine
//! awake.

use super::processors::runs;
use super::rule::*;

/// The machine was suspended during the run. Durations exclude this time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Suspended {
    /// Time for which the machine was suspended, in nanoseconds.
    pub ns: u64,
}

impl Rule for Suspended {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str = "keep it awake (systemd-inhibit)";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let each = runs(record).map(|during| during.clocks.suspended_ns);
        let ns = each.fold(0, u64::saturating_add);
        (ns > 0).then_some(Self { ns })
    }

    fn sentence(&self) -> String {
        format!("the machine was suspended for {}", latency(self.ns as f64))
    }
}
