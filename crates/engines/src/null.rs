//! `null`: nothing is done. What a run on it takes is the tool's overhead. It keeps no contents and
//! knows no names.

use std::hint::black_box;
use std::sync::Arc;

use engine::namespace::Namespace;
use engine::{
    Engine, Need, OpenError, Operation, Session, Settings, Steps, Submitted, Ticket, Unsupported,
};

/// The storage of this module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

struct NullSession;

impl Engine for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn supports(&self, _: &Need) -> Result<(), Unsupported> {
        Ok(())
    }

    fn home(&self) -> Option<Arc<dyn Namespace>> {
        None
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
