//! What the machine does from a moment on.

use observe::{BusyProgram, Clocks, Counters, Fact, Programs, Sources, WatchedDevices};
use record::SystemDuring;

/// The moment, with what had been counted by then.
pub(crate) struct Since {
    sources: Sources,
    devices: Fact<WatchedDevices>,
    clocks: Clocks,
    counters: Counters,
    programs: Fact<Programs>,
}

impl Since {
    pub(crate) fn now(devices: Fact<WatchedDevices>) -> Self {
        let sources = Sources::default();
        Self {
            clocks: Clocks::read(&sources),
            programs: Programs::read(&sources),
            counters: Counters::read(&sources, &devices),
            sources,
            devices,
        }
    }

    /// What was counted from then until now.
    pub(crate) fn during(&self) -> SystemDuring {
        let clocks = Clocks::read(&self.sources);
        let counted = Counters::read(&self.sources, &self.devices).since(&self.counters);
        let total_ns = counted.system.times.as_ref().and_then(|times| times.total_ns.clone());
        SystemDuring {
            busiest: Some(total_ns.and_then(|total_ns| self.busiest(total_ns))),
            counted,
            clocks: clocks.since(&self.clocks),
        }
    }

    fn busiest(&self, total_ns: u64) -> Fact<Vec<BusyProgram>> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        self.programs.as_ref().and_then(|before| {
            let now = Programs::read(&self.sources);
            now.map(|now| now.busiest_since(before, total_ns, own))
        })
    }
}
