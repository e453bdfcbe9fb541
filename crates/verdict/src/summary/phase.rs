//! The numbers of a phase.

use std::collections::BTreeMap;

use measure::{Histogram, LatencySummary, Middle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;
use workload::{Action, Phase, Role, Skipped};

use super::evidence::{self, EvidenceSummary};
use super::machine::{self, MachineSummary};
use super::rate::Rate;
use record::merge;
use record::run::{
    ClaimWaits, OperationRecord, PhaseRecord, Record, SegmentKind, StepRecord, WorkerPhase,
};
use record::sizing::SteadyFound;

/// What was done from the start of a phase until a moment: files (in `prepare` and `delete`) or
/// transactions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Until {
    /// From the start of the phase to the moment, in nanoseconds.
    pub ns: u64,
    /// How much was done by then, and a second of that time.
    pub done: Rate,
}

impl Until {
    fn new(done: u64, ns: u64) -> Self {
        Self {
            ns,
            done: Rate::over(done, ns),
        }
    }
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSummary {
    /// Which one.
    pub phase: Phase,
    /// Whether it was performed to its end.
    pub complete: bool,
    /// What was warmed up before, in no other number here; nothing where nothing was.
    pub warm_up: Option<WarmUp>,
    /// The rounds before the window of a rule of steady state, likewise; nothing where there were
    /// none.
    pub approach: Option<WarmUp>,
    /// What the rule of steady state found; nothing where none was to end it.
    pub steady: Option<SteadyFound>,
    /// Transactions that were due and not begun when it ended; nothing in a closed loop.
    pub waiting: Option<u64>,
    /// From its first measured segment's start to its last one's end, in nanoseconds.
    pub duration_ns: u64,
    /// Transactions of which at least one operation was completed, and a second of the phase;
    /// nothing in phases that have none.
    pub transactions: Option<Rate>,
    /// Until the first worker was done; nothing where none was. With several ranks what the others
    /// had done by then is reckoned: each worker is taken to have worked evenly.
    pub first_done: Option<Until>,
    /// Until the last worker was done: the whole phase.
    pub last_done: Until,
    /// Until everything was on the device: the phase and the sync after it; nothing where that was
    /// not measured.
    pub until_durable: Option<Until>,
    /// How long the sync took, in nanoseconds; nothing where there was none.
    pub sync_ns: Option<u64>,
    /// From the end of the deletion until the file system showed the space as free again, in
    /// nanoseconds; nothing where that was not looked at.
    pub space_back_ns: Option<Fact<u64>>,
    /// Each worker's own rate; nothing where there is one worker.
    pub workers: Vec<WorkerRate>,
    /// The workers' rates, by role; nothing where there is one.
    pub spread: Vec<Spread>,
    /// Waits for claimed files, by role, where somebody had to wait.
    pub claim_waits: Vec<ClaimWaitSummary>,
    /// Operations that were not performed, by reason.
    pub skipped: Skipped,
    /// Their share of all operations of the stream, from 0 to 1.
    pub skipped_fraction: f64,
    /// By role and kind of operation.
    pub operations: Vec<OperationSummary>,
    /// What the machine did meanwhile; nothing where that was not counted.
    pub machine: Option<MachineSummary>,
    /// Who served it; nothing where the storage touches no file system.
    pub evidence: Option<EvidenceSummary>,
}

/// A stretch before what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// How long it was, in nanoseconds.
    pub duration_ns: u64,
    /// Transactions, and a second of it.
    pub transactions: Rate,
}

/// Operations of one kind, done by workers of one role, in one phase. Latencies are nothing where
/// none were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationSummary {
    /// Who did them: by role in `transactions`, else `worker`, whoever it was.
    pub role: Role,
    /// Which kind.
    pub action: Action,
    /// Completed operations, and a second of the phase.
    pub operations: Rate,
    /// Bytes moved, and a second of the phase.
    pub bytes: Rate,
    /// Operations that failed.
    pub failed: u64,
    /// Operations that found their file removed by a worker elsewhere.
    pub missed: u64,
    /// Latencies; from the due time in an open loop.
    pub latency_ns: LatencySummary,
    /// Times from issue to completion, where latencies are from the due time; nothing in a closed
    /// loop, where they are the latencies.
    pub service_ns: Option<LatencySummary>,
    /// Latencies past the histogram's range.
    pub overflow: u64,
    /// The steps that the operations were made of, where these were timed.
    pub steps: Vec<StepSummary>,
}

