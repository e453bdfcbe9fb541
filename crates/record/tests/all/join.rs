//! Joining the records of ranks: the order does not matter, and the result equals the record of one
//! process with all workers.

use std::time::Instant;

use measure::SLOWEST_KEPT;
use proptest::prelude::*;
use record::{
    Action, Actual, Check, ClaimWaits, ClusterRecord, Completed, CompletedPart, End, ErrorRecord,
    Fact, FirstDone, Histogram, HostRecord, Meter, MissingRank, Outcome, Phase, PhaseRecord,
    RankClock, RankClockOffset, RankRecord, Record, Role, SegmentKind, SliceMeter, Slices,
    SlowOperation, SlowestRecord, Stalled, StreamHash, Tool, WorkerPhase,
};
use serde_json::Value;
use testkit::{
    kept, number_of,
    records::{empty_phase, operation, segment, worker},
    runs::private,
};
use verdict::Summary;

#[derive(Clone, Debug)]
struct Did {
    /// For each operation: its latency in nanoseconds, and the time of its issue in whole seconds.
    /// Operations issued in even seconds are in segment 0, those issued in odd seconds in segment
    /// 1.
    operations: Vec<(u64, u64)>,
    began_ns: u64,
    failed: u64,
    stalled: bool,
    waits: Option<u64>,
}

fn did() -> impl Strategy<Value = Did> {
    (
        prop::collection::vec((1..5_000_u64, 0..4_u64), 1..12),
        0..50_u64,
        0..3_u64,
        any::<bool>(),
        prop::option::of(0..1_000_u64),
    )
        .prop_map(|(operations, began_ns, failed, stalled, waits)| Did {
            operations,
            began_ns,
            failed,
            stalled,
            waits,
        })
}

fn hash(worker: u32) -> StreamHash {
    serde_json::from_value(format!("xxh3-128:{worker:032x}").into()).unwrap()
}

const SECOND: u64 = 1_000_000_000;

/// Returns a phase of transactions with the results of `workers`, which are numbered from
/// `first_worker`.
fn transactions(first_worker: u32, workers: &[Did]) -> PhaseRecord {
    let role = |worker: u32| {
        if worker.is_multiple_of(3) {
            Role::Writer
        } else {
            Role::Reader
        }
    };
    let numbered = || (first_worker..).zip(workers);
    let all = || {
        numbered()
            .flat_map(move |(worker, did)| did.operations.iter().map(move |one| (worker, *one)))
    };
    let meter = |of: Role, number: u64| {
        let mut meter = Meter::default();
        for (_, (ns, _)) in
            all().filter(|(worker, (_, at))| role(*worker) == of && at % 2 == number)
        {
            meter.count(10);
            meter.latency.record(ns);
        }
        meter
    };
    let began_ns = numbered().map(|(_, did)| did.began_ns).min().unwrap();
    let segment = |number: u64| {
        let kind = [SegmentKind::WarmUp, SegmentKind::Measured][number as usize];
        let transactions = all().filter(|(_, (_, at))| at % 2 == number).count() as u64;
        let roles = [Role::Reader, Role::Writer].into_iter();
        let operations = roles
            .filter(|of| numbered().any(|(worker, _)| role(worker) == *of))
            .map(|of| operation(of, Action::Read, meter(of, number)))
            .collect();
        let (low, high) = (number * 4 * SECOND, (number + 1) * 4 * SECOND);
        segment(
            kind,
            low + began_ns,
            high - began_ns,
            transactions,
            operations,
        )
    };
    let mut slices = Slices::default();
    for (worker, (ns, at)) in all() {
        let mut sparse = Histogram::default();
        sparse.record(ns);
        let meter = SliceMeter {
            operations: 1,
            bytes: 10,
            failed: 0,
            latency: sparse.take_sparse(),
        };
        slices.add(at, (role(worker), Action::Read), meter);
    }
    let mut slow: Vec<SlowOperation> = all()
        .map(|(worker, (ns, at))| SlowOperation {
            ns,
            worker,
            issued_ns: at * SECOND,
            path: format!("{worker}"),
            step: None,
        })
        .collect();
    slow.sort_by_key(|slow| std::cmp::Reverse(slow.ns));
    slow.truncate(SLOWEST_KEPT);
    let mut segments = vec![segment(0), segment(1)];
    for segment in &mut segments {
        segment.skipped.at_maximum_size = workers.len() as u64;
        segment.issued = segment.transactions + workers.len() as u64;
        segment.operations.sort_by_key(|operation| operation.role);
    }
    let mut roles = [Role::Reader, Role::Writer];
    roles.sort_unstable();
    let ended_ns = |did: &Did| 8 * SECOND - did.began_ns;
    PhaseRecord {
        segments,
        workers: numbered()
            .map(|(number, did)| {
                let done = did.operations.len() as u64;
                WorkerPhase {
                    issued: done + 2,
                    ..worker(
                        (number, role(number)),
                        did.began_ns,
                        ended_ns(did),
                        done,
                        done,
                    )
                }
            })
            .collect(),
        first_done: numbered()
            .map(|(worker, did)| FirstDone {
                worker,
                at_ns: ended_ns(did),
                done: 0,
            })
            .min_by_key(|first| (first.at_ns, first.worker)),
        waiting: Some(workers.iter().map(|did| did.failed).sum()),
        caught_up_ns: numbered()
            .map(|(_, did)| Some(did.began_ns + 7))
            .min()
            .unwrap(),
        claim_waits: roles
            .into_iter()
            .filter_map(|of| {
                let mut wait = Histogram::default();
                let own = numbered().filter(|(worker, _)| role(*worker) == of);
                own.filter_map(|(_, did)| did.waits)
                    .for_each(|ns| wait.record(ns));
                (wait.count() > 0).then_some(ClaimWaits { role: of, wait })
            })
            .collect(),
        slices: slices.recorded(),
        slowest: vec![SlowestRecord {
            action: Action::Read,
            operations: slow,
        }],
        ..empty_phase(Phase::Transactions)
    }
}

