//! The workers' time in the measured transactions, as shares of the whole.

use record::machine::MachineOverTime;
use record::run::{PhaseRecord, Record};
use spec::EngineName;
use system::Fact;
use workload::mix::Think;

use super::waits_for::WaitsFor;
use crate::summary::{MachineSummary, PhaseSummary, WorkersCpu, overhead};

/// Minimum measured time. The kernel counts the time of devices in ticks of up to 10 ms, which are
/// at most a tenth of this time.
const MIN_NS: u64 = 100_000_000;

/// Shares of the workers' time. In the remaining time, workers sleep in calls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Times {
    pub awaiting_arrivals: f64,
    /// Whether an open loop kept up with its arrivals.
    pub keeps_up: bool,
    pub thinking: f64,
    /// Share of waits for files that other workers have claimed.
    pub claims: f64,
    /// Share of the time on a processor, or ready to run while other workers of the run use the
    /// processors.
    pub running: f64,
    /// Share of the time ready to run while other programs or the kernel use the processors.
    pub ready: f64,
    /// Share of computations before operations (`--compute`), which is a part of `running`.
    pub computing: f64,
    /// Share of the program's overhead, which is another part of `running`.
    pub program: f64,
    /// What workers wait for in calls; `None` if the record does not show it.
    pub waits_for: Option<WaitsFor>,
}

impl Times {
    /// Derives the shares of a phase. The second value states why `waits_for` is not known.
    pub fn of(
        record: &Record,
        phase: &PhaseRecord,
        summary: &PhaseSummary,
    ) -> Fact<(Self, Option<String>)> {
        let ns = workers_ns(phase) as f64;
        if ns == 0.0 {
            return unavailable("no time was measured");
        }
        let overhead = overhead(record, phase);
        let claims = (claims_ns(record, phase) / ns).min(1.0);
        let computing = (phase.compute().ns as f64 / ns).min(1.0);
        let has_rate = record.spec.drive.rate().is_some();
        let is_open = has_rate || record.spec.workload.has_traced_times();
        let thinks = thinks(record);
        let operations = match is_open || thinks {
            true if !record.spec.latencies => return unavailable("latencies were not recorded"),
            true => (operations_ns(phase) as f64 / ns).min(1.0),
            false => 1.0,
        };
        let idle = (1.0 - operations - claims - overhead - computing).clamp(0.0, 1.0 - claims);
        // A worker whose wait has ended is ready to run until it gets a processor. The measured
        // wait already includes this time. To count this time only once, `running` and `ready`
        // together are at most `rest`.
        let rest = 1.0 - claims - idle;
        let times = |running: f64, ready: f64, overhead: f64, waits_for| {
            let running = running.min(rest);
            let computing = computing.min(running);
            Self {
                awaiting_arrivals: if is_open { idle } else { 0.0 },
                keeps_up: is_open && phase.queue_is_bounded(),
                thinking: if is_open { 0.0 } else { idle },
                claims,
                running,
                ready: ready.min(rest - running),
                computing,
                program: overhead.min(running - computing),
                waits_for,
            }
        };
        if record.spec.engine == EngineName::NULL {
            return Fact::Known((times(1.0, 0.0, 1.0, None), None));
        }
        let machine = summary.machine.as_ref();
        of_workers(record, phase, machine).map(|of_worker| {
            // The fields of `of_worker` are shares of the whole measured time. `running` and
            // `ready` are shares of the workers' own times, which are shorter if some workers
            // finish early.
            let whole = summary.duration_ns as f64 * phase.workers.len() as f64 / ns;
            let (running, ready) = (of_worker.running * whole, of_worker.ready * whole);
            let waits_for = machine.map(|machine| WaitsFor::of(record, machine));
            let why = waits_for
                .as_ref()
                .and_then(|fact| fact.why().map(str::to_owned));
            let waits_for = waits_for.and_then(Fact::into_known);
            (times(running, ready, overhead, waits_for), why)
        })
    }

    /// Share of the time in which workers sleep in calls.
    pub fn asleep(&self) -> f64 {
        let Self {
            awaiting_arrivals,
            thinking,
            claims,
            running,
            ready,
            ..
        } = self;
        (1.0 - awaiting_arrivals - thinking - claims - running - ready).max(0.0)
    }

    /// Share of the time in which workers sleep in calls while the device is busy, multiplied by
    /// the result of `of`. The argument of `of` is the share of flushes in the device's busy time.
    pub fn on_device(&self, of: impl FnOnce(f64) -> f64) -> f64 {
        match self.waits_for {
            Some(WaitsFor::Device { busy, flushing }) => self.asleep().min(busy) * of(flushing),
            Some(WaitsFor::Server | WaitsFor::Memory) | None => 0.0,
        }
    }
}

