//! Why numbers may be worth less than they seem: a closed list, each reason with its numbers.
//! `docs/specification.md`, "Verdict", has every threshold with its reason or source; a test
//! compares the two lists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::SteadyRule;
use system::BusyProgram;
use workload::{End, Phase, Skipped};

use self::limits::{
    MEASURED_LEAST_NS, NOT_DROPPED_MOST, OPERATIONS_MIN, OWN_MOST, PAUSED_MOST,
    SERVED_BY_DEVICE_NEVER, SKIPPED_MOST, STEAL_MOST,
};
use super::{Level, Steadiness};
use record::run::Outcome;
use record::share;

/// From where on something speaks against a run's numbers. Each limit says why it lies there; the
/// same stands in `docs/specification.md`, "Verdict".
pub mod limits {
    pub use crate::summary::reads::{
        COLD_MIN as SERVED_BY_DEVICE_COLD_MIN, DIRECT_MIN as SERVED_BY_DEVICE_DIRECT_MIN,
        WARM_MAX as SERVED_BY_DEVICE_WARM_MAX,
    };

    /// A run that is measured for less is doubtful, in nanoseconds: 10 s, what a step of a sweep
    /// takes at least. Linux's flusher threads wake up every 5 s
    /// (`vm.dirty_writeback_centisecs`, Documentation/admin-guide/sysctl/vm.rst), and ext4
    /// commits its journal every 5 s (`commit=`, Documentation/admin-guide/ext4.rst): in 10 s both
    /// take part in it twice. A hundredth less is no matter, since workers begin to be measured
    /// between two transactions.
    pub const MEASURED_MIN_NS: u64 = 10_000_000_000;

    /// A run that is measured for less is invalid, in nanoseconds: workers are woken some ten
    /// microseconds one after the other, so that the borders of a phase of 1 ms are a tenth of
    /// it.
    pub const MEASURED_LEAST_NS: u64 = 1_000_000;

    /// A run of fewer operations is invalid: of fewer than a hundred the nearest rank of the 99th
    /// percentile is the greatest.
    pub const OPERATIONS_MIN: u64 = 100;

    /// The share of the requested rate that must be achieved. Above what a system can do a queue
    /// grows for as long as the run goes on, and latencies say how long that was (Schroeder,
    /// Wierman, Harchol-Balter: Open Versus Closed: A Cautionary Tale, NSDI 2006).
    pub const ACHIEVED_MIN: f64 = 0.99;

    /// Poisson arrivals come as they come: so many standard deviations fewer than expected are no
    /// reason. More are met once in 700 runs.
    pub const ARRIVALS_DEVIATIONS: f64 = 3.0;

    /// The share of the workers' time that the program itself may have: by so much at most would
    /// the rates be higher without it, and by so much may a steady run drift.
    pub const OWN_MAX: f64 = 0.10;

    /// Past this share of the workers' time most of what is measured is the program itself.
    pub const OWN_MOST: f64 = 0.50;

    /// The share of all processors' time that other programs may have: half of what a steady run
    /// may drift, since what is there in one run and not in the next is counted twice when they
    /// are compared.
    pub const OTHERS_MAX: f64 = 0.05;

    /// The share of all processors' time that may be CPU steal: what an achieved rate may lack.
    /// Time counts as steal only where something here was ready to run, so it is missing in
    /// what was measured.
    pub const STEAL_MAX: f64 = 0.01;

    /// Past this share of CPU steal more is missing than a steady run may drift.
    pub const STEAL_MOST: f64 = 0.10;

    /// Shares of processors' time are judged from so many nanoseconds on: the kernel counts in
    /// ticks of 10 ms, which are 1 % of a second.
    pub const SHARES_FROM_NS: u64 = 1_000_000_000;

    /// Less than this share of what was read is the metadata beside it: the reads never reached the
    /// device.
    pub const SERVED_BY_DEVICE_NEVER: f64 = 0.01;

    /// Past this share of a phase's time in pauses the 99th percentile may be one of pauses.
    pub const PAUSED_MAX: f64 = 0.01;

    /// Past this share of pauses more is missing than a steady run may drift.
    pub const PAUSED_MOST: f64 = 0.10;

    /// The share of a sample that may still be in the page cache after it was dropped: what a
    /// steady run may drift.
    pub const NOT_DROPPED_MAX: f64 = 0.10;

    /// Past this share of a sample in the page cache, most of the pool was never dropped.
    pub const NOT_DROPPED_MOST: f64 = 0.50;

    /// The share of requests that may be sent again: NFS waits 60 s over TCP before it does
    /// (`timeo`, nfs(5)), so that one in a thousand outweighs all others.
    pub const RETRANSMITTED_MAX: f64 = 0.001;

