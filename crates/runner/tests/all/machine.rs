//! Kernel counters during a run. The counts of all intervals must agree with counts that the tests
//! read themselves, even if the reading thread was delayed. In a run without intervals, no counters
//! are read.

use std::path::Path;
use std::time::{Duration, Instant};

use engines::null::Null;
use engines::posix::Posix;
use record::machine::{Counts, MachineOverTime};
use record::{Outcome, PhaseRecord, Record};
use runner::{Control, Event, Events, NoEvents, Place, RunSpec, Second, Stage, Stop, SystemClock};
use system::{Counters, Fact, Sources};
use testkit::runs::{by, private};
use testkit::{
    Assert,
    runs::{until, weighted},
};
use workload::{Phase, Workload};

const WORKERS: u32 = 2;
/// Time limit of the transactions of each run.
const LASTS: Duration = Duration::from_millis(2_600);

fn request(at: &Path, place: Place) -> RunSpec {
    let mix = weighted(50, Workload::ENDLESS, "read=2,append=1,stat=1");
    let workload = by(private(WORKERS), mix);
    let location = at.to_owned();
    RunSpec {
        drive: until(Stop::After(LASTS)),
        series: true,
        ..RunSpec::classic(workload, vec![location], place)
    }
}

fn count() -> Counters {
    Counters::read(&Sources::default(), &Fact::NotApplicable)
}

/// An event sink that reads the counters itself at every event of the transactions. It can also
/// delay the thread that sends events.
#[derive(Default)]
struct Counting {
    first: Option<Counters>,
    last: Option<Counters>,
    seconds: Vec<Second>,
    /// Duration for which the sink delays the thread at the first progress event of the
    /// transactions.
    keeps: Option<Duration>,
    kept: Option<Duration>,
}

impl Events for Counting {
    fn event(&mut self, event: Event) {
        match event {
            Event::PhaseStarted(Stage::Phase(Phase::Transactions), _) => self.first = Some(count()),
            Event::PhaseProgress(Stage::Phase(Phase::Transactions), _) => {
                if let Some(time) = self.keeps.take() {
                    let began = Instant::now();
                    std::thread::sleep(time);
                    self.kept = Some(began.elapsed());
                }
                self.last = Some(count());
            }
            Event::Second(second) => self.seconds.push(second),
            _ => {}
        }
    }
}

fn run(request: &RunSpec, counting: &mut Counting) -> Record {
    let run = if request.place == Place::Nowhere {
        runner::run(
            request,
            &Null,
            &SystemClock,
            &mut Control::default,
            counting,
        )
    } else {
        runner::run(
            request,
            &Posix,
            &SystemClock,
            &mut Control::default,
            counting,
        )
    };
    let record = run.unwrap();
    assert_eq!(record.actual.outcome, Outcome::Complete);
    record
}

fn transactions(record: &Record) -> (&PhaseRecord, &MachineOverTime) {
    let phase = record.actual.phase(Phase::Transactions).unwrap();
    (phase, phase.machine.as_ref().unwrap())
}

fn sum(counts: &Counts) -> u64 {
    counts.sum(&(0..counts.each().len())).unwrap()
}

/// Returns the sums of counters that never decrease: three of the process and two of the machine.
fn growing(machine: &MachineOverTime) -> [u64; 5] {
    [
        sum(&machine.process.user_ns) + sum(&machine.process.system_ns),
        sum(&machine.process.voluntary_context_switches),
        sum(&machine.process.minor_faults),
        sum(&machine.system.context_switches),
        sum(&machine.system.busy_ns),
    ]
}

fn growth(later: &Counters, earlier: &Counters) -> [u64; 5] {
    let difference = later.since(earlier);
    let process = difference.process.into_known().unwrap();
    [
        process.cpu_ns(),
        process.voluntary_context_switches,
        process.minor_faults,
        difference.system.context_switches.into_known().unwrap(),
        difference
            .system
            .times
            .into_known()
            .unwrap()
            .busy_ns
            .into_known()
            .unwrap(),
    ]
}

