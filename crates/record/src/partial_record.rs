//! Completed parts of a record, reported while the run is performed, so that they remain if the
//! program is killed.

use serde::{Deserialize, Serialize};

use crate::run::{PhaseRecord, Record, SweepStep, SystemDuring};

/// A completed part of a run: a phase, or a load level of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletedPart {
    /// A phase, with the sync that follows it.
    Phase(Box<PhaseRecord>),
    /// A load level of a sweep, with all of its phases.
    SweepStep(SweepStep),
}

/// A completed part of a run, and the counters of the machine from the run's start until the end of
/// the part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completed {
    /// Only the part that ended last, without the parts that were reported before.
    pub part: CompletedPart,
    /// Counters of the machine from the run's start until the part was completed.
    pub during: SystemDuring,
}

impl Record {
    /// Adds a completed part. In the record of a single rank, the counters and the evidence are
    /// also stored with the rank's host.
    pub fn add(&mut self, completed: Completed) {
        let cluster = self
            .cluster
            .as_mut()
            .filter(|cluster| cluster.ranks.len() == 1);
        let host = cluster.and_then(|cluster| cluster.hosts.first_mut());
        let id = host.map(|host| {
            host.during.clone_from(&completed.during);
            host.id()
        });
        let of_host = |phase: PhaseRecord| match &id {
            Some(id) => phase.of_rank(id),
            None => phase,
        };
        match completed.part {
            CompletedPart::Phase(phase) => self.actual.phases.push(of_host(*phase)),
            CompletedPart::SweepStep(step) => self.actual.sweep_steps.push(SweepStep {
                phases: step.phases.into_iter().map(of_host).collect(),
                ..step
            }),
        }
        self.during = completed.during;
    }
}