    /// The processor time of a worker, on average, from which on the client is what limits a run on
    /// a server.
    pub const CLIENT_MAX: f64 = 0.90;

    /// The share of an interface's speed from which on it limits a run on a server: headers,
    /// acknowledgements and gaps take the rest.
    pub const INTERFACE_MAX: f64 = 0.80;

    /// By how much the slowest host's rate of a worker may be below the fastest one's: three times
    /// what a steady run may drift. Beyond it the rate of all is that of unequal clients, and
    /// where each does the same work it is the slowest one's.
    pub const HOSTS_APART_MAX: f64 = 0.30;

    /// Where the last step of a sweep with several ranks brought more than this, the target had
    /// more to give: what a steady run may drift.
    pub const MORE_CLIENTS_MAX: f64 = 0.10;

    /// The share of the measured time that clocks of ranks may be apart: borders of what was
    /// measured are off by so much, and what an achieved rate may lack is as much.
    pub const CLOCKS_MAX: f64 = 0.01;

    /// The share of a file system's room that may be taken: allocators search longer beyond it,
    /// which is why FFS kept 10 % free (McKusick, Joy, Leffler, Fabry: A Fast File System for
    /// UNIX, 1984).
    pub const FILLED_MAX: f64 = 0.90;

    /// Of what was written to a device, the share that the files below it may allocate meanwhile:
    /// what a steady run may drift.
    pub const ALLOCATED_MAX: f64 = 0.10;

    /// By how much of its files a pool may grow or shrink while it is measured: twice what a steady
    /// run may drift, because operations are drawn by chance and a pool walks at random.
    pub const POOL_CHANGED_MAX: f64 = 0.20;

    /// The share of the operations that may be skipped: what an achieved rate may lack.
    pub const SKIPPED_MAX: f64 = 0.01;

    /// Past this share of skipped operations more is missing than a steady run may drift.
    pub const SKIPPED_MOST: f64 = 0.10;
}

