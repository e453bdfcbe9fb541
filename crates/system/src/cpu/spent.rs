//! Where the processors' time went between two snapshots, in nanoseconds: the
//! one place that takes them from each other. Shares follow from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{STAT, SystemTimes};
use crate::fact::{Fact, pair};

/// Processor time of the machine between two snapshots, in nanoseconds, summed
/// over all processors. One that the kernel did not count, or whose counter
/// went backwards, is unavailable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemTimesSpent {
    /// The sum of all columns: about the wall time between the snapshots, times
    /// the processors. Unavailable if nothing was counted.
    pub total_ns: Fact<u64>,
    /// User mode.
    pub user_ns: Fact<u64>,
    /// User mode with low priority.
    pub nice_ns: Fact<u64>,
    /// The kernel.
    pub system_ns: Fact<u64>,
    /// Nothing to do.
    pub idle_ns: Fact<u64>,
    /// Nothing to do while a task waits for a device.
    pub iowait_ns: Fact<u64>,
    /// Hardware interrupts.
    pub irq_ns: Fact<u64>,
    /// Soft interrupts.
    pub softirq_ns: Fact<u64>,
    /// Taken away by the hypervisor.
    pub steal_ns: Fact<u64>,
    /// Used: all but idle, iowait and steal.
    pub busy_ns: Fact<u64>,
}

impl SystemTimes {
    /// Where the processors' time went since boot, in nanoseconds.
    pub fn since_boot(&self) -> SystemTimesSpent {
        SystemTimesSpent::between(None, self)
    }

    /// Where the processors' time went between an earlier snapshot and this, in
    /// nanoseconds.
    pub fn spent_since(&self, earlier: &SystemTimes) -> SystemTimesSpent {
        SystemTimesSpent::between(Some(earlier), self)
    }
}

impl SystemTimesSpent {
    /// Since boot, if there is no earlier snapshot.
    pub(super) fn between(earlier: Option<&SystemTimes>, later: &SystemTimes) -> SystemTimesSpent {
        // Eight columns of 64 bits, and their sum, fit.
        let mut deltas: [Fact<i128>; 8] = later.0.clone().map(|column| column.map(i128::from));
        if let Some(earlier) = earlier {
            for (delta, before) in deltas.iter_mut().zip(&earlier.0) {
                let after = std::mem::replace(delta, Fact::NotApplicable);
                *delta = after
                    .and_then(|after| before.as_ref().map(|before| after - i128::from(*before)));
            }
        }
        // A counter that went back gave its time to another column, so the
        // signed sum stays the time that passed.
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

    /// The share that a part has of the total, from 0 to 1.
    pub fn fraction_of(&self, part_ns: &Fact<u64>) -> Fact<f64> {
        pair(&self.total_ns, part_ns, |total, part| match *total {
            // A record of others' may say so.
            0 => nothing_counted(),
            total if *part <= total => Fact::Known(*part as f64 / total as f64),
            _ => went_backwards(),
        })
    }
}

/// What a counter has grown by; beyond 584 years of one processor, it
/// saturates.
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
    fn nanoseconds_are_those_of_the_columns() {
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
    fn of_no_time_there_is_no_share() {
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
    fn a_part_beyond_the_total_is_not_believed() {
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