fn workers_ns(phase: &PhaseRecord) -> u64 {
    let workers = phase.workers.iter();
    workers
        .map(|worker| worker.ended_ns.saturating_sub(worker.began_ns))
        .sum()
}

/// Overhead of the program as a share of the workers' time; 0 if it was not measured.
fn overhead(record: &Record, phase: &PhaseRecord) -> f64 {
    let own = record.actual.overhead.known();
    own.and_then(|own| overhead::fraction(phase, own.ns_per_operation))
        .unwrap_or(0.0)
}

fn thinks(record: &Record) -> bool {
    let mix = record.spec.workload.mix();
    mix.is_some_and(|mix| mix.think != Think::None)
}

/// Sum of the service times of all measured operations, in nanoseconds.
fn operations_ns(phase: &PhaseRecord) -> u128 {
    let meters = phase.measured_operations().map(|of| &of.meter);
    meters
        .map(|meter| meter.service.as_ref().unwrap_or(&meter.latency).sum_ns())
        .sum()
}

/// Sum of the claim waits in the measured time, in nanoseconds. The record contains the sum over
/// the whole phase. A warm-up is excluded by its share of the phase's time. The result is 0 with
/// several operations in flight: a worker then also waits for its own operations, which is a wait
/// for the target.
fn claims_ns(record: &Record, phase: &PhaseRecord) -> f64 {
    let Some((began_ns, ended_ns)) = phase.span_ns().filter(|_| record.spec.depth <= 1) else {
        return 0.0;
    };
    let waits = phase.claim_waits.iter();
    let all: u128 = waits.map(|waits| waits.wait.sum_ns()).sum();
    all as f64 * phase.measured_ns() as f64 / ended_ns.saturating_sub(began_ns).max(1) as f64
}

/// Shares of a worker's time, as means over all workers of the phase.
struct OfWorker {
    /// Share of the time on a processor, or ready to run while other workers of the run use the
    /// processors.
    running: f64,
    /// Share of the time ready to run while other programs or the kernel use the processors.
    ready: f64,
}

fn of_workers(
    record: &Record,
    phase: &PhaseRecord,
    machine: Option<&MachineSummary>,
) -> Fact<OfWorker> {
    let (Some(counted), Some(machine)) = (&phase.machine, machine) else {
        return unavailable("the kernel's counters were not recorded over time");
    };
    if machine.ns < MIN_NS {
        return unavailable("the measured time is shorter than 0.1 s");
    }
    let Some(workers) = machine.workers.filter(|workers| workers.count > 0) else {
        let why = counted.threads.why();
        return unavailable(why.unwrap_or("the processor time of the workers is not known"));
    };
    let Some(waiting) = workers.waiting else {
        return unavailable(why_not(counted).unwrap_or("waits for a processor are not counted"));
    };
    let count = workers.count as f64;
    let own = own_share(&workers, processors(record, machine));
    Fact::Known(OfWorker {
        running: (workers.sum + waiting * own) / count,
        ready: waiting * (1.0 - own) / count,
    })
}

/// Share of a worker's wait for a processor during which other workers of the run use the
/// processors. It is the processor time of the other workers, divided by the time that the waiting
/// worker leaves of the processors. 0 for a single worker; 1 if the number of processors is not
/// known.
fn own_share(workers: &WorkersCpu, processors: Option<f64>) -> f64 {
    let of_each = workers.sum / workers.count as f64;
    let left = processors.map(|processors| processors - of_each);
    match left {
        _ if workers.count == 1 => 0.0,
        Some(left) if left > 0.0 => ((workers.sum - of_each) / left).min(1.0),
        _ => 1.0,
    }
}

/// Number of processors that the workers may use. With several ranks, which may have different
/// processor affinities, it is the number of processors of all their machines.
fn processors(record: &Record, machine: &MachineSummary) -> Option<f64> {
    match record.cluster {
        None => record.host.processors.usable.known().map(|of| *of as f64),
        Some(_) => machine.processors,
    }
}

/// Returns why the waits of threads for a processor are not counted.
fn why_not(counted: &MachineOverTime) -> Option<&str> {
    let mut unknown = counted.unknown.iter();
    let found = unknown.find(|of| {
        let mut columns = of.columns.iter();
        columns.any(|column| column.ends_with(".waiting_ns"))
    });
    found.map(|unknown| unknown.why.as_str())
}

fn unavailable<T>(why: &str) -> Fact<T> {
    Fact::Unavailable(why.to_owned())
}
