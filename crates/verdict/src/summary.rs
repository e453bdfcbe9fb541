//! The numbers that are derived from a record. `docs/reference/metrics.md` defines each in words.

pub(crate) mod evidence;
mod hosts;
mod machine;
mod messages;
mod observers;
pub(crate) mod overhead;
mod paper;
pub(crate) mod phase;
mod pool;
pub(crate) mod ranks;
mod rate;
pub(crate) mod reads;
mod replay;
mod run_time;
mod shares;
mod tier;
mod totals;

use std::collections::BTreeMap;

use measure::Histogram;
pub use measure::LatencySummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::Pace;
use system::Fact;
use workload::Phase;

pub use self::evidence::{
    DeviceReads, EvidenceSummary, FlushesServed, ServedBy, WritesServed, phase_evidence,
};
pub use self::hosts::{HostFact, HostsAlike, HostsDiffer, WALL_CLOCKS_APART_NS, differences};
pub use self::machine::{DeviceSummary, MachineSummary, WorkersCpu};
pub use self::messages::{CommandsSent, MessageKindSent, MessagesSent};
pub use self::observers::{ObserverRow, ObserverSummary};
pub use self::overhead::OverheadSummary;
pub use self::paper::PaperFigures;
pub use self::phase::{
    ClaimWaitSummary, OperationSummary, PhaseSummary, Spread, StepSummary, Until, WarmUp,
    WorkerRate,
};
pub use self::pool::PoolSummary;
pub use self::ranks::{HostShare, RankShare, RanksSummary, SharesSpread, SlowestRank};
pub use self::rate::Rate;
pub use self::reads::{Behind, ReadsServed, Surprise, WARM_MAX};
pub use self::replay::ReplaySummary;
pub use self::run_time::RunTime;
pub use self::shares::{Share, shares, transactions_meant};
pub use self::tier::{DurabilitySummary, DurabilityTier};
pub use self::totals::{OperationTotal, TransactionsSummary};
use crate::limits::{self, LimitSummary};
use crate::rules::Verdict;
use crate::sweep::SweepSummary;
use record::run::{PhaseRecord, Record};

/// All numbers of reports that are derived from the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Whether the run did not complete, so that every number describes only a part of the work.
    pub partial: bool,
    /// Share of each operation in the mix, by role; empty for other workloads.
    pub shares: Vec<Share>,
    /// Elapsed time: the measured time of all phases, including those of load levels, in
    /// nanoseconds. It excludes syncs, checks and cache operations between phases, which the
    /// original PostMark does not perform.
    pub elapsed_ns: u64,
    /// Time of the whole run and its parts, of which `elapsed_ns` contains only the measured ones;
    /// absent if the program was killed, and in older summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<RunTime>,
    /// Size of the pools when the transactions began; absent in older summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolSummary>,
    /// The figures of the 1997 PostMark paper; null for workloads with other operations than the
    /// paper's, and for load sweeps. Also null if the program was killed, because the work after
    /// the last recorded phase is not known.
    pub paper: Option<PaperFigures>,
    /// Totals of the measured transactions, over all roles and operations. Null if the transactions
    /// did not begin, and for a load sweep, whose load levels contain their own totals.
    pub transactions: Option<TransactionsSummary>,
    /// Totals of the measured transactions by operation, over all roles; empty if `transactions` is
    /// null.
    pub operations: BTreeMap<String, OperationTotal>,
    /// The phases outside of load levels, in order.
    pub phases: Vec<PhaseSummary>,
    /// Offered and achieved rate of an open loop; null for a closed loop, and for a load sweep,
    /// whose load levels contain their own rates.
    pub arrivals: Option<ArrivalsSummary>,
    /// How a replay compares with its trace; absent for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplaySummary>,
    /// Load levels, saturation rate and knee of a load sweep; null for other runs.
    pub sweep: Option<SweepSummary>,
    /// Where the bytes that transactions read came from; null without transactions, or without
    /// evidence for the transactions.
    pub reads: Option<ReadsServed>,
    /// The durability level of acknowledged changes. Only results with the same level are
    /// comparable.
    pub durability: DurabilitySummary,
    /// Contribution of each rank and each host; absent if one process performed the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RanksSummary>,
    /// Overhead of the program during the transactions; null if the overhead was not measured.
    pub overhead: Option<OverheadSummary>,
    /// What limited the transactions, with its share of the workers' time. Not available if a
    /// measurement is missing; absent without transactions, for load sweeps, and in older
    /// summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Fact<LimitSummary>>,
    /// Maximum relative error of a latency percentile, due to the width of the histogram's buckets.
    pub latency_error_bound: f64,
    /// Whether the numbers are reliable, with reasons.
    pub verdict: Verdict,
}

impl Summary {
    pub fn of(record: &Record) -> Self {
        let elapsed_ns = record
            .actual
            .all_phases()
            .map(PhaseRecord::measured_ns)
            .sum();
        let (transactions, operations) = totals::totals(record);
        let phases = record.actual.phases.iter();
        let phases: Vec<PhaseSummary> = phases.map(|phase| phase::summary(record, phase)).collect();
        Self {
            partial: record.actual.is_partial(),
            shares: shares(&record.spec.workload),
            elapsed_ns,
            time: run_time::summary(record),
            pool: Some(pool::summary(record)),
            paper: paper::applies(record)
                .then(|| paper::figures(&record.actual.phases, elapsed_ns)),
            transactions,
            operations,
            limit: limits::summary(record, &phases),
            phases,
            arrivals: arrivals(record),
            replay: replay::summary(record),
            sweep: record
                .spec
                .drive
                .sweep
                .as_ref()
                .map(|asked| SweepSummary::of(asked, &record.actual.sweep_steps)),
            reads: reads::of_transactions(record),
            durability: tier::summary(record),
            ranks: ranks::summary(record),
            overhead: overhead::summary(&record.actual),
            latency_error_bound: Histogram::ERROR_BOUND,
            verdict: Verdict::of(record),
        }
    }

    /// Returns the summary of a phase outside of load levels; `None` if the phase did not begin.
    pub fn phase(&self, phase: Phase) -> Option<&PhaseSummary> {
        self.phases.iter().find(|summary| summary.phase == phase)
    }
}

/// Offered and achieved rate of an open loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArrivalsSummary {
    /// Offered rate: requested transactions a second of all workers together.
    pub requested_per_second: f64,
    /// Arrival process: `constant` or `poisson`.
    pub form: String,
    /// Achieved rate in transactions a second; null if no time was measured.
    pub achieved_per_second: Option<f64>,
    /// Completed share of the transactions that had arrived, from 0 to 1; null if none had arrived.
    pub done_fraction: Option<f64>,
    /// Transactions that were due and had not begun when the phase ended.
    pub waiting: u64,
}

fn arrivals(record: &Record) -> Option<ArrivalsSummary> {
    let Pace::Open {
        per_second,
        arrivals,
    } = record.spec.drive.pace
    else {
        return None;
    };
    let phase = record.actual.phase(Phase::Transactions)?;
    Some(ArrivalsSummary {
        requested_per_second: per_second,
        form: arrivals.to_string(),
        achieved_per_second: Rate::over(phase.transactions(), phase.measured_ns()).per_second,
        done_fraction: phase.done_fraction(),
        waiting: phase.waiting?,
    })
}
