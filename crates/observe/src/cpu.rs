//! Processor time as the kernel has counted it: of the whole machine, with
//! what its hypervisor took away, and of this process.
//!
//! Snapshots and differences; no clock is read, no rate is computed. Times are
//! in nanoseconds, though the kernel counts the machine's in ticks (10 ms as a
//! rule), so short spans are coarse.

use serde::{Deserialize, Serialize};

use crate::fact::Fact;
use crate::sources::Sources;

mod process;
mod spent;

pub use process::ProcessTimes;
pub(crate) use process::STATUS;
pub use spent::SystemTimesSpent;

/// The kernel's statistics (proc_stat(5)).
pub(crate) const STAT: &str = "/proc/stat";
pub(crate) const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// The machine's processor time since boot, summed over all processors: the
/// first line of `/proc/stat` (proc_stat(5)). Time of guests is contained in
/// `user_ns` and `nice_ns`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemTimes {
    /// In user mode, in nanoseconds.
    pub user_ns: u64,
    /// In user mode with low priority.
    pub nice_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
    /// With nothing to do.
    pub idle_ns: u64,
    /// With nothing to do while a task waits for a device. "Not reliable",
    /// says the manual page; it may even decrease.
    pub iowait_ns: Fact<u64>,
    /// In hardware interrupts.
    pub irq_ns: Fact<u64>,
    /// In soft interrupts.
    pub softirq_ns: Fact<u64>,
    /// Wanted, but given to others by the hypervisor.
    pub steal_ns: Fact<u64>,
}

impl SystemTimes {
    /// Reads the first line of `/proc/stat`.
    pub fn read(sources: &Sources) -> Fact<SystemTimes> {
        SystemTimes::within(sources, &sources.text(STAT))
    }

    /// The times in a text of `/proc/stat` that has been read already.
    pub(crate) fn within(sources: &Sources, stat: &Fact<String>) -> Fact<SystemTimes> {
        stat.as_ref().and_then(|text| {
            let ticks_per_second = rustix::param::clock_ticks_per_second();
            SystemTimes::parse(text, ticks_per_second).map_or_else(
                || sources.unavailable(STAT, "has no line `cpu` with four numbers"),
                Fact::Known,
            )
        })
    }

    /// The times in a text that holds a line `cpu user nice system idle …` in
    /// ticks (USER_HZ). Columns that an old kernel lacks are unavailable.
    pub fn parse(text: &str, ticks_per_second: u64) -> Option<SystemTimes> {
        let tick_ns = NANOSECONDS_PER_SECOND.checked_div(ticks_per_second)?;
        let columns: Vec<u64> = text
            .lines()
            .find_map(|line| line.strip_prefix("cpu "))?
            .split_whitespace()
            .map(|column| column.parse::<u64>().ok()?.checked_mul(tick_ns))
            .collect::<Option<_>>()?;
        let later = |index: usize, name: &str| match columns.get(index) {
            Some(value) => Fact::Known(*value),
            None => Fact::Unavailable(format!("{STAT}: this kernel has no column {name}")),
        };
        Some(SystemTimes {
            user_ns: *columns.first()?,
            nice_ns: *columns.get(1)?,
            system_ns: *columns.get(2)?,
            idle_ns: *columns.get(3)?,
            iowait_ns: later(4, "iowait"),
            irq_ns: later(5, "irq"),
            softirq_ns: later(6, "softirq"),
            steal_ns: later(7, "steal"),
        })
    }

    /// Where the processors' time went between an earlier snapshot and this, as
    /// shares.
    pub fn since(&self, earlier: &SystemTimes) -> SystemTimesDifference {
        SystemTimesDifference::of(&self.spent_since(earlier))
    }

    /// Where the processors' time went since boot, as shares.
    pub fn since_boot(&self) -> SystemTimesDifference {
        SystemTimesDifference::of(&SystemTimesSpent::between(None, self))
    }

    /// Where the processors' time went between an earlier snapshot and this, in
    /// nanoseconds.
    pub fn spent_since(&self, earlier: &SystemTimes) -> SystemTimesSpent {
        SystemTimesSpent::between(Some(earlier), self)
    }

    fn columns(&self) -> [Fact<u64>; 8] {
        [
            Fact::Known(self.user_ns),
            Fact::Known(self.nice_ns),
            Fact::Known(self.system_ns),
            Fact::Known(self.idle_ns),
            self.iowait_ns.clone(),
            self.irq_ns.clone(),
            self.softirq_ns.clone(),
            self.steal_ns.clone(),
        ]
    }
}

/// Shares of the machine's processor time between two snapshots, each from 0
/// to 1, of the sum of all columns. A share is unavailable if the kernel did
/// not count, if its counter went backwards, or if nothing was counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemTimesDifference {
    /// The sum of all columns in nanoseconds: about the wall time between the
    /// snapshots, times the processors.
    pub total_ns: Fact<u64>,
    /// User mode.
    pub user_fraction: Fact<f64>,
    /// User mode with low priority.
    pub nice_fraction: Fact<f64>,
    /// The kernel.
    pub system_fraction: Fact<f64>,
    /// Nothing to do.
    pub idle_fraction: Fact<f64>,
    /// Nothing to do while a task waits for a device.
    pub iowait_fraction: Fact<f64>,
    /// Hardware interrupts.
    pub irq_fraction: Fact<f64>,
    /// Soft interrupts.
    pub softirq_fraction: Fact<f64>,
    /// Taken away by the hypervisor.
    pub steal_fraction: Fact<f64>,
    /// Used: all but idle, iowait and steal.
    pub busy_fraction: Fact<f64>,
}

