//! The closed list: every reason has words, and the documentation has exactly these.

use report::reason::{describe, what_to_do};
use std::collections::{BTreeMap, BTreeSet};

use measure::steady;
use record::{End, Histogram, Outcome, Phase, SteadyRule};
use verdict::rules::Steadiness;
use verdict::{Level, Reason, Verdict};

use crate::verdict::made::{SECOND, of, ramp, steal};

/// At least one of every reason, and of those with two levels one of each.
fn one_of_each() -> Vec<Reason> {
    let drift = |change| {
        let rates: Vec<f64> = ramp(60, change)
            .into_iter()
            .map(|rate| rate as f64)
            .collect();
        Steadiness::Slope(steady::drift(&rates, steady::DRIFT_MAX).unwrap())
    };
    let rounds = Steadiness::Rounds(steady::window(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap());
    let errors = |is_exceeded| Reason::Errors {
        errors: 3,
        operations: 1_000,
        allowed: "10".to_owned(),
        is_exceeded,
    };
    let short = |phase, measured_ns, operations| Reason::TooShort {
        phase,
        measured_ns,
        operations,
    };
    let from_memory = |asked: &str, device_bytes| Reason::ReadsFromMemory {
        asked: asked.to_owned(),
        device_bytes,
        read_bytes: 1_000,
    };
    let durability = |is_beneath| Reason::DurabilityInMemory {
        durability: "fsync".to_owned(),
        path: "/dev/shm/postmark-1".to_owned(),
        place: "tmpfs (memory), 1 % full".to_owned(),
        is_beneath,
    };
    let beneath = |loop_device: Option<&str>, device_bytes| Reason::MemoryBeneath {
        asked: "direct".to_owned(),
        path: "/mnt/image/postmark-1".to_owned(),
        place: "ext4 on /dev/loop3 (loop over /x/y.img on ext4 /dev/vda), 20 % full".to_owned(),
        loop_device: loop_device.map(str::to_owned),
        device_bytes,
        read_bytes: 1_000,
    };
    let not_dropped = |cached| Reason::CacheNotDropped {
        cache: "cold".to_owned(),
        cached,
        pages: 100,
    };
    let wrote_nothing = |is_durable| Reason::DeviceWroteNothing {
        phase: Phase::Transactions,
        written_bytes: 1 << 20,
        is_durable,
    };
    let stalled = |times, lost| Reason::Stalled {
        times,
        longest_ns: 61 * SECOND,
        lost,
    };
    let partial = |outcome| Reason::Partial { outcome };
    let failed = Outcome::Failed {
        why: "it failed".to_owned(),
    };
    let gone = Outcome::PlaceGone {
        why: "it went".to_owned(),
    };
    let dry = |end| Reason::RanDry {
        end,
        transactions: 1_234,
    };
    let not_reached = |last| Reason::SteadyStateNotReached {
        rule: SteadyRule::Snia,
        rounds: 30,
        last,
    };
    let skipped = |fraction| Reason::Skipped {
        skipped: workload::Skipped::default(),
        fraction,
        operations: 1_000,
    };
    let paused = |fraction| Reason::Paused {
        times: 1,
        longest_ns: 4 * SECOND,
        fraction,
    };
    let own = |fraction| Reason::Overhead {
        fraction,
        ns_per_operation: 312.4,
    };
    vec![
        partial(Outcome::Interrupted { signal: 15 }),
        partial(failed),
        partial(gone),
        errors(false),
        errors(true),
        skipped(0.05),
        skipped(0.5),
        Reason::WrongNames {
            wrong: 1,
            names: 2_000,
        },
        Reason::WrongNames {
            wrong: 4,
            names: 2_000,
        },
        dry(End::OutOfFiles),
        dry(End::OutOfReach),
        dry(End::NothingPossible),
        short(Phase::Transactions, SECOND, 1_000),
        short(Phase::Transactions, 0, 0),
        short(Phase::Prepare, 100, 1_000),
        short(Phase::Transactions, SECOND, 7),
        Reason::NotSteady { found: drift(0.3) },
        Reason::NotSteady { found: rounds },
        not_reached(Some(rounds)),
        not_reached(None),
        Reason::RateNotReached {
            requested: 2_000.0,
            achieved: 1_234.5,
        },
        own(0.2),
        own(0.9),
        Reason::OtherLoad {
            fraction: 0.23,
            busiest: Vec::new(),
        },
        Reason::Steal { fraction: 0.05 },
        Reason::Steal { fraction: 0.5 },
        Reason::Emulated,
        paused(0.005),
        paused(0.4),
        Reason::Suspended { ns: 12 * SECOND },
        Reason::WallClockStepped { ns: -3_000_000 },
        Reason::WallClockStepped { ns: 3_000_000 },
        Reason::ClockSourceChanged {
            before: "tsc".to_owned(),
            after: "hpet".to_owned(),
        },
        Reason::FitsInMemory {
            cache: "cold".to_owned(),
            pool_bytes: 1 << 20,
            cache_bytes: 1 << 30,
        },
        from_memory("direct", 0),
        from_memory("cold", 400),
        Reason::ReadsFromDevice {
            device_bytes: 500,
            read_bytes: 1_000,
        },
        beneath(None, None),
        beneath(Some("loop3"), None),
        beneath(Some("loop3"), Some(400)),
        beneath(Some("loop3"), Some(1)),
        Reason::PoolChangedSize {
            files_before: 12_000,
            files_after: 6_280,
        },
        Reason::PoolChangedSize {
            files_before: 100,
            files_after: 18_504,
        },
        not_dropped(30),
        not_dropped(60),
        wrote_nothing(false),
        wrote_nothing(true),
        Reason::Retransmissions {
            of: "/mnt/nfs".to_owned(),
            retransmissions: 2,
            requests: 1_000,
        },
        Reason::ConnectionsLost { times: 1 },
        Reason::ServerRestarted {
            times: 1,
            rewritten_bytes: 1 << 20,
        },
        Reason::OutcomesNotKnown { operations: 1 },
        Reason::ClientSaturated {
            workers: Some(0.95),
            interface: None,
            host: None,
            others: None,
        },
        Reason::ClientSaturated {
            workers: None,
            interface: Some(("eth0".to_owned(), 0.9)),
            host: Some("client3".to_owned()),
            others: Some(2),
        },
        Reason::RanksNotDone {
            failed: vec![2],
            missing: (4..40).collect(),
            launched: 64,
        },
        Reason::HostsApart {
            slowest: "client3".to_owned(),
            fastest: "client1".to_owned(),
            fraction: 0.4,
        },
        Reason::TooFewClients {
            workers: 8,
            fewer: 4,
            gain: 0.5,
        },
        Reason::ClocksNotAligned {
            error_ns: SECOND / 50,
            measured_ns: SECOND,
        },
        Reason::NearlyFull {
            path: "/mnt/disk".to_owned(),
            fraction: 0.95,
        },
        Reason::AllocatedDuringRun {
            allocated_bytes: 1 << 20,
            written_bytes: 1 << 21,
        },
        durability(false),
        durability(true),
        stalled(1, 0),
        stalled(1, 1),
        stalled(3, 2),
        Reason::LatencyOverflow {
            operations: 2,
            range_ns: Histogram::RANGE_NS,
        },
        Reason::AckLog {
            path: "/var/ack_log".to_owned(),
        },
    ]
}

/// Does not compile when there is a reason that [`one_of_each`] may lack, and then [`REASONS`] is
/// to be raised, too.
fn place(reason: &Reason) -> usize {
    match reason {
        Reason::Partial { .. } => 0,
        Reason::Errors { .. } => 1,
        Reason::WrongNames { .. } => 2,
        Reason::RanDry { .. } => 3,
        Reason::TooShort { .. } => 4,
        Reason::NotSteady { .. } => 5,
        Reason::SteadyStateNotReached { .. } => 6,
        Reason::RateNotReached { .. } => 7,
        Reason::Overhead { .. } => 8,
        Reason::OtherLoad { .. } => 9,
        Reason::Steal { .. } => 10,
        Reason::Suspended { .. } => 11,
        Reason::WallClockStepped { .. } => 12,
        Reason::ClockSourceChanged { .. } => 13,
        Reason::FitsInMemory { .. } => 14,
        Reason::ReadsFromMemory { .. } => 15,
        Reason::ReadsFromDevice { .. } => 16,
        Reason::DurabilityInMemory { .. } => 17,
        Reason::Stalled { .. } => 18,
        Reason::LatencyOverflow { .. } => 19,
        Reason::AckLog { .. } => 20,
        Reason::Skipped { .. } => 21,
        Reason::Paused { .. } => 22,
        Reason::CacheNotDropped { .. } => 23,
        Reason::DeviceWroteNothing { .. } => 24,
        Reason::Retransmissions { .. } => 25,
        Reason::ClientSaturated { .. } => 26,
        Reason::NearlyFull { .. } => 27,
        Reason::AllocatedDuringRun { .. } => 28,
        Reason::Emulated => 29,
        Reason::ConnectionsLost { .. } => 30,
        Reason::ServerRestarted { .. } => 31,
        Reason::OutcomesNotKnown { .. } => 32,
        Reason::RanksNotDone { .. } => 33,
        Reason::HostsApart { .. } => 34,
        Reason::TooFewClients { .. } => 35,
        Reason::ClocksNotAligned { .. } => 36,
        Reason::MemoryBeneath { .. } => 37,
        Reason::PoolChangedSize { .. } => 38,
    }
}

const REASONS: usize = 39;

/// The name that a reason has in JSON.
fn name(reason: &Reason) -> String {
    let value = serde_json::to_value(reason).unwrap();
    value["reason"].as_str().unwrap().to_owned()
}

#[test]
fn the_documentation_has_exactly_these_reasons_with_their_levels() {
    let all = one_of_each();
    let places: BTreeSet<usize> = all.iter().map(place).collect();
    assert_eq!(places, (0..REASONS).collect(), "one of each");
    let mut expected: BTreeMap<String, BTreeSet<Level>> = BTreeMap::new();
    for reason in &all {
        expected
            .entry(name(reason))
            .or_default()
            .insert(reason.level());
    }
    let text = include_str!("../../../../../docs/specification.md");
    let (_, section) = text.split_once("\n## Verdict\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut documented: BTreeMap<String, BTreeSet<Level>> = BTreeMap::new();
    for paragraph in section
        .split("\n\n")
        .filter(|paragraph| paragraph.starts_with("**`"))
    {
        let (name, rest) = paragraph["**`".len()..].split_once("`** (").unwrap();
        let (levels, text) = rest.split_once("). ").unwrap();
        let level = |word: &str| match word {
            "DOUBTFUL" => Level::Doubtful,
            "INVALID" => Level::Invalid,
            _ => panic!("{word} is no level of a reason: {paragraph}"),
        };
        let levels = levels.split(", ").map(level);
        assert!(
            documented
                .insert(name.to_owned(), levels.collect())
                .is_none(),
            "it is there twice: {paragraph}"
        );
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let parts =
            ["*Threshold*: ", "*Evidence*: ", "*What to do*: "].map(|part| words.find(part));
        assert!(
            parts[0] > Some(0) && parts.is_sorted(),
            "meaning, threshold, evidence, what to do: {paragraph}"
        );
    }
    assert_eq!(documented, expected);
}

#[test]
fn every_reason_says_its_numbers_and_what_to_do_in_sentences_and_comes_back_from_json() {
    let mut seen = BTreeSet::new();
    for reason in one_of_each() {
        let words = describe(&reason);
        for text in [words.as_str(), what_to_do(&reason)] {
            assert!(text.ends_with('.') && !text.contains("  "), "{text}");
            assert!(
                text.starts_with(|first: char| first.is_uppercase() || first.is_numeric()),
                "{text}"
            );
        }
        assert!(seen.insert(words.clone()), "said twice: {words}");
        let json = serde_json::to_string(&reason).unwrap();
        assert_eq!(serde_json::from_str::<Reason>(&json).unwrap(), reason);
    }
    let verdict = of(|record| steal(record, 0.5));
    let json = serde_json::to_string(&verdict).unwrap();
    assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
}