/// Returns the record of a process with `workers`, numbered from `first_worker`. The whole run has
/// `of` workers.
fn process(first_worker: u32, workers: &[Did], of: u32) -> Record {
    let mut record = kept();
    record.spec.workload.workers = private(of);
    let actual = &mut record.actual;
    let evidence = actual.phases[0].evidence.clone();
    actual.phases = vec![transactions(first_worker, workers)];
    actual.phases[0].evidence = evidence;
    actual.classic = None;
    actual.stream_hash = Fact::Known(StreamHash::of_all(
        (first_worker..).take(workers.len()).map(hash).collect(),
    ));
    let failed: u64 = workers.iter().map(|did| did.failed).sum();
    let first = (first_worker..)
        .zip(workers)
        .find(|(_, did)| did.failed > 0);
    actual.errors = first
        .map(|(worker, _)| ErrorRecord {
            operation: "read".to_owned(),
            step: "open".to_owned(),
            errno: Fact::Known(5),
            message: "I/O error".to_owned(),
            count: failed,
            first_path: format!("{worker}"),
            moved_bytes: Fact::NotApplicable,
        })
        .into_iter()
        .collect();
    actual.check = Fact::Known(Check {
        names: workers.len() as u64,
        directories: workers.len() as u64,
        wrong: 0,
        left_out: failed,
        duration_ns: workers.iter().map(|did| did.began_ns).max().unwrap(),
    });
    actual.stalled = (first_worker..)
        .zip(workers)
        .filter(|(_, did)| did.stalled)
        .map(|(worker, did)| Stalled {
            worker: Some(worker),
            operation: "read".to_owned(),
            path: "f".to_owned(),
            ns: did.began_ns,
            came_back: true,
        })
        .collect();
    record
}

