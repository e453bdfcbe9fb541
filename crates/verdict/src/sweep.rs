//! What a sweep of loads came to: each step, and where the limits are.

use measure::knee::SENSITIVITY;
use measure::{Histogram, Knee, knee};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::Sweep;
use workload::{Action, Role, Skipped};

use record::merge;
use record::run::{Load, OperationRecord, PhaseRecord, SweepStep};

/// The greatest share of the operations of a step that holds which failed or were skipped: they are
/// no load that was borne.
pub const FAILED_MAX: f64 = 0.01;
/// What a step came to. Latencies are nothing where none were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepStepSummary {
    /// What it was to bear.
    pub load: Load,
    /// Workers that were at work.
    pub workers: u32,
    /// Whether it was climbed to its end; where it was not, no limit, SLO or knee is taken from
    /// it.
    pub complete: bool,
    /// Transactions that were measured, and of which at least one operation was completed.
    pub transactions: u64,
    /// Transactions a second; nothing where none were measured.
    pub achieved_per_second: Option<f64>,
    /// The share of the transactions that had arrived of which an operation was completed; nothing
    /// in a closed loop.
    pub achieved_fraction: Option<f64>,
    /// Transactions that were due and not begun when it ended; nothing in a closed loop.
    pub waiting: Option<u64>,
    /// Operations of all kinds: the mean latency, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// The median.
    pub p50_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// The greatest.
    pub max_ns: Option<u64>,
    /// The 99th percentile from issued to completed; nothing in a closed loop, where that is the
    /// latency.
    pub service_p99_ns: Option<u64>,
    /// Operations that were completed without an error.
    pub operations: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Operations that were not performed, by reason.
    pub skipped: Skipped,
    /// The same by kind of operation.
    pub by_operation: Vec<SweepStepOperation>,
    /// Whether it bore its load: every worker was up to its arrivals in the last fifth of the
    /// measured time ([`PhaseRecord::queue_is_bounded`]; a closed loop's always is), and no
    /// more than [`FAILED_MAX`] of the operations failed or were skipped.
    pub holds: bool,
}

/// Operations of one kind on a step. Latencies are nothing where none succeeded, or none were
/// recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepStepOperation {
    /// Who did them.
    pub role: Role,
    /// Which kind.
    pub action: Action,
    /// How many were completed without an error.
    pub operations: u64,
    /// How many failed.
    pub failed: u64,
    /// The median of their latencies, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// The greatest.
    pub max_ns: Option<u64>,
}

/// Operations of the measured segments by role and kind, in the order in which they are first seen.
fn by_operation(phase: &PhaseRecord) -> Vec<SweepStepOperation> {
    let mut kinds: Vec<OperationRecord> = Vec::new();
    for operation in phase.measured_operations() {
        merge::operation(&mut kinds, operation.clone());
    }
    let of_kind = |kind: OperationRecord| SweepStepOperation {
        role: kind.role,
        action: kind.action,
        operations: kind.meter.operations,
        failed: kind.meter.failed,
        p50_ns: kind.meter.latency.percentile(50.0),
        p99_ns: kind.meter.latency.percentile(99.0),
        p999_ns: kind.meter.latency.percentile(99.9),
        max_ns: kind.meter.latency.max_ns(),
    };
    kinds.into_iter().map(of_kind).collect()
}

impl SweepStepSummary {
    /// What a step came to.
    pub fn of(sweep_step: &SweepStep) -> Self {
        let phase = sweep_step.transactions();
        let mut latency = Histogram::default();
        let mut service: Option<Histogram> = None;
        for operation in phase.into_iter().flat_map(PhaseRecord::measured_operations) {
            latency.merge(&operation.meter.latency);
            if let Some(more) = &operation.meter.service {
                service.get_or_insert_default().merge(more);
            }
        }
        let by_operation = phase.map_or_else(Vec::new, by_operation);
        let operations = by_operation.iter().map(|kind| kind.operations).sum::<u64>();
        let failed = by_operation.iter().map(|kind| kind.failed).sum::<u64>();
        let skipped = phase.map_or_else(Skipped::default, PhaseRecord::skipped);
        let undone = failed as f64 + skipped.total() as f64;
        let transactions = phase.map_or(0, PhaseRecord::transactions);
        let ns = phase.map_or(0, PhaseRecord::measured_ns);
        let achieved_per_second =
            (ns > 0 && transactions > 0).then(|| transactions as f64 * 1e9 / ns as f64);
        let open = phase.filter(|_| matches!(sweep_step.load, Load::Rate(_)));
        // Up to the moment at which all workers were up to their arrivals, all that had been
        // requested was done.
        let is_bounded = open.is_none_or(PhaseRecord::queue_is_bounded);
        Self {
            load: sweep_step.load,
            workers: sweep_step.workers,
            complete: phase.is_some_and(|phase| phase.complete),
            transactions,
            achieved_per_second,
            achieved_fraction: open.and_then(PhaseRecord::done_fraction),
            waiting: open.and_then(|phase| phase.waiting),
            mean_ns: latency.mean_ns(),
            p50_ns: latency.percentile(50.0),
            p99_ns: latency.percentile(99.0),
            p999_ns: latency.percentile(99.9),
            max_ns: latency.max_ns(),
            service_p99_ns: service
                .filter(|_| open.is_some())
                .and_then(|service| service.percentile(99.0)),
            operations,
            failed,
            skipped,
            by_operation,
            holds: achieved_per_second.is_some()
                && undone <= (operations as f64 + undone) * FAILED_MAX
                && is_bounded,
        }
    }