/// Why numbers may be worth less than they seem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// The run did not come to its end.
    Partial {
        /// How it ended.
        outcome: Outcome,
    },
    /// Something failed.
    Errors {
        /// How often.
        errors: u64,
        /// Operations that were tried, in all phases.
        operations: u64,
        /// What was to be survived, as options take it.
        allowed: String,
        /// Whether that was exceeded.
        is_exceeded: bool,
    },
    /// Operations of the workload were not performed.
    Skipped {
        /// Skipped operations of the measured transactions, by reason.
        skipped: Skipped,
        /// Operations that were completed there.
        operations: u64,
        /// The share of the operations that was skipped, from 0 to 1.
        fraction: f64,
    },
    /// Names were not as the operations had left them.
    WrongNames {
        /// So many.
        wrong: u64,
        /// Of so many.
        names: u64,
    },
    /// The transactions ended because no file was left that they could use.
    RanDry {
        /// In which way.
        end: End,
        /// Transactions that were performed and measured until then.
        transactions: u64,
    },
    /// The pool had another number of files at the end of what was measured than at its start.
    PoolChangedSize {
        /// Files in all pools when it began.
        files_before: u64,
        /// Files in all pools when it ended.
        files_after: u64,
    },
    /// It was measured for too short a time, or too few operations.
    TooShort {
        /// Which phase.
        phase: Phase,
        /// How long it was measured, in nanoseconds.
        measured_ns: u64,
        /// Operations that were completed in that time.
        operations: u64,
    },
    /// The rate changed while it was measured, beyond its noise.
    NotSteady {
        /// How much.
        found: Steadiness,
    },
    /// The transactions were to go on until they were steady, and were not when they ended.
    SteadyStateNotReached {
        /// By which rule.
        rule: SteadyRule,
        /// How many rounds there were.
        rounds: u64,
        /// The last window; nothing where there was none that could be judged.
        last: Option<Steadiness>,
    },
    /// Transactions were due more often than they were done.
    RateNotReached {
        /// Transactions a second that were requested.
        requested: f64,
        /// Transactions a second that were done.
        achieved: f64,
    },
    /// Much of the workers' time was the program's own.
    Overhead {
        /// Its share of the time of all workers, from 0 to 1.
        fraction: f64,
        /// Its own time for each operation, in nanoseconds.
        ns_per_operation: f64,
    },
    /// Other programs used the processors.
    OtherLoad {
        /// Their share of all processors' time, from 0 to 1.
        fraction: f64,
        /// The programs that used most, the biggest first; none where they are not available.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        busiest: Vec<BusyProgram>,
    },
    /// The hypervisor gave processors to others.
    Steal {
        /// The share of all processors' time, from 0 to 1.
        fraction: f64,
    },
    /// The processors are emulated in software.
    Emulated,
    /// The program did not run for a while, although the machine did.
    Paused {
        /// How often.
        times: u64,
        /// The longest pause, in nanoseconds.
        longest_ns: u64,
        /// The greatest share that pauses have of a phase's time, from 0 to 1.
        fraction: f64,
    },
    /// The machine was suspended.
    Suspended {
        /// For so long, in nanoseconds.
        ns: u64,
    },
    /// The wall clock was set.
    WallClockStepped {
        /// So far forwards (or back, if negative), in nanoseconds.
        ns: i64,
    },
    /// The kernel changed to another source of time.
    ClockSourceChanged {
        /// From this one.
        before: String,
        /// To this one.
        after: String,
    },
    /// The run says that its cache is cold, and what it works on fits there.
    FitsInMemory {
        /// What was asked of the cache.
        cache: String,
        /// Bytes of the pool's contents when the transactions began.
        pool_bytes: u64,
        /// Bytes that the cache can hold.
        cache_bytes: u64,
    },
    /// The run says that its reads come from the device, and they did not.
    ReadsFromMemory {
        /// What was asked for: of the cache, or `direct`.
        asked: String,
        /// Bytes that the reads got from the device.
        device_bytes: u64,
        /// Bytes that they returned.
        read_bytes: u64,
    },
    /// The run says that its reads come from the device, and memory lies below what the file
    /// system takes for its device.
    MemoryBeneath {
        /// What was asked for: of the cache, or `direct`.
        asked: String,
        /// The location.
        path: String,
        /// What it lies on.
        place: String,
        /// The loop device that reads its file through the page cache; nothing where the device
        /// is memory.
        loop_device: Option<String>,
        /// Bytes that the devices beneath that loop device read; nothing where none is known.
        device_bytes: Option<u64>,
        /// Bytes that the reads returned.
        read_bytes: u64,
    },
    /// The run says that its cache is warm, and reads came from the device.
    ReadsFromDevice {
        /// Bytes that the reads got from the device.
        device_bytes: u64,
        /// Bytes that they returned.
        read_bytes: u64,
    },
    /// The caches were to be empty, and a sample of the pool was still there when the transactions
    /// began.
    CacheNotDropped {
        /// What was asked of the cache.
        cache: String,
        /// Pages of the sample that were in the page cache.
        cached: u64,
        /// Pages of the sample.
        pages: u64,
    },
    /// Contents were written and synced, and the device wrote nothing.
    DeviceWroteNothing {
        /// The phase.
        phase: Phase,
        /// Bytes that its operations wrote.
        written_bytes: u64,
        /// Whether each of its changes was to be on the device when it was done.
        is_durable: bool,
    },
    /// Requests to a server were sent again.
    Retransmissions {
        /// Of what: the mount point or the share.
        of: String,
        /// Transmissions beyond the first of a request.
        retransmissions: u64,
        /// Requests.
        requests: u64,
    },
    /// Connections to a server were lost, and the requests in flight on them were answered late or
    /// not at all.
    ConnectionsLost {
        /// How often one was opened again.
        times: u64,
    },
    /// A server was restarted during the run, and contents that it may have lost were written
    /// again.
    ServerRestarted {
        /// Changes of its write verifier.
        times: u64,
        /// Bytes that were written again.
        rewritten_bytes: u64,
    },
    /// Of operations nobody knows whether the server has done them.
    OutcomesNotKnown {
        /// So many.
        operations: u64,
    },
    /// The target is a server, and the workers had no processor time left, or the interface to it
    /// no room.
    ClientSaturated {
        /// Processor time of a worker, on average, from 0 to 1; nothing where that is not the
        /// reason.
        workers: Option<f64>,
        /// The interface that leads to the server, and the share of its speed that was used;
        /// nothing where that is not the reason.
        interface: Option<(String, f64)>,
        /// Of several hosts, the one of which that is; nothing where one process performed the
        /// run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// How many other hosts were saturated, too; nothing where there were none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others: Option<u64>,
    },
    /// Ranks failed, or their part of the record is missing.
    RanksNotDone {
        /// The numbers of those that did not come to their end.
        failed: Vec<u32>,
        /// The numbers of those whose part is missing.
        missing: Vec<u32>,
        /// How many ranks were started.
        launched: u32,
    },
    /// The hosts were not equally fast.
    HostsApart {
        /// The one with the least rate of a worker.
        slowest: String,
        /// The one with the greatest.
        fastest: String,
        /// By how much the least is below the greatest, from 0 to 1.
        fraction: f64,
    },
    /// More clients still brought more, and none was saturated: what the target can do was not
    /// reached.
    TooFewClients {
        /// Workers of the step with the most.
        workers: u32,
        /// Workers of the step before it.
        fewer: u32,
        /// By how much its rate was above the other's, as a share of that.
        gain: f64,
    },
    /// The clocks of ranks could not be compared closely enough for so short a run.
    ClocksNotAligned {
        /// Moments of two ranks may be off by so much, in nanoseconds.
        error_ns: u64,
        /// How long was measured, in nanoseconds.
        measured_ns: u64,
    },
    /// The file system was nearly full.
    NearlyFull {
        /// The location.
        path: String,
        /// The share of its room that was taken with the pool on it, from 0 to 1.
        fraction: f64,
    },
    /// The files below the target's loop device allocated room while the transactions went on.
    AllocatedDuringRun {
        /// Bytes that they allocated.
        allocated_bytes: u64,
        /// Bytes that were written to the device.
        written_bytes: u64,
    },
    /// Durability was asked for where nothing outlasts a loss of power.
    DurabilityInMemory {
        /// What was asked for.
        durability: String,
        /// The location.
        path: String,
        /// What it lies on.
        place: String,
        /// Whether the file system is one for devices, and its device is memory.
        is_beneath: bool,
    },
    /// Somebody was in one operation for very long.
    Stalled {
        /// How often that was.
        times: u64,
        /// The longest, in nanoseconds.
        longest_ns: u64,
        /// How many of them had not come back when the run ended.
        lost: u64,
    },
    /// Latencies were past what histograms hold.
    LatencyOverflow {
        /// So many.
        operations: u64,
        /// Histograms reach so far, in nanoseconds.
        range_ns: u64,
    },
    /// The run waited for its acknowledgement log.
    AckLog {
        /// Where that was.
        path: String,
    },
}

