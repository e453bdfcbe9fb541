//! `null`: performs no operations, so a run with this engine measures the program's overhead. It
//! stores neither contents nor names.

use std::hint::black_box;

use engine::{
    Cached, Capability, Durability, Engine, EngineFacts, OpenError, Operation, Promise, Session,
    Settings, Steps, Submitted, Targets, Ticket,
};

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
    promise: Promise::Nothing,
    namespace: None,
};

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
        // Prevents the compiler from optimizing away the worker loop's preparation of names and
        // contents.
        black_box(operation);
        Submitted::Done(Ok(()))
    }
}
