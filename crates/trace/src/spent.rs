//! Collects how the workers of a trace spend the time between their operations.

use std::collections::BTreeMap;

use engine::Action;
use learn::{Distribution, OwnTimes as Seen, Profile};

use crate::done::Done;
use crate::own_times::OwnTimes;

/// The time before all operations.
#[derive(Debug, Default)]
pub struct Spent {
    idle: Distribution,
    compute: Distribution,
    compute_ns: BTreeMap<Action, u64>,
    wait_ns: u64,
}

impl Spent {
    /// Counts the own time of a thread before an operation.
    pub fn add(&mut self, done: &Done) {
        let own = &done.own;
        let compute_ns = u64::try_from(own.compute_ns).unwrap_or(0);
        self.idle.add(own.idle_ns);
        self.compute.add(compute_ns);
        let of = self.compute_ns.entry(done.action).or_default();
        *of = of.saturating_add(compute_ns);
        self.wait_ns = self.wait_ns.saturating_add(own.wait_ns);
    }

    /// Counts the time from an operation to the next one, of which the trace shows nothing.
    pub fn add_gap(&mut self, ns: u64) {
        self.idle.add(ns);
    }

    /// Writes what was collected to a profile. `own` are the times of all calls; `None` if the
    /// trace has none.
    pub fn write(self, own: Option<&OwnTimes>, profile: &mut Profile) {
        let some = |distribution: Distribution| (distribution.count() > 0).then_some(distribution);
        profile.pauses = some(self.idle);
        profile.compute = some(self.compute);
        profile.own = own.filter(|own| own.calls() > 0).map(|own| Seen {
            compute_ns: self.compute_ns,
            wait_ns: self.wait_ns,
            operation_ns: own.operation_ns(),
            tracer_ns: own.tracer_ns(),
            calls: own.calls(),
            cpu_ns: None,
        });
    }
}