impl Reason {
    /// Its lasting name: its `reason` in JSON.
    pub fn name(&self) -> String {
        // Its fields are numbers and texts: it has a value with this tag.
        let value = serde_json::to_value(self).unwrap_or_default();
        value["reason"].as_str().unwrap_or_default().to_owned()
    }

    /// How bad it is.
    pub fn level(&self) -> Level {
        let invalid_where = |is_so: bool| {
            if is_so {
                Level::Invalid
            } else {
                Level::Doubtful
            }
        };
        match self {
            Self::Partial { .. }
            | Self::WrongNames { .. }
            | Self::RanDry { .. }
            | Self::SteadyStateNotReached { .. }
            | Self::RateNotReached { .. }
            | Self::OutcomesNotKnown { .. }
            | Self::RanksNotDone { .. }
            | Self::Suspended { .. }
            | Self::ClockSourceChanged { .. } => Level::Invalid,
            Self::NotSteady { .. }
            | Self::PoolChangedSize { .. }
            | Self::OtherLoad { .. }
            | Self::Emulated
            | Self::WallClockStepped { .. }
            | Self::FitsInMemory { .. }
            | Self::ReadsFromDevice { .. }
            | Self::Retransmissions { .. }
            | Self::ConnectionsLost { .. }
            | Self::ServerRestarted { .. }
            | Self::ClientSaturated { .. }
            | Self::HostsApart { .. }
            | Self::TooFewClients { .. }
            | Self::ClocksNotAligned { .. }
            | Self::NearlyFull { .. }
            | Self::AllocatedDuringRun { .. }
            | Self::LatencyOverflow { .. }
            | Self::AckLog { .. } => Level::Doubtful,
            Self::Errors { is_exceeded, .. } => invalid_where(*is_exceeded),
            Self::TooShort {
                measured_ns,
                operations,
                ..
            } => invalid_where(*measured_ns < MEASURED_LEAST_NS || *operations < OPERATIONS_MIN),
            Self::Overhead { fraction, .. } => invalid_where(*fraction > OWN_MOST),
            Self::Steal { fraction } => invalid_where(*fraction > STEAL_MOST),
            Self::Paused { fraction, .. } => invalid_where(*fraction > PAUSED_MOST),
            Self::Skipped { fraction, .. } => invalid_where(*fraction > SKIPPED_MOST),
            Self::ReadsFromMemory {
                device_bytes,
                read_bytes,
                ..
            } => invalid_where(share(*device_bytes, *read_bytes) < SERVED_BY_DEVICE_NEVER),
            Self::MemoryBeneath {
                device_bytes,
                read_bytes,
                ..
            } => invalid_where(
                device_bytes
                    .is_some_and(|bytes| share(bytes, *read_bytes) < SERVED_BY_DEVICE_NEVER),
            ),
            Self::CacheNotDropped { cached, pages, .. } => {
                invalid_where(share(*cached, *pages) > NOT_DROPPED_MOST)
            }
            Self::DeviceWroteNothing { is_durable, .. } => invalid_where(*is_durable),
            Self::DurabilityInMemory { is_beneath, .. } => invalid_where(!is_beneath),
            Self::Stalled { lost, .. } => invalid_where(*lost > 0),
        }
    }
}
