//! What the supervisor observes of a run, and of each of its phases.

use std::collections::BTreeMap;

use measure::Slices;
use record::{MachineOverTime, Pauses, PhaseEvidence, PhaseRecord, PhaseSync, SteadyFound};
use workload::{Action, Phase, Role};

use crate::worker::{PhaseReport, Report};

/// What was seen of a run.
#[derive(Debug, Default)]
pub(crate) struct RunObservations {
    /// The number of the first worker.
    pub first_worker: u32,
    /// By worker; nothing of those that did not come back.
    pub reports: Vec<Option<Result<Report, String>>>,
    /// By worker, what it did.
    pub phases: Vec<Vec<PhaseReport>>,
    /// The transactions of the loads that came to their end, in order; all other phases are in
    /// `phases` alone.
    pub loads: Vec<PhaseRecord>,
    /// The last of them as all ranks together have performed it.
    pub load_of_all: Option<PhaseRecord>,
    /// By phase, what was observed besides the workers' reports.
    pub beside: BTreeMap<Phase, PhaseObservations>,
    /// What became of the place, where that was not well.
    pub gone: Option<String>,
    /// Why sync failed, or dropping caches.
    pub failed: Option<String>,
    /// Somebody did not come back: nothing of theirs is to be touched.
    pub abandoned: bool,
    /// A pool that was taken from an earlier run has begun to change.
    pub in_use: bool,
}

impl RunObservations {
    /// The observations of a phase besides the workers' reports.
    pub(super) fn of_phase(&mut self, phase: Phase) -> &mut PhaseObservations {
        self.beside.entry(phase).or_default()
    }

    /// Takes them out.
    pub(crate) fn take_beside(&mut self, phase: Phase) -> PhaseObservations {
        self.beside.remove(&phase).unwrap_or_default()
    }
}

/// What was seen beside the work of a phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseObservations {
    /// What all workers did in each second.
    pub slices: Slices<(Role, Action)>,
    /// What the kernel counted over its time.
    pub machine: Option<MachineOverTime>,
    /// How the program paused.
    pub pauses: Option<Pauses>,
    /// The writing back that followed.
    pub sync: Option<PhaseSync>,
    /// What shows who served it.
    pub evidence: Option<PhaseEvidence>,
    /// What the rule of steady state found, and which segment is the first of its window.
    pub steady: Option<(SteadyFound, u32)>,
}
