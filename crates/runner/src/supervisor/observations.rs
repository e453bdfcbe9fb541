//! The supervisor's observations of a run and of each of its phases.

use std::collections::BTreeMap;

use measure::Slices;
use record::{MachineOverTime, Pauses, PhaseEvidence, PhaseRecord, PhaseSync, SteadyFound};
use workload::{Action, Phase, Role};

use crate::worker::{PhaseReport, Report};

/// Observations of a run.
#[derive(Debug, Default)]
pub(crate) struct RunObservations {
    /// The number of this process's first worker.
    pub first_worker: u32,
    /// Results by worker; `None` for workers that did not return.
    pub reports: Vec<Option<Result<Report, String>>>,
    /// Phase results by worker.
    pub phases: Vec<Vec<PhaseReport>>,
    /// The transactions of completed loads, in order. Other phases are only in `phases`.
    pub loads: Vec<PhaseRecord>,
    /// The last load, merged from all ranks.
    pub load_of_all: Option<PhaseRecord>,
    /// Observations besides the workers' results, by phase.
    pub beside: BTreeMap<Phase, PhaseObservations>,
    /// Why the run's directories are gone; `None` while they exist.
    pub gone: Option<String>,
    /// Why sync or dropping caches failed.
    pub failed: Option<String>,
    /// A worker or call did not return. Files must not be touched.
    pub abandoned: bool,
    /// A reused pool has been changed.
    pub in_use: bool,
}

impl RunObservations {
    /// The observations of a phase besides the workers' results.
    pub(super) fn of_phase(&mut self, phase: Phase) -> &mut PhaseObservations {
        self.beside.entry(phase).or_default()
    }

    /// Removes and returns the observations of a phase.
    pub(crate) fn take_beside(&mut self, phase: Phase) -> PhaseObservations {
        self.beside.remove(&phase).unwrap_or_default()
    }
}

/// Observations of a phase besides the workers' results.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseObservations {
    /// Operations of all workers in each second.
    pub slices: Slices<(Role, Action)>,
    /// Kernel counters during the phase.
    pub machine: Option<MachineOverTime>,
    /// Times in which the program was stopped.
    pub pauses: Option<Pauses>,
    /// The sync after the phase.
    pub sync: Option<PhaseSync>,
    /// Evidence of what served the phase.
    pub evidence: Option<PhaseEvidence>,
    /// The result of the steady-state rule, and the first segment of its window.
    pub steady: Option<(SteadyFound, u32)>,
}
