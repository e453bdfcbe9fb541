//! Processor time as the kernel counts it: of the whole machine, including steal, and of this
//! process.
//!
//! The module provides snapshots and differences, reads no clock and computes no rate. Times are in
//! nanoseconds. The kernel counts the times of the machine in ticks (usually 10 ms), so they are
//! inexact for short intervals.

use serde::{Deserialize, Serialize};

use crate::fact::{Fact, part_way};
use crate::sources::Sources;

mod process;
pub(crate) mod spent;

pub use process::ProcessTimes;
pub(crate) use process::{NANOSECONDS_PER_SECOND, STATUS};

pub(crate) const STAT: &str = "/proc/stat";

/// Columns of processor time that are read, in the kernel's order (proc_stat(5)). `user` and `nice`
/// include the time of virtual machines (`guest`, `guest_nice`).
const COLUMNS: [&str; 8] = [
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
];

/// The machine's processor time since boot, in nanoseconds, summed over all processors, by column:
/// the first line of `/proc/stat` (proc_stat(5)). Columns that an old kernel lacks are unavailable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemTimes([Fact<u64>; 8]);

impl SystemTimes {
    pub fn read(sources: &Sources) -> Fact<SystemTimes> {
        SystemTimes::within(sources, &sources.text(STAT))
    }

    /// Parses the times from a text of `/proc/stat`.
    pub(crate) fn within(sources: &Sources, stat: &Fact<String>) -> Fact<SystemTimes> {
        stat.as_ref().and_then(|text| {
            let ticks_per_second = rustix::param::clock_ticks_per_second();
            let times = SystemTimes::parse(text, ticks_per_second);
            sources.found(STAT, times, || "has no line `cpu` with four numbers")
        })
    }

    /// Parses the line `cpu user nice system idle …`, whose times are in ticks (USER_HZ). `None` if
    /// the line has fewer than four numbers, or an invalid number.
    pub fn parse(text: &str, ticks_per_second: u64) -> Option<SystemTimes> {
        let tick_ns = NANOSECONDS_PER_SECOND.checked_div(ticks_per_second)?;
        let columns: Vec<u64> = text
            .lines()
            .find_map(|line| line.strip_prefix("cpu "))?
            .split_whitespace()
            .map(|column| column.parse::<u64>().ok()?.checked_mul(tick_ns))
            .collect::<Option<_>>()?;
        let column = |index: usize| {
            let name = COLUMNS[index];
            let why = || format!("{STAT}: this kernel has no column {name}");
            Fact::found(columns.get(index).copied(), why)
        };
        (columns.len() >= 4).then(|| SystemTimes(std::array::from_fn(column)))
    }

    /// Interpolates the times: `fraction` of the way from this snapshot to a later one.
    pub(crate) fn between(&self, later: &SystemTimes, fraction: f64) -> SystemTimes {
        SystemTimes(std::array::from_fn(|column| {
            part_way(&self.0[column], &later.0[column], fraction)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::spent::SystemTimesSpent;
    use super::*;
    use crate::sources::tests::Tree;

    const EARLY: &str = "cpu  100 10 50 800 20 0 5 15 0 0\ncpu0 1 1 1 1\n";
    const LATE: &str = "cpu  140 10 70 830 20 0 5 25 3 0\n";

    fn parse(text: &str) -> SystemTimes {
        SystemTimes::parse(text, 100).unwrap()
    }

    /// Returns each of the times in `parts` as a share of the total time.
    fn shares<const N: usize>(
        spent: &SystemTimesSpent,
        parts: [fn(&SystemTimesSpent) -> &Fact<u64>; N],
    ) -> [Fact<f64>; N] {
        parts.map(|part| spent.fraction_of(part(spent)))
    }

    #[test]
    fn times_in_ticks_are_converted_to_nanoseconds() {
        let times = parse(EARLY);
        let known = [1_000, 100, 500, 8_000, 200, 0, 50, 150].map(|ms| Fact::Known(ms * 1_000_000));
        assert_eq!(times.0, known);
    }

    #[test]
    fn fractions_are_shares_of_the_sum_of_all_columns() {
        let spent = parse(LATE).spent_since(&parse(EARLY));
        assert_eq!(spent.total_ns, Fact::Known(1_000_000_000));
        let parts = shares(
            &spent,
            [
                |t| &t.user_ns,
                |t| &t.idle_ns,
                |t| &t.steal_ns,
                |t| &t.busy_ns,
                |t| &t.irq_ns,
            ],
        );
        assert_eq!(parts, [0.4, 0.3, 0.1, 0.6, 0.0].map(Fact::Known));
    }

    #[test]
    fn time_since_boot_is_counted_from_zero() {
        let spent = parse(EARLY).since_boot();
        assert_eq!(spent.total_ns, Fact::Known(10_000_000_000));
        assert_eq!(shares(&spent, [|t| &t.steal_ns]), [Fact::Known(0.015)]);
    }

    #[test]
    fn time_whose_counter_went_backwards_is_unavailable() {
        let earlier = parse("cpu 100 0 0 100 50 0 0 0");
        let later = parse("cpu 180 0 0 140 30 0 0 0");
        let spent = later.spent_since(&earlier);
        let [iowait, user, busy] =
            shares(&spent, [|t| &t.iowait_ns, |t| &t.user_ns, |t| &t.busy_ns]);
        assert!(iowait.why().is_some());
        assert_eq!(spent.total_ns, Fact::Known(1_000_000_000));
        assert_eq!([user, busy], [Fact::Known(0.8), Fact::Known(0.8)]);
    }

    #[test]
    fn shares_without_counted_time_are_unavailable() {
        let spent = parse(EARLY).spent_since(&parse(EARLY));
        assert!(spent.total_ns.why().is_some());
        let parts = shares(&spent, [|t| &t.steal_ns, |t| &t.busy_ns]);
        assert!(parts.iter().all(|part| part.why().is_some()));
    }

    #[test]
    fn huge_counts_do_not_panic() {
        let absurd = parse("cpu 1844674407370 1844674407370 1844674407370 1844674407370 0 0 0 0");
        let spent = absurd.since_boot();
        assert!(spent.total_ns.is_known() && spent.fraction_of(&spent.user_ns).is_known());
        let spent = parse(EARLY).spent_since(&absurd);
        assert!(spent.fraction_of(&spent.user_ns).why().is_some());
        assert_eq!(
            SystemTimes::parse("cpu 18446744073709551615 0 0 0", 100),
            None,
            "too large"
        );
    }

    #[test]
    fn columns_missing_on_old_kernels_are_unavailable() {
        let times = parse("cpu 1 2 3 4\n");
        assert!(times.0[7].why().unwrap().contains("steal"));
        let [steal, busy] = shares(&times.since_boot(), [|t| &t.steal_ns, |t| &t.busy_ns]);
        assert!(steal.why().is_some());
        assert_eq!(busy, Fact::Known(0.6));
        assert_eq!(SystemTimes::parse("cpu 1 2 3\n", 100), None);
        assert_eq!(SystemTimes::parse("cpu 1 2 x 4\n", 100), None);
        assert_eq!(SystemTimes::parse("cpu0 1 2 3 4\n", 100), None);
    }

    #[test]
    fn stat_without_the_line_cpu_is_unavailable() {
        let tree = Tree::new(&[(STAT, "intr 5\n")]);
        assert!(SystemTimes::read(&tree.sources).why().is_some());
    }

    #[test]
    fn this_machine_reports_processor_times() {
        let times = SystemTimes::read(&Sources::default()).into_known().unwrap();
        assert!(times.since_boot().total_ns.is_known());
    }
}
