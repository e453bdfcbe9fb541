//! Each test sets the times of a record, and checks what limits the run. One test compares the list
//! of limits in the specification.

use record::machine::MachineOverTime;
use record::{
    ArrivalProcess, ClaimWaits, Class, ComputeRecord, EngineName, Fact, Histogram, Meter, Mix,
    Record, Role, Workload,
};
use testkit::records::{histogram, operation, segment, worker};
use verdict::{LimitSummary, Reason, RunLimit, Summary};
use workload::mix::Think;

use crate::specification::paragraph;
use crate::verdict::made::{
    BEGAN, SECOND, arrivals, close, known, mount, overhead, target, transactions, well,
};

/// Duration of the transactions in each test's record, in nanoseconds.
const LASTED: u64 = 60 * SECOND;

fn of_a_minute(fraction: f64) -> u64 {
    (LASTED as f64 * fraction).round() as u64
}

/// Creates a run of 60 s by one worker on ext4 on a loop device. The worker is on a processor for
/// the share `running` of the time, and waits for a processor for the share `ready`.
fn run(running: f64, ready: f64) -> Record {
    let mut record = well();
    let machine = machine(&mut record);
    let worker = known(&mut machine.threads)
        .iter_mut()
        .find(|thread| thread.is_worker())
        .unwrap();
    worker.cpu_ns = vec![Some(of_a_minute(running))].into();
    worker.waiting_ns = vec![Some(of_a_minute(ready))].into();
    device(&mut record, 0.0, 0.0);
    record
}

/// Returns the machine's counters, with one interval that lasts as long as the transactions.
fn machine(record: &mut Record) -> &mut MachineOverTime {
    let machine = transactions(record).machine.as_mut().unwrap();
    machine.began_ns = BEGAN;
    machine.ended_ns = vec![BEGAN + LASTED];
    machine
}

/// Makes the target's device busy for the share `busy` of the time. The device flushes its cache
/// for the share `flushing` of the time, which is a part of `busy`.
fn device(record: &mut Record, busy: f64, flushing: f64) {
    let device = &mut known(&mut machine(record).devices)[0];
    device.busy_ms = vec![Some(of_a_minute(busy) / 1_000_000)].into();
    device.flushes = vec![Some(1_000)].into();
    device.flushing_ms = vec![Some(of_a_minute(flushing) / 1_000_000)].into();
}

/// Replaces the operations by 60 reads, which together take the share `fraction` of the time.
fn operations(record: &mut Record, fraction: f64) {
    let meter = Meter {
        latency: histogram(vec![of_a_minute(fraction) / 60; 60]),
        ..testkit::records::meter(60)
    };
    let operations = &mut transactions(record).segments[0].operations;
    *operations = vec![operation(Role::Worker, record::Action::Read, meter)];
}

fn waited(fraction: f64) -> Vec<ClaimWaits> {
    let wait: Histogram = histogram([of_a_minute(fraction)]);
    vec![ClaimWaits {
        role: Role::Worker,
        wait,
    }]
}

fn found(record: &Record) -> LimitSummary {
    match Summary::of(record).limit {
        Some(Fact::Known(found)) => found,
        unknown => panic!("{unknown:?}"),
    }
}

/// Checks the limit and its part, and that all parts add up to 1.
fn is(record: &Record, limit: RunLimit, fraction: f64) {
    let found = found(record);
    assert_eq!(found.limit, limit, "{found:?}");
    assert!((found.fraction - fraction).abs() < 1e-3, "{found:?}");
    close(found.parts.iter().map(|part| part.fraction).sum(), 1.0);
}

fn why_not(record: &Record) -> String {
    let limit = Summary::of(record).limit.unwrap();
    limit.why().unwrap().to_owned()
}

#[test]
fn time_on_a_processor_is_limited_by_the_cpu() {
    is(&run(0.97, 0.0), RunLimit::Cpu, 0.97);
    let mut record = run(0.9, 0.0);
    // Each operation takes 1 ms, so 200,000 ns of overhead are a share of 0.2. This share is
    // subtracted from the CPU's part, 0.9.
    overhead(&mut record, 200_000.0);
    is(&record, RunLimit::Cpu, 0.7);
}