/// Turns the record of a process into the record of a rank. Hosts 0 and 1 share a kernel.
fn part(
    record: Record,
    rank: u32,
    launched: u32,
    first_worker: u32,
    workers: u32,
    host: u32,
) -> Record {
    let mut machine = record.host.clone();
    machine.hostname = format!("host{host}");
    machine.boot_id = Fact::Known(format!("boot{}", host / 2));
    let offset = RankClockOffset {
        at_ns: 1,
        offset_ns: -5,
        error_ns: 3,
    };
    let rank = RankRecord {
        rank,
        host: 0,
        process: 100 + rank,
        first_worker,
        workers,
        processors: Fact::Known(vec![0, 1]),
        clock: RankClock {
            begin: Fact::Known(offset),
            end: Fact::Known(offset),
            wall_offset_ns: 4,
        },
        outcome: Outcome::Unfinished,
        end: Fact::NotApplicable,
        worker_hashes: (first_worker..first_worker + workers).map(hash).collect(),
    };
    let host = HostRecord {
        host: machine,
        during: record.during.clone(),
        tool: Tool::this(),
    };
    record.of_rank(ClusterRecord::of_one(launched, rank, host))
}

/// Returns the records of ranks; `sizes` contains the number of workers of each rank.
fn parts(workers: &[Did], sizes: &[usize]) -> Vec<Record> {
    let mut first = 0;
    let mut parts = Vec::new();
    for (rank, size) in (0..).zip(sizes) {
        let own = &workers[first..first + size];
        let record = process(first as u32, own, workers.len() as u32);
        parts.push(part(
            record,
            rank,
            sizes.len() as u32,
            first as u32,
            *size as u32,
            rank % 3,
        ));
        first += size;
    }
    parts
}

/// Joins the records by a tree whose shape `choices` determines.
fn by_any_tree(mut parts: Vec<Record>, choices: &[usize]) -> Record {
    let mut choices = choices.iter().cycle();
    while parts.len() > 1 {
        let at = choices.next().unwrap() % (parts.len() - 1);
        let second = parts.remove(at + 1);
        let first = parts.remove(at);
        parts.insert(at, first.join(second));
    }
    parts.remove(0)
}

/// Removes the fields that only records of ranks contain.
fn bare(mut record: Record) -> Record {
    record.cluster = None;
    record.during = kept().during;
    for phase in &mut record.actual.phases {
        phase.hosts = Vec::new();
        phase.evidence = None;
    }
    record
}

/// Returns the first difference between two records, because whole records are too long for the
/// message of an assertion.
fn difference(one: &Record, other: &Record) -> Option<String> {
    fn place(one: &Value, other: &Value, at: &str) -> Option<String> {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => one
                .iter()
                .find_map(|(name, value)| place(value, &other[name], &format!("{at}.{name}"))),
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                let mut pairs = one.iter().zip(other).enumerate();
                pairs.find_map(|(index, (one, other))| place(one, other, &format!("{at}[{index}]")))
            }
            _ => (one != other).then(|| format!("{at}: {one:.200} and {other:.200}")),
        }
    }
    let values = [one, other].map(|record| serde_json::to_value(record).unwrap());
    place(&values[0], &values[1], "")
        .or_else(|| (one != other).then(|| "in what is not written".to_owned()))
}

fn sizes(workers: usize, cuts: &[usize]) -> Vec<usize> {
    let mut at: Vec<usize> = cuts
        .iter()
        .map(|cut| cut % workers)
        .filter(|cut| *cut > 0)
        .collect();
    at.extend([0, workers]);
    at.sort_unstable();
    at.dedup();
    at.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn order_of_joining_does_not_change_the_record(
        workers in prop::collection::vec(did(), 2..9),
        cuts in prop::collection::vec(0..100_usize, 0..6),
        choices in prop::collection::vec(0..100_usize, 1..9),
    ) {
        let sizes = sizes(workers.len(), &cuts);
        let by_halves = Record::join_all(parts(&workers, &sizes)).unwrap();
        let by_choice = by_any_tree(parts(&workers, &sizes), &choices);
        prop_assert_eq!(difference(&by_choice, &by_halves), None);
        let read = Record::from_json(&verdict::to_json(&by_halves)).unwrap();
        prop_assert_eq!(difference(&read, &by_halves), None);
    }

    #[test]
    fn joined_ranks_equal_one_process_with_all_workers(
        workers in prop::collection::vec(did(), 2..9),
        cuts in prop::collection::vec(0..100_usize, 0..6),
    ) {
        let whole = process(0, &workers, workers.len() as u32);
        let joined = Record::join_all(parts(&workers, &sizes(workers.len(), &cuts))).unwrap();
        prop_assert_eq!(difference(&bare(joined), &bare(whole)), None);
    }
}

