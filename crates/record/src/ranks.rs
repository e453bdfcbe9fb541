//! The ranks of a run, and their hosts: the processes that a launcher such as `mpirun` starts, on
//! one machine or many.
//!
//! What they did together is in the record itself, as of one process with all workers. Here is who
//! they were, and where.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Fact, Host, MachineCounted};
use workload::{End, Phase, StreamHash};

use crate::during::SystemDuring;
use crate::host_phase::HostId;
use crate::outcome::Outcome;
use crate::tool::Tool;

/// The ranks of a run, and their hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterRecord {
    /// How many ranks the launcher started; of a sweep of ranks those of its largest step.
    pub launched: u32,
    /// Those whose part of the record there is, by number.
    pub ranks: Vec<RankRecord>,
    /// Each host once, in order of its first rank. Hosts are told apart by name and boot.
    pub hosts: Vec<HostRecord>,
    /// Those whose part there is not: only records that were put together of parts on disk have
    /// any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingRank>,
    /// What ranks that performed no work counted of their machines, each machine once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<ObserverRecord>,
}

/// One process of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankRecord {
    /// Its number, from 0.
    pub rank: u32,
    /// Where it ran: the place in `hosts`, from 0.
    pub host: u32,
    /// Its process identifier there.
    pub process: u32,
    /// The number of its first worker, of the workers of all ranks.
    pub first_worker: u32,
    /// How many workers it has.
    pub workers: u32,
    /// The processors that it may use, by number.
    pub processors: Fact<Vec<u32>>,
    /// How far its clocks were from those of rank 0.
    pub clock: RankClock,
    /// How it ended.
    pub outcome: Outcome,
    /// Why its transactions ended. Unavailable where it did not come to their end.
    pub end: Fact<End>,
    /// By worker, the hash of its whole stream; empty where not all of its workers performed
    /// theirs, and with a shared pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worker_hashes: Vec<StreamHash>,
}

/// How far a rank's clocks were from those of rank 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankClock {
    /// Before the run.
    pub begin: Fact<RankClockOffset>,
    /// After it. Unavailable where the rank did not come to its end.
    pub end: Fact<RankClockOffset>,
    /// The wall clock minus that of rank 0 at the same moment, in nanoseconds, with the error of
    /// `begin`.
    pub wall_offset_ns: i64,
}

/// How far a monotonic clock was from that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankClockOffset {
    /// When that was found, by the rank's own monotonic clock, in nanoseconds.
    pub at_ns: i64,
    /// What is added to a moment of the rank's clock to have that of rank 0, in nanoseconds.
    pub offset_ns: i64,
    /// It is off by this at most, in nanoseconds.
    pub error_ns: u64,
}

/// A machine, or a container of one, that ranks ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    /// The machine at the start.
    pub host: Host,
    /// The machine while the run went on, as its first rank read it. What is counted of the
    /// process is added over its ranks.
    pub during: SystemDuring,
    /// The program there.
    pub tool: Tool,
}

impl HostRecord {
    /// What tells it from others.
    pub fn id(&self) -> HostId {
        HostId::of(&self.host)
    }
}

/// A rank whose part of the record there is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingRank {
    /// Its number.
    pub rank: u32,
    /// Why not: it is not there, or cannot be read.
    pub why: String,
}

/// What an observer counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverRecord {
    /// Its number among the ranks that the launcher started.
    pub rank: u32,
    /// Its machine.
    pub host: Host,
    /// How far its monotonic clock was from that of rank 0 before the run.
    pub clock_begin: RankClockOffset,
    /// The same after it.
    pub clock_end: RankClockOffset,
    /// How many readings there were.
    pub readings: u64,
    /// The longest time between two of them that were kept, in nanoseconds.
    pub interval_ns: u64,
    /// From the first reading to the last, in nanoseconds.
    pub whole_ns: u64,
    /// What was counted from before the run to after it, when nobody worked.
    pub whole: MachineCounted,
    /// The 99th percentile, over windows of 2 s of all that, of the share in which the processors
    /// worked, from 0 to 1.
    pub cpu_busy_p99: Fact<f64>,
    /// What was counted in each phase, warm-ups included, as in its evidence.
    pub phases: Vec<ObserverPhase>,
}

/// What an observer counted in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverPhase {
    /// The step of a sweep that the phase is of, from 0; nothing where it is of none.
    pub step: Option<u32>,
    /// Which phase.
    pub phase: Phase,
    /// How long it lasted, in nanoseconds.
    pub ns: u64,
    /// What was counted. Not available where there are no readings around it.
    pub counted: Fact<MachineCounted>,
    /// The 99th percentile, over windows of 2 s from its beginning, of the share in which the
    /// processors worked, from 0 to 1. Not available of a shorter phase.
    pub cpu_busy_p99: Fact<f64>,
}

impl ClusterRecord {
    /// Of one rank of so many, before it is joined with others. Its `host` is 0.
    pub fn of_one(launched: u32, rank: RankRecord, host: HostRecord) -> Self {
        Self {
            launched,
            ranks: vec![RankRecord { host: 0, ..rank }],
            hosts: vec![host],
            missing: Vec::new(),
            observers: Vec::new(),
        }
    }

    /// What each kernel did while the run went on, with the ranks of all hosts that have it as the
    /// process: containers of one machine read the same counters of it.
    pub fn kernels(&self) -> Vec<SystemDuring> {
        let mut places: HashMap<(Option<String>, String), usize> = HashMap::new();
        let mut kernels: Vec<SystemDuring> = Vec::new();
        for host in &self.hosts {
            let key = match host.host.boot_id.known() {
                Some(boot) => (Some(boot.clone()), String::new()),
                None => (None, host.host.hostname.clone()),
            };
            match places.get(&key) {
                None => {
                    places.insert(key, kernels.len());
                    kernels.push(host.during.clone());
                }
                Some(place) => kernels[*place].add_process(&host.during),
            }
        }
        kernels
    }

    /// The name of the host of a rank, where that is known.
    pub fn hostname_of(&self, rank: &RankRecord) -> Option<&str> {
        let host = self.hosts.get(rank.host as usize)?;
        Some(&host.host.hostname)
    }
}
