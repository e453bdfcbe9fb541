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
            // First, so that the time of the pass over all processes is in none of the others.
            programs: Programs::read(&sources),
            clocks: Clocks::read(&sources),
            counters: Counters::read(&sources, &devices),
            sources,
            devices,
        }
    }

    /// What was counted from then until now, without a pass over all processes.
    pub(crate) fn during(&self) -> SystemDuring {
        let clocks = Clocks::read(&self.sources);
        let counted = Counters::read(&self.sources, &self.devices).since(&self.counters);
        SystemDuring {
            busiest: None,
            counted,
            clocks: clocks.since(&self.clocks),
        }
    }

    /// The same with the programs that used most processor time.
    pub(crate) fn during_with_programs(&self) -> SystemDuring {
        let during = self.during();
        let times = during.counted.system.times.as_ref();
        let total_ns = times.and_then(|times| times.total_ns.clone());
        SystemDuring {
            busiest: Some(total_ns.and_then(|total_ns| self.busiest(total_ns))),
            ..during
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