impl SystemTimesDifference {
    fn of(spent: &SystemTimesSpent) -> SystemTimesDifference {
        let share = |part: &Fact<u64>| spent.fraction_of(part);
        SystemTimesDifference {
            user_fraction: share(&spent.user_ns),
            nice_fraction: share(&spent.nice_ns),
            system_fraction: share(&spent.system_ns),
            idle_fraction: share(&spent.idle_ns),
            iowait_fraction: share(&spent.iowait_ns),
            irq_fraction: share(&spent.irq_ns),
            softirq_fraction: share(&spent.softirq_ns),
            steal_fraction: share(&spent.steal_ns),
            busy_fraction: share(&spent.busy_ns),
            total_ns: spent.total_ns.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::tests::Tree;

    const EARLY: &str = "cpu  100 10 50 800 20 0 5 15 0 0\ncpu0 1 1 1 1\n";
    const LATE: &str = "cpu  140 10 70 830 20 0 5 25 3 0\n";

    fn parse(text: &str) -> SystemTimes {
        SystemTimes::parse(text, 100).unwrap()
    }

    #[test]
    fn ticks_become_nanoseconds() {
        let times = parse(EARLY);
        assert_eq!(times.user_ns, 1_000_000_000);
        assert_eq!(times.idle_ns, 8_000_000_000);
        assert_eq!(times.steal_ns, Fact::Known(150_000_000));
    }

    #[test]
    fn fractions_are_of_all_columns() {
        let difference = parse(LATE).since(&parse(EARLY));
        assert_eq!(difference.total_ns, Fact::Known(1_000_000_000));
        assert_eq!(difference.user_fraction, Fact::Known(0.4));
        assert_eq!(difference.idle_fraction, Fact::Known(0.3));
        assert_eq!(difference.steal_fraction, Fact::Known(0.1));
        assert_eq!(difference.busy_fraction, Fact::Known(0.6));
        assert_eq!(difference.irq_fraction, Fact::Known(0.0), "counted as none");
    }

    #[test]
    fn since_boot_counts_from_nothing() {
        let difference = parse(EARLY).since_boot();
        assert_eq!(difference.total_ns, Fact::Known(10_000_000_000));
        assert_eq!(difference.steal_fraction, Fact::Known(0.015));
    }

    #[test]
    fn a_counter_that_went_backwards_is_unavailable() {
        let earlier = parse("cpu 100 0 0 100 50 0 0 0");
        let later = parse("cpu 180 0 0 140 30 0 0 0");
        let difference = later.since(&earlier);
        assert!(difference.iowait_fraction.why().is_some());
        assert_eq!(difference.total_ns, Fact::Known(1_000_000_000));
        assert_eq!(difference.user_fraction, Fact::Known(0.8));
        assert_eq!(difference.busy_fraction, Fact::Known(0.8));
    }

    #[test]
    fn nothing_counted_is_not_zero() {
        let difference = parse(EARLY).since(&parse(EARLY));
        assert!(difference.total_ns.why().is_some());
        assert!(difference.steal_fraction.why().is_some());
        assert!(difference.busy_fraction.why().is_some());
    }

    #[test]
    fn absurd_counts_are_no_panic() {
        let absurd = parse("cpu 1844674407370 1844674407370 1844674407370 1844674407370 0 0 0 0");
        assert!(absurd.since_boot().total_ns.is_known() && absurd.since_boot().user_fraction.is_known());
        assert!(parse(EARLY).since(&absurd).user_fraction.why().is_some());
        assert_eq!(
            SystemTimes::parse("cpu 18446744073709551615 0 0 0", 100),
            None,
            "too large"
        );
    }

    #[test]
    fn old_kernels_lack_columns() {
        let times = parse("cpu 1 2 3 4\n");
        assert!(times.steal_ns.why().unwrap().contains("steal"));
        assert!(times.since_boot().steal_fraction.why().is_some());
        assert_eq!(times.since_boot().busy_fraction, Fact::Known(0.6));
        assert_eq!(SystemTimes::parse("cpu 1 2 3\n", 100), None);
        assert_eq!(SystemTimes::parse("cpu 1 2 x 4\n", 100), None);
        assert_eq!(SystemTimes::parse("cpu0 1 2 3 4\n", 100), None);
    }

    #[test]
    fn a_file_without_the_line_is_unavailable() {
        let tree = Tree::new(&[(STAT, "intr 5\n")]);
        assert!(SystemTimes::read(&tree.sources).why().is_some());
    }

    #[test]
    fn this_machine_counts() {
        let times = SystemTimes::read(&Sources::default()).into_known().unwrap();
        assert!(times.since_boot().total_ns.is_known());
    }
}
