//! The supervisor's observations of a run and of each of its phases.

use std::collections::BTreeMap;

use measure::Slices;
use record::{MachineOverTime, Pauses, PhaseEvidence, PhaseRecord, PhaseSync, SteadyFound};
use workload::{Action, Phase, Role};

use crate::worker::{PhaseReport, Report};

#[derive(Debug, Default)]
pub(crate) struct RunObservations {
    /// Number of this process's first worker among the workers of all ranks.
    pub first_worker: u32,
    /// Results by worker; `None` for workers that did not return.
    pub reports: Vec<Option<Result<Report, String>>>,
    /// The phases that each worker has reported, by worker.
    pub phases: Vec<Vec<PhaseReport>>,
    /// The transactions of completed loads, in order. The results of other phases are only in
    /// `phases`.
    pub loads: Vec<PhaseRecord>,
    /// The last load, merged from all ranks.
    pub load_of_all: Option<PhaseRecord>,
    /// Observations by phase, in addition to the workers' results.
    pub beside: BTreeMap<Phase, PhaseObservations>,
    /// The reason why the run's directories no longer exist; `None` while they exist.
    pub gone: Option<String>,
    /// The reason why the run failed, if the cause is not in a worker. Examples are a failed sync
    /// and a lost rank.
    pub failed: Option<String>,
    /// Whether a worker or another thread hangs in a call. In this case the run's files must not be
    /// touched, because an operation may still be in progress.
    pub abandoned: bool,
    /// Whether a reused pool is marked as in use, because transactions may have changed it.
    pub in_use: bool,
}

impl RunObservations {
    pub(super) fn of_phase(&mut self, phase: Phase) -> &mut PhaseObservations {
        self.beside.entry(phase).or_default()
    }

    /// Removes and returns the supervisor's own observations of a phase.
    pub(crate) fn take_beside(&mut self, phase: Phase) -> PhaseObservations {
        self.beside.remove(&phase).unwrap_or_default()
    }
}

/// The supervisor's own observations of a phase, in addition to the workers' results.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseObservations {
    /// For each second, the operations of all workers by role and action.
    pub slices: Slices<(Role, Action)>,
    /// Changes of kernel counters in each interval of the phase.
    pub machine: Option<MachineOverTime>,
    /// Times at which the whole program was ready to run but was stopped; `None` if pauses are not
    /// detected.
    pub pauses: Option<Pauses>,
    /// Start and end of the sync after the phase; `None` if the run does not sync.
    pub sync: Option<PhaseSync>,
    /// Evidence of which component served the phase.
    pub evidence: Option<PhaseEvidence>,
    /// The result of the steady-state rule, and the number of the first segment that belongs to the
    /// rule's window.
    pub steady: Option<(SteadyFound, u32)>,
}
