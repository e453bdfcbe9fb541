//! The overhead of the program itself. The overhead must be reported after runs on a file system,
//! be plausible, and not affect the run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use engines::null::Null;
use engines::posix::Posix;
use record::{Fact, Outcome, Overhead, Record};
use runner::{Control, Drive, Event, Events, NoEvents, Place, RunSpec, Stage, Stop, SystemClock};
use testkit::runs::{by, private, shared};
use testkit::{
    Assert,
    runs::{at_rate, until, weighted},
};
use verdict::Summary;
use workload::arrivals::ArrivalProcess;
use workload::mix::Think;
use workload::sizes::Sizes;
use workload::{Classic, Mix, Phase, Work, Workers, Workload};

use crate::directory;

fn classic(workers: u32) -> Workload {
    by(
        private(workers),
        Classic {
            files: 300,
            transactions: 2_000,
            ..Classic::default()
        },
    )
}

fn mix(workers: Workers) -> Workload {
    let mix = weighted(
        300,
        2_000,
        "create=2,read=5,append=2,delete=2,stat=3,list=1",
    );
    by(workers, mix)
}

fn request(workload: Workload, at: &Path) -> RunSpec {
    let location = at.to_owned();
    RunSpec {
        series: true,
        check: true,
        overhead: true,
        ..RunSpec::classic(workload, vec![location], Place::OwnDirectory)
    }
}

/// Performs a run that must complete and leave no files.
fn run(request: &RunSpec, control: &Control, events: &mut dyn Events) -> Record {
    let record = runner::run(
        request,
        &Posix,
        &SystemClock,
        &mut || control.clone(),
        events,
    )
    .unwrap();
    assert_eq!(record.actual.outcome, Outcome::Complete);
    let left: Vec<_> = std::fs::read_dir(&request.targets[0]).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    record
}

fn overhead(record: &Record) -> &Overhead {
    let own = record.actual.overhead.known();
    own.unwrap_or_else(|| panic!("{:?}", record.actual.overhead))
}

/// Asserts that the overhead is reported for the performed work, and that the summary relates the
/// overhead to the duration of the run.
fn assert_plausible(record: &Record, workers: u32) {
    let own = overhead(record);
    assert_eq!(own.files, 300);
    assert!(own.workers >= 1 && own.workers <= workers, "{own:?}");
    // Each worker issues up to 2,000 transactions. About one in seven is skipped, because its
    // append would exceed the maximum file size. The limit of 1,600 leaves a margin.
    own.assert(own.transactions >= u64::from(own.workers) * 1_600);
    assert!(own.operations > own.transactions / 2, "{own:?}");
    own.assert(own.ns_per_operation > 1.0 && own.ns_per_operation < 50_000.0);
    let summary = Summary::of(record).overhead.unwrap();
    assert_eq!(summary.ns_per_operation, own.ns_per_operation);
    let fraction = summary.fraction.unwrap();
    assert!(
        fraction > 0.0 && fraction < 1.0,
        "{fraction}: tmpfs is slower than nothing"
    );
}

#[test]
fn overhead_is_reported_for_all_kinds_of_workloads() {
    let shared = shared(1, 1);
    for (workload, workers) in [
        (classic(1), 1),
        (classic(3), 3),
        (mix(Workers::Private { workers: 2 }), 2),
        (mix(shared), 2),
    ] {
        let directory = directory();
        let record = run(
            &request(workload, directory.path()),
            &Control::default(),
            &mut NoEvents,
        );
        assert_plausible(&record, workers);
    }
}

/// The waits for arrival times, for think times and for a time limit must not be included in the
/// overhead.
#[test]
fn waiting_times_are_not_overhead() {
    let directory = directory();
    let paced = RunSpec {
        drive: Drive {
            pace: at_rate(1_000.0, ArrivalProcess::Constant),
            ..until(Stop::After(Duration::from_millis(300)))
        },
        ..request(
            mix(Workers::ONE).with_transactions(Workload::ENDLESS),
            directory.path(),
        )
    };
    let mut thinking = request(mix(Workers::ONE).with_transactions(50), directory.path());
    if let Work::Mix(mix) = &mut thinking.workload.work {
        mix.think = Think::Fixed(2_000_000);
    }
    for request in [paced, thinking] {
        let record = run(&request, &Control::default(), &mut NoEvents);
        let own = overhead(&record);
        assert!(own.ns_per_operation < 50_000.0, "{own:?}");
        let done: u64 = record
            .actual
            .transactions()
            .map(|phase| phase.transactions())
            .sum();
        assert!(
            own.transactions <= done && own.transactions > 0,
            "{own:?} of {done}"
        );
    }
}

