//! The ranks of a run, and their hosts. Ranks are the processes that a launcher such as `mpirun`
//! starts, on one machine or many.
//!
//! The record itself contains the joint results of all ranks, as if one process had all workers.
//! This module describes the ranks and the hosts.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Fact, Host, MachineCounted};
use workload::{End, Phase, StreamHash};

use crate::during::SystemDuring;
use crate::host_phase::HostId;
use crate::outcome::Outcome;
use crate::tool::Tool;

/// The processes that a launcher such as `mpirun` started for one run, and their hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterRecord {
    /// Number of ranks that the launcher started; for a sweep of ranks, the number of ranks at the
    /// largest load level.
    pub launched: u32,
    /// Ranks that left a readable part of the record, sorted by rank number.
    pub ranks: Vec<RankRecord>,
    /// Each host once, in order of its first rank. A host is identified by its name and its boot
    /// identifier.
    pub hosts: Vec<HostRecord>,
    /// Ranks whose part of the record is missing; absent if there are none. Only records that were
    /// joined from parts on disk can have missing ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingRank>,
    /// Counters of the machines of observers (ranks that performed no work), each machine once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<ObserverRecord>,
}

/// A rank of a run: its workers, its clocks, and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankRecord {
    /// Number of the rank, from 0.
    pub rank: u32,
    /// Index of the rank's host in `hosts`, from 0.
    pub host: u32,
    /// Process identifier on the host.
    pub process: u32,
    /// Number of the rank's first worker, among the workers of all ranks.
    pub first_worker: u32,
    /// Number of workers of this rank. Their numbers are consecutive, from `first_worker` on.
    pub workers: u32,
    /// Numbers of the processors that the rank may use.
    pub processors: Fact<Vec<u32>>,
    /// Offsets of the rank's clocks from those of rank 0.
    pub clock: RankClock,
    /// How the rank ended: complete, interrupted, failed or unfinished.
    pub outcome: Outcome,
    /// Why the rank's transactions ended. Unavailable if the rank did not reach the end of its
    /// transactions.
    pub end: Fact<End>,
    /// For each worker of the rank, the hash of its whole stream. Absent if a worker did not
    /// perform its whole stream, and for a shared pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worker_hashes: Vec<StreamHash>,
}

/// Offsets of a rank's clocks from those of rank 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankClock {
    /// Offset of the monotonic clock, measured before the run.
    pub begin: Fact<RankClockOffset>,
    /// Offset of the monotonic clock, measured after the run. Unavailable if the rank did not reach
    /// the end.
    pub end: Fact<RankClockOffset>,
    /// Wall clock of the rank minus the wall clock of rank 0 at the same moment, in nanoseconds.
    /// The maximum error is `begin.error_ns`.
    pub wall_offset_ns: i64,
}

/// Offset of a monotonic clock from that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankClockOffset {
    /// When the offset was measured, by the rank's own monotonic clock, in nanoseconds.
    pub at_ns: i64,
    /// Clock of rank 0 minus clock of the rank, in nanoseconds. Added to a time of the rank's
    /// clock, it gives the time of rank 0's clock.
    pub offset_ns: i64,
    /// Maximum error of the offset, in nanoseconds.
    pub error_ns: u64,
}

/// A machine, or a container on one, on which ranks ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    /// Facts about the machine, read at the start.
    pub host: Host,
    /// Counters of the machine during the run, as the host's first rank read them. Counters of
    /// processes are summed over the host's ranks.
    pub during: SystemDuring,
    /// Name and version of the program on this host.
    pub tool: Tool,
}

impl HostRecord {
    /// Returns the name and boot identifier that identify the host.
    pub fn id(&self) -> HostId {
        HostId::of(&self.host)
    }
}

/// A rank that the launcher started, but that left no readable part of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingRank {
    /// Number of the rank, from 0.
    pub rank: u32,
    /// Reason why the rank's part is missing: the part does not exist, or it cannot be read.
    pub why: String,
}

/// Counters of an observer: a rank that performs no work and reads the counters of its machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverRecord {
    /// Number of the observer among the ranks that the launcher started.
    pub rank: u32,
    /// Facts about the observer's machine, which is usually a server.
    pub host: Host,
    /// Offset of the observer's monotonic clock from that of rank 0, measured before the run.
    pub clock_begin: RankClockOffset,
    /// Offset of the observer's monotonic clock from that of rank 0, measured after the run.
    pub clock_end: RankClockOffset,
    /// Number of readings, including readings that were not stored.
    pub readings: u64,
    /// Longest time between two consecutive stored readings, in nanoseconds.
    pub interval_ns: u64,
    /// Time from the first reading to the last, in nanoseconds.
    pub whole_ns: u64,
    /// Counters from the first reading, before the run, to the last one, after it. No worker was
    /// active during either reading.
    pub whole: MachineCounted,
    /// 99th percentile of the processors' busy share in windows of 2 s, over the time of all
    /// readings, from 0 to 1.
    pub cpu_busy_p99: Fact<f64>,
    /// Counters in each phase, including warm-ups.
    pub phases: Vec<ObserverPhase>,
}

/// Changes of the counters of an observer's machine in one phase of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverPhase {
    /// Index of the load level to which the phase belongs, from 0; null outside of a sweep.
    pub step: Option<u32>,
    /// Kind of the phase: `prepare`, `transactions` or `delete`.
    pub phase: Phase,
    /// Duration of the phase, in nanoseconds.
    pub ns: u64,
    /// Counters during the phase. Unavailable if the observer has no readings before and after the
    /// phase.
    pub counted: Fact<MachineCounted>,
    /// 99th percentile of the processors' busy share in windows of 2 s from the beginning of the
    /// phase, from 0 to 1. Unavailable for a phase shorter than 2 s.
    pub cpu_busy_p99: Fact<f64>,
}

impl ClusterRecord {
    /// Describes a single rank of `launched`, before its record is joined with those of other
    /// ranks. Sets the rank's host index to 0, because the result lists only `host`.
    pub fn of_one(launched: u32, rank: RankRecord, host: HostRecord) -> Self {
        Self {
            launched,
            ranks: vec![RankRecord { host: 0, ..rank }],
            hosts: vec![host],
            missing: Vec::new(),
            observers: Vec::new(),
        }
    }

    /// Returns the counters of each kernel during the run. Hosts can share a kernel: containers of
    /// one machine do. Counters of processes are therefore summed over the ranks of all hosts with
    /// the same kernel.
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

    /// Looks up the name of a rank's host; `None` if the rank's host index is not in `hosts`.
    pub fn hostname_of(&self, rank: &RankRecord) -> Option<&str> {
        let host = self.hosts.get(rank.host as usize)?;
        Some(&host.host.hostname)
    }
}
