//! What the machine does from a moment on.

use observe::{Clocks, Counters, Fact, Sources, WatchedDevices};
use record::SystemDuring;

/// The moment, with what had been counted by then.
pub(crate) struct Since {
    sources: Sources,
    devices: Fact<WatchedDevices>,
    clocks: Clocks,
    counters: Counters,
}

impl Since {
    pub(crate) fn now(devices: Fact<WatchedDevices>) -> Self {
        let sources = Sources::default();
        Self {
            clocks: Clocks::read(&sources),
            counters: Counters::read(&sources, &devices),
            sources,
            devices,
        }
    }

    /// What was counted from then until now.
    pub(crate) fn during(&self) -> SystemDuring {
        let clocks = Clocks::read(&self.sources);
        SystemDuring {
            counted: Counters::read(&self.sources, &self.devices).since(&self.counters),
            clocks: clocks.since(&self.clocks),
        }
    }
}
