//! Tests every kind of fault at every call of a small run on the simulated engine. In each case,
//! counts must be correct and the run must not panic. Every latency must equal the number of the
//! operation's calls times the cost of a call.
//!
//! Three sources must be consistent: the record, the counts of the simulated engine itself, and the
//! workload's stream up to the position of the run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::Step;
use engines::simulated::{Code, Fault, Simulated, Struck};
use record::{Fact, Meter, Outcome, Record};
use runner::{Place, RunSpec};
use testkit::simulate;
use workload::{Action, Classic, ClassicStream, Phase, Planner, Stream as _};

const EIO: i32 = 5;
const EINTR: i32 = 4;
const ENOSPC: i32 = 28;
/// Duration of every call of the simulated engine, in nanoseconds.
const COST_NS: u64 = 7;
const FAULTS: [Fault; 5] = [
    Fault::Error(EIO),
    Fault::Error(ENOSPC),
    Fault::Error(EINTR),
    Fault::Short,
    Fault::Nothing,
];

fn workload(subdirectories: u32) -> Classic {
    Classic {
        files: 6,
        transactions: 30,
        size_low_bytes: 1,
        size_high_bytes: 20,
        read_block_bytes: 6,
        write_block_bytes: 4,
        subdirectories,
        ..Classic::default()
    }
}

fn run(workload: &Classic, engine: &Simulated) -> Record {
    let locations = workload.weights.iter().enumerate();
    let locations = locations.map(|(number, _)| PathBuf::from(format!("/simulated/{number}")));
    let request = RunSpec {
        room_check: false,
        ..RunSpec::classic(workload.clone().into(), locations.collect(), Place::Nowhere)
    };
    simulate(&request, engine)
}

/// Number of operations and number of bytes, by phase and action.
type Counts = BTreeMap<(Phase, Action), (u64, u64)>;

/// Progress of a run by phase: completed operations, transactions, and skipped operations.
#[derive(Debug, Default, PartialEq)]
struct Course {
    counts: Counts,
    transactions: BTreeMap<Phase, u64>,
    skipped: BTreeMap<Phase, u64>,
}

impl Course {
    fn recorded(record: &Record) -> Self {
        let mut course = Self::default();
        for phase in &record.actual.phases {
            course.note(phase.phase, phase.transactions(), phase.skipped().total());
            for operation in &phase.segments[0].operations {
                let meter = &operation.meter;
                if meter.operations > 0 {
                    let counts = (meter.operations, meter.bytes);
                    course
                        .counts
                        .insert((phase.phase, operation.action), counts);
                }
            }
        }
        course
    }

    /// Returns the progress that the stream implies after `operations` operations, and the phase
    /// and action of the next operation.
    fn meant(workload: &Classic, operations: u64) -> (Self, Option<(Phase, Action)>) {
        let mut stream = ClassicStream::new(workload).unwrap();
        let mut course = Self::default();
        let mut left = operations;
        for phase in Phase::ALL {
            course.note(phase, 0, 0);
            // A pair of operations counts as one transaction when its first operation is performed.
            let mut is_counted = phase != Phase::Transactions;
            while let Some(intent) = stream.next(phase) {
                if intent.action == Action::Nothing {
                    *course.skipped.get_mut(&phase).unwrap() += 1;
                } else if left == 0 {
                    return (course, Some((phase, intent.action)));
                } else {
                    left -= 1;
                    let count = course.counts.entry((phase, intent.action)).or_default();
                    count.0 += 1;
                    count.1 += intent.bytes;
                    *course.transactions.get_mut(&phase).unwrap() += u64::from(!is_counted);
                    is_counted = true;
                }
                if intent.ends_transaction {
                    is_counted = false;
                }
            }
        }
        assert_eq!(left, 0, "the record has more operations than the stream");
        (course, None)
    }

    fn note(&mut self, phase: Phase, transactions: u64, skipped: u64) {
        self.transactions.insert(phase, transactions);
        self.skipped.insert(phase, skipped);
    }

    fn of(&self, action: Action) -> (u64, u64) {
        let all = self
            .counts
            .iter()
            .filter(|((_, counted), _)| *counted == action);
        all.fold((0, 0), |sum, (_, count)| (sum.0 + count.0, sum.1 + count.1))
    }

    fn operations(&self) -> u64 {
        self.counts.values().map(|count| count.0).sum()
    }
}

fn meters(record: &Record) -> impl Iterator<Item = &Meter> {
    let segments = record
        .actual
        .phases
        .iter()
        .flat_map(|phase| &phase.segments);
    segments
        .flat_map(|segment| &segment.operations)
        .map(|operation| &operation.meter)
}

