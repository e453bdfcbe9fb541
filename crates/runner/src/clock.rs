//! The clock as a trait: the machine's clock, or a virtual one in tests.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engines::simulated::Simulated;
use rustix::time::{ClockId, clock_gettime};
use system::{Clocks, Sources};

pub trait Clock: Send + Sync {
    /// Monotonic time in nanoseconds.
    fn now_ns(&self) -> u64;

    /// Wall-clock time in whole seconds, the resolution of the original PostMark.
    fn wall_s(&self) -> i64;

    /// Reads the monotonic and the wall clock together. This default implementation takes the
    /// wall-clock time from the machine, and the monotonic time from [`Clock::now_ns`], which tests
    /// simulate.
    fn clocks(&self) -> Clocks {
        let machine = Clocks::read(&Sources::default());
        let unix_ns = machine
            .monotonic_ns
            .saturating_add(machine.wall_minus_monotonic_ns);
        let monotonic_ns = i64::try_from(self.now_ns()).unwrap_or(i64::MAX);
        Clocks {
            monotonic_ns,
            wall_minus_monotonic_ns: unix_ns.saturating_sub(monotonic_ns),
            ..machine
        }
    }

    /// Whether this is the machine's clock. On a virtual clock, pauses of the program take no time
    /// and are not detected.
    fn is_of_machine(&self) -> bool {
        false
    }

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
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    fn wall_s(&self) -> i64 {
        clock_gettime(ClockId::Realtime).tv_sec
    }

    fn clocks(&self) -> Clocks {
        Clocks::read(&Sources::default())
    }

    fn is_of_machine(&self) -> bool {
        true
    }
}

impl Clock for Simulated {
    fn now_ns(&self) -> u64 {
        Simulated::now_ns(self)
    }

    fn wall_s(&self) -> i64 {
        (Simulated::now_ns(self) / 1_000_000_000) as i64
    }

    fn sleep(&self, ns: u64) {
        self.pass(ns);
    }
}

/// Wall-clock time in nanoseconds since the Unix epoch; 0 before the epoch.
pub(crate) fn unix_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
        })
}

/// The clock of a run. The machine's clock is read without a virtual call, because every operation
/// reads it twice.
#[derive(Clone)]
pub(crate) enum RunClock {
    Machine,
    Other(Arc<dyn Clock>),
}

impl std::fmt::Debug for RunClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Machine => "Machine",
            Self::Other(_) => "Other",
        })
    }
}

impl RunClock {
    pub(crate) fn of<C: Clock + Clone + 'static>(clock: &C) -> Self {
        match clock.is_of_machine() {
            true => Self::Machine,
            false => Self::Other(Arc::new(clock.clone())),
        }
    }

    fn get(&self) -> &dyn Clock {
        match self {
            Self::Machine => &SystemClock,
            Self::Other(clock) => &**clock,
        }
    }
}

impl Clock for RunClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        match self {
            Self::Machine => SystemClock.now_ns(),
            Self::Other(clock) => clock.now_ns(),
        }
    }

    fn wall_s(&self) -> i64 {
        self.get().wall_s()
    }

    fn clocks(&self) -> Clocks {
        self.get().clocks()
    }

    fn is_of_machine(&self) -> bool {
        self.get().is_of_machine()
    }

    fn sleep(&self, ns: u64) {
        self.get().sleep(ns);
    }
}