/// One step of operations of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepSummary {
    /// Which step.
    pub step: String,
    /// How often.
    pub count: u64,
    /// Its durations.
    pub duration_ns: LatencySummary,
}

/// One worker's own rate: transactions, or files in `prepare` and `delete`, a second of its own
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerRate {
    /// Its number.
    pub worker: u32,
    /// Its role: in `transactions`, else `worker`, whoever it was.
    pub role: Role,
    /// How much it did, and a second of its own time.
    pub done: Rate,
}

/// The workers' own rates, one beside the other: transactions, or files in `prepare` and `delete`,
/// a second of each worker's own time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Whose: by role in `transactions`, else `worker`, whoever it was.
    pub role: Role,
    /// How many workers.
    pub workers: u64,
    /// All of them added up.
    pub sum_per_second: f64,
    /// The sum over the number of workers.
    pub mean_per_second: f64,
    /// The slowest worker's.
    pub min_per_second: f64,
    /// The one in the middle, or half-way between the two there.
    pub median_per_second: f64,
    /// The fastest worker's.
    pub max_per_second: f64,
}

/// Waits for files that other workers had claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimWaitSummary {
    /// Who waited.
    pub role: Role,
    /// How often somebody had to.
    pub count: u64,
    /// How long.
    pub wait_ns: LatencySummary,
}

pub(crate) fn summary(of: &Record, record: &PhaseRecord) -> PhaseSummary {
    let duration_ns = record.measured_ns();
    let began_ns = record
        .measured()
        .next()
        .map_or(0, |segment| segment.began_ns);
    let done = match record.phase {
        Phase::Transactions => record.transactions(),
        // Links and directories of a mix are removed with the files, and counted with them.
        Phase::Prepare | Phase::Delete => record.tried().0,
    };
    let workers = workers(record.phase, &record.workers);
    let sync = record.sync.as_ref();
    let sync_ns = sync.map(|sync| sync.ended_ns.saturating_sub(sync.began_ns));
    PhaseSummary {
        phase: record.phase,
        complete: record.complete,
        duration_ns,
        transactions: (record.phase == Phase::Transactions)
            .then(|| Rate::over(record.transactions(), duration_ns)),
        first_done: first_done(record, began_ns),
        last_done: Until::new(done, duration_ns),
        until_durable: sync_ns.map(|sync_ns| Until::new(done, duration_ns + sync_ns)),
        sync_ns,
        space_back_ns: sync
            .map(|sync| sync.space_back_ns.clone())
            .filter(|space_back| *space_back != Fact::NotApplicable),
        spread: spread(&workers),
        workers,
        claim_waits: record.claim_waits.iter().filter_map(claim_waits).collect(),
        skipped: record.skipped(),
        skipped_fraction: record.skipped_fraction(),
        warm_up: stretch(record, SegmentKind::WarmUp),
        approach: stretch(record, SegmentKind::Approach),
        steady: record.steady.clone(),
        waiting: record.waiting,
        operations: by_role(record)
            .iter()
            .map(|of| operation(of, duration_ns))
            .collect(),
        machine: record
            .machine
            .as_ref()
            .and_then(|machine| machine::summary(machine, began_ns..began_ns + duration_ns, done)),
        evidence: evidence::phase_evidence(of, record),
    }
}

/// Until the first of all workers was done. A rank knows no more than what its own workers had done
/// by then; with several, each worker is taken to have worked evenly.
fn first_done(record: &PhaseRecord, began_ns: u64) -> Option<Until> {
    let first = record.first_done?;
    let by_then = |worker: &WorkerPhase| {
        let lasted_ns = worker.ended_ns.saturating_sub(worker.began_ns);
        let until_ns = first.at_ns.saturating_sub(worker.began_ns).min(lasted_ns);
        let done = done_by(record.phase, worker);
        match lasted_ns {
            0 => done,
            _ => (u128::from(done) * u128::from(until_ns) / u128::from(lasted_ns)) as u64,
        }
    };
    let ranks: u32 = record.hosts.iter().map(|host| host.ranks).sum();
    let done = match ranks {
        0 | 1 => first.done,
        _ => record.workers.iter().map(by_then).sum(),
    };
    Some(Until::new(done, first.at_ns.saturating_sub(began_ns)))
}