/// Creates a run of 60 s by `workers` workers on `processors` processors. Each runs for the share
/// `running` of the time, and waits for a processor for the share `ready`.
fn crowd(workers: u32, processors: u64, running: f64, ready: f64) -> Record {
    let mut record = run(running, ready);
    record.host.processors.usable = Fact::Known(processors);
    let threads = known(&mut machine(&mut record).threads);
    let one = threads.iter().find(|thread| thread.is_worker()).cloned();
    threads.extend((1..workers).filter_map(|_| one.clone()));
    let of_phase = &mut transactions(&mut record).workers;
    let first = of_phase[0].clone();
    of_phase.resize(workers as usize, first);
    record
}

/// A single worker waits for other programs only. Workers that fill all processors wait for each
/// other.
#[test]
fn waits_for_a_processor_that_other_programs_use_are_a_separate_limit() {
    is(&crowd(1, 1, 0.4, 0.6), RunLimit::ProcessorWait, 0.6);
    is(
        &crowd(2, 2, 0.02, 0.98),
        RunLimit::ProcessorWait,
        0.98 * 1.96 / 1.98,
    );
    is(&crowd(2, 1, 0.5, 0.5), RunLimit::Cpu, 1.0);
    is(&crowd(16, 2, 0.125, 0.875), RunLimit::Cpu, 1.0);
    // Two workers and another program share a processor. During half of a worker's wait, the other
    // worker runs; during the other half, the other program runs.
    is(&crowd(2, 1, 1.0 / 3.0, 2.0 / 3.0), RunLimit::Cpu, 2.0 / 3.0);
    let mut record = crowd(2, 2, 0.02, 0.98);
    record.host.processors.usable = Fact::Unavailable("hidden".to_owned());
    is(&record, RunLimit::Cpu, 1.0);
}

/// Many workers on a server's files saturate the machine, although none uses a processor alone.
#[test]
fn workers_that_use_all_processors_saturate_the_client() {
    let saturated = |running: f64| {
        let mut record = crowd(8, 2, running, 0.7);
        target(&mut record).class = Fact::Known(Class::Network);
        let reasons = Summary::of(&record).verdict.reasons;
        reasons.into_iter().find_map(|reason| match reason {
            Reason::ClientSaturated(client) => client.workers,
            _ => None,
        })
    };
    assert_eq!(saturated(0.2), None);
    close(saturated(0.24).unwrap(), 0.96);
}

#[test]
fn overhead_is_limited_by_the_program_if_it_is_the_largest_part() {
    let mut record = run(0.9, 0.0);
    overhead(&mut record, 500_000.0);
    is(&record, RunLimit::Program, 0.5);
    // The overhead is measured in a separate run. So its share, 0.9, may exceed the share of time
    // in which the worker was on a processor, 0.6.
    let mut record = run(0.6, 0.0);
    overhead(&mut record, 900_000.0);
    is(&record, RunLimit::Program, 0.6);
}

#[test]
fn sleep_in_calls_is_that_of_the_device_while_it_is_busy_and_of_locks_otherwise() {
    let mut record = run(0.1, 0.0);
    device(&mut record, 0.8, 0.0);
    is(&record, RunLimit::Device, 0.8);
    device(&mut record, 0.3, 0.0);
    is(&record, RunLimit::Lock, 0.6);
    // The worker sleeps for 0.9 of the time. The device is busy all the time, but only the sleep
    // counts.
    device(&mut record, 1.0, 0.0);
    is(&record, RunLimit::Device, 0.9);
    let mut record = run(0.7, 0.0);
    device(&mut record, 1.0, 1.0);
    is(&record, RunLimit::Cpu, 0.7);
}

#[test]
fn flushes_are_the_limit_by_their_share_of_the_busy_time() {
    let mut record = run(0.1, 0.0);
    device(&mut record, 0.9, 0.72);
    is(&record, RunLimit::Flushes, 0.72);
    device(&mut record, 0.9, 0.3);
    is(&record, RunLimit::Device, 0.6);
}

