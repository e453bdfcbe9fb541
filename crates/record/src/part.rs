//! A record as far as it is known while its run goes on: told piece by piece, so that something is left of a run whose program
//! was killed.

use serde::{Deserialize, Serialize};

use crate::run::{PhaseRecord, Record, Rung, SystemDuring};

/// What a run has completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletedPart {
    /// A phase, with the sync that follows it.
    Phase(Box<PhaseRecord>),
    /// A rung of a sweep.
    Rung(Rung),
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
            CompletedPart::Rung(rung) => self.actual.rungs.push(rung),
        }
        self.during = completed.during;
    }
}
