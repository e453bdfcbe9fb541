//! A record as far as it is known while its run goes on: told piece by piece, so that something is left of a run whose program
//! was killed.

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
    /// Adds what was completed to what there is.
    pub fn add(&mut self, completed: Completed) {
        match completed.part {
            CompletedPart::Phase(phase) => self.actual.phases.push(*phase),
            CompletedPart::SweepStep(sweep_step) => self.actual.sweep_steps.push(sweep_step),
        }
        self.during = completed.during;
    }
}