/// Transactions, or files in `prepare` and `delete`.
pub(super) fn done_by(phase: Phase, worker: &WorkerPhase) -> u64 {
    match phase {
        Phase::Transactions => worker.transactions,
        Phase::Prepare | Phase::Delete => worker.operations,
    }
}

/// All segments of a kind that is not measured, from the first to the last.
fn stretch(record: &PhaseRecord, kind: SegmentKind) -> Option<WarmUp> {
    let of_kind = || {
        record
            .segments
            .iter()
            .filter(|segment| segment.kind == kind)
    };
    let (first, last) = (of_kind().next()?, of_kind().next_back()?);
    let duration_ns = last.ended_ns.saturating_sub(first.began_ns);
    let transactions = of_kind().map(|segment| segment.transactions).sum();
    Some(WarmUp {
        duration_ns,
        transactions: Rate::over(transactions, duration_ns),
    })
}

/// What a worker is in a phase: roles differ in transactions only, else all do the same.
fn role_in(phase: Phase, role: Role) -> Role {
    match phase {
        Phase::Transactions => role,
        Phase::Prepare | Phase::Delete => Role::Worker,
    }
}

/// The operations of a phase by role and kind, segments merged.
fn by_role(record: &PhaseRecord) -> Vec<OperationRecord> {
    let mut all = Vec::new();
    for operation in record.measured_operations() {
        let role = role_in(record.phase, operation.role);
        let operation = operation.clone();
        merge::operation(&mut all, OperationRecord { role, ..operation });
    }
    all.sort_by_key(|operation| (operation.role, operation.action));
    all
}

fn operation(record: &OperationRecord, duration_ns: u64) -> OperationSummary {
    let meter = &record.meter;
    OperationSummary {
        role: record.role,
        action: record.action,
        operations: Rate::over(meter.operations, duration_ns),
        bytes: Rate::over(meter.bytes, duration_ns),
        failed: meter.failed,
        missed: meter.missed,
        latency_ns: meter.latency.summary(),
        service_ns: meter.service.as_ref().map(Histogram::summary),
        overflow: meter.latency.overflow(),
        steps: record.steps.iter().map(step).collect(),
    }
}

fn step(record: &StepRecord) -> StepSummary {
    StepSummary {
        step: record.step.clone(),
        count: record.latency.count(),
        duration_ns: record.latency.summary(),
    }
}

/// Nothing where nobody had to wait.
fn claim_waits(record: &ClaimWaits) -> Option<ClaimWaitSummary> {
    let wait: &Histogram = &record.wait;
    (wait.count() > 0).then(|| ClaimWaitSummary {
        role: record.role,
        count: wait.count(),
        wait_ns: wait.summary(),
    })
}

/// Each worker's own rate, where there are several.
fn workers(phase: Phase, workers: &[WorkerPhase]) -> Vec<WorkerRate> {
    let of_a_worker = |worker: &WorkerPhase| {
        let done = done_by(phase, worker);
        WorkerRate {
            worker: worker.worker,
            role: role_in(phase, worker.role),
            done: Rate::over(done, worker.ended_ns.saturating_sub(worker.began_ns)),
        }
    };
    let all = workers.iter().filter(|_| workers.len() > 1);
    all.map(of_a_worker).collect()
}

/// The workers' own rates, by role.
fn spread(workers: &[WorkerRate]) -> Vec<Spread> {
    let mut by_role: BTreeMap<Role, Vec<f64>> = BTreeMap::new();
    for worker in workers {
        let rate = worker.done.per_second.unwrap_or(0.0);
        by_role.entry(worker.role).or_default().push(rate);
    }
    by_role.into_iter().filter_map(spread_of).collect()
}

fn spread_of((role, mut rates): (Role, Vec<f64>)) -> Option<Spread> {
    // A sum of floats depends on the order in which they are added.
    rates.sort_by(f64::total_cmp);
    let sum_per_second: f64 = rates.iter().sum();
    let middle = Middle::of(rates.iter().copied())?;
    Some(Spread {
        role,
        workers: rates.len() as u64,
        sum_per_second,
        mean_per_second: sum_per_second / rates.len() as f64,
        min_per_second: middle.least,
        median_per_second: middle.median,
        max_per_second: middle.greatest,
    })
}
