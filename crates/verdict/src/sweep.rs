//! Results of a load sweep: each load level, and the highest rates that were sustained.

use measure::knee::SENSITIVITY;
use measure::{Histogram, Knee, knee};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{SloOption, Sweep};
use workload::{Action, Role, Skipped};

use record::merge;
use record::run::{Load, OperationRecord, PhaseRecord, SweepStep};

/// Maximum share of failed and skipped operations at a sustained load level. The target did not
/// complete these operations, so it did not sustain their load.
pub const FAILED_MAX: f64 = 0.01;
/// Results of one load level. A percentile is null if fewer than ten latencies are beyond it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepStepSummary {
    /// The applied load: an offered rate, a number of workers or ranks, or a phase of the workload.
    pub load: Load,
    /// Name of the phase of the workload, such as `unpack`; absent for a load level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of active workers.
    pub workers: u32,
    /// Whether the load level was completed. Saturation rate, SLO result and knee ignore incomplete
    /// load levels.
    pub complete: bool,
    /// Measured transactions with at least one completed operation.
    pub transactions: u64,
    /// Achieved rate in transactions a second; null if no transactions were measured.
    pub achieved_per_second: Option<f64>,
    /// Completed share of the transactions that had arrived, from 0 to 1; null for a closed loop.
    pub achieved_fraction: Option<f64>,
    /// Transactions that were due and had not begun when the load level ended; null for a closed
    /// loop.
    pub waiting: Option<u64>,
    /// Share of the measured time until which every worker kept up with its arrivals, from 0 to 1.
    /// A sustained load level has at least 0.8. Absent for a closed loop, if a worker never kept
    /// up, and in earlier files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caught_up_fraction: Option<f64>,
    /// Mean latency of all operations, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// Median of the latencies of all operations, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latencies of all operations, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile of the latencies of all operations, in nanoseconds.
    pub p999_ns: Option<u64>,
    /// Maximum latency of all operations, in nanoseconds.
    pub max_ns: Option<u64>,
    /// 99th percentile of the service times, from issue to completion, in nanoseconds; null for a
    /// closed loop, whose latencies are service times.
    pub service_p99_ns: Option<u64>,
    /// Operations that completed without an error.
    pub operations: u64,
    /// Operations that failed. Rates exclude them.
    pub failed: u64,
    /// Skipped operations of the measured time, by reason.
    pub skipped: Skipped,
    /// The operations by role and kind, in the order of their first occurrence.
    pub by_operation: Vec<SweepStepOperation>,
    /// Whether the load was sustained: transactions were measured, and at most [`FAILED_MAX`] of
    /// their operations failed or were skipped. In an open loop, every worker must also have caught
    /// up with its arrivals in the last fifth of the measured time
    /// ([`PhaseRecord::queue_is_bounded`]).
    pub holds: bool,
}

/// Operations of one kind at a load level. A percentile is null if fewer than ten latencies are
/// beyond it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepStepOperation {
    /// Role of the workers that performed the operations.
    pub role: Role,
    /// Kind of the operations, such as `read`.
    pub action: Action,
    /// Operations that completed without an error.
    pub operations: u64,
    /// Operations that failed. Rates exclude them.
    pub failed: u64,
    /// Median latency, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latencies, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile of the latencies, in nanoseconds.
    pub p999_ns: Option<u64>,
    /// Maximum latency, in nanoseconds.
    pub max_ns: Option<u64>,
}

/// Returns the operations of the measured segments by role and kind, in the order of their first
/// occurrence.
fn by_operation(phase: &PhaseRecord) -> Vec<SweepStepOperation> {
    let mut kinds: Vec<OperationRecord> = Vec::new();
    for operation in phase.measured_operations() {
        merge::operation(&mut kinds, operation.clone());
    }
    let of_kind = |kind: OperationRecord| {
        let latency = kind.meter.latency.summary();
        SweepStepOperation {
            role: kind.role,
            action: kind.action,
            operations: kind.meter.operations,
            failed: kind.meter.failed,
            p50_ns: latency.p50,
            p99_ns: latency.p99,
            p999_ns: latency.p99_9,
            max_ns: latency.max,
        }
    };
    kinds.into_iter().map(of_kind).collect()
}