/// Asserts that record, engine, stream and clock are consistent. They must be consistent even if
/// the run failed.
fn assert_consistent(workload: &Classic, engine: &Simulated, record: &Record, what: &str) {
    let course = Course::recorded(record);
    let truth = engine.truth();
    let failed = record.actual.errors.first();
    let (meant, next) = Course::meant(workload, course.operations());
    if failed.is_none_or(|error| !error.operation.contains("directory")) {
        assert_eq!(course, meant, "{what}: the record is not the stream");
        assert_eq!(
            failed.map(|error| error.operation.as_str()),
            next.map(|(_, action)| action.name()),
            "{what}: another operation failed than the one whose turn it was"
        );
    }
    // The failed operation may have read or written some bytes, and may have created its file. The
    // engine counts these bytes and this file, but the record does not count the failed operation.
    let of_failed = |names: [Action; 2]| {
        let moved = failed.filter(|error| names.iter().any(|name| name.name() == error.operation));
        moved.map_or(0, |error| *error.moved_bytes.known().unwrap())
    };
    let written = course.of(Action::Create).1 + course.of(Action::Append).1;
    assert_eq!(
        written + of_failed([Action::Create, Action::Append]),
        truth.bytes_written,
        "{what}: bytes written"
    );
    assert_eq!(
        course.of(Action::Read).1 + of_failed([Action::Read, Action::Read]),
        truth.bytes_read,
        "{what}: bytes read"
    );
    let past_open = |action: Action| {
        u64::from(
            failed.is_some_and(|error| error.operation == action.name() && error.step != "open"),
        )
    };
    for (action, done) in [
        (Action::Create, truth.created),
        (Action::Append, truth.opened_to_append),
        (Action::Read, truth.opened_to_read),
    ] {
        assert_eq!(
            course.of(action).0 + past_open(action),
            done,
            "{what}: {action:?}"
        );
    }
    assert_eq!(
        course.of(Action::Delete).0,
        truth.unlinked,
        "{what}: deletions"
    );
    assert_eq!(
        engine.files().len() as u64,
        truth.created - truth.unlinked,
        "{what}: files"
    );
    assert_eq!(engine.open_files(), 0, "{what}: a file is still open");
    assert_times_match_clock(engine, record, what);
}

/// Asserts that phases follow each other without a gap and last as long as their calls. Also
/// asserts that a latency is recorded for every completed operation.
fn assert_times_match_clock(engine: &Simulated, record: &Record, what: &str) {
    let phases = &record.actual.phases;
    let mut elapsed_ns = 0;
    for (phase, next) in phases
        .iter()
        .zip(phases.iter().skip(1).map(Some).chain([None]))
    {
        let segment = &phase.segments[0];
        elapsed_ns += segment.ended_ns - segment.began_ns;
        if let Some(next) = next {
            assert_eq!(
                segment.ended_ns, next.segments[0].began_ns,
                "{what}: a gap between phases"
            );
        }
    }
    let first_ns = phases
        .first()
        .map_or(engine.now_ns(), |phase| phase.segments[0].began_ns);
    let directories_after = if record
        .actual
        .errors
        .iter()
        .any(|error| error.step == "rmdir")
    {
        1
    } else {
        0
    };
    let removed_ns = (engine.truth().directories_removed + directories_after) * COST_NS;
    let all_ns = engine.calls() * COST_NS;
    assert_eq!(engine.now_ns(), all_ns, "{what}: the virtual clock");
    assert!(
        first_ns + elapsed_ns <= all_ns,
        "{what}: more time than there was"
    );
    // Removals of directories happen outside of all phases. An interrupted removal is retried,
    // which takes one more call.
    let of_faults = engine
        .struck()
        .iter()
        .filter(|struck| struck.step == Step::RemoveDirectory)
        .count() as u64;
    assert!(
        first_ns + elapsed_ns + removed_ns + of_faults * COST_NS >= all_ns,
        "{what}: time is missing"
    );
    for meter in meters(record) {
        assert_eq!(
            meter.latency.count(),
            meter.operations,
            "{what}: a latency for each"
        );
    }
    if record.actual.errors.is_empty() {
        let latencies_ns: f64 = meters(record)
            .filter_map(|meter| Some(meter.latency.mean_ns()? * meter.operations as f64))
            .sum();
        assert_eq!(
            latencies_ns.round() as u64,
            elapsed_ns,
            "{what}: nothing but operations takes time"
        );
    }
}

/// The expected outcome of a run with a fault.
#[derive(Debug, PartialEq)]
enum Expected {
    /// The run completes, and needs this many calls more than a run without the fault.
    Survives(u64),
    /// The run fails. Contains the error number, if the error has one.
    Fails(Option<i32>),
}

