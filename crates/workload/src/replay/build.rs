//! Determines the operations of a replay from a trace.

use std::collections::BTreeMap;

use super::description::Timing;
use super::deviation::Deviation;
use super::lanes::Lanes;
use super::simulation::{Simulation, Traced};
use super::step::Steps;
use super::traced::Trace;
use crate::WorkloadError;
use crate::intent::Action;
use crate::layout::PLACES_MAX;
use crate::whole::Workload;

/// The operations of a replay, and what they need.
#[derive(Clone, Debug)]
pub struct Built {
    pub steps: Steps,
    /// The number of directories.
    pub places: u32,
    /// The highest number in a name.
    pub numbers: u32,
    pub threads: u64,
    pub deviations: Vec<Deviation>,
}

impl Built {
    /// Determines the operations that replay a trace. They are in the order in which the
    /// operations of the trace began. With [`Timing::Pauses`], they have the time between them.
    ///
    /// # Errors
    /// Returns an error if a run cannot have as many workers or directories.
    pub fn new(trace: &mut Trace, timing: Timing) -> Result<Self, WorkloadError> {
        // The sort is stable: operations of one open file begin at the same position.
        trace.operations.sort_by_key(|one| one.begin);
        let lanes = Lanes::new(&trace.operations);
        ensure!(
            lanes.workers <= Workload::WORKERS_MAX,
            "{} threads of the trace ran at the same time (at most {} workers can replay it)",
            lanes.workers,
            Workload::WORKERS_MAX
        );
        let workers = lanes.workers.max(1);
        let mut first = Simulation::new(trace, workers, None);
        run(&mut first, &lanes);
        let sizes = std::mem::take(&mut first.first_sizes);
        drop(first);
        let mut second =
            Simulation::new(trace, workers, Some(sizes)).with_pauses(timing == Timing::Pauses);
        run(&mut second, &lanes);
        let Simulation {
            mut objects,
            mut steps,
            differences,
            ..
        } = second;
        ensure!(
            objects.places() <= PLACES_MAX,
            "the trace has {} directories (at most {PLACES_MAX} can be replayed)",
            objects.places()
        );
        steps.remaining = objects.remaining();
        steps.parents = objects.take_parents();
        Ok(Self {
            steps,
            places: objects.places(),
            numbers: objects.numbers(),
            threads: lanes.threads(),
            deviations: differences.deviations(),
        })
    }

    /// The number of operations of each kind.
    pub fn counts(&self) -> BTreeMap<Action, u64> {
        let mut counts = BTreeMap::new();
        for step in &self.steps.all {
            *counts.entry(step.action).or_default() += 1;
        }
        counts
    }

    /// The largest number of bytes that one operation reads or writes, or that one file has.
    pub fn bytes_max(&self) -> u64 {
        let all = self.steps.all.iter().chain(&self.steps.prepared);
        let largest = all.map(|step| step.bytes.max(step.size_bytes)).max();
        largest.unwrap_or(0)
    }
}

fn run(simulation: &mut Simulation<'_>, lanes: &Lanes) {
    let trace = simulation.trace;
    for one in &trace.operations {
        let worker = lanes.of_thread(one.thread);
        simulation.take(Traced { one, worker });
    }
}
