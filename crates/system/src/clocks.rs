//! Detects events that make the time between two moments doubtful: suspensions, steps of the clock,
//! and a change of the clock source.
//!
//! Durations are measured by the monotonic clock, which stops while the machine is suspended and
//! does not depend on the date. A comparison with two other clocks of clock_gettime(2) detects
//! suspensions and steps:
//!
//! - `CLOCK_BOOTTIME` continues during a suspension, so its lead over `CLOCK_MONOTONIC` grows by
//!   exactly the suspended time;
//! - `CLOCK_REALTIME` continues as well and can be set, so its lead over `CLOCK_BOOTTIME` changes
//!   by exactly the sum of the steps. A leap second counts as a step. Slewing (adjtimex(2)) affects
//!   all three clocks alike and cannot be detected.
//!
//! A hypervisor that stops the whole machine may stop all clocks. Such a stop cannot be detected.

use rustix::time::{ClockId, Timespec, clock_gettime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu::NANOSECONDS_PER_SECOND;
use crate::fact::{Fact, both};
use crate::host::clock_source;
use crate::sources::Sources;

/// Number of readings of the clocks. The reading with the smallest uncertainty is used, which
/// excludes interrupted readings.
const READINGS: usize = 5;

/// The clocks at one moment. They cannot be read at the same instant, so the monotonic clock is
/// read before and after the other clocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// `CLOCK_MONOTONIC` in nanoseconds, at the middle of the reading.
    pub monotonic_ns: i64,
    /// `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`, in nanoseconds: the time that the machine has been
    /// suspended since boot (in a time namespace, plus a constant).
    pub boot_minus_monotonic_ns: i64,
    /// `CLOCK_REALTIME` minus `CLOCK_MONOTONIC`, in nanoseconds.
    pub wall_minus_monotonic_ns: i64,
    /// Half the duration of the reading, in nanoseconds. It is the maximum error of the differences
    /// between the clocks.
    pub uncertainty_ns: u64,
    /// Name of the kernel's clock source (`current_clocksource`).
    pub clock_source: Fact<String>,
}

impl Clocks {
    /// Reads the clocks by system calls, and the name of the clock source from a file.
    pub fn read(sources: &Sources) -> Clocks {
        let mut best = Clocks::reading();
        for _ in 1..READINGS {
            let another = Clocks::reading();
            if another.uncertainty_ns < best.uncertainty_ns {
                best = another;
            }
        }
        best.clock_source = clock_source(sources);
        best
    }

    fn reading() -> Clocks {
        let before = clock_gettime(ClockId::Monotonic);
        let boot = clock_gettime(ClockId::Boottime);
        let wall = clock_gettime(ClockId::Realtime);
        let after = clock_gettime(ClockId::Monotonic);
        Clocks::of([before, boot, wall, after].map(nanoseconds))
    }

    /// Creates a snapshot from four readings in nanoseconds: the monotonic, boot and wall clock,
    /// and the monotonic clock a second time.
    fn of([before, boot, wall, after]: [i128; 4]) -> Clocks {
        let monotonic = (before + after) / 2;
        Clocks {
            monotonic_ns: saturated(monotonic),
            boot_minus_monotonic_ns: saturated(boot - monotonic),
            wall_minus_monotonic_ns: saturated(wall - monotonic),
            uncertainty_ns: saturated(after - before).unsigned_abs().div_ceil(2),
            clock_source: Fact::NotApplicable,
        }
    }

    pub fn since(&self, earlier: &Clocks) -> ClocksDifference {
        let uncertainty_ns = self.uncertainty_ns.saturating_add(earlier.uncertainty_ns);
        let moved = |later: i64, earlier: i64| i128::from(later) - i128::from(earlier);
        // A change within the uncertainty of the readings is reported as 0.
        let certain = |change: i128| {
            if change.unsigned_abs() <= u128::from(uncertainty_ns) {
                0
            } else {
                change
            }
        };
        let boot = moved(
            self.boot_minus_monotonic_ns,
            earlier.boot_minus_monotonic_ns,
        );
        let wall = moved(
            self.wall_minus_monotonic_ns,
            earlier.wall_minus_monotonic_ns,
        );
        ClocksDifference {
            elapsed_ns: never_negative(moved(self.monotonic_ns, earlier.monotonic_ns)),
            suspended_ns: never_negative(certain(boot)),
            wall_clock_stepped_ns: saturated(certain(wall - boot)),
            uncertainty_ns,
            clock_source_changed: both(&self.clock_source, &earlier.clock_source, String::ne),
            clock_source_before: earlier.clock_source.clone(),
            clock_source_after: self.clock_source.clone(),
        }
    }
}

/// Time between two snapshots of the clocks, with the suspensions and steps in this time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClocksDifference {
    /// Time that passed by the monotonic clock, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time that the machine was suspended, in nanoseconds. `elapsed_ns` excludes it.
    pub suspended_ns: u64,
    /// Sum of all steps of the wall clock, in nanoseconds; negative if the clock was set back. The
    /// progress of the wall clock during a suspension is not a step.
    pub wall_clock_stepped_ns: i64,
    /// Limit of detection for suspensions and steps, in nanoseconds. Smaller changes are reported
    /// as 0.
    pub uncertainty_ns: u64,
    /// Whether the kernel switched to another clock source.
    pub clock_source_changed: Fact<bool>,
    /// Kernel's clock source at the first reading, such as `tsc`.
    pub clock_source_before: Fact<String>,
    /// Kernel's clock source at the last reading.
    pub clock_source_after: Fact<String>,
}

fn nanoseconds(time: Timespec) -> i128 {
    i128::from(time.tv_sec) * i128::from(NANOSECONDS_PER_SECOND) + i128::from(time.tv_nsec)
}

/// Nanoseconds in 64 bits reach to the year 2262; later times saturate.
fn saturated(nanoseconds: i128) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// The monotonic and the boot clock never go backwards. A negative difference is an error of the
/// readings and becomes 0.
fn never_negative(nanoseconds: i128) -> u64 {
    u64::try_from(nanoseconds.max(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