impl SweepStepSummary {
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
        let latency = latency.summary();
        let by_operation = phase.map_or_else(Vec::new, by_operation);
        let operations = by_operation.iter().map(|kind| kind.operations).sum::<u64>();
        let failed = by_operation.iter().map(|kind| kind.failed).sum::<u64>();
        let skipped = phase.map_or_else(Skipped::default, PhaseRecord::skipped);
        let undone = failed as f64 + skipped.total() as f64;
        let transactions = phase.map_or(0, PhaseRecord::transactions);
        let ns = phase.map_or(0, PhaseRecord::measured_ns);
        let achieved_per_second =
            (ns > 0 && transactions > 0).then(|| transactions as f64 * 1e9 / ns as f64);
        // A phase of the workload may have an offered rate; only then does it count waiting
        // transactions.
        let open = phase.filter(|phase| match sweep_step.load {
            Load::Rate(_) => true,
            Load::Phase(_) => phase.waiting.is_some(),
            Load::Closed | Load::Workers(_) | Load::Ranks(_) => false,
        });
        // In an open loop, the target kept up with the offered load if all workers caught up with
        // their arrivals near the end.
        let is_bounded = open.is_none_or(PhaseRecord::queue_is_bounded);
        Self {
            load: sweep_step.load,
            name: sweep_step.name.clone(),
            workers: sweep_step.workers,
            complete: phase.is_some_and(|phase| phase.complete),
            transactions,
            achieved_per_second,
            achieved_fraction: open.and_then(PhaseRecord::done_fraction),
            waiting: open.and_then(|phase| phase.waiting),
            caught_up_fraction: open.and_then(PhaseRecord::caught_up_fraction),
            mean_ns: latency.mean,
            p50_ns: latency.p50,
            p99_ns: latency.p99,
            p999_ns: latency.p99_9,
            max_ns: latency.max,
            service_p99_ns: service
                .filter(|_| open.is_some())
                .and_then(|service| service.summary().p99),
            operations,
            failed,
            skipped,
            by_operation,
            holds: achieved_per_second.is_some()
                && undone <= (operations as f64 + undone) * FAILED_MAX
                && is_bounded,
        }
    }

    /// Whether the load was sustained and the 99th percentile is below the SLO. `None` if too few
    /// operations were measured for a 99th percentile, unless their median shows that the SLO is
    /// not met.
    pub fn meets(&self, slo: SloOption) -> Option<bool> {
        if !self.holds {
            return Some(false);
        }
        let (p50_ns, p99_ns) = match slo.operation {
            None => (self.p50_ns, self.p99_ns),
            Some(_) => {
                let p50s = self.operations_of(slo.operation).map(|kind| kind.p50_ns);
                (p50s.max().flatten(), self.p99_ns_of(slo.operation))
            }
        };
        match p99_ns {
            Some(p99_ns) => Some(p99_ns < slo.p99_ns),
            None => p50_ns
                .is_some_and(|p50_ns| p50_ns >= slo.p99_ns)
                .then_some(false),
        }
    }

    /// Returns the 99th percentile of one kind of operation, or of all operations together, in
    /// nanoseconds. If workers of two roles perform the operation, this is the greater of the two
    /// percentiles, and `None` if one of them is not available.
    pub fn p99_ns_of(&self, operation: Option<Action>) -> Option<u64> {
        if operation.is_none() {
            return self.p99_ns;
        }
        let p99s: Option<Vec<u64>> = self
            .operations_of(operation)
            .map(|kind| kind.p99_ns)
            .collect();
        p99s?.into_iter().max()
    }

    /// Returns the number of measured operations of one kind, or of all kinds together.
    pub fn count_of(&self, operation: Option<Action>) -> u64 {
        self.operations_of(operation)
            .map(|kind| kind.operations)
            .sum()
    }

    fn operations_of(
        &self,
        operation: Option<Action>,
    ) -> impl Iterator<Item = &SweepStepOperation> {
        self.by_operation
            .iter()
            .filter(move |kind| operation.is_none_or(|operation| kind.action == operation))
    }
}

