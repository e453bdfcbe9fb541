//! Measures the overhead of the program itself. The measurement uses the same stream and the same
//! loop as the run, but the `null` engine, which performs no operations.
//!
//! The overhead is measured after the run, so that the measurement neither warms caches for the run
//! nor changes its results. The measurement has no pacing, think time, log, verification, check or
//! deletion. The pools and transactions of the measurement are limited, so that it takes at most
//! about half a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Engine;
use engines::null::Null;
use record::{Actual, Origin, Outcome, Overhead, PhaseRecord};
use rundir::Life;
use spec::{Cache, Drive, Keeping, OnError, Place, RunSpec, Stop};
use system::Fact;
use workload::compute::Compute;
use workload::mix::Think;
use workload::{Work, Workers, Workload};

use crate::clock::{Clock as _, RunClock, SystemClock};
use crate::control::Control;
use crate::events::NoEvents;
use crate::run_target::Taken;
use crate::supervisor::Supervisor;
use crate::timed_call::Waiter;
use crate::workers::{self, Performed};

/// Maximum number of files in all pools of the measurement together.
const FILES_MAX: u64 = 1_000_000;
/// Maximum number of content bytes in all pools of the measurement together. The measurement
/// generates contents as the run does, so their total size determines its duration.
const BYTES_MAX: u64 = 2 << 30;
/// Number of files whose sizes are drawn to estimate the total bytes of a pool.
const FOLLOWED_MAX: u64 = 4_096;
/// Maximum number of transactions of each worker in one measurement, so that several measurements
/// are made in `TIME_MAX`, also on a busy machine.
const TRANSACTIONS_MAX: u64 = 50_000;
/// Time limit of the transactions of one measurement. The measurement is repeated only until all
/// repetitions together have taken this time.
const TIME_MAX: Duration = Duration::from_millis(250);
/// Maximum number of measurements. The result is the smallest, because other programs only add time
/// to a measurement: on a busy machine, the time of most of them includes waits for a processor.
const TIMES: u32 = 5;

/// Measures the overhead of a run that has ended, always with the machine's clock.
pub(crate) fn measure(request: &RunSpec, actual: &Actual, control: &Control) -> Fact<Overhead> {
    if request.place == Place::Nowhere {
        // The run itself used the `null` engine.
        return Fact::NotApplicable;
    }
    if actual.outcome != Outcome::Complete {
        return Fact::Unavailable("the run did not complete".to_owned());
    }
    let of_a_worker = |phase: &PhaseRecord| phase.workers.iter().map(|worker| worker.issued).max();
    let performed: u64 = actual.transactions().filter_map(of_a_worker).sum();
    if performed == 0 {
        return Fact::NotApplicable;
    }
    let request = asked(request, performed);
    // Limits the repetitions, so that the report of a run does not wait longer than the run took.
    let measured_ns = actual.transactions().map(PhaseRecord::measured_ns).sum();
    let repeat_max = TIME_MAX.min(Duration::from_nanos(measured_ns));
    match smallest(&request, repeat_max, control) {
        Ok(overhead) => Fact::Known(overhead),
        Err(why) => Fact::Unavailable(why),
    }
}

/// Repeats the measurement until `repeat_max` has passed, and returns the smallest overhead.
fn smallest(
    request: &RunSpec,
    repeat_max: Duration,
    control: &Control,
) -> Result<Overhead, String> {
    let began = Instant::now();
    let mut smallest = once(request, control)?;
    for _ in 1..TIMES {
        if began.elapsed() >= repeat_max {
            break;
        }
        let next = once(request, control)?;
        if next.ns_per_operation < smallest.ns_per_operation {
            smallest = next;
        }
    }
    Ok(smallest)
}

/// Returns the spec of the overhead measurement: the run's workload with smaller pools and fewer
/// transactions, without activity outside of the operation loop.
fn asked(request: &RunSpec, performed: u64) -> RunSpec {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let mut workload = Workload {
        workers: at_once(request.workload.workers, processors),
        ..request.workload.clone()
    };
    if let Work::Mix(mix) = &mut workload.work {
        mix.think = Think::None;
        // The weights of a workload with phases contain the operations of all phases.
        mix.phases.clear();
        mix.compute = Compute::default();
    }
    workload = workload
        .with_files(files(&workload))
        .with_transactions(performed.min(TRANSACTIONS_MAX));
    RunSpec {
        workload,
        place: Place::Nowhere,
        drive: Drive {
            stop: Stop::After(TIME_MAX),
            ..Drive::default()
        },
        cache: Cache::AsIs,
        sync_phases: false,
        check: false,
        verify: false,
        on_error: OnError::Stop,
        // The `null` engine created no files to delete.
        keeping: Keeping {
            keep: true,
            reuse: false,
        },
        ack_log: None,
        overhead: false,
        ..request.clone()
    }
}

/// Limits workers to the number of processors. With more workers, the time of one worker would
/// include the processor time of others. The ratio of writers to readers is kept, with at least one
/// of each role that occurs.
fn at_once(workers: Workers, processors: u32) -> Workers {
    let all = workers.count();
    let part = |count: u32| match count {
        0 => 0,
        count => (u64::from(count) * u64::from(processors) / u64::from(all)).max(1) as u32,
    };
    match workers {
        _ if all <= processors => workers,
        Workers::Private { .. } => Workers::Private {
            workers: processors,
        },
        Workers::Shared {
            writers, readers, ..
        } => Workers::Shared {
            writers: part(writers),
            readers: part(readers),
            pools: 1,
        },
    }
}

