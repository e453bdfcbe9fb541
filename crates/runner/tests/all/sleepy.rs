//! An engine whose operations take a known time on the machine's clock. Tests of the crate
//! `campaign` also use this engine.

use std::time::Duration;

use engine::{Engine, OpenError, Operation, Session, Settings, Steps, Submitted, Ticket};
use runner::{Drive, Place, RunSpec};
use testkit::runs::{by, weighted};
use workload::{Workers, Workload};

/// Performs no operation, but sleeps for a time that is a function of the operation's number.
#[derive(Clone)]
pub struct Sleepy(pub fn(u64) -> Duration);

pub struct SleepySession {
    takes: fn(u64) -> Duration,
    operations: u64,
}

impl Engine for Sleepy {
    fn facts(&self) -> &'static engine::EngineFacts {
        &engines::null::FACTS
    }

    fn open(&self, _: &Settings) -> Result<Box<dyn Session>, OpenError> {
        Ok(Box::new(SleepySession {
            takes: self.0,
            operations: 0,
        }))
    }
}

impl Session for SleepySession {
    fn submit(&mut self, _: Ticket, operation: &Operation<'_>, _: &mut dyn Steps) -> Submitted {
        // Creations and deletions do not sleep, so that the pool is prepared quickly.
        if !matches!(
            operation,
            Operation::Create { .. } | Operation::Delete { .. }
        ) {
            std::thread::sleep((self.takes)(self.operations));
            self.operations += 1;
        }
        Submitted::Done(Ok(()))
    }
}

pub fn request(drive: Drive, workers: Workers) -> RunSpec {
    let mix = weighted(10, Workload::ENDLESS, "stat=1");
    let workload = by(workers, mix);
    RunSpec {
        drive,
        series: true,
        ..RunSpec::classic(workload, vec!["/sleepy".into()], Place::Nowhere)
    }
}

/// Every operation takes two milliseconds, so a worker performs at most 500 operations a second.
/// Threads wake up late, so the achieved rate is slightly lower.
pub fn two_milliseconds(_: u64) -> Duration {
    Duration::from_millis(2)
}