/// Asserts that the intervals cover the whole phase without gaps. The total of each counter must be
/// at least its change within the phase, and at most its change from before to after the phase.
fn assert_intervals_add_up(record: &Record, counting: &Counting, [before, after]: [&Counters; 2]) {
    let (phase, machine) = transactions(record);
    let segment = phase.measured().next().unwrap();
    let spans: Vec<_> = machine.spans().collect();
    assert_eq!(machine.began_ns, spans[0].start);
    assert!(machine.began_ns <= segment.began_ns && spans.last().unwrap().end >= segment.ended_ns);
    spans.assert(spans.windows(2).all(|pair| pair[0].end == pair[1].start));
    let inner = growth(
        counting.last.as_ref().unwrap(),
        counting.first.as_ref().unwrap(),
    );
    let outer = growth(after, before);
    let slices = growing(machine);
    let within =
        (0..5).all(|column| inner[column] <= slices[column] && slices[column] <= outer[column]);
    assert!(within, "{inner:?} <= {slices:?} <= {outer:?}");
    // The total of all phases does not exceed the count for the whole run.
    let machines: Vec<_> = record
        .actual
        .phases
        .iter()
        .map(|phase| phase.machine.as_ref().unwrap())
        .collect();
    assert_eq!(machines.len(), 3);
    let all = (0..5).all(|column| {
        machines
            .iter()
            .map(|machine| growing(machine)[column])
            .sum::<u64>()
            <= outer[column]
    });
    assert!(all, "{outer:?}");
    // The threads of all workers used processor time during the phase.
    let threads = machine.threads.known().unwrap();
    let workers = threads.iter().filter(|thread| thread.is_worker());
    // Tests share a process, so worker threads of a test that has just ended may be included.
    let busy = workers.filter(|thread| thread.cpu_ns.sum(&(0..machine.len())) > Some(0));
    assert!(busy.count() >= WORKERS as usize, "{threads:?}");
    // The events contain the same intervals as the record, each of them once.
    let told = counting
        .seconds
        .iter()
        .filter(|second| second.phase == Phase::Transactions);
    let told: Vec<_> = told.filter_map(|second| second.machine.as_ref()).collect();
    let indices: Vec<u64> = told.iter().map(|slice| slice.index).collect();
    assert_eq!(indices, machine.index);
    let user_ns: u64 = told
        .iter()
        .map(|slice| slice.counted.process.known().unwrap().user_ns)
        .sum();
    assert_eq!(user_ns, sum(&machine.process.user_ns));
}

#[test]
fn interval_counts_add_up_to_those_of_the_phase() {
    let at = tempfile::tempdir().unwrap();
    for place in [Place::Nowhere, Place::OwnDirectory] {
        let before = count();
        let mut counting = Counting::default();
        let record = run(&request(at.path(), place), &mut counting);
        let after = count();
        assert_intervals_add_up(&record, &counting, [&before, &after]);
        let (_, machine) = transactions(&record);
        // The phase has two whole seconds and a part of a third second, or more seconds if it ended
        // late.
        machine
            .index
            .assert(machine.index.starts_with(&[0, 1]) && machine.len() >= 3);
        let whole = machine.spans().last().unwrap().end - machine.began_ns;
        assert_eq!(
            machine.index.last(),
            Some(&(whole / 1_000_000_000)),
            "the last one is cut short"
        );
        // tmpfs and similar file systems have no device, so device counters must be not available
        // rather than 0.
        assert_eq!(
            machine.devices.is_known(),
            record.during.counted.devices.is_known()
        );
        if place == Place::Nowhere {
            assert_eq!(machine.devices, Fact::NotApplicable);
        }
        let summary = verdict::Summary::of(&record);
        let machine = summary
            .phase(Phase::Transactions)
            .unwrap()
            .machine
            .as_ref()
            .unwrap();
        let workers = machine.workers.unwrap();
        workers.assert(workers.count >= u64::from(WORKERS) && workers.max > 0.0);
        machine.assert(machine.user.unwrap() + machine.system.unwrap() > 0.1);
        assert!(machine.resident_max_bytes.unwrap() > 100_000, "{machine:?}");
    }
}

#[test]
fn delayed_reading_yields_a_long_interval_without_losing_counts() {
    let at = tempfile::tempdir().unwrap();
    let before = count();
    let mut counting = Counting {
        keeps: Some(Duration::from_millis(2_100)),
        ..Counting::default()
    };
    let record = run(&request(at.path(), Place::Nowhere), &mut counting);
    let after = count();
    assert_intervals_add_up(&record, &counting, [&before, &after]);
    let (phase, machine) = transactions(&record);
    let kept_ns = counting.kept.unwrap().as_nanos() as u64;
    let longest = machine
        .spans()
        .map(|span| span.end - span.start)
        .max()
        .unwrap();
    assert!(longest >= kept_ns, "{longest} of {kept_ns}");
    assert!(
        machine.index[0] > 0,
        "the first second has no reading of its own: {:?}",
        machine.index
    );
    // The workers continued during the delay, so every second contains operations.
    let seconds: Vec<u64> = phase
        .slices
        .iter()
        .map(|slice| slice.values().map(|meter| meter.operations).sum())
        .collect();
    seconds.assert(seconds.len() >= 2 && seconds.iter().all(|operations| *operations > 0));
}

#[test]
fn phases_have_no_counter_intervals_if_series_is_disabled() {
    let mut request = request(Path::new("/nowhere"), Place::Nowhere);
    request.series = false;
    request.drive.stop = Stop::After(Duration::from_millis(50));
    let record = testkit::run(&request, &Null, &SystemClock, &mut NoEvents);
    assert!(
        record
            .actual
            .phases
            .iter()
            .all(|phase| phase.machine.is_none())
    );
    assert!(
        verdict::Summary::of(&record)
            .phases
            .iter()
            .all(|phase| phase.machine.is_none())
    );
    assert!(
        record.during.counted.process.is_known(),
        "the whole run is counted all the same"
    );
}