#[test]
fn overhead_is_not_applicable_if_disabled_or_run_did_nothing() {
    let directory = directory();
    let asked = request(classic(1), directory.path());
    let not_asked = RunSpec {
        overhead: false,
        ..asked.clone()
    };
    let idle = RunSpec {
        workload: classic(1).with_transactions(0),
        ..asked.clone()
    };
    for request in [not_asked, idle] {
        let record = run(&request, &Control::default(), &mut NoEvents);
        assert_eq!(record.actual.overhead, Fact::NotApplicable);
        assert_eq!(Summary::of(&record).overhead, None);
    }
    let nowhere = RunSpec {
        place: Place::Nowhere,
        ..asked
    };
    let record = testkit::run(&nowhere, &Null, &SystemClock, &mut NoEvents);
    assert_eq!(record.actual.overhead, Fact::NotApplicable);
}

/// An event sink that sends a signal after the last file was deleted. At this time the run is
/// complete, and the overhead is being measured.
struct SignalAfterwards {
    signal: Arc<AtomicUsize>,
    delay: Duration,
    sent: Option<Instant>,
    /// Events that were sent after the deletion.
    told: Vec<Event>,
}

impl Events for SignalAfterwards {
    fn event(&mut self, event: Event) {
        if self.sent.is_some() {
            self.told.push(event);
        } else if matches!(event, Event::PhaseEnded(Stage::Phase(Phase::Delete), ..)) {
            self.sent = Some(Instant::now());
            if self.delay.is_zero() {
                self.signal.store(15, Ordering::Relaxed);
                return;
            }
            let (signal, delay) = (Arc::clone(&self.signal), self.delay);
            std::thread::spawn(move || {
                std::thread::sleep(delay);
                signal.store(15, Ordering::Relaxed);
            });
        }
    }
}

#[test]
fn signal_ends_overhead_measurement_of_a_complete_run() {
    let directory = directory();
    // Generating contents of 64 MiB takes long, so that the measurement is still in progress when
    // the signal arrives.
    let large = Mix {
        files: 4,
        transactions: 3,
        weights: "overwrite=1".parse().unwrap(),
        sizes: Sizes::Fixed(64 << 20),
        size_max_bytes: 64 << 20,
        ..Mix::default()
    };
    for (workload, delay) in [
        (classic(1), Duration::ZERO),
        (Workload::from(large), Duration::from_millis(50)),
    ] {
        let signal = Arc::<AtomicUsize>::default();
        let control = Control::stopped_by(Arc::clone(&signal));
        let mut events = SignalAfterwards {
            signal,
            delay,
            sent: None,
            told: Vec::new(),
        };
        let request = RunSpec {
            check: false,
            ..request(workload, directory.path())
        };
        let record = run(&request, &control, &mut events);
        let why = record.actual.overhead.why();
        record
            .actual
            .overhead
            .assert(why.is_some_and(|why| why.contains("signal 15")));
        assert!(events.sent.unwrap().elapsed() < Duration::from_secs(3));
        assert_eq!(
            events.told,
            [],
            "nobody is told of what is no part of the run"
        );
    }
}

#[test]
fn overhead_of_interrupted_run_is_not_available() {
    let directory = directory();
    let signal = Arc::new(AtomicUsize::new(2));
    let control = Control::stopped_by(signal);
    let request = request(classic(1), directory.path());
    let record = runner::run(
        &request,
        &Posix,
        &SystemClock,
        &mut || control.clone(),
        &mut NoEvents,
    )
    .unwrap();
    assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 2 });
    record
        .actual
        .overhead
        .assert(record.actual.overhead.why().is_some());
}
