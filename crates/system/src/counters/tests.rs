//! Tests of snapshots of all counters, on fixture trees and on this machine.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use super::*;
use crate::cpu::spent::SystemTimesSpent;
use crate::sources::tests::Tree;
use crate::target::Target;

const EARLY: [(&str, &str); 6] = [
    (
        "/proc/self/status",
        "Name:\tx\nVmHWM:\t 900 kB\nVmRSS:\t 800 kB\nThreads:\t2\n",
    ),
    ("/proc/self/task/7/schedstat", "100 20 3\n"),
    ("/proc/self/task/7/comm", "worker-0\n"),
    (
        "/proc/stat",
        "cpu  100 10 50 800 20 0 5 15 0 0\ncpu0 1 1 1 1\nintr 5 1 2\nctxt 1000\nbtime \
         1\nprocesses 9\nprocs_running 3\nprocs_blocked 1\n",
    ),
    (
        "/proc/meminfo",
        "MemTotal: 1000 kB\nDirty:   40 kB\nWriteback:  8 kB\nWritebackTmp: 77 kB\n",
    ),
    (
        "/sys/class/block/vda/stat",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
    ),
];

const LATE: [(&str, &str); 5] = [
    (
        "/proc/self/status",
        "VmHWM:\t 950 kB\nVmRSS:\t 700 kB\nThreads:\t2\n",
    ),
    ("/proc/self/task/7/schedstat", "150 25 4\n"),
    (
        "/proc/stat",
        "cpu  140 10 70 830 20 0 5 25 3 0\nctxt 1250\nprocs_running 1\nprocs_blocked 0\n",
    ),
    ("/proc/meminfo", "Dirty: 0 kB\nWriteback: 4 kB\n"),
    (
        "/sys/class/block/vda/stat",
        "2 2 5 4 9 6 17 8 0 10 11 12 13 14 15 19 20\n",
    ),
];

fn vda() -> Fact<WatchedDevices> {
    let list = vec![WatchedDevice {
        name: "vda".into(),
        role: DeviceRole::Target,
        flushes: FlushCount::Counted,
    }];
    Fact::Known(WatchedDevices {
        list,
        unseen: vec![],
    })
}

/// Returns two snapshots of a fixture tree: the first with the files `EARLY`, the second after the
/// files `LATE` were written. Values of getrusage(2) are those of the test process, because this
/// call cannot be redirected to the tree.
fn snapshots() -> [Counters; 2] {
    let tree = Tree::new(&EARLY);
    let before = Counters::read(&tree.sources, &vda());
    for (path, text) in LATE {
        tree.file(path, text);
    }
    [before, Counters::read(&tree.sources, &vda())]
}

fn used(cpu_ns: u64) -> ProcessTimes {
    ProcessTimes {
        user_ns: cpu_ns,
        system_ns: 0,
        voluntary_context_switches: 0,
        involuntary_context_switches: 0,
        max_resident_bytes: Fact::NotApplicable,
        minor_faults: 0,
        major_faults: 0,
    }
}

/// Returns the time of this process as a share of the time of all processors.
fn own_fraction(difference: &CountersDifference) -> Fact<f64> {
    difference.share_of_total(|_, process| Fact::Known(process.cpu_ns()))
}

#[test]
fn snapshot_contains_all_counters() {
    let [before, _] = snapshots();
    assert_eq!(before.resident_bytes, Fact::Known(800 * 1024));
    let process = before.process.known().unwrap();
    assert_eq!(process.max_resident_bytes, Fact::Known(900 * 1024));
    let threads = before.threads.known().unwrap();
    assert_eq!(threads.count, Fact::Known(2));
    assert_eq!(threads.each[0].name, Fact::Known("worker-0".into()));
    assert_eq!(threads.rest_cpu_ns, Fact::Known(process.cpu_ns() - 100));
    let system = &before.system;
    assert_eq!(
        system.times.known().unwrap().since_boot().steal_ns,
        Fact::Known(150_000_000)
    );
    assert_eq!(system.context_switches, Fact::Known(1000));
    assert_eq!(system.running_tasks, Fact::Known(3));
    assert_eq!(system.blocked_tasks, Fact::Known(1));
    assert_eq!(system.dirty_bytes, Fact::Known(40 * 1024));
    assert_eq!(system.write_back_bytes, Fact::Known(8 * 1024));
    let devices = before.devices.known().unwrap();
    assert_eq!(
        devices[0].counters.known().unwrap().flushes,
        Fact::Known(16)
    );
}