/// Creates workers that all have the same results.
fn alike(count: usize) -> Vec<Did> {
    let did = Did {
        operations: (0..10)
            .map(|number| (1_000 + number * 37, number % 4))
            .collect(),
        began_ns: 3,
        failed: 0,
        stalled: false,
        waits: None,
    };
    vec![did; count]
}

#[test]
fn stream_hash_is_the_same_for_any_number_of_ranks() {
    let workers = alike(8);
    let hash = |ranks: usize| {
        let joined = Record::join_all(parts(&workers, &vec![8 / ranks; ranks])).unwrap();
        joined.actual.stream_hash
    };
    let whole = process(0, &workers, 8).actual.stream_hash;
    for ranks in [1, 2, 4, 8] {
        assert_eq!(hash(ranks), whole, "{ranks}");
    }
    let mut lacking = parts(&workers, &[4, 4]);
    lacking[1].cluster.as_mut().unwrap().ranks[0]
        .worker_hashes
        .pop();
    let joined = Record::join_all(lacking).unwrap();
    assert!(matches!(joined.actual.stream_hash, Fact::Unavailable(_)));
}

#[test]
fn outcome_of_a_run_is_that_of_its_worst_rank() {
    let spoilt = |outcomes: &[(usize, Outcome)]| {
        let mut all = parts(&alike(4), &[1, 1, 1, 1]);
        for (rank, outcome) in outcomes {
            all[*rank].cluster.as_mut().unwrap().ranks[0].outcome = outcome.clone();
        }
        Record::join_all(all).unwrap().actual.outcome
    };
    let failed = |why: &str| Outcome::Failed {
        why: why.to_owned(),
    };
    let gone = || Outcome::PlaceGone {
        why: "unmounted".to_owned(),
    };
    assert_eq!(spoilt(&[]), Outcome::Complete);
    assert_eq!(spoilt(&[(2, Outcome::Unfinished)]), Outcome::Unfinished);
    let interrupted = Outcome::Interrupted { signal: 15 };
    assert_eq!(
        spoilt(&[(1, interrupted.clone()), (2, Outcome::Unfinished)]),
        interrupted
    );
    let Outcome::PlaceGone { why } = spoilt(&[(1, interrupted), (3, gone())]) else {
        panic!("a place that is gone is worse than a signal")
    };
    assert_eq!(why, "rank 3 (host host0): unmounted");
    assert_eq!(
        spoilt(&[(0, gone()), (2, failed("no space")), (3, failed("late"))]),
        failed("rank 2 (host host2): no space")
    );
}

#[test]
fn empty_pool_of_one_rank_overrides_the_ends_of_other_ranks() {
    let ends = |ends: [Fact<End>; 2]| {
        let mut all = parts(&alike(2), &[1, 1]);
        for (part, end) in all.iter_mut().zip(ends) {
            part.cluster.as_mut().unwrap().ranks[0].end = end;
        }
        Record::join_all(all).unwrap().actual.end
    };
    let late = || Fact::Unavailable("stopped".to_owned());
    assert_eq!(
        ends([Fact::Known(End::Complete), Fact::Known(End::Complete)]),
        Fact::Known(End::Complete)
    );
    assert_eq!(
        ends([late(), Fact::Known(End::OutOfFiles)]),
        Fact::Known(End::OutOfFiles)
    );
    assert!(matches!(
        ends([late(), Fact::Known(End::Complete)]),
        Fact::Unavailable(_)
    ));
}

#[test]
fn phase_that_not_all_ranks_reached_is_not_complete() {
    let mut all = parts(&alike(3), &[1, 1, 1]);
    let mut delete = all[0].actual.phases[0].clone();
    delete.phase = Phase::Delete;
    all[2].actual.phases.push(delete);
    let joined = Record::join_all(all).unwrap();
    let complete: Vec<(Phase, bool)> = joined
        .actual
        .phases
        .iter()
        .map(|phase| (phase.phase, phase.complete))
        .collect();
    assert_eq!(
        complete,
        [(Phase::Transactions, true), (Phase::Delete, false)]
    );
}

