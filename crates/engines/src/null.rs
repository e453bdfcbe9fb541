//! `null`: nothing is done. What a run on it takes is the tool's overhead. It keeps no contents and
//! knows no names.

use std::hint::black_box;

use engine::{
    Cached, Capability, Durability, Engine, EngineFacts, OpenError, Operation, Session, Settings,
    Steps, Submitted, Targets, Ticket,
};

/// What is known of it before a run.
pub static FACTS: EngineFacts = EngineFacts {
    name: "null",
    help: "No file system at all: measures the overhead of the program",
    targets: Targets::None,
    protocol: None,
    depth_max: 1,
    capabilities: &Capability::ALL,
    cache: Cached::None,
    direct: true,
    durability: &Durability::ALL,
    namespace: None,
};

/// The engine of this module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

struct NullSession;

impl Engine for Null {
    fn facts(&self) -> &'static EngineFacts {
        &FACTS
    }

    fn open(&self, _: &Settings) -> Result<Box<dyn Session>, OpenError> {
        Ok(Box::new(NullSession))
    }
}

impl Session for NullSession {
    #[inline]
    fn submit(&mut self, _: Ticket, operation: &Operation<'_>, _: &mut dyn Steps) -> Submitted {
        // The loop's work for the operation (names, contents) must not be optimised away.
        black_box(operation);
        Submitted::Done(Ok(()))
    }
}