fn expected(fault: Fault, struck: Struck) -> Expected {
    let moves = struck.asked_bytes > 0;
    match fault {
        // An interrupted call is retried, except `close`: it has closed the file, and whether the
        // contents were written is unknown.
        Fault::Error(EINTR) if struck.step != Step::Close => Expected::Survives(1),
        Fault::Error(errno) => Expected::Fails(Some(errno)),
        Fault::Short => Expected::Survives(u64::from(struck.asked_bytes > 1)),
        Fault::Nothing if moves => Expected::Fails(None),
        Fault::Nothing => Expected::Survives(0),
    }
}

fn assert_completes(workload: &Classic, engine: &Simulated, record: &Record, what: &str) {
    assert_eq!(record.actual.outcome, Outcome::Complete, "{what}");
    assert!(record.actual.errors.is_empty(), "{what}");
    let plan = Planner::new(&workload.clone().into()).plan().unwrap();
    for phase in Phase::ALL {
        for action in Action::operations() {
            let tally = plan.tally(phase, action);
            let counts = Course::recorded(record).counts;
            let counted = counts.get(&(phase, action)).copied().unwrap_or_default();
            assert_eq!(
                counted,
                (tally.operations, tally.bytes),
                "{what}: {phase:?} {action:?}"
            );
        }
    }
    assert_eq!(
        record.actual.stream_hash.known(),
        Some(&plan.stream_hash),
        "{what}"
    );
    assert!(record.actual.phases.iter().all(|phase| phase.complete));
    assert!(
        meters(record).all(|meter| meter.failed == 0),
        "{what}: failed operations"
    );
    let truth = engine.truth();
    assert_eq!(truth.directories_made, truth.directories_removed, "{what}");
    assert!(engine.files().is_empty(), "{what}: files are left");
}

fn assert_fails(record: &Record, struck: Struck, errno: Option<i32>, what: &str) {
    let Outcome::Failed { why } = &record.actual.outcome else {
        panic!("{what}: {:?}", record.actual.outcome);
    };
    let [error] = &record.actual.errors[..] else {
        panic!("{what}: {:?}", record.actual.errors);
    };
    assert_eq!(error.count, 1, "{what}");
    assert_eq!(error.step, struck.step.name(), "{what}");
    assert_eq!(
        error.errno,
        errno.map_or(Fact::NotApplicable, Fact::Known),
        "{what}"
    );
    for word in [&error.first_path, &error.step, &error.message] {
        assert!(why.contains(word.as_str()), "{what}: '{why}' says {word}");
    }
    assert!(error.first_path.starts_with("/simulated/0/"), "{what}");
    // A failed removal of a directory leaves the stream complete, because subdirectories are
    // removed after all operations of the stream.
    let is_at_the_end = error.step == Step::RemoveDirectory.name();
    assert_eq!(
        record.actual.stream_hash.is_known(),
        is_at_the_end,
        "{what}"
    );
    let failed: u64 = meters(record).map(|meter| meter.failed).sum();
    let is_of_a_file = !error.operation.contains("directory");
    assert_eq!(failed, u64::from(is_of_a_file), "{what}");
    if let Some((last, earlier)) = record.actual.phases.split_last() {
        assert_eq!(
            last.complete, is_at_the_end,
            "{what}: the phase of the failure"
        );
        assert!(earlier.iter().all(|phase| phase.complete), "{what}");
    }
}

fn every_fault_at_every_call(code: Code, subdirectories: u32) {
    let workload = &Classic {
        transactions: 18,
        ..workload(subdirectories)
    };
    let whole = Simulated::new(code, COST_NS);
    let record = run(workload, &whole);
    assert_completes(workload, &whole, &record, "without a fault");
    assert_consistent(workload, &whole, &record, "without a fault");
    let calls = whole.calls();
    assert!(calls > 150, "{calls} calls are not many");
    let mut seen = BTreeMap::<&str, u64>::new();
    for fault in FAULTS {
        for call in 0..calls {
            let what = format!("{code:?}, {fault:?} at call {call} of {calls}");
            let engine = Simulated::new(code, COST_NS).fault_at(call, fault);
            let record = run(workload, &engine);
            let [struck] = engine.struck()[..] else {
                panic!("{what} did not strike once");
            };
            *seen.entry(struck.step.name()).or_default() += 1;
            match expected(fault, struck) {
                Expected::Survives(more) => {
                    assert_completes(workload, &engine, &record, &what);
                    assert_eq!(engine.calls(), calls + more, "{what}");
                }
                Expected::Fails(errno) => assert_fails(&record, struck, errno, &what),
            }
            assert_consistent(workload, &engine, &record, &what);
        }
    }
    let steps = if workload.subdirectories > 1 { 7 } else { 5 };
    assert_eq!(seen.len(), steps, "every kind of call was struck: {seen:?}");
}

