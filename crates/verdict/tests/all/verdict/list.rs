//! Every reason has a sentence and advice, and the specification lists exactly these reasons.

use std::collections::BTreeSet;

use measure::steady;
use record::{Action, End, Histogram, Outcome, Phase, SteadyRule};
use verdict::rules::*;

use crate::specification::paragraph;
use crate::verdict::made::{SECOND, of, ramp, steal};

/// Returns at least one value of every reason, and one for each level of a reason with two levels.
fn one_of_each() -> Vec<Reason> {
    let drift = |change| {
        let rates: Vec<f64> = ramp(60, change)
            .into_iter()
            .map(|rate| rate as f64)
            .collect();
        Steadiness::Slope(steady::drift(&rates, steady::DRIFT_MAX).unwrap())
    };
    let rounds = Steadiness::Rounds(steady::window(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap());
    let errors = |is_exceeded| -> Reason {
        Errors {
            errors: 3,
            operations: 1_000,
            allowed: "10".to_owned(),
            is_exceeded,
        }
        .into()
    };
    let short = |phase, measured_ns, operations| -> Reason {
        TooShort {
            phase,
            measured_ns,
            operations,
            is_counted: false,
            is_replay: false,
        }
        .into()
    };
    let from_memory = |asked: &str, device_bytes| -> Reason {
        ReadsFromMemory {
            asked: asked.to_owned(),
            device_bytes,
            read_bytes: 1_000,
        }
        .into()
    };
    let durability = |is_beneath| -> Reason {
        DurabilityInMemory {
            durability: "fsync".to_owned(),
            path: "/dev/shm/postmark-1".to_owned(),
            place: "tmpfs (memory), 1 % full".to_owned(),
            is_beneath,
        }
        .into()
    };
    let beneath = |loop_device: Option<&str>, device_bytes| -> Reason {
        MemoryBeneath {
            asked: "direct".to_owned(),
            path: "/mnt/image/postmark-1".to_owned(),
            place: "ext4 on /dev/loop3 (loop over /x/y.img on ext4 /dev/vda), 20 % full".to_owned(),
            loop_device: loop_device.map(str::to_owned),
            device_bytes,
            read_bytes: 1_000,
        }
        .into()
    };
    let not_dropped = |cached| -> Reason {
        CacheNotDropped {
            cache: "cold".to_owned(),
            cached,
            pages: 100,
        }
        .into()
    };
    let wrote_nothing = |is_durable| -> Reason {
        DeviceWroteNothing {
            phase: Phase::Transactions,
            written_bytes: 1 << 20,
            is_durable,
        }
        .into()
    };
    let stalled = |times, lost| -> Reason {
        Stalled {
            times,
            longest_ns: 61 * SECOND,
            lost,
        }
        .into()
    };
    let partial = |outcome| Partial { outcome }.into();
    let failed = Outcome::Failed {
        why: "it failed".to_owned(),
    };
    let gone = Outcome::PlaceGone {
        why: "it went".to_owned(),
    };
    let dry = |end| -> Reason {
        RanDry {
            end,
            transactions: 1_234,
        }
        .into()
    };
    let not_reached = |last| -> Reason {
        SteadyStateNotReached {
            rule: SteadyRule::Snia,
            rounds: 30,
            last,
        }
        .into()
    };
    let not_steady = |found, last_ns: Option<f64>| -> Reason {
        let drifting = last_ns.map(|last_ns| LatencyDrift {
            action: Action::Create,
            first_ns: 10_000.0,
            last_ns,
            spent: Some(TimeSpent::KernelCpu),
            call: Some("open".to_owned()),
        });
        NotSteady { found, drifting }.into()
    };
    let skipped = |fraction| -> Reason {
        Skipped {
            skipped: workload::Skipped::default(),
            fraction,
            operations: 1_000,
        }
        .into()
    };
    let paused = |fraction| -> Reason {
        Paused {
            times: 1,
            longest_ns: 4 * SECOND,
            fraction,
        }
        .into()
    };
    let own = |fraction| -> Reason {
        Overhead {
            fraction,
            ns_per_operation: 312.4,
        }
        .into()
    };
    vec![
        partial(Outcome::Interrupted { signal: 15 }),
        partial(failed),
        partial(gone),
        errors(false),
        errors(true),
        skipped(0.05),
        skipped(0.5),
        WrongNames {
            wrong: 1,
            names: 2_000,
        }
        .into(),
        WrongNames {
            wrong: 4,
            names: 2_000,
        }
        .into(),
        dry(End::OutOfFiles),
        dry(End::OutOfReach),
        dry(End::NothingPossible),
        short(Phase::Transactions, SECOND, 1_000),
        short(Phase::Transactions, 0, 0),
        short(Phase::Prepare, 100, 1_000),
        short(Phase::Transactions, SECOND, 7),
        not_steady(drift(0.3), None),
        not_steady(drift(0.3), Some(1_000.0)),
        not_steady(drift(0.3), Some(30_000.0)),
        not_steady(rounds, None),
        not_reached(Some(rounds)),
        not_reached(None),
        RateNotReached {
            requested: 2_000.0,
            achieved: 1_234.5,
        }
        .into(),
        own(0.2),
        own(0.9),
        OtherLoad {
            fraction: 0.23,
            busiest: Vec::new(),
        }
        .into(),
        Steal { fraction: 0.05 }.into(),
        Steal { fraction: 0.5 }.into(),
        Emulated {}.into(),
        paused(0.005),
        paused(0.4),
        Suspended { ns: 12 * SECOND }.into(),
        WallClockStepped { ns: -3_000_000 }.into(),
        WallClockStepped { ns: 3_000_000 }.into(),
        ClockSourceChanged {
            before: "tsc".to_owned(),
            after: "hpet".to_owned(),
        }
        .into(),
        FitsInMemory {
            cache: "cold".to_owned(),
            pool_bytes: 1 << 20,
            cache_bytes: 1 << 30,
        }
        .into(),
        from_memory("direct", 0),
        from_memory("cold", 400),
        ReadsFromDevice {
            device_bytes: 500,
            read_bytes: 1_000,
        }
        .into(),
        beneath(None, None),
        beneath(Some("loop3"), None),
        beneath(Some("loop3"), Some(400)),
        beneath(Some("loop3"), Some(1)),
        PoolChangedSize {
            files_before: 12_000,
            files_after: 6_280,
            is_balanced: true,
        }
        .into(),
        PoolChangedSize {
            files_before: 100,
            files_after: 18_504,
            is_balanced: false,
        }
        .into(),
        not_dropped(30),
        not_dropped(60),
        wrote_nothing(false),
        wrote_nothing(true),
        Retransmissions {
            of: "/mnt/nfs".to_owned(),
            retransmissions: 2,
            requests: 1_000,
        }
        .into(),
        ConnectionsLost { times: 1 }.into(),
        ServerRestarted {
            times: 1,
            rewritten_bytes: 1 << 20,
        }
        .into(),
        OutcomesNotKnown { operations: 1 }.into(),
        ClientSaturated {
            workers: Some(0.95),
            interface: None,
            host: None,
            others: None,
        }
        .into(),
        ClientSaturated {
            workers: None,
            interface: Some(("eth0".to_owned(), 0.9)),
            host: Some("client3".to_owned()),
            others: Some(2),
        }
        .into(),
        RanksNotDone {
            failed: vec![2],
            missing: (4..40).collect(),
            launched: 64,
        }
        .into(),
        HostsApart {
            slowest: "client3".to_owned(),
            fastest: "client1".to_owned(),
            fraction: 0.4,
        }
        .into(),
        TooFewClients {
            workers: 8,
            fewer: 4,
            gain: 0.5,
        }
        .into(),
        ClocksNotAligned {
            error_ns: SECOND / 50,
            measured_ns: SECOND,
        }
        .into(),
        NearlyFull {
            path: "/mnt/disk".to_owned(),
            fraction: 0.95,
        }
        .into(),
        AllocatedDuringRun {
            allocated_bytes: 1 << 20,
            written_bytes: 1 << 21,
        }
        .into(),
        durability(false),
        durability(true),
        stalled(1, 0),
        stalled(1, 1),
        stalled(3, 2),
        LatencyOverflow {
            operations: 2,
            range_ns: Histogram::RANGE_NS,
        }
        .into(),
        AckLog {
            path: "/var/ack_log".to_owned(),
        }
        .into(),
    ]
}

#[test]
fn rules_document_their_levels_thresholds_and_evidence() {
    let all = one_of_each();
    for file in Reason::FILES {
        let name = file.replace('_', "-");
        let text = paragraph("rules", file).replace('\n', " ");
        let (levels, text) = text
            .strip_prefix(&format!("**`{name}`** ("))
            .and_then(|text| text.split_once("). "))
            .unwrap_or_else(|| panic!("{file} has no name and levels"));
        let own = all.iter().filter(|reason| reason.name() == name);
        let found: BTreeSet<Level> = own.map(Reason::level).collect();
        let found: Vec<&str> = found.into_iter().map(Level::name).collect();
        assert_eq!(levels, found.join(", "), "{file}");
        let parts = ["*Threshold*: ", "*Evidence*: ", "*What to do*: "].map(|part| text.find(part));
        assert!(
            parts[0] > Some(0) && parts.is_sorted(),
            "meaning, threshold, evidence, what to do: {file}"
        );
    }
}

#[test]
fn reasons_have_sentences_and_are_unchanged_by_json() {
    let mut seen = BTreeSet::new();
    for reason in one_of_each() {
        let words = reason.sentence();
        for text in [words.as_str(), reason.advice()] {
            assert!(!text.ends_with('.') && !text.contains("  "), "{text}");
            assert!(
                text.starts_with(|first: char| first.is_lowercase() || first.is_numeric())
                    || text.starts_with("--"),
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