#[test]
fn completed_phases_of_killed_ranks_are_joined() {
    let workers = alike(2);
    let whole = parts(&workers, &[1, 1]);
    let told = |record: &Record| {
        let mut head = record.clone();
        head.actual = Actual::unfinished(false, false);
        head.cluster.as_mut().unwrap().ranks[0].outcome = Outcome::Unfinished;
        let mut phase = record.actual.phases[0].clone();
        phase.hosts.clear();
        let mut during = record.during.clone();
        during.clocks.elapsed_ns = 77;
        head.add(Completed {
            part: CompletedPart::Phase(Box::new(phase)),
            during,
        });
        head
    };
    let joined = Record::join_all(whole.iter().map(told).collect()).unwrap();
    let expected = Record::join_all(whole).unwrap();
    assert_eq!(joined.actual.phases, expected.actual.phases);
    assert_eq!(joined.actual.phases[0].hosts.len(), 2);
    assert_eq!(joined.actual.outcome, Outcome::Unfinished);
    assert_eq!(joined.during.clocks.elapsed_ns, 77);
}

#[test]
fn missing_ranks_are_listed_and_the_run_is_unfinished() {
    let mut all = parts(&alike(3), &[1, 1, 1]);
    all.remove(1);
    let joined = Record::join_all(all).unwrap();
    assert_eq!(joined.actual.outcome, Outcome::Complete);
    let missing = MissingRank {
        rank: 1,
        why: "not there".to_owned(),
    };
    let partial = joined.without(vec![missing.clone()]);
    assert_eq!(partial.actual.outcome, Outcome::Unfinished);
    assert_eq!(partial.cluster.unwrap().missing, [missing]);
}

/// Returns the evidence of a rank as JSON. The process read `own` bytes, and its own NFS client
/// sent `calls` calls. The mount's client sent `mount` calls, and the device performed `writes`
/// writes.
fn evidence(own: u64, calls: u64, mount: u64, writes: u64) -> serde_json::Value {
    let messages = |counter: &str, requests: u64| {
        serde_json::json!({
            "counter": counter, "protocol": "nfs3", "of": "/mnt", "age_s": "not_applicable",
            "kinds": { "known": [{ "kind": "LOOKUP", "requests": requests, "retransmissions": {
                "known": 0 },
                "sent_bytes": "not_applicable", "received_bytes": "not_applicable",
                    "queued_ms": "not_applicable",
                "round_trip_ms": "not_applicable", "execution_ms": "not_applicable" }] },
            "operations": "not_applicable", "server_read_bytes": "not_applicable",
                "server_written_bytes": "not_applicable",
        })
    };
    const COUNTERS: &str = "reads reads_merged read_bytes reading_ms writes writes_merged \
        written_bytes writing_ms in_flight busy_ms queued_ms discards \
        discards_merged discarded_bytes discarding_ms flushes flushing_ms";
    let counters: serde_json::Map<String, serde_json::Value> = COUNTERS
        .split(' ')
        .map(|name| (name.to_owned(), serde_json::json!({ "known": writes })))
        .collect();
    serde_json::json!({
        "performing": {
            "own": { "read_bytes": { "known": own }, "written_bytes": "not_applicable",
                "cancelled_bytes": "not_applicable" },
            "devices": { "known": [{ "name": "sda", "role": "target", "counters": {
                "known": counters } }] },
            "messages": { "known": [messages("nfs-storage", calls), messages("nfs-client",
                mount)] },
            "interfaces": { "known": [{ "name": "eth0", "speed_bits_per_s": { "known": 1000 },
                "received_bytes": { "known": mount }, "sent_bytes": { "known": 1 } }] },
            "allocated_bytes": "not_applicable",
        },
        "syncing": null,
        "residency": null,
    })
}

