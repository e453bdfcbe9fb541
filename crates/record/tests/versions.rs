//! A record of each version of the schema, written by a run of that time, is read for ever.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use record::run::SCHEMA_VERSION;
use record::{Action, End, Fact, Level, Outcome, Phase, Record, Role, Summary};

#[test]
fn every_version_has_its_record() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/versions");
    for version in 1..=SCHEMA_VERSION {
        let text = std::fs::read_to_string(format!("{directory}/{version}.json")).unwrap();
        assert!(text.contains(&format!("\"schema\":{version},")), "version {version}");
        let record = Record::from_json(&text).unwrap();
        // Read is what would be written now, and reads the same again.
        assert_eq!(record.schema, SCHEMA_VERSION);
        assert_eq!(Record::from_json(&record.to_json()).unwrap(), record);
    }
}

#[test]
fn the_first_version_is_read() {
    let record = Record::from_json(include_str!("versions/1.json")).unwrap();
    assert_eq!(record.tool.generators, 1);
    assert_eq!(record.said[..2], ["postmark", "run"]);
    assert_eq!(record.fingerprint.as_str(), "xxh3-128:e484960df1cdd567a25341b9760940db");
    assert_eq!((record.storage.as_str(), record.latencies), ("posix", true));
    let mix = record.workload.mix().unwrap();
    assert_eq!((mix.files, mix.transactions, mix.seed), (20, 60, 7));
    assert_eq!(mix.weights.to_string(), "create=1,read=3,append=1,delete=1");
    assert_eq!(mix.sizes.to_string(), "1..4KiB");
    assert_eq!(
        (record.how.durability.as_str(), record.how.cache.as_str()),
        ("fsync", "as-is")
    );
    assert!(record.how.settle && record.how.slices && !record.how.steps);
    // The monotonic clock counts from the boot on, as the uptime that was read just before does.
    let origin = record.origin;
    assert_eq!(origin.unix_ns, 1_795_298_765_595_943_014);
    let uptime_s = *record.host.uptime_seconds.known().unwrap();
    assert!((origin.monotonic_ns as f64 / 1e9 - uptime_s).abs() < 1.0, "{origin:?}");
    assert_eq!(origin.uncertainty_ns, 28);
    let target = record.locations[0].target.known().unwrap();
    assert_eq!(target.mount.known().unwrap().file_system_type, "ext4");
    let actual = &record.actual;
    assert_eq!(
        (&actual.outcome, &actual.end),
        (&Outcome::Complete, &Fact::Known(End::Complete))
    );
    assert_eq!(
        actual.phases.iter().map(|phase| phase.phase).collect::<Vec<_>>(),
        Phase::ALL
    );
    let transactions = &actual.phases[1];
    let operations = &transactions.segments[0].operations;
    let counts: Vec<(Role, Action, u64, u64)> = operations
        .iter()
        .map(|operation| {
            (
                operation.role,
                operation.action,
                operation.meter.operations,
                operation.meter.bytes,
            )
        })
        .collect();
    assert_eq!(
        counts,
        [
            (Role::Worker, Action::Create, 8, 14_299),
            (Role::Worker, Action::Read, 35, 61_241),
            (Role::Worker, Action::Append, 4, 7_929),
            (Role::Worker, Action::Delete, 7, 0),
        ]
    );
    assert_eq!(operations[1].meter.latency.max_ns(), Some(12_599));
    assert_eq!(operations[0].steps[0].step, "open");
    assert_eq!(
        transactions.slices.totals()[&(Role::Worker, Action::Read)].operations,
        35
    );
    assert!(transactions.machine.as_ref().is_some_and(|machine| machine.len() == 1));
    let read = transactions
        .slowest
        .iter()
        .find(|slowest| slowest.action == Action::Read)
        .unwrap();
    assert_eq!(read.operations[0].ns, 12_599);
    assert_eq!(record.during.counted.process.known().unwrap().minor_faults, 537);
}

#[test]
fn a_summary_can_be_made_of_the_first_version() {
    let text = include_str!("versions/1.json");
    let summary = Summary::of(&Record::from_json(text).unwrap());
    assert_eq!(summary.verdict.level, Level::Invalid, "54 operations are few");
    let transactions = summary.phase(Phase::Transactions).unwrap();
    assert_eq!(transactions.transactions.unwrap().count, 60);
    assert_eq!(transactions.operations.len(), 4);
    assert!(summary.elapsed_ns > 0 && !summary.partial);
}

#[test]
fn sums_of_more_than_64_bits_come_back() {
    let mut record = Record::from_json(include_str!("versions/1.json")).unwrap();
    let latency = &mut record.actual.phases[1].segments[0].operations[0].meter.latency;
    (0..4).for_each(|_| latency.record(u64::MAX));
    assert!(record.to_json().contains("\"sum_ns\":7378"), "four times 2^64");
    assert_eq!(Record::from_json(&record.to_json()).unwrap(), record);
}
