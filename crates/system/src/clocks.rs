//! Whether the clocks went as they should: what makes the time between two
//! moments doubtful.
//!
//! Durations are measured with the monotonic clock, which stands still while
//! the machine is suspended and knows nothing of the date. Beside the other
//! clocks of clock_gettime(2) it shows both:
//!
//! - `CLOCK_BOOTTIME` goes on during a suspension, so its lead over `CLOCK_MONOTONIC` grows by
//!   exactly that;
//! - `CLOCK_REALTIME` goes on too, and is set by people and programs, so its lead over
//!   `CLOCK_BOOTTIME` changes by exactly the steps (a leap second is one). Slowing and hurrying
//!   (adjtimex(2)) is in all three clocks alike and shows in none.
//!
//! A hypervisor that stops the whole machine may stop all clocks; then none of
//! this shows.

use rustix::time::{ClockId, Timespec, clock_gettime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu::NANOSECONDS_PER_SECOND;
use crate::fact::{Fact, both};
use crate::host::clock_source;
use crate::sources::Sources;

/// The tightest of so many readings is taken: one that was interrupted is not.
const READINGS: usize = 5;

/// The clocks at one moment. They cannot be read at once, so the monotonic one
/// is read before and after the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// `CLOCK_MONOTONIC`, in nanoseconds: the middle of the reading.
    pub monotonic_ns: i64,
    /// `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`, in nanoseconds: how long the
    /// machine has been suspended since boot (in a time namespace, plus a
    /// constant).
    pub boot_minus_monotonic_ns: i64,
    /// `CLOCK_REALTIME` minus `CLOCK_MONOTONIC`, in nanoseconds.
    pub wall_minus_monotonic_ns: i64,
    /// Half the length of the reading, in nanoseconds: so far may the clocks be
    /// off against each other.
    pub uncertainty_ns: u64,
    /// The kernel's source of time (`current_clocksource`).
    pub clock_source: Fact<String>,
}

impl Clocks {
    /// Reads the clocks. The source's name is the only file.
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

    /// Monotonic, boot, wall and again monotonic clock, in nanoseconds.
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

    /// What happened to the clocks between an earlier snapshot and this.
    pub fn since(&self, earlier: &Clocks) -> ClocksDifference {
        let uncertainty_ns = self.uncertainty_ns.saturating_add(earlier.uncertainty_ns);
        let moved = |later: i64, earlier: i64| i128::from(later) - i128::from(earlier);
        // A change that the readings may have made themselves is none.
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

/// What happened to the clocks between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClocksDifference {
    /// Time that passed by the monotonic clock, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time that the machine was suspended, in nanoseconds. It is not in
    /// `elapsed_ns`.
    pub suspended_ns: u64,
    /// How far the wall clock was set forwards (or back, if negative), in
    /// nanoseconds, all steps summed. Following a suspension is no step.
    pub wall_clock_stepped_ns: i64,
    /// Changes up to this, in nanoseconds, cannot be seen and are given as 0.
    pub uncertainty_ns: u64,
    /// Whether the kernel changed to another source of time.
    pub clock_source_changed: Fact<bool>,
    /// Its source at the beginning.
    pub clock_source_before: Fact<String>,
    /// Its source at the end.
    pub clock_source_after: Fact<String>,
}

fn nanoseconds(time: Timespec) -> i128 {
    i128::from(time.tv_sec) * i128::from(NANOSECONDS_PER_SECOND) + i128::from(time.tv_nsec)
}

/// Nanoseconds of 64 bits reach to the year 2262; beyond, they saturate.
fn saturated(nanoseconds: i128) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// The clocks in question never go back.
fn never_negative(nanoseconds: i128) -> u64 {
    u64::try_from(nanoseconds.max(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