#[test]
fn every_fault_is_handled_with_raw_calls() {
    every_fault_at_every_call(Code::Raw, 1);
}

#[test]
fn every_fault_is_handled_with_raw_calls_in_subdirectories() {
    every_fault_at_every_call(Code::Raw, 3);
}

#[test]
fn every_fault_is_handled_with_posix_calls() {
    every_fault_at_every_call(Code::Posix, 1);
}

#[test]
fn every_fault_is_handled_with_posix_calls_in_subdirectories() {
    every_fault_at_every_call(Code::Posix, 3);
}

/// The result of a run with recoverable faults at many of its calls must equal the result of a run
/// without faults.
#[test]
fn recoverable_faults_do_not_change_the_result() {
    for code in [Code::Raw, Code::Posix] {
        for subdirectories in [1, 3] {
            let workload = workload(subdirectories);
            for every in 2..40 {
                let mut engine = Simulated::new(code, COST_NS);
                for call in (every..2_000).step_by(every as usize) {
                    engine = engine.fault_at(call, Fault::Short);
                }
                let record = run(&workload, &engine);
                let what = format!("{code:?}, short at every {every}th call");
                assert!(engine.struck().len() > 5, "{what}");
                assert_completes(&workload, &engine, &record, &what);
                assert_consistent(&workload, &engine, &record, &what);
            }
        }
    }
}

/// A call that is interrupted each time it is retried fails after a limited number of retries.
#[test]
fn endless_interruptions_fail_the_run() {
    for first in [0, 1, 2, 50] {
        let mut engine = Simulated::new(Code::Posix, COST_NS);
        for call in first..first + 5_000 {
            engine = engine.fault_at(call, Fault::Error(EINTR));
        }
        let record = run(&workload(1), &engine);
        let what = format!("interrupted from call {first} on");
        let struck = engine.struck();
        assert_fails(&record, struck[0], Some(EINTR), &what);
        assert_consistent(&workload(1), &engine, &record, &what);
        assert!(struck.len() < 5_000, "{what}: it never gave up");
    }
}

#[test]
fn errors_name_the_location_that_failed() {
    let workload = Classic {
        weights: vec![1, 3],
        ..workload(2)
    };
    let mut paths = [0, 0];
    let mut call = 0;
    loop {
        let engine = Simulated::new(Code::Raw, COST_NS).fault_at(call, Fault::Error(EIO));
        let record = run(&workload, &engine);
        let Some(struck) = engine.struck().first().copied() else {
            assert_completes(&workload, &engine, &record, "two locations");
            break;
        };
        let what = format!("two locations, EIO at call {call} ({struck:?})");
        assert_consistent(&workload, &engine, &record, &what);
        let path = &record.actual.errors[0].first_path;
        let location = usize::from(path.starts_with("/simulated/1/"));
        assert!(
            path.starts_with(&format!("/simulated/{location}/s")),
            "{what}: {path}"
        );
        paths[location] += 1;
        call += 1;
    }
    assert!(paths[0] > 20 && paths[1] > paths[0], "{paths:?}");
}

/// All files have the same size, so all operations of a kind make the same number of calls.
#[test]
fn latency_equals_number_of_calls_times_cost_of_a_call() {
    const SIZE: u64 = 20;
    let workload = Classic {
        size_low_bytes: SIZE,
        size_high_bytes: SIZE,
        ..workload(1)
    };
    // Number of calls for all blocks of a file and its remainder. Like the original PostMark, `raw`
    // makes a call for an empty remainder.
    let blocks = |code, block: u64| match code {
        Code::Raw => SIZE / block + 1,
        Code::Posix => SIZE.div_ceil(block),
    };
    for code in [Code::Raw, Code::Posix] {
        let engine = Simulated::new(code, COST_NS);
        let record = run(&workload, &engine);
        assert_completes(&workload, &engine, &record, "one size");
        let expected = |action| match action {
            Action::Create => 2 + blocks(code, workload.write_block_bytes),
            Action::Read => 2 + blocks(code, workload.read_block_bytes),
            Action::Delete => 1,
            other => panic!("{other:?} in a classic run of files at their greatest size"),
        };
        let mut seen = 0;
        for phase in &record.actual.phases {
            for operation in &phase.segments[0].operations {
                let latency = &operation.meter.latency;
                let ns = expected(operation.action) * COST_NS;
                let bounds = (latency.min_ns(), latency.max_ns());
                assert_eq!(
                    bounds,
                    (Some(ns), Some(ns)),
                    "{code:?} {:?}",
                    operation.action
                );
                seen += latency.count();
            }
        }
        assert_eq!(seen, Course::recorded(&record).operations());
    }
}