#[test]
fn difference_of_snapshots_subtracts_counters_and_keeps_states() {
    let [before, after] = snapshots();
    let difference = after.since(&before);
    assert_eq!(difference.resident_bytes, Fact::Known(700 * 1024));
    let process = difference.process.known().unwrap();
    assert_eq!(process.max_resident_bytes, Fact::Known(950 * 1024));
    assert_eq!(
        *process,
        after
            .process
            .known()
            .unwrap()
            .since(before.process.known().unwrap())
    );
    let thread = &difference.threads.known().unwrap().each[0];
    assert_eq!(
        (&thread.cpu_ns, &thread.waiting_ns),
        (&Fact::Known(50), &Fact::Known(5))
    );
    let system = &difference.system;
    assert_eq!(
        system.times.known().unwrap().total_ns,
        Fact::Known(1_000_000_000)
    );
    assert_eq!(
        system.times.known().unwrap().steal_ns,
        Fact::Known(100_000_000)
    );
    assert_eq!(system.context_switches, Fact::Known(250));
    assert_eq!(system.running_tasks, Fact::Known(1));
    assert_eq!(system.blocked_tasks, Fact::Known(0));
    assert_eq!(system.dirty_bytes, Fact::Known(0));
    assert_eq!(system.write_back_bytes, Fact::Known(4 * 1024));
    let device = difference.devices.known().unwrap()[0]
        .counters
        .known()
        .unwrap();
    assert_eq!(device.reads, Fact::Known(1));
    assert_eq!(device.read_bytes, Fact::Known(1024));
    assert_eq!(device.written_bytes, Fact::Known(5120));
    assert_eq!(device.in_flight, Fact::Known(0));
    assert_eq!(device.flushes, Fact::Known(3));
}

