//! The clock as a value: the machine's, or a virtual one in tests.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use observe::{Clocks, Fact, Sources};
use rustix::time::{ClockId, clock_gettime};
use storage::simulated::Simulated;

/// Where moments come from.
pub trait Clock: Clone + Send + Sync + 'static {
    /// Nanoseconds of a clock that never goes back.
    fn now_ns(&self) -> u64;

    /// Whole seconds of wall clock, as the original reads them.
    fn wall_s(&self) -> i64;

    /// This clock and the wall clock at one moment; where nothing more is known, by its whole seconds.
    fn clocks(&self) -> Clocks {
        const SECOND_NS: i64 = 1_000_000_000;
        let monotonic_ns = i64::try_from(self.now_ns()).unwrap_or(i64::MAX);
        Clocks {
            monotonic_ns,
            boot_minus_monotonic_ns: 0,
            wall_minus_monotonic_ns: self.wall_s().saturating_mul(SECOND_NS).saturating_sub(monotonic_ns),
            uncertainty_ns: SECOND_NS.unsigned_abs(),
            clock_source: Fact::NotApplicable,
        }
    }

    /// Lets so many nanoseconds pass.
    fn sleep(&self, ns: u64) {
        std::thread::sleep(Duration::from_nanos(ns));
    }
}

/// The machine's clocks: `CLOCK_MONOTONIC` and the wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        // Both parts of a monotonic clock's reading are positive.
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    fn wall_s(&self) -> i64 {
        clock_gettime(ClockId::Realtime).tv_sec
    }

    fn clocks(&self) -> Clocks {
        Clocks::read(&Sources::default())
    }
}

impl Clock for Simulated {
    fn now_ns(&self) -> u64 {
        Simulated::now_ns(self)
    }

    fn wall_s(&self) -> i64 {
        (Simulated::now_ns(self) / 1_000_000_000) as i64
    }
}

/// Nanoseconds of the epoch; 0 before it.
pub(crate) fn unix_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
