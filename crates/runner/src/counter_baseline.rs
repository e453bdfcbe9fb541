//! Measures the machine's activity from a starting moment on.

use std::collections::BTreeSet;

use record::SystemDuring;
use system::{Clocks, Counters, Fact, Programs, Sources, Target, Used, WatchedDevices, fuse};

/// The starting moment of a measurement, with the counter values at that moment.
pub(crate) struct Since {
    sources: Sources,
    devices: Fact<WatchedDevices>,
    clocks: Clocks,
    counters: Counters,
    programs: Fact<Programs>,
    /// Process IDs of the servers of FUSE targets.
    fuse_servers: Fact<BTreeSet<i32>>,
}

impl Since {
    pub(crate) fn now<'target>(
        devices: Fact<WatchedDevices>,
        targets: impl IntoIterator<Item = &'target Target>,
    ) -> Self {
        let sources = Sources::default();
        let mounts = targets
            .into_iter()
            .filter_map(|target| target.mount.known());
        Self {
            fuse_servers: fuse::servers(&sources, mounts),
            // Programs are read before the clocks and counters, because scanning all processes
            // takes time that the counters would otherwise include.
            programs: Programs::read(&sources),
            clocks: Clocks::read(&sources),
            counters: Counters::read(&sources, &devices),
            sources,
            devices,
        }
    }

    /// Returns the changes of the clocks and counters since the start, without scanning all
    /// processes.
    pub(crate) fn during(&self) -> SystemDuring {
        let clocks = Clocks::read(&self.sources);
        let counted = Counters::read(&self.sources, &self.devices).since(&self.counters);
        SystemDuring {
            busiest: None,
            fuse_servers: None,
            counted,
            clocks: clocks.since(&self.clocks),
        }
    }

    /// Returns the result of [`Self::during`], with two additions: the programs that used the most
    /// processor time, and the processor time of the targets' FUSE servers.
    pub(crate) fn during_with_programs(&self) -> SystemDuring {
        let during = self.during();
        let times = during.counted.system.times.as_ref();
        let total_ns = times.and_then(|times| times.total_ns.clone());
        let used = total_ns.and_then(|total_ns| self.used(total_ns));
        let fuse_servers = self.fuse_servers.as_ref().and_then(|pids| {
            used.as_ref()
                .and_then(|used| match used.servers.len() == pids.len() {
                    true => Fact::Known(used.servers.clone()),
                    false => Fact::Unavailable(
                        "a FUSE server of the target ended during the run".to_owned(),
                    ),
                })
        });
        SystemDuring {
            busiest: Some(used.map(|used| used.busiest)),
            fuse_servers: Some(fuse_servers),
            ..during
        }
    }

    fn used(&self, total_ns: u64) -> Fact<Used> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let none = BTreeSet::new();
        let servers = self.fuse_servers.known().unwrap_or(&none);
        self.programs.as_ref().and_then(|before| {
            let now = Programs::read(&self.sources);
            now.map(|now| now.used_since(before, total_ns, (own, servers)))
        })
    }
}
