//! Processor time of the machine between two snapshots, in nanoseconds, and shares of the total
//! time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{STAT, SystemTimes};
use crate::fact::{Fact, pair};

/// Processor time of the machine between two snapshots, in nanoseconds, summed over all processors.
/// A time that the kernel does not count, or whose counter went backwards, is unavailable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemTimesSpent {
    /// Sum of all modes: about the wall time between the snapshots multiplied by the number of
    /// processors. Unavailable if the sum is not above 0.
    pub total_ns: Fact<u64>,
    /// Time in user mode at normal priority, including that of virtual machines (`user`).
    pub user_ns: Fact<u64>,
    /// Time in user mode with low priority (`nice`).
    pub nice_ns: Fact<u64>,
    /// Time in the kernel, excluding interrupts (`system`).
    pub system_ns: Fact<u64>,
    /// Time in which no task ran or waited for a device (`idle`).
    pub idle_ns: Fact<u64>,
    /// Idle time while a task waits for a device.
    pub iowait_ns: Fact<u64>,
    /// Time in hardware interrupts (`irq`).
    pub irq_ns: Fact<u64>,
    /// Time in soft interrupts (`softirq`).
    pub softirq_ns: Fact<u64>,
    /// Time taken by the hypervisor (CPU steal).
    pub steal_ns: Fact<u64>,
    /// Busy time: all modes except idle, iowait and steal.
    pub busy_ns: Fact<u64>,
}

impl SystemTimes {
    pub fn since_boot(&self) -> SystemTimesSpent {
        SystemTimesSpent::between(None, self)
    }

    pub fn spent_since(&self, earlier: &SystemTimes) -> SystemTimesSpent {
        SystemTimesSpent::between(Some(earlier), self)
    }
}

impl SystemTimesSpent {
    /// Returns the processor time since an earlier snapshot; without one, since boot.
    pub(super) fn between(earlier: Option<&SystemTimes>, later: &SystemTimes) -> SystemTimesSpent {
        // Eight columns of 64 bits, and their sum, fit in 128 bits.
        let mut deltas: [Fact<i128>; 8] = later.0.clone().map(|column| column.map(i128::from));
        if let Some(earlier) = earlier {
            for (delta, before) in deltas.iter_mut().zip(&earlier.0) {
                let after = std::mem::replace(delta, Fact::NotApplicable);
                *delta = after
                    .and_then(|after| before.as_ref().map(|before| after - i128::from(*before)));
            }
        }
        // If a counter went backwards, the kernel added the lost time to another counter. The
        // signed sum is therefore correct.
        let total: i128 = deltas.iter().filter_map(Fact::known).sum();
        let unused: i128 = [3, 4, 7]
            .iter()
            .filter_map(|column| deltas[*column].known())
            .sum();
        let [user, nice, system, idle, iowait, irq, softirq, steal] =
            deltas.map(|delta| delta.and_then(forwards));
        SystemTimesSpent {
            total_ns: if total > 0 {
                forwards(total)
            } else {
                nothing_counted()
            },
            user_ns: user,
            nice_ns: nice,
            system_ns: system,
            idle_ns: idle,
            iowait_ns: iowait,
            irq_ns: irq,
            softirq_ns: softirq,
            steal_ns: steal,
            busy_ns: forwards(total - unused),
        }
    }

    /// Returns the time `part_ns` as a share of the total time, from 0 to 1.
    pub fn fraction_of(&self, part_ns: &Fact<u64>) -> Fact<f64> {
        pair(&self.total_ns, part_ns, |total, part| match *total {
            // A record that was not written by this program may contain a total of 0.
            0 => nothing_counted(),
            total if *part <= total => Fact::Known(*part as f64 / total as f64),
            _ => went_backwards(),
        })
    }
}

/// Returns the growth of a counter; unavailable if it went backwards. The growth saturates at 2^64
/// ns, which are 584 years of one processor.
fn forwards(delta: i128) -> Fact<u64> {
    if delta < 0 {
        return went_backwards();
    }
    Fact::Known(u64::try_from(delta).unwrap_or(u64::MAX))
}

fn nothing_counted<T>() -> Fact<T> {
    Fact::Unavailable(format!("{STAT}: no processor time was counted"))
}

fn went_backwards<T>() -> Fact<T> {
    Fact::Unavailable(format!("{STAT}: a counter went backwards"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spent_times_are_differences_of_columns() {
        let times = |text| SystemTimes::parse(text, 100).unwrap();
        let earlier = times("cpu 100 10 50 800 20 0 5 15");
        let spent = times("cpu 140 11 70 830 10 0 6 25").spent_since(&earlier);
        assert_eq!(spent.user_ns, Fact::Known(400_000_000));
        assert_eq!(spent.nice_ns, Fact::Known(10_000_000));
        assert_eq!(spent.system_ns, Fact::Known(200_000_000));
        assert_eq!(spent.idle_ns, Fact::Known(300_000_000));
        assert!(spent.iowait_ns.why().unwrap().contains("backwards"));
        assert_eq!(spent.irq_ns, Fact::Known(0), "counted as none");
        assert_eq!(spent.softirq_ns, Fact::Known(10_000_000));
        assert_eq!(spent.steal_ns, Fact::Known(100_000_000));
        assert_eq!(spent.total_ns, Fact::Known(920_000_000));
        assert_eq!(spent.busy_ns, Fact::Known(620_000_000));
    }

    #[test]
    fn share_of_zero_time_is_unavailable() {
        let mut spent = SystemTimes::parse("cpu 9 0 0 1", 100)
            .unwrap()
            .spent_since(&SystemTimes::parse("cpu 1 0 0 0", 100).unwrap());
        spent.total_ns = Fact::Known(0);
        assert!(
            spent
                .fraction_of(&Fact::Known(0))
                .why()
                .unwrap()
                .contains("no processor time")
        );
    }

    #[test]
    fn part_above_the_total_is_unavailable() {
        let times = |text| SystemTimes::parse(text, 100).unwrap();
        let spent = times("cpu 9 0 0 1").spent_since(&times("cpu 1 0 0 3"));
        assert_eq!(spent.total_ns, Fact::Known(60_000_000));
        assert_eq!(spent.user_ns, Fact::Known(80_000_000));
        assert!(
            spent
                .fraction_of(&spent.user_ns)
                .why()
                .unwrap()
                .contains("backwards")
        );
    }
}
