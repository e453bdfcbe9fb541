//! Other activity on the machine during a measurement.

use system::{Fact, Sources, SystemTimes};

/// Measures the other activity on the machine, from [`Noise::begin`] to [`Noise::end`].
pub struct Noise {
    before: Fact<SystemTimes>,
}

impl Noise {
    pub fn begin() -> Self {
        Self {
            before: SystemTimes::read(&Sources::default()),
        }
    }

    /// Describes the share of busy processor time, the CPU steal, and the load average.
    pub fn end(self) -> String {
        let after = SystemTimes::read(&Sources::default());
        let spent = self
            .before
            .and_then(|before| after.map(|after| after.spent_since(&before)));
        let percent = |share: Fact<f64>| {
            let share = share.into_known();
            share.map_or("unknown".to_owned(), |share| {
                format!("{:.1} %", share * 100.0)
            })
        };
        let steal = spent
            .as_ref()
            .and_then(|spent| spent.fraction_of(&spent.steal_ns));
        let busy = spent.and_then(|spent| spent.fraction_of(&spent.busy_ns));
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load: Vec<&str> = load.split_whitespace().take(2).collect();
        format!(
            "processors busy {}, steal {}, load {}",
            percent(busy),
            percent(steal),
            load.join(" ")
        )
    }
}
