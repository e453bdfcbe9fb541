//! Runs without a user.

use engine::Engine;
use engines::simulated::Simulated;
use record::{Outcome, Record};
use runner::{Clock, Control, Drive, Events, Keeping, NoEvents, Pace, Place, RunSpec, Stop};
use workload::arrivals::ArrivalProcess;
use workload::contents::{ContentKind, ContentSpec};
use workload::layout::{Layout, Shape};
use workload::sizes::Sizes;
use workload::{Mix, Workers, Workload};

/// What a run that begins has written.
///
/// # Panics
/// Where it is refused.
pub fn run<E: Engine + Clone + 'static, C: Clock + Clone + 'static>(
    spec: &RunSpec,
    engine: &E,
    clock: &C,
    events: &mut dyn Events,
) -> Record {
    runner::run(spec, engine, clock, &mut Control::default, events).unwrap()
}

/// The same on a simulated engine, whose clock is its own.
pub fn simulate(spec: &RunSpec, engine: &Simulated) -> Record {
    run(spec, engine, engine, &mut NoEvents)
}

/// A run of this work on a target that no kernel has.
pub fn simulated(workload: impl Into<Workload>, target: &str, place: Place) -> RunSpec {
    RunSpec {
        room_check: false,
        overhead: false,
        ..RunSpec::classic(workload.into(), vec![target.into()], place)
    }
}

/// The work done by these workers.
pub fn by(workers: Workers, workload: impl Into<Workload>) -> Workload {
    Workload {
        workers,
        ..workload.into()
    }
}

/// The same with contents that verification can tell.
pub fn verifiable(workers: Workers, workload: impl Into<Workload>) -> Workload {
    Workload {
        contents: Some(ContentSpec {
            kind: ContentKind::Incompressible,
            dedup: 1.0,
        }),
        ..by(workers, workload)
    }
}

/// Weighted operations: files, transactions, and weights as in `read=3,create=1`.
///
/// # Panics
/// Where these are no weights.
pub fn weighted(files: u64, transactions: u64, weights: &str) -> Mix {
    Mix {
        files,
        transactions,
        weights: weights.parse().unwrap(),
        ..Mix::default()
    }
}

/// Arrivals at a rate, whatever is completed.
pub fn at_rate(per_second: f64, arrivals: ArrivalProcess) -> Pace {
    Pace::Open {
        per_second,
        arrivals,
    }
}

/// Transactions at this pace.
pub fn paced(pace: Pace) -> Drive {
    Drive {
        pace,
        ..Drive::default()
    }
}

/// Transactions that end so.
pub fn until(stop: Stop) -> Drive {
    Drive {
        stop,
        ..Drive::default()
    }
}

/// Whether the pool stays, and whether one is used that has stayed.
pub fn keeping(keep: bool, reuse: bool) -> Keeping {
    Keeping { keep, reuse }
}

/// Workers with a pool each.
pub fn private(workers: u32) -> Workers {
    Workers::Private { workers }
}

/// Workers on one pool.
pub fn shared(writers: u32, readers: u32) -> Workers {
    Workers::Shared {
        writers,
        readers,
        pools: 1,
    }
}

/// Sizes that are all as likely.
pub fn uniform(low: u64, high: u64) -> Sizes {
    Sizes::Uniform { low, high }
}

/// Directories of a pool, with room for any number of entries.
pub fn layout(shape: Shape, maildir: bool) -> Layout {
    Layout {
        shape,
        entries_max: None,
        maildir,
    }
}

/// The run came to its end, and nothing failed.
///
/// # Panics
/// Where it did not.
pub fn assert_complete(record: &Record, what: &str) {
    let actual = &record.actual;
    assert_eq!(actual.outcome, Outcome::Complete, "{what}");
    assert!(actual.errors.is_empty(), "{what}: {:?}", actual.errors);
}
