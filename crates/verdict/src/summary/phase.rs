//! The summary of a phase: rates, latencies and waits, derived from the phase's record.

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
use record::share;
use record::sizing::SteadyFound;

/// Work completed between the start of a phase and a moment: transactions, or files in `prepare`
/// and `delete`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Until {
    /// Time from the start of the phase to the moment, in nanoseconds.
    pub ns: u64,
    /// The completed work, and its rate over that time.
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

/// Rates, latencies, waits and evidence of one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSummary {
    /// `prepare`, `transactions` or `delete`.
    pub phase: Phase,
    /// Whether the phase performed all of its work.
    pub complete: bool,
    /// The warm-up before the measurement window, which all other numbers exclude; null without a
    /// warm-up.
    pub warm_up: Option<WarmUp>,
    /// The rounds before the measurement window of a steady-state rule, which all other numbers
    /// exclude; null without such rounds.
    pub approach: Option<WarmUp>,
    /// Result of the steady-state rule; null if the run has no such rule.
    pub steady: Option<SteadyFound>,
    /// Transactions that were due and had not begun when the phase ended; null for a closed loop.
    pub waiting: Option<u64>,
    /// Time from the start of the first measured segment to the end of the last, in nanoseconds.
    pub duration_ns: u64,
    /// Transactions with at least one completed operation, and their rate over the phase; null for
    /// `prepare` and `delete`.
    pub transactions: Option<Rate>,
    /// Work until the first worker finished; null if no worker finished. With several ranks the
    /// count is an estimate, which assumes that each worker performed its work at a constant rate.
    pub first_done: Option<Until>,
    /// Work until the last worker finished, which is the work of the whole phase.
    pub last_done: Until,
    /// Work of the whole phase, and its rate over the time until everything was on the device (the
    /// phase and the sync after it); null without such a sync.
    pub until_durable: Option<Until>,
    /// Duration of the sync after the phase, in nanoseconds; null without such a sync.
    pub sync_ns: Option<u64>,
    /// Time from the end of the deletion until the file system reported the space as free, in
    /// nanoseconds; null if this time was not measured.
    pub space_back_ns: Option<Fact<u64>>,
    /// Each worker's rate over its own time; empty if there is one worker.
    pub workers: Vec<WorkerRate>,
    /// Distribution of the workers' rates, by role; empty if there is one worker.
    pub spread: Vec<Spread>,
    /// Waits for files that other workers had claimed, by role; roles without a wait are missing.
    pub claim_waits: Vec<ClaimWaitSummary>,
    /// Computations that workers performed before operations (`--compute`); absent without
    /// computations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<ComputeSummary>,
    /// Skipped operations of the measured segments, by reason.
    pub skipped: Skipped,
    /// Share of skipped operations in all operations of the stream, from 0 to 1.
    pub skipped_fraction: f64,
    /// Operations of the measured segments, by role and kind.
    pub operations: Vec<OperationSummary>,
    /// Activity of processors, memory and devices; null if the activity was not sampled.
    pub machine: Option<MachineSummary>,
    /// What served the phase: cache, device or server; null without evidence, as with an engine
    /// that touches no file system.
    pub evidence: Option<EvidenceSummary>,
}

/// The segments before the measurement window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// Time from the start of the first segment before the measurement window to the end of the
    /// last, in nanoseconds.
    pub duration_ns: u64,
    /// Transactions with at least one completed operation, and their rate over that time.
    pub transactions: Rate,
}

/// Operations of one kind by workers of one role in one phase. Latencies are null if none were
/// recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationSummary {
    /// Role of the workers in `transactions`; `worker` in other phases.
    pub role: Role,
    /// Kind of the operations, such as `read`.
    pub action: Action,
    /// Completed operations, and their rate over the phase.
    pub operations: Rate,
    /// Bytes that the operations read or wrote, and their rate over the phase.
    pub bytes: Rate,
    /// Operations that failed. Rates exclude them.
    pub failed: u64,
    /// Always 0. Version 1 of the schema of records requires this field.
    pub missed: u64,
    /// Latencies. In an open loop these are response times, measured from the due time.
    pub latency_ns: LatencySummary,
    /// Service times, from issue to completion, in an open loop; null for a closed loop.
    pub service_ns: Option<LatencySummary>,
    /// Latencies for each file, of operations on directories with their files; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_file_ns: Option<LatencySummary>,
    /// Number of latencies beyond the range of the histogram.
    pub overflow: u64,
    /// The calls that the operations consisted of; empty if calls were not timed.
    pub steps: Vec<StepSummary>,
}

/// One kind of call within operations of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepSummary {
    /// Name of the call, such as `open` or `write`.
    pub step: String,
    /// Number of timed calls.
    pub count: u64,
    /// Distribution of the durations of the timed calls.
    pub duration_ns: LatencySummary,
}