/// The two loads between which a condition stops being met. The condition is, for example, that the
/// load is sustained. A load is an offered rate in transactions a second, or a number of workers or
/// ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The highest tried load that meets the condition and is below `lowest_beyond`; null if no
    /// load is.
    pub highest: Option<f64>,
    /// The rate that was achieved at `highest`, in transactions a second; absent without `highest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub achieved_per_second: Option<f64>,
    /// The lowest tried load that does not meet the condition; null without such a load.
    pub lowest_beyond: Option<f64>,
}

impl Limit {
    /// Derives the limit from the completed load levels. `is_well` is the condition; `None` if it
    /// is undecided at a load level.
    pub fn of(
        sweep_steps: &[SweepStepSummary],
        is_well: impl Fn(&SweepStepSummary) -> Option<bool>,
    ) -> Self {
        let by = |wanted: bool| {
            let sweep_steps = sweep_steps
                .iter()
                .filter(|sweep_step| sweep_step.complete && is_well(sweep_step) == Some(wanted));
            sweep_steps
                .filter_map(|sweep_step| {
                    Some((sweep_step.load.value()?, sweep_step.achieved_per_second))
                })
                .collect::<Vec<(f64, Option<f64>)>>()
        };
        let loads = by(false).into_iter().map(|(load, _)| load);
        let lowest_beyond = loads.reduce(f64::min);
        let below = |load: f64| lowest_beyond.is_none_or(|beyond| load < beyond);
        let highest = by(true)
            .into_iter()
            .filter(|(load, _)| below(*load))
            .max_by(|(one, _), (other, _)| one.total_cmp(other));
        Self {
            highest: highest.map(|(load, _)| load),
            achieved_per_second: highest.and_then(|(_, achieved)| achieved),
            lowest_beyond,
        }
    }

    /// Whether a load is above `highest` and below `lowest_beyond`.
    fn is_open_at(&self, load: f64) -> bool {
        self.highest.is_none_or(|highest| load > highest)
            && self.lowest_beyond.is_none_or(|beyond| load < beyond)
    }
}

/// Result of an SLO: the two loads between which it stops being met. If no load level meets the
/// SLO, the result includes the load level that is nearest to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SloSummary {
    /// The operation to which the SLO applies; absent if it applies to all operations together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Action>,
    /// The latency that 99 % of the operations must stay below, in nanoseconds.
    pub p99_ns: u64,
    /// The two loads between which the SLO stops being met.
    pub limit: Limit,
    /// The load level with the lowest 99th percentile: its index, and this percentile in
    /// nanoseconds. Null if a load level meets the SLO, or if no load level was measured.
    pub nearest: Option<(usize, u64)>,
    /// Index of the highest load level between the two loads of `limit` that measured too few
    /// operations for a 99th percentile; null without such a level.
    pub undecided: Option<usize>,
}

/// Results of a load sweep: its load levels, the saturation rate, the result of the SLO, and the
/// knee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepSummary {
    /// The load levels in the order in which they were applied.
    pub sweep_steps: Vec<SweepStepSummary>,
    /// Saturation rate, as the two rates between which loads stop being sustained; null for a sweep
    /// of workers or ranks, and for phases.
    pub limit: Option<Limit>,
    /// Result of the SLO; null without an SLO.
    pub slo: Option<SloSummary>,
    /// Knee of mean latency over load, from the sustained load levels; null if this curve has no
    /// knee.
    pub knee: Option<Knee>,
}