    /// Whether it holds, and 99 % of its operations stay below the SLO.
    pub fn meets(&self, slo_p99_ns: u64) -> bool {
        self.holds && self.p99_ns.is_some_and(|p99| p99 < slo_p99_ns)
    }
}

/// Between which rates a limit lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The highest rate that is well, and so is every lower one that was tried; nothing where the
    /// lowest is not.
    pub highest: Option<f64>,
    /// The lowest rate that is not; nothing where all are.
    pub lowest_beyond: Option<f64>,
}

impl Limit {
    /// Of these steps, as far as they were climbed to their end.
    pub fn of(
        sweep_steps: &[SweepStepSummary],
        is_well: impl Fn(&SweepStepSummary) -> bool,
    ) -> Self {
        let by = |wanted: bool| {
            let sweep_steps = sweep_steps
                .iter()
                .filter(|sweep_step| sweep_step.complete && is_well(sweep_step) == wanted);
            sweep_steps
                .filter_map(|sweep_step| sweep_step.load.rate())
                .collect::<Vec<f64>>()
        };
        let lowest_beyond = by(false).into_iter().reduce(f64::min);
        let below = |rate: &f64| lowest_beyond.is_none_or(|beyond| *rate < beyond);
        Self {
            highest: by(true).into_iter().filter(below).reduce(f64::max),
            lowest_beyond,
        }
    }
}

/// What became of an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SloSummary {
    /// The latency that 99 % of the operations were to stay below, in nanoseconds.
    pub p99_ns: u64,
    /// Between which rates its limit lies.
    pub limit: Limit,
    /// The step that comes nearest, by its place, with its 99th percentile; nothing where a step
    /// meets it, or none was measured.
    pub nearest: Option<(usize, u64)>,
}

/// What a sweep came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepSummary {
    /// In the order in which they were climbed.
    pub sweep_steps: Vec<SweepStepSummary>,
    /// Up to which rate steps hold; nothing of a sweep of workers or ranks.
    pub limit: Option<Limit>,
    /// Up to which rate the SLO is met; nothing where there is none.
    pub slo: Option<SloSummary>,
    /// The knee of mean latency over load, of the sustained steps; nothing where they have none.
    pub knee: Option<Knee>,
}

impl SweepSummary {
    /// What these steps come to.
    pub fn of(asked: &Sweep, sweep_steps: &[SweepStep]) -> Self {
        let sweep_steps: Vec<SweepStepSummary> =
            sweep_steps.iter().map(SweepStepSummary::of).collect();
        let is_of_rates = !asked.climb.is_of_counts();
        let point = |sweep_step: &SweepStepSummary| {
            let load = match sweep_step.load {
                Load::Rate(rate) => rate,
                Load::Workers(count) | Load::Ranks(count) => f64::from(count),
                Load::Closed => return None,
            };
            Some((load, sweep_step.mean_ns?))
        };
        let points: Vec<(f64, f64)> = sweep_steps
            .iter()
            .filter(|sweep_step| sweep_step.complete && sweep_step.holds)
            .filter_map(point)
            .collect();
        Self {
            limit: is_of_rates.then(|| Limit::of(&sweep_steps, |sweep_step| sweep_step.holds)),
            slo: asked
                .slo_p99_ns
                .map(|p99_ns| SloSummary::of(p99_ns, &sweep_steps)),
            knee: knee::knee(&points, SENSITIVITY),
            sweep_steps,
        }
    }
}

impl SloSummary {
    /// What becomes of it on these steps.
    pub fn of(p99_ns: u64, sweep_steps: &[SweepStepSummary]) -> Self {
        let of_rates = |(_, sweep_step): &(usize, &SweepStepSummary)| {
            sweep_step.complete && sweep_step.load.rate().is_some()
        };
        let all = sweep_steps.iter().enumerate().filter(of_rates);
        let is_met = all.clone().any(|(_, sweep_step)| sweep_step.meets(p99_ns));
        let nearest = all.filter_map(|(index, sweep_step)| Some((index, sweep_step.p99_ns?)));
        Self {
            p99_ns,
            limit: Limit::of(sweep_steps, |sweep_step| sweep_step.meets(p99_ns)),
            nearest: nearest.min_by_key(|(_, p99)| *p99).filter(|_| !is_met),
        }
    }
}
