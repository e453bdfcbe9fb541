//! The numbers that follow from a record, each defined once: in `docs/specification.md` in words,
//! here in code.

pub(crate) mod evidence;
mod hosts;
mod machine;
mod messages;
mod observers;
pub(crate) mod overhead;
mod paper;
pub(crate) mod phase;
pub(crate) mod ranks;
mod rate;
pub(crate) mod reads;
mod shares;
mod tier;
mod totals;

use std::collections::BTreeMap;

use measure::Histogram;
pub use measure::LatencySummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::Pace;
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
pub use self::ranks::{HostShare, RankShare, RanksSummary, SharesSpread, SlowestRank};
pub use self::rate::Rate;
pub use self::reads::{Behind, ReadsServed, Surprise};
pub use self::shares::{Share, shares, transactions_meant};
pub use self::tier::{DurabilitySummary, DurabilityTier};
pub use self::totals::{OperationTotal, TransactionsSummary};
use crate::rules::Verdict;
use crate::sweep::SweepSummary;
use record::run::{PhaseRecord, Record};

/// All numbers that reports show beyond the record's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Whether the run was interrupted or failed, so that every number is of a part of the work.
    pub partial: bool,
    /// How often a mix asks for each operation, by role; empty for other workloads.
    pub shares: Vec<Share>,
    /// Elapsed time: all phases together, those of steps, too, in nanoseconds. What lies between
    /// them (sync, checks, caches) is not the original's work.
    pub elapsed_ns: u64,
    /// The paper's list; nothing for workloads that have other operations than the paper's, of
    /// sweeps, and where the program ended before the run did: what it had done beyond the
    /// phases in the record is not known.
    pub paper: Option<PaperFigures>,
    /// The transactions, all roles and operations together; nothing where none were begun, and of
    /// a sweep, whose steps have them.
    pub transactions: Option<TransactionsSummary>,
    /// The operations of the transactions by name, all roles together; empty where there are no
    /// transactions.
    pub operations: BTreeMap<String, OperationTotal>,
    /// Every phase apart.
    pub phases: Vec<PhaseSummary>,
    /// What an open loop came to; nothing of a closed one, and of a sweep, whose steps have it.
    pub arrivals: Option<ArrivalsSummary>,
    /// What a sweep came to; nothing where none was climbed.
    pub sweep: Option<SweepSummary>,
    /// Where what the transactions read came from; nothing where that was not examined.
    pub reads: Option<ReadsServed>,
    /// What acknowledged changes had reached: with another tier a result is another.
    pub durability: DurabilitySummary,
    /// What each rank and each host contributed; nothing where one process performed the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RanksSummary>,
    /// What the program itself cost in the transactions; nothing where that is not known.
    pub overhead: Option<OverheadSummary>,
    /// The greatest relative error of a latency percentile.
    pub latency_error_bound: f64,
    /// Whether the numbers are worth anything.
    pub verdict: Verdict,
}

impl Summary {
    /// What follows from a record.
    pub fn of(record: &Record) -> Self {
        let phases = &record.actual.phases;
        let elapsed_ns = record
            .actual
            .all_phases()
            .map(PhaseRecord::measured_ns)
            .sum();
        let (transactions, operations) = totals::totals(record);
        Self {
            partial: record.actual.is_partial(),
            shares: shares(&record.spec.workload),
            elapsed_ns,
            paper: paper::applies(record).then(|| paper::figures(phases, elapsed_ns)),
            transactions,
            operations,
            phases: phases
                .iter()
                .map(|phase| phase::summary(record, phase))
                .collect(),
            arrivals: arrivals(record),
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

    /// The summary of a phase, where it was begun.
    pub fn phase(&self, phase: Phase) -> Option<&PhaseSummary> {
        self.phases.iter().find(|summary| summary.phase == phase)
    }
}

/// What an open loop came to, beside what was requested of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArrivalsSummary {
    /// Transactions a second that were requested, of all workers together.
    pub requested_per_second: f64,
    /// `constant` or `poisson`.
    pub form: String,
    /// Transactions a second that were done; nothing where no time was measured.
    pub achieved_per_second: Option<f64>,
    /// The share that was done of those that had arrived; nothing where none had.
    pub done_fraction: Option<f64>,
    /// Transactions that were due and not begun when they ended.
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