#[test]
fn snapshot_and_difference_survive_json() {
    let [before, after] = snapshots();
    let difference = after.since(&before);
    let json = serde_json::to_string(&(&before, &difference)).unwrap();
    assert!(json.contains(r#""dirty_bytes":{"known":40960}"#), "{json}");
    let read: (Counters, CountersDifference) = serde_json::from_str(&json).unwrap();
    assert_eq!(read, (before, difference));
}

#[test]
fn reason_of_a_missing_counter_contains_its_file() {
    let [mut before, after] = snapshots();
    let nothing = Counters::read(&Tree::new(&[]).sources, &Fact::NotApplicable);
    let system = &nothing.system;
    for (why, file) in [
        (nothing.resident_bytes.why(), "/proc/self/status"),
        (nothing.threads.why(), "/proc/self/task"),
        (system.times.why(), "/proc/stat"),
        (system.context_switches.why(), "/proc/stat"),
        (system.running_tasks.why(), "/proc/stat"),
        (system.blocked_tasks.why(), "/proc/stat"),
        (system.dirty_bytes.why(), "/proc/meminfo"),
        (system.write_back_bytes.why(), "/proc/meminfo"),
    ] {
        assert!(why.unwrap().contains(file), "{why:?}");
    }
    assert_eq!(nothing.devices, Fact::NotApplicable);
    for difference in [nothing.since(&after), after.since(&nothing)] {
        assert!(difference.system.times.why().is_some());
        assert!(difference.system.context_switches.why().is_some());
        assert!(difference.threads.why().is_some());
        assert_eq!(difference.devices, Fact::NotApplicable);
        assert!(
            own_fraction(&difference)
                .why()
                .unwrap()
                .contains("/proc/stat")
        );
    }
    before.process = Fact::Unavailable("no getrusage".into());
    let difference = after.since(&before);
    assert_eq!(difference.others_fraction().why(), Some("no getrusage"));
    assert_eq!(
        difference.threads.known().unwrap().rest_cpu_ns.why(),
        Some("no getrusage")
    );
}

#[test]
fn invalid_kernel_files_cause_no_number_and_no_panic() {
    let long = "9".repeat(100_000);
    for spoilt in [
        "",
        "\0\u{fffd}",
        "cpu \nctxt\nprocs_running x\n",
        "ctxt -5",
        &long,
        "Dirty: 5\nThreads: x\n",
    ] {
        let tree = Tree::new(&[]);
        for (path, _) in EARLY {
            tree.file(path, spoilt);
        }
        let counters = Counters::read(&tree.sources, &vda());
        assert!(counters.resident_bytes.why().is_some());
        assert!(counters.system.times.why().is_some());
        assert!(counters.system.context_switches.why().is_some());
        assert!(counters.system.running_tasks.why().is_some());
        assert!(counters.system.dirty_bytes.why().is_some());
        assert!(counters.threads.known().unwrap().count.why().is_some());
        assert!(
            counters.devices.known().unwrap()[0]
                .counters
                .why()
                .is_some()
        );
        assert!(
            counters
                .since(&counters)
                .system
                .write_back_bytes
                .why()
                .is_some()
        );
    }
    let tree = Tree::new(&[(
        "/proc/meminfo",
        "Dirty: 18014398509481985 kB\nWriteback: -1 kB\n",
    )]);
    let system = SystemCounters::read(&tree.sources);
    assert!(system.dirty_bytes.why().is_some(), "too many to be bytes");
    assert!(system.write_back_bytes.why().is_some());
}

#[test]
fn counters_that_went_backwards_are_unavailable() {
    let [before, after] = snapshots();
    let difference = before.since(&after);
    let why = difference.system.context_switches.why().unwrap();
    assert!(
        why.contains("ctxt went backwards, from 1250 to 1000"),
        "{why}"
    );
    let times: &SystemTimesSpent = difference.system.times.known().unwrap();
    assert!(times.total_ns.why().is_some() && times.busy_ns.why().is_some());
    assert!(difference.others_fraction().why().is_some());
    let thread = &difference.threads.known().unwrap().each[0];
    assert!(thread.cpu_ns.why().is_some() && thread.waiting_ns.why().is_some());
    let device = difference.devices.known().unwrap()[0]
        .counters
        .known()
        .unwrap();
    assert!(device.reads.why().is_some() && device.flushes.why().is_some());
}

#[test]
fn others_fraction_excludes_this_process() {
    // The machine is busy for 600 of 1000 ms: 400 ms in user mode, 200 ms in the kernel. This
    // process uses 250 ms of them.
    let [before, after] = snapshots();
    let mut difference = after.since(&before);
    difference.process = Fact::Known(used(250_000_000));
    assert_eq!(own_fraction(&difference), Fact::Known(0.25));
    assert_eq!(difference.others_fraction(), Fact::Known(0.35));
    assert_eq!(difference.others_user_fraction(), Fact::Known(0.15));
    difference.process = Fact::Known(used(604_000_000));
    assert_eq!(
        difference.others_fraction(),
        Fact::Known(0.0),
        "the ticks' grain"
    );
    difference.process = Fact::Known(used(1_004_000_000));
    assert_eq!(
        own_fraction(&difference),
        Fact::Known(1.0),
        "the ticks' grain"
    );
    let unmoved = after.since(&after);
    assert!(
        unmoved
            .others_fraction()
            .why()
            .unwrap()
            .contains("no processor time")
    );
    assert!(
        own_fraction(&unmoved).why().is_some() && unmoved.others_user_fraction().why().is_some()
    );
}

#[test]
fn difference_of_unavailable_devices_is_unavailable() {
    let tree = Tree::new(&EARLY);
    let unknown = Fact::Unavailable("layers".into());
    let counters = Counters::read(&tree.sources, &unknown);
    assert_eq!(counters.devices.why(), Some("layers"));
    let known = Counters::read(&tree.sources, &vda());
    assert_eq!(known.since(&counters).devices.why(), Some("layers"));
    assert_eq!(counters.since(&known).devices.why(), Some("layers"));
}

#[test]
fn missing_counter_is_replaced_by_that_of_the_earlier_snapshot() {
    let [before, after] = snapshots();
    let nothing = Counters::read(&Tree::new(&[]).sources, &vda());
    assert!(nothing.devices.known().unwrap()[0].counters.why().is_some());
    let base = nothing.clone().or_earlier(&before);
    let difference = after.since(&base);
    let direct = after.since(&before);
    assert_eq!(difference.system, direct.system);
    assert_eq!(difference.devices, direct.devices);
    assert_eq!(
        difference.threads.known().unwrap().each,
        direct.threads.known().unwrap().each
    );
    // Known counters are not replaced. States, such as dirty memory, are not taken from the earlier
    // snapshot.
    assert_eq!(after.clone().or_earlier(&before), after);
    assert_eq!(base.system.dirty_bytes, nothing.system.dirty_bytes);
    assert_eq!(base.resident_bytes, nothing.resident_bytes);
    let gone = Counters {
        devices: Fact::Unavailable("gone".into()),
        ..nothing
    };
    assert_eq!(gone.or_earlier(&before).devices, before.devices);
}

/// Named threads that wait until this value is dropped.
struct Waiting {
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Waiting {
    fn new(count: usize) -> Waiting {
        let start = |index| {
            let thread = std::thread::Builder::new().name(format!("waiting-{index}"));
            thread.spawn(std::thread::park).unwrap()
        };
        Waiting {
            threads: (0..count).map(start).collect(),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            thread.join().unwrap();
        }
    }
}

/// Keeps a processor busy until the calling thread has used the processor time `time`.
fn work(time: Duration) {
    use rustix::time::{ClockId, clock_gettime};
    let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let begun = used();
    while used() - begun < time {
        std::hint::spin_loop();
    }
}

#[test]
fn times_of_a_busy_thread_on_this_machine_are_measured() {
    let sources = Sources::default();
    let directory = tempfile::tempdir().unwrap();
    let target = Target::read(&sources, directory.path());
    let devices = WatchedDevices::of(&sources, [&target]);
    let barrier = Barrier::new(2);
    let difference = std::thread::scope(|scope| {
        let busy = std::thread::Builder::new().name("busy".into());
        let busy = busy.spawn_scoped(scope, || {
            barrier.wait();
            work(Duration::from_millis(30));
            barrier.wait();
            barrier.wait();
        });
        let before = Counters::read(&sources, &devices);
        barrier.wait();
        barrier.wait();
        let after = Counters::read(&sources, &devices);
        barrier.wait();
        busy.unwrap().join().unwrap();
        after.since(&before)
    });
    let threads = difference.threads.known().unwrap();
    let is_busy = |thread: &&ThreadTimes| thread.name == Fact::Known("busy".into());
    let busy_ns = match threads.each.iter().find(is_busy) {
        Some(busy) => *busy.cpu_ns.known().unwrap(),
        // Threads of other tests, which run at the same time, may fill the list before this thread.
        None if threads.each.len() == THREADS_MAX => 30_000_000,
        None => panic!("{threads:?}"),
    };
    assert!((30_000_000..3_000_000_000).contains(&busy_ns), "{busy_ns}");
    let process = difference.process.known().unwrap();
    assert!(process.cpu_ns() >= busy_ns / 2, "{process:?} {busy_ns}");
    assert!(*threads.count.known().unwrap() >= 2);
    assert!(*difference.resident_bytes.known().unwrap() > 100_000);
    let system = &difference.system;
    assert!(*system.context_switches.known().unwrap() > 0);
    assert!(*system.running_tasks.known().unwrap() > 0);
    assert!(system.dirty_bytes.is_known() && system.write_back_bytes.is_known());
    let fractions = [
        own_fraction(&difference),
        difference.others_fraction(),
        difference.others_user_fraction(),
    ];
    let within = |fraction: &Fact<f64>| {
        fraction
            .known()
            .is_some_and(|fraction| (0.0..=1.0).contains(fraction))
    };
    assert!(fractions.iter().all(within), "{fractions:?}");
    assert!(*own_fraction(&difference).known().unwrap() > 0.0);
    // If the device of the target is known, its counters are known.
    for device in difference.devices.known().into_iter().flatten() {
        assert!(
            device
                .counters
                .known()
                .is_some_and(|counters| counters.writes.is_known()),
            "{device:?}"
        );
    }
    assert_eq!(difference.devices.is_known(), target.device.is_known());
}

#[test]
fn reading_of_64_threads_takes_less_than_10_milliseconds() {
    let sources = Sources::default();
    let _waiting = Waiting::new(64);
    let reading = || {
        let begun = Instant::now();
        let counters = Counters::read(&sources, &Fact::NotApplicable);
        (begun.elapsed(), counters)
    };
    let readings: Vec<(Duration, Counters)> = (0..30).map(|_| reading()).collect();
    let least = readings.iter().map(|(took, _)| *took).min().unwrap();
    // A reading usually takes less than a millisecond; the limit allows for a busy machine.
    assert!(least < Duration::from_millis(10), "{least:?}");
    let threads = readings[0].1.threads.known().unwrap();
    assert!(threads.each.len() > 64);
}