#[test]
fn each_counter_is_added_once_per_process_host_or_kernel() {
    // Ranks 0 and 3 are on host 0, ranks 1 and 4 on host 1, and rank 2 on host 2. Hosts 0 and 1
    // share a kernel.
    let workers = alike(5);
    let mut all = Vec::new();
    for rank in 0..5_u32 {
        let mut record = process(rank, &workers[..1], 5);
        let host = u64::from(rank % 3);
        let own = 10_u64.pow(rank);
        let value = evidence(own, own, 7 + host, 100 + host);
        record.actual.phases[0].evidence = Some(serde_json::from_value(value).unwrap());
        all.push(part(record, rank, 5, rank, 1, rank % 3));
    }
    let joined = Record::join_all(all).unwrap();
    let phase = &joined.actual.phases[0];
    let performing = &phase.evidence.as_ref().unwrap().performing;
    assert_eq!(performing.own.read_bytes, Fact::Known(11_111));
    let messages = performing.messages.known().unwrap();
    let requests: Vec<_> = messages
        .iter()
        .map(|messages| messages.requests())
        .collect();
    assert_eq!(requests, [Fact::Known(11_111), Fact::Known(7 + 8 + 9)]);
    let devices = performing.devices.known().unwrap();
    assert_eq!(devices.len(), 1);
    // Host 1 has the kernel of host 0, so only the device counters of ranks 0 (100 writes) and 2
    // (102 writes) are added.
    assert_eq!(
        devices[0].counters.known().unwrap().writes,
        Fact::Known(100 + 102)
    );
    assert_eq!(
        performing.interfaces.known().unwrap()[0].received_bytes,
        Fact::Known(24)
    );
    let ranks: Vec<u32> = phase.hosts.iter().map(|host| host.ranks).collect();
    assert_eq!(ranks, [2, 2, 1]);
    let cluster = joined.cluster.as_ref().unwrap();
    let places: Vec<u32> = cluster.ranks.iter().map(|rank| rank.host).collect();
    assert_eq!(places, [0, 1, 2, 0, 1]);
    let processor_ns =
        |during: &record::SystemDuring| during.counted.process.known().unwrap().cpu_ns();
    assert_eq!(
        processor_ns(&joined.during),
        2 * processor_ns(&kept().during)
    );
}

/// Measures time and memory at the root of a tree of 2,000 ranks; `POSTMARK_TEST_RANKS` sets
/// another number.
#[test]
fn thousands_of_ranks_are_joined_in_seconds() {
    let ranks = number_of("POSTMARK_TEST_RANKS", 2_000) as usize;
    let workers = alike(ranks);
    let one = process(0, &workers[..1], ranks as u32);
    let all: Vec<Record> = (0..ranks as u32)
        .map(|rank| {
            let mut record = one.clone();
            record.actual.phases[0].workers[0].worker = rank;
            part(record, rank, ranks as u32, rank, 1, rank)
        })
        .collect();
    let began = Instant::now();
    let joined = Record::join_all(all).unwrap();
    let joining = began.elapsed();
    assert!(joining.as_secs() < 5, "{joining:?}");
    assert_eq!(joined.cluster.as_ref().unwrap().hosts.len(), ranks);
    assert_eq!(joined.actual.phases[0].workers.len(), ranks);
    assert!(joined.actual.stream_hash.is_known());
    let began = Instant::now();
    let summary = Summary::of(&joined);
    let summing = began.elapsed();
    assert_eq!(summary.phases[0].workers.len(), ranks);
    assert!(summing.as_secs() < 5, "{summing:?}");
    let began = Instant::now();
    let json = verdict::to_json(&joined);
    // A workload has at most 4,096 workers, and reading rejects a record with more.
    if ranks <= 4_096 {
        assert_eq!(Record::from_json(&json).unwrap().cluster, joined.cluster);
    }
    println!(
        "{} MiB of JSON written and read in {:?}",
        json.len() >> 20,
        began.elapsed()
    );
    drop(json);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    println!(
        "{ranks} ranks: joined in {joining:?}, summed up in {summing:?}, {} MiB at the most",
        kib >> 10
    );
    assert!(kib < 2 << 20, "{kib} KiB");
}