/// A device with its flushes is compared with the CPU. The larger part of the two is named.
#[test]
fn device_and_its_flushes_are_one_resource() {
    let mut record = run(0.4, 0.0);
    for (flushing, limit, fraction) in [
        (0.36, RunLimit::Flushes, 0.36),
        (0.24, RunLimit::Device, 0.36),
    ] {
        device(&mut record, 0.6, flushing);
        is(&record, limit, fraction);
    }
    let found = Summary::of(&record).limit.unwrap().into_known().unwrap();
    let other = found.same_resource().unwrap();
    assert_eq!(other.limit, RunLimit::Flushes);
    assert!((other.fraction - 0.24).abs() < 1e-6, "{other:?}");
    device(&mut record, 0.39, 0.2);
    is(&record, RunLimit::Cpu, 0.4);
}

#[test]
fn flushes_of_the_disk_below_are_used_if_the_device_does_not_count_flushes() {
    let mut record = run(0.0, 0.0);
    device(&mut record, 1.0, 0.0);
    let devices = known(&mut machine(&mut record).devices);
    devices[0].flushes = vec![None].into();
    devices[0].flushing_ms = vec![None].into();
    devices[1].flushes = vec![Some(1_000)].into();
    devices[1].flushing_ms = vec![Some(of_a_minute(0.9) / 1_000_000)].into();
    is(&record, RunLimit::Flushes, 0.9);
}

#[test]
fn sleep_in_calls_to_a_server_is_that_of_the_server() {
    let mut record = run(0.2, 0.1);
    for kind in ["fuse.passthrough", "nfs4", "cifs"] {
        mount(&mut record).file_system_type = kind.to_owned();
        is(&record, RunLimit::Server, 0.7);
    }
}

#[test]
fn workers_that_wait_for_each_other_are_limited_by_locks() {
    let mut record = run(0.2, 0.0);
    transactions(&mut record).claim_waits = waited(0.7);
    is(&record, RunLimit::Lock, 0.8);
    // On a target in memory, sleep in calls is a wait for locks.
    let mut record = run(0.3, 0.0);
    target(&mut record).class = Fact::Known(Class::Memory);
    is(&record, RunLimit::Lock, 0.7);
    // A worker with several operations in flight may wait for files that its own operations use. So
    // its claim waits count as waits for the server.
    let mut record = run(0.2, 0.0);
    transactions(&mut record).claim_waits = waited(0.7);
    mount(&mut record).file_system_type = "nfs".to_owned();
    record.spec.depth = 8;
    is(&record, RunLimit::Server, 0.8);
}

#[test]
fn claim_waits_of_a_warm_up_are_excluded_by_their_share_of_the_time() {
    let mut record = run(0.2, 0.0);
    let transactions = transactions(&mut record);
    transactions.claim_waits = waited(0.8);
    let warm_up = segment(
        record::SegmentKind::WarmUp,
        BEGAN - SECOND,
        BEGAN,
        0,
        Vec::new(),
    );
    transactions.segments.insert(0, warm_up);
    // The claim waits include those in the warm-up of 1 s before the measured 60 s. The device is
    // busy all the time, so only claim waits count as waits for locks.
    device(&mut record, 1.0, 0.0);
    is(&record, RunLimit::Lock, 0.8 * 60.0 / 61.0);
}

#[test]
fn open_loop_that_keeps_up_is_limited_by_the_offered_rate() {
    let offered = |record: &mut Record, caught_up_ns| {
        arrivals(record, 1_000.0, ArrivalProcess::Constant);
        transactions(record).caught_up_ns = Some(caught_up_ns);
    };
    let mut record = run(0.1, 0.0);
    operations(&mut record, 0.2);
    offered(&mut record, BEGAN + LASTED);
    is(&record, RunLimit::OfferedRate, 0.8);
    // Near the saturation rate, operations take 0.95 of the workers' time. The workers catch up in
    // the last fifth of the run.
    let mut record = run(0.94, 0.0);
    operations(&mut record, 0.95);
    offered(&mut record, BEGAN + of_a_minute(0.85));
    is(&record, RunLimit::OfferedRate, 0.05);
    // The worker last caught up in the middle of the run, so the queue grows from then on.
    offered(&mut record, BEGAN + of_a_minute(0.5));
    is(&record, RunLimit::Cpu, 0.94);
}

