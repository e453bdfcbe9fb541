//! The operation whose latency changed between the first and the last part of a measurement, and
//! what its workers did in the additional time.

use std::collections::BTreeMap;
use std::ops::Range;

use document::units::latency;
use measure::steady::WINDOW_ROUNDS;
use record::machine::Counts;
use record::run::PhaseRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Action;

use crate::intervals;

/// Minimum change of an operation's mean latency that is reported, as a fraction of the mean in the
/// first fifth. It equals the 10 % by which the rate of a steady run may change.
const CHANGE_MIN: f64 = 0.10;

/// A resource is named only if it took at least this share of the additional time.
const SPENT_MIN: f64 = 0.5;

/// The kind of operation that contributed most to the change of the time per operation, between the
/// first and the last fifth of the measured time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyDrift {
    /// Kind of the operations, such as `create`.
    pub action: Action,
    /// Mean latency in the first fifth, in nanoseconds.
    pub first_ns: f64,
    /// Mean latency in the last fifth, in nanoseconds.
    pub last_ns: f64,
    /// The resource that took at least half of the additional time; null if no resource did, or if
    /// this is not known.
    pub spent: Option<TimeSpent>,
    /// The call that took most of the operation's time; null if calls were not timed.
    pub call: Option<String>,
}

/// A resource that may take the additional time of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSpent {
    /// Processor time of the program in the kernel.
    KernelCpu,
    /// Processor time of the program in user mode.
    UserCpu,
    /// Time in which the device had operations in flight.
    Device,
}

impl TimeSpent {
    const fn name(self) -> &'static str {
        match self {
            Self::KernelCpu => "CPU time in the kernel",
            Self::UserCpu => "CPU time in user mode",
            Self::Device => "time of the device",
        }
    }
}

impl LatencyDrift {
    pub(super) fn find(phase: &PhaseRecord, workers: u32) -> Option<Self> {
        let measured = intervals::measured(phase);
        let length = measured.len() / WINDOW_ROUNDS;
        let first = Part::of(phase, measured.start..measured.start + length)?;
        let last = Part::of(phase, measured.end - length..measured.end)?;
        let change_ns = last.per_operation(last.ns()) - first.per_operation(first.ns());
        let shares = last.actions.iter().filter_map(|(action, times)| {
            let before = first.actions.get(action)?;
            let weight = (before.count + times.count) as f64;
            Some((*action, (times.mean()? - before.mean()?) * weight))
        });
        let (action, _) = shares
            .filter(|(_, share)| share * change_ns > 0.0)
            .max_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()))?;
        let (first_ns, last_ns) = (
            first.actions[&action].mean()?,
            last.actions[&action].mean()?,
        );
        ((last_ns / first_ns - 1.0).abs() > CHANGE_MIN).then(|| Self {
            action,
            first_ns,
            last_ns,
            spent: spent(phase, (&first, &last), change_ns, workers),
            call: longest_call(phase, action),
        })
    }

    pub(super) fn is_slower(&self) -> bool {
        self.last_ns > self.first_ns
    }

    /// Returns the change as a clause: `creates slow down from 27.0 µs to 350 µs (CPU time in the
    /// kernel)`.
    pub(super) fn clause(&self) -> String {
        let name = self.action.name();
        let operations = match name.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None => format!("{name}s"),
        };
        let spent = self.spent.map(|spent| spent.name().to_owned());
        let call = self.call.as_ref().map(|call| format!("mostly in {call}"));
        let details: Vec<String> = call.into_iter().chain(spent).collect();
        let details = match details.is_empty() {
            true => String::new(),
            false => format!(" ({})", details.join(", ")),
        };
        format!(
            "{operations} {} from {} to {}{details}",
            if self.is_slower() {
                "slow down"
            } else {
                "speed up"
            },
            latency(self.first_ns),
            latency(self.last_ns)
        )
    }
}

/// The first or the last fifth of the measured time.
struct Part {
    actions: BTreeMap<Action, Times>,
    /// Start and end, in nanoseconds since the origin.
    time: Range<u64>,
}

/// The latencies of one kind of operation.
#[derive(Default)]
struct Times {
    sum_ns: f64,
    count: u64,
}

impl Times {
    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns / self.count as f64)
    }
}

impl Part {
    /// Sums the latencies of intervals. `None` without latencies.
    fn of(phase: &PhaseRecord, intervals: Range<usize>) -> Option<Self> {
        let mut actions: BTreeMap<Action, Times> = BTreeMap::new();
        let recorded = phase.slices.iter().take(intervals.end);
        for slice in recorded.skip(intervals.start) {
            for ((_, action), meter) in slice {
                let times = actions.entry(*action).or_default();
                times.sum_ns += meter.latency.sum_ns() as f64;
                times.count += meter.latency.count();
            }
        }
        let at =
            |interval: usize| intervals::zero_ns(phase) + interval as u64 * phase.slices.width_ns();
        let time = at(intervals.start)..at(intervals.end);
        let part = Self { actions, time };
        (part.count() > 0).then_some(part)
    }

    fn count(&self) -> u64 {
        self.actions.values().map(|times| times.count).sum()
    }

    fn ns(&self) -> f64 {
        self.actions.values().map(|times| times.sum_ns).sum()
    }

    fn per_operation(&self, sum: f64) -> f64 {
        sum / self.count() as f64
    }
}

/// Returns the resource that took most of the change of the time per operation.
fn spent(
    phase: &PhaseRecord,
    (first, last): (&Part, &Part),
    change_ns: f64,
    workers: u32,
) -> Option<TimeSpent> {
    // With several hosts, the counters are those of the first host only.
    let machine = phase.machine.as_ref().filter(|_| phase.hosts.is_empty())?;
    let change = |counts: &Counts, unit_ns: f64| {
        let of = |part: &Part| {
            let sum = counts.sum(&machine.slices_of(&part.time))?;
            Some(part.per_operation(sum as f64 * unit_ns))
        };
        Some((of(last)? - of(first)?) / change_ns)
    };
    // All workers may wait for a busy device, so its busy time counts once for each worker.
    let ms_of_workers = 1e6 * f64::from(workers);
    let devices = machine.devices.known().into_iter().flatten();
    let device = devices
        .filter_map(|device| change(&device.busy_ms, ms_of_workers))
        .reduce(f64::max);
    let process = &machine.process;
    [
        (TimeSpent::KernelCpu, change(&process.system_ns, 1.0)),
        (TimeSpent::UserCpu, change(&process.user_ns, 1.0)),
        (TimeSpent::Device, device),
    ]
    .into_iter()
    .find(|(_, share)| share.is_some_and(|share| share >= SPENT_MIN))
    .map(|(spent, _)| spent)
}

/// Returns the timed call that took most of an operation's time in the measurement.
fn longest_call(phase: &PhaseRecord, action: Action) -> Option<String> {
    let mut calls: BTreeMap<&str, u128> = BTreeMap::new();
    let operations = phase.measured_operations();
    for operation in operations.filter(|operation| operation.action == action) {
        for step in &operation.steps {
            *calls.entry(&step.step).or_default() += step.latency.sum_ns();
        }
    }
    let longest = calls.into_iter().max_by_key(|(_, ns)| *ns);
    longest.map(|(call, _)| call.to_owned())
}
