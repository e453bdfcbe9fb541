//! **`clock-source-changed`** (INVALID). The kernel changed its clock source. The kernel abandons a
//! clock that its watchdog finds to be wrong (kernel/time/clocksource.c), and a reading of the new
//! clock may take longer or shorter. *Threshold*: any change. *Evidence*: `current_clocksource` at
//! the start and at the end. *What to do*: boot with a stable clock.

use super::processors::runs;
use super::rule::*;

/// The kernel changed its clock source during the run. It abandons a clock that its watchdog finds
/// to be wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClockSourceChanged {
    /// Clock source at the start, such as `tsc`.
    pub before: String,
    /// Clock source at the end.
    pub after: String,
}

impl Rule for ClockSourceChanged {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str = "see the kernel's log, and boot with a stable clock (clocksource=)";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        runs(record).find_map(|during| {
            let clocks = &during.clocks;
            clocks.clock_source_changed.known()?.then_some(())?;
            Some(Self {
                before: clocks.clock_source_before.known()?.clone(),
                after: clocks.clock_source_after.known()?.clone(),
            })
        })
    }

    fn sentence(&self) -> String {
        let Self { before, after } = self;
        format!("the kernel changed its clock source from {before} to {after}")
    }
}