#[test]
fn think_time_is_the_limit_only_if_it_is_the_largest_part() {
    let mut record = run(0.1, 0.0);
    record.spec.workload = Workload::from(Mix {
        think: Think::Fixed(1_000_000),
        ..Mix::default()
    });
    operations(&mut record, 0.3);
    is(&record, RunLimit::ThinkTime, 0.7);
    operations(&mut record, 0.8);
    mount(&mut record).file_system_type = "fuse".to_owned();
    is(&record, RunLimit::Server, 0.7);
}

#[test]
fn compute_is_a_part_of_the_time_on_a_processor() {
    let computes = |record: &mut Record, fraction| {
        transactions(record).segments[0].compute = ComputeRecord {
            count: 60,
            ns: of_a_minute(fraction),
        };
    };
    let mut record = run(0.8, 0.1);
    computes(&mut record, 0.6);
    is(&record, RunLimit::Compute, 0.6);
    computes(&mut record, 0.3);
    is(&record, RunLimit::Cpu, 0.5);
    record.spec.engine = EngineName::NULL;
    is(&record, RunLimit::Program, 0.7);
    // The think time excludes the time of computations.
    let mut record = run(0.5, 0.0);
    record.spec.workload = Workload::from(Mix {
        think: Think::Fixed(1_000_000),
        ..Mix::default()
    });
    operations(&mut record, 0.2);
    computes(&mut record, 0.3);
    is(&record, RunLimit::ThinkTime, 0.5);
    computes(&mut record, 0.45);
    is(&record, RunLimit::Compute, 0.45);
}

#[test]
fn engine_without_operations_is_limited_by_the_program() {
    let mut record = well();
    record.spec.engine = EngineName::NULL;
    is(&record, RunLimit::Program, 1.0);
    transactions(&mut record).claim_waits = waited(0.6);
    is(&record, RunLimit::Lock, 0.6);
}

#[test]
fn workers_that_finish_early_do_not_count_as_asleep() {
    let mut record = run(0.5, 0.0);
    // The only worker ended after half of the time and used a processor until then.
    let half = BEGAN + LASTED / 2;
    transactions(&mut record).workers = vec![worker((0, Role::Worker), BEGAN, half, 60, 60)];
    is(&record, RunLimit::Cpu, 1.0);
}

#[test]
fn limit_is_not_available_if_a_time_is_missing() {
    let mut record = run(0.9, 0.0);
    transactions(&mut record).machine = None;
    assert_eq!(
        why_not(&record),
        "the kernel's counters were not recorded over time"
    );
    let mut record = run(0.9, 0.0);
    machine(&mut record).ended_ns = vec![BEGAN + 99_000_000];
    assert!(why_not(&record).contains("shorter than 0.1 s"));
    let mut record = run(0.9, 0.0);
    machine(&mut record).threads = Fact::Unavailable("hidden".to_owned());
    assert_eq!(why_not(&record), "hidden");
    let mut record = run(0.9, 0.0);
    arrivals(&mut record, 1_000.0, ArrivalProcess::Constant);
    record.spec.latencies = false;
    assert_eq!(why_not(&record), "latencies were not recorded");
}

#[test]
fn unknown_device_matters_only_if_workers_mostly_sleep_in_calls() {
    let unknown = |running| {
        let mut record = run(running, 0.0);
        target(&mut record).device = Fact::Unavailable("the pool hides it".to_owned());
        record
    };
    assert_eq!(why_not(&unknown(0.3)), "the pool hides it");
    let found = found(&unknown(0.6));
    assert_eq!(found.limit, RunLimit::Cpu);
    close(found.parts.iter().map(|part| part.fraction).sum(), 0.6);
}

#[test]
fn limits_document_their_names_parts_and_evidence() {
    for (file, limit) in RunLimit::FILES.iter().zip(RunLimit::ALL) {
        let text = paragraph("limits", file).replace('\n', " ");
        let name = serde_json::to_value(limit).unwrap();
        let name = name.as_str().unwrap();
        let begin = format!("**`{name}`** ({}). ", limit.name());
        assert!(text.starts_with(&begin), "{file}: {begin}");
        let parts = ["*Part*: ", "*Evidence*: "].map(|part| text.find(part));
        assert!(parts[0] > Some(0) && parts.is_sorted(), "{file}");
    }
}