impl SweepSummary {
    pub fn of(asked: &Sweep, sweep_steps: &[SweepStep]) -> Self {
        let sweep_steps: Vec<SweepStepSummary> =
            sweep_steps.iter().map(SweepStepSummary::of).collect();
        let is_of_rates = !asked.climb.is_of_counts() && !asked.climb.is_of_phases();
        let point =
            |sweep_step: &SweepStepSummary| Some((sweep_step.load.value()?, sweep_step.mean_ns?));
        let points: Vec<(f64, f64)> = sweep_steps
            .iter()
            .filter(|sweep_step| sweep_step.complete && sweep_step.holds)
            .filter_map(point)
            .collect();
        Self {
            limit: is_of_rates.then(|| Limit::of(&sweep_steps, |step| Some(step.holds))),
            slo: asked.slo().map(|slo| SloSummary::of(slo, &sweep_steps)),
            knee: knee::knee(&points, SENSITIVITY),
            sweep_steps,
        }
    }

    /// Whether the load levels are the phases of a workload.
    pub fn is_of_phases(&self) -> bool {
        self.sweep_steps
            .iter()
            .any(|step| matches!(step.load, Load::Phase(_)))
    }

    /// Returns the load level with the main result of the sweep: the level at the saturation rate.
    /// For a sweep of workers or ranks, this is the sustained level with the highest rate. `None`
    /// if no level was sustained, and for phases, each of which has its own result.
    pub fn result(&self) -> Option<&SweepStepSummary> {
        if self.is_of_phases() {
            return None;
        }
        let sustained = self.sweep_steps.iter();
        let mut sustained = sustained.filter(|sweep_step| sweep_step.complete && sweep_step.holds);
        match self.limit {
            Some(limit) => {
                let highest = limit.highest?;
                sustained.rfind(|sweep_step| sweep_step.load.rate() == Some(highest))
            }
            None => {
                let rate = |sweep_step: &SweepStepSummary| {
                    sweep_step.achieved_per_second.unwrap_or_default()
                };
                sustained.max_by(|one, other| rate(one).total_cmp(&rate(other)))
            }
        }
    }
}

impl SloSummary {
    /// Returns the highest load that meets the SLO although a lower load does not.
    pub fn met_beyond(&self, sweep_steps: &[SweepStepSummary]) -> Option<f64> {
        let beyond = self.limit.lowest_beyond?;
        let slo = SloOption {
            operation: self.operation,
            p99_ns: self.p99_ns,
        };
        let met = sweep_steps
            .iter()
            .filter(|step| step.complete && step.meets(slo) == Some(true));
        let loads = met.filter_map(|step| step.load.value());
        loads.filter(|load| *load > beyond).reduce(f64::max)
    }

    pub fn of(slo: SloOption, sweep_steps: &[SweepStepSummary]) -> Self {
        let all = sweep_steps.iter().enumerate();
        let all = all.filter(|(_, step)| step.complete && step.load.value().is_some());
        let is_met = all.clone().any(|(_, step)| step.meets(slo) == Some(true));
        let limit = Limit::of(sweep_steps, |step| step.meets(slo));
        let undecided = all.clone().filter_map(|(index, step)| {
            let load = step.load.value().filter(|load| limit.is_open_at(*load))?;
            step.meets(slo).is_none().then_some((index, load))
        });
        let undecided = undecided.max_by(|(_, one), (_, other)| one.total_cmp(other));
        let p99s = all.filter_map(|(index, step)| Some((index, step.p99_ns_of(slo.operation)?)));
        Self {
            operation: slo.operation,
            p99_ns: slo.p99_ns,
            limit,
            nearest: p99s.min_by_key(|(_, p99)| *p99).filter(|_| !is_met),
            undecided: undecided.map(|(index, _)| index),
        }
    }

    /// The latency to which the SLO applies, for reports: `p99`, or `deliver p99`.
    pub fn name(&self) -> String {
        let operation = self
            .operation
            .map(|operation| format!("{} ", operation.name()));
        operation.unwrap_or_default() + "p99"
    }
}
