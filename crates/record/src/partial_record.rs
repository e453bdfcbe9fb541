//! A record as far as it is known while its run goes on: told piece by piece, so that something is
//! left of a run whose program was killed.

use serde::{Deserialize, Serialize};

use crate::run::{PhaseRecord, Record, SweepStep, SystemDuring};

/// What a run has completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletedPart {
    /// A phase, with the sync that follows it.
    Phase(Box<PhaseRecord>),
    /// A step of a sweep.
    SweepStep(SweepStep),
}

/// A part that has just been completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completed {
    /// Which one.
    pub part: CompletedPart,
    /// What the machine did from the run's start until then.
    pub during: SystemDuring,
}

impl Record {
    /// Adds what was completed to what there is. In the part of one rank it is what its host did.
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