/// Number of files in each pool of the overhead measurement.
fn files(workload: &Workload) -> u64 {
    let pools = u64::from(workload.streams()).max(1);
    let mut files = workload.files().min(FILES_MAX / pools);
    // Classic text is not generated for each file, so its bytes need no limit.
    if workload.contents.is_some() {
        // No error is possible, because this stream is a shorter form of the valid stream of the
        // run. `None` means that all files are empty, so their bytes need no limit.
        if let Ok(Some(extent)) = workload.holding(BYTES_MAX / pools, FOLLOWED_MAX) {
            files = files.min(extent.files);
        }
    }
    files.max(1)
}

fn once(request: &RunSpec, control: &Control) -> Result<Overhead, String> {
    let control = control.for_another();
    let interrupted = |signal: i32| format!("signal {signal} ended its measurement after the run");
    if let Some(signal) = control.signal_caught() {
        return Err(interrupted(signal));
    }
    let place = Taken::nowhere(
        request,
        Life::private(request.workload.workers.count(), Null.depth()),
    );
    let origin = Origin::from(&SystemClock.clocks());
    let watch = workers::start(
        request,
        (
            &(Arc::new(Null) as Arc<dyn Engine>),
            &RunClock::Machine,
            &control,
        ),
        &place,
        None,
        origin,
    );
    let nobody = &mut NoEvents;
    let waiter = Waiter::new(control, request.stall_timeout, nobody);
    let mut supervisor = Supervisor::begin(watch.map_err(|refused| refused.to_string())?, waiter);
    supervisor.apply(request.drive.rate());
    let (watched, waiter) = supervisor.end();
    let actual = Performed::new(request, watched, &waiter).into_actual(request, None);
    match &actual.outcome {
        Outcome::Complete => {}
        Outcome::Interrupted { signal } => return Err(interrupted(*signal)),
        Outcome::Failed { why } | Outcome::PlaceGone { why } => return Err(why.clone()),
        Outcome::Unfinished => return Err("its run did not complete".to_owned()),
    }
    let workers = || actual.transactions().flat_map(|phase| &phase.workers);
    let operations: u64 = workers().map(|worker| worker.operations).sum();
    let ns: u64 = workers()
        .map(|worker| worker.ended_ns.saturating_sub(worker.began_ns))
        .sum();
    if operations == 0 {
        return Err("its run performed no operations".to_owned());
    }
    Ok(Overhead {
        workers: request.workload.workers.count(),
        files: request.workload.files(),
        transactions: workers().map(|worker| worker.transactions).sum(),
        operations,
        ns_per_operation: ns as f64 / operations as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Classic, Mix};

    #[test]
    fn overhead_uses_at_most_one_worker_per_processor() {
        let private = |workers| Workers::Private { workers };
        let shared = |writers, readers| Workers::Shared {
            writers,
            readers,
            pools: 1,
        };
        for (workers, processors, expected) in [
            (private(1), 2, private(1)),
            (private(2), 2, private(2)),
            (private(64), 2, private(2)),
            (shared(1, 1), 2, shared(1, 1)),
            (shared(4, 8), 6, shared(2, 4)),
            (shared(1, 63), 8, shared(1, 7)),
            (shared(8, 8), 1, shared(1, 1)),
            (shared(0, 8), 2, shared(0, 2)),
        ] {
            assert_eq!(
                at_once(workers, processors),
                expected,
                "{workers:?} on {processors}"
            );
        }
    }

    #[test]
    fn overhead_measurement_limits_pool_size() {
        let classic = |files: u64| {
            Workload::from(Classic {
                files,
                ..Classic::default()
            })
        };
        assert_eq!(files(&classic(500)), 500);
        assert_eq!(files(&classic(5_000_000)), FILES_MAX);
        let four = Workload {
            workers: Workers::Private { workers: 4 },
            ..classic(5_000_000)
        };
        assert_eq!(files(&four), FILES_MAX / 4);
        let large = Mix {
            files: 1_000_000,
            sizes: "16MiB".parse().unwrap(),
            size_max_bytes: 16 << 20,
            ..Mix::default()
        };
        assert_eq!(files(&large.into()), 128);
        let larger = Workload {
            workers: Workers::Private { workers: 4 },
            ..Mix {
                sizes: "1GiB".parse().unwrap(),
                size_max_bytes: 1 << 30,
                ..Mix::default()
            }
            .into()
        };
        assert_eq!(files(&larger), 1, "one there is always");
    }

    #[test]
    fn overhead_spec_disables_pacing_logging_and_checks() {
        let mix = Mix {
            think: Think::Fixed(1_000_000),
            ..Mix::default()
        };
        let mut request = RunSpec::classic(mix.into(), Vec::new(), Place::OwnDirectory);
        request.drive.warm_up = Duration::from_secs(10);
        request.verify = true;
        request.check = true;
        request.sync_phases = true;
        request.keeping.reuse = true;
        request.ack_log = Some("ack_log".into());
        let asked = asked(&request, 70);
        assert_eq!(asked.workload.transactions(), 70);
        assert_eq!(asked.workload.mix().unwrap().think, Think::None);
        assert_eq!(asked.drive.warm_up, Duration::ZERO);
        assert!(!asked.verify && !asked.check && !asked.sync_phases && !asked.keeping.reuse);
        assert_eq!(asked.ack_log, None);
        let endless = super::asked(&request, Workload::ENDLESS);
        assert_eq!(endless.workload.transactions(), TRANSACTIONS_MAX);
    }
}
