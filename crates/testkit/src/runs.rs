//! Runs and parts of run specs for tests.

use engine::Engine;
use engines::simulated::Simulated;
use record::{Outcome, Record};
use runner::{Clock, Control, Drive, Events, Keeping, NoEvents, Pace, Place, RunSpec, Stop};
use workload::arrivals::ArrivalProcess;
use workload::contents::{ContentKind, ContentSpec};
use workload::layout::{Layout, Shape};
use workload::sizes::Sizes;
use workload::{Mix, Workers, Workload};

/// Performs a run and returns its record.
///
/// # Panics
/// Panics if the run is rejected before it starts.
pub fn run<E: Engine + Clone + 'static, C: Clock + Clone + 'static>(
    spec: &RunSpec,
    engine: &E,
    clock: &C,
    events: &mut dyn Events,
) -> Record {
    runner::run(spec, engine, clock, &mut Control::default, events).unwrap()
}

/// Performs a run with a simulated engine, which is also the clock of the run.
pub fn simulate(spec: &RunSpec, engine: &Simulated) -> Record {
    run(spec, engine, engine, &mut NoEvents)
}

/// Creates a run spec for a simulated target. The run neither measures its overhead nor checks the
/// free space.
pub fn simulated(workload: impl Into<Workload>, target: &str, place: Place) -> RunSpec {
    RunSpec {
        room_check: false,
        overhead: false,
        ..RunSpec::classic(workload.into(), vec![target.into()], place)
    }
}

/// Replaces the workers of a workload.
pub fn by(workers: Workers, workload: impl Into<Workload>) -> Workload {
    Workload {
        workers,
        ..workload.into()
    }
}

/// Returns the workload with these workers, and with contents that can be verified.
pub fn verifiable(workers: Workers, workload: impl Into<Workload>) -> Workload {
    Workload {
        contents: Some(ContentSpec {
            kind: ContentKind::Incompressible,
            dedup: 1.0,
        }),
        ..by(workers, workload)
    }
}

/// Creates a mix with a number of files and transactions, and weights such as `read=3,create=1`.
///
/// # Panics
/// Panics if the weights are invalid.
pub fn weighted(files: u64, transactions: u64, weights: &str) -> Mix {
    Mix {
        files,
        transactions,
        weights: weights.parse().unwrap(),
        ..Mix::default()
    }
}

/// Returns the pace of an open loop: operations arrive at this rate, independently of completions.
pub fn at_rate(per_second: f64, arrivals: ArrivalProcess) -> Pace {
    Pace::Open {
        per_second,
        arrivals,
    }
}

pub fn paced(pace: Pace) -> Drive {
    Drive {
        pace,
        ..Drive::default()
    }
}

pub fn until(stop: Stop) -> Drive {
    Drive {
        stop,
        ..Drive::default()
    }
}

pub fn keeping(keep: bool, reuse: bool) -> Keeping {
    Keeping { keep, reuse }
}

pub fn private(workers: u32) -> Workers {
    Workers::Private { workers }
}

pub fn shared(writers: u32, readers: u32) -> Workers {
    Workers::Shared {
        writers,
        readers,
        pools: 1,
    }
}

pub fn uniform(low: u64, high: u64) -> Sizes {
    Sizes::Uniform { low, high }
}

/// Returns a layout of a pool's directories without a limit for the entries of a directory.
pub fn layout(shape: Shape, maildir: bool) -> Layout {
    Layout {
        shape,
        entries_max: None,
        maildir,
    }
}

/// Asserts that the run is complete and nothing failed.
///
/// # Panics
/// Panics if the run is not complete or has errors.
pub fn assert_complete(record: &Record, what: &str) {
    let actual = &record.actual;
    assert_eq!(actual.outcome, Outcome::Complete, "{what}");
    assert!(actual.errors.is_empty(), "{what}: {:?}", actual.errors);
}