/// Rate of one worker over its own time: transactions, or files in `prepare` and `delete`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerRate {
    /// Number of the worker among those of all ranks, from 0.
    pub worker: u32,
    /// Role of the worker in `transactions`; `worker` in other phases.
    pub role: Role,
    /// Work that the worker completed, and its rate over the worker's own time.
    pub done: Rate,
}

/// Distribution of the workers' own rates. A worker's rate is the number of its transactions (in
/// `prepare` and `delete`, of its files) per second of its own time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Role of the workers in `transactions`; `worker` in other phases.
    pub role: Role,
    /// Number of workers with this role.
    pub workers: u64,
    /// Sum of the workers' rates. It is above the rate of the phase if some workers finished early.
    pub sum_per_second: f64,
    /// `sum_per_second` divided by `workers`.
    pub mean_per_second: f64,
    /// Rate of the slowest worker.
    pub min_per_second: f64,
    /// Median rate; for an even number of workers, the mean of the two middle rates.
    pub median_per_second: f64,
    /// Rate of the fastest worker.
    pub max_per_second: f64,
}

/// Waits for files that other workers had claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimWaitSummary {
    /// Role of the workers that waited.
    pub role: Role,
    /// Number of times that a worker had to wait.
    pub count: u64,
    /// Distribution of the durations of the waits.
    pub wait_ns: LatencySummary,
}

/// Computations that workers performed before operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeSummary {
    /// Number of computations.
    pub count: u64,
    /// Processor time of all computations together, in nanoseconds. Latencies exclude this time.
    pub ns: u64,
    /// `ns` as a share of the workers' time, from 0 to 1.
    pub workers_fraction: f64,
}

pub(crate) fn summary(of: &Record, record: &PhaseRecord) -> PhaseSummary {
    let duration_ns = record.measured_ns();
    let began_ns = record
        .measured()
        .next()
        .map_or(0, |segment| segment.began_ns);
    let done = match record.phase {
        Phase::Transactions => record.transactions(),
        // In `delete`, the links and directories of a mix count as files.
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
        compute: compute(record),
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

/// Returns the work that was completed when the first worker finished. A rank knows the progress of
/// its own workers only. With several ranks, each worker is therefore assumed to have worked at a
/// constant rate.
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

/// Returns the work that a worker completed: transactions, or files in `prepare` and `delete`.
pub(super) fn done_by(phase: Phase, worker: &WorkerPhase) -> u64 {
    match phase {
        Phase::Transactions => worker.transactions,
        Phase::Prepare | Phase::Delete => worker.operations,
    }
}

/// Summarizes all segments of a kind that is not measured, such as the warm-up.
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

/// Returns the role of a worker in a phase. Roles differ in `transactions` only.
fn role_in(phase: Phase, role: Role) -> Role {
    match phase {
        Phase::Transactions => role,
        Phase::Prepare | Phase::Delete => Role::Worker,
    }
}

/// Returns the operations of a phase by role and kind, merged over its measured segments.
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
        missed: 0,
        latency_ns: meter.latency.summary(),
        service_ns: meter.service.as_ref().map(Histogram::summary),
        per_file_ns: meter.per_file.as_ref().map(Histogram::summary),
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

fn claim_waits(record: &ClaimWaits) -> Option<ClaimWaitSummary> {
    let wait: &Histogram = &record.wait;
    (wait.count() > 0).then(|| ClaimWaitSummary {
        role: record.role,
        count: wait.count(),
        wait_ns: wait.summary(),
    })
}

/// Summarizes the computations before operations; `None` if no worker performed computations.
fn compute(record: &PhaseRecord) -> Option<ComputeSummary> {
    let all = record.compute();
    let lasted_ns = |worker: &WorkerPhase| worker.ended_ns.saturating_sub(worker.began_ns);
    let workers_ns = record.workers.iter().map(lasted_ns).sum();
    (!all.is_none()).then(|| ComputeSummary {
        count: all.count,
        ns: all.ns,
        workers_fraction: share(all.ns, workers_ns),
    })
}

/// Each worker's rate over its own time; empty if there is one worker.
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

fn spread(workers: &[WorkerRate]) -> Vec<Spread> {
    let mut by_role: BTreeMap<Role, Vec<f64>> = BTreeMap::new();
    for worker in workers {
        let rate = worker.done.per_second.unwrap_or(0.0);
        by_role.entry(worker.role).or_default().push(rate);
    }
    by_role.into_iter().filter_map(spread_of).collect()
}

fn spread_of((role, mut rates): (Role, Vec<f64>)) -> Option<Spread> {
    // The rates are sorted, because a sum of floats depends on the order of its terms.
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
