//! Clocks and engines with virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{
    Engine, EngineFacts, OpenError, Operation, Session, Settings, Steps, Submitted, Ticket,
};
use engines::simulated::Simulated;
use runner::Clock;

/// A clock whose time is the sum of all sleeps, plus the time of the simulated engine if there is
/// one.
#[derive(Clone, Default)]
pub struct Virtual(Arc<AtomicU64>, Option<Simulated>);

impl Virtual {
    /// Creates a clock that shows the engine's time plus the time slept.
    pub fn with(engine: &Simulated) -> Self {
        Self(Arc::default(), Some(engine.clone()))
    }
}

impl Clock for Virtual {
    fn now_ns(&self) -> u64 {
        let of_calls = self.1.as_ref().map_or(0, Simulated::now_ns);
        self.0.load(Ordering::Relaxed) + of_calls
    }

    fn wall_s(&self) -> i64 {
        (self.now_ns() / 1_000_000_000) as i64
    }

    fn sleep(&self, ns: u64) {
        self.0.fetch_add(ns, Ordering::Relaxed);
    }
}

/// An engine that performs no operations, and only advances the clock by the duration that
/// `takes_ns` returns for each operation.
#[derive(Clone)]
pub struct Timed<C> {
    /// The clock that operations advance.
    pub clock: C,
    /// Returns the duration of the operation with this number, counted from 0 in each session.
    pub takes_ns: fn(u64) -> u64,
}

impl<C: Clock + Clone + 'static> Engine for Timed<C> {
    fn facts(&self) -> &'static EngineFacts {
        &engines::null::FACTS
    }

    fn open(&self, _: &Settings) -> Result<Box<dyn Session>, OpenError> {
        Ok(Box::new(TimedSession(self.clone(), 0)))
    }
}

struct TimedSession<C>(Timed<C>, u64);

impl<C: Clock + 'static> Session for TimedSession<C> {
    fn submit(&mut self, _: Ticket, _: &Operation<'_>, _: &mut dyn Steps) -> Submitted {
        self.0.clock.sleep((self.0.takes_ns)(self.1));
        self.1 += 1;
        Submitted::Done(Ok(()))
    }
}
