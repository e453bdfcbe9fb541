//! **`wall-clock-stepped`** (DOUBTFUL). The wall clock was set. Durations do not depend on it, but
//! the record's date and the seconds of the classic formats do. *Threshold*: the precision of the
//! readings. *Evidence*: `CLOCK_REALTIME` against `CLOCK_BOOTTIME`. *What to do*: set the clock
//! before a run.

use super::processors::runs;
use super::rule::*;

/// The wall clock was set during the run. Durations do not depend on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct WallClockStepped {
    /// Change of the clock, in nanoseconds; negative if it was set back.
    pub ns: i64,
}

impl Rule for WallClockStepped {
    const ADVICE: &str = "set the clock before a run (chronyc waitsync)";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let steps = runs(record).map(|during| during.clocks.wall_clock_stepped_ns);
        let ns = steps.max_by_key(|step| step.unsigned_abs())?;
        (ns != 0).then_some(Self { ns })
    }

    fn sentence(&self) -> String {
        format!(
            "the wall clock was set {} by {}, so the record's date may be wrong",
            if self.ns < 0 { "back" } else { "forwards" },
            latency(self.ns.unsigned_abs() as f64)
        )
    }
}
