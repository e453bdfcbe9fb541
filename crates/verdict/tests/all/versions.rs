//! Records of each schema version, written by runs of that version, remain readable.

use std::collections::BTreeSet;

use record::run::SCHEMA_VERSION;
use record::{
    Action, Cache, Climb, Durability, Edition, End, EngineName, Fact, Load, Outcome, Phase, Record,
    Role,
};
use testkit::{Assert, Shows};
use verdict::{Level, Summary};

/// Documents that the program wrote. An entry contains schema version, name, text, and the hash of
/// the text. The texts must never be changed.
const KEPT: [(u32, &str, &str, u64); 4] = [
    (
        1,
        "1-mix",
        include_str!("../versions/1-mix.json"),
        0x67aa_4e61_b383_749e,
    ),
    (
        1,
        "1-sweep",
        include_str!("../versions/1-sweep.json"),
        0x1258_1c46_50c7_5171,
    ),
    (
        1,
        "1-failed",
        include_str!("../versions/1-failed.json"),
        0x56b0_5822_12a9_6fdd,
    ),
    (
        1,
        "1-classic",
        include_str!("../versions/1-classic.json"),
        0xa5f9_1639_79f9_285d,
    ),
];

fn kept(name: &str) -> Record {
    let found = KEPT.iter().find(|(_, known, ..)| *known == name);
    Record::from_json(found.unwrap().2).unwrap()
}

/// FNV-1a of 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>), which suffices to detect a
/// change.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn every_schema_version_has_kept_records() {
    let versions: BTreeSet<u32> = KEPT.iter().map(|(version, ..)| *version).collect();
    assert_eq!(versions, (1..=SCHEMA_VERSION).collect());
    for (version, name, text, hash_of) in KEPT {
        assert_eq!(hash(text), hash_of, "{name}: {:#x}", hash(text));
        name.assert(text.contains(&format!("\"record\":{{\"schema\":{version},")));
        let record = Record::from_json(text).unwrap();
        // The parsed record has the current version, and is unchanged by writing and parsing it
        // again.
        assert_eq!(record.schema, SCHEMA_VERSION);
        assert_eq!(
            Record::from_json(&verdict::to_json(&record)).unwrap(),
            record,
            "{name}"
        );
    }
}

/// Records in [`KEPT`] that have the current schema version stay unchanged if they are parsed and
/// serialized.
#[test]
fn kept_records_are_written_unchanged() {
    for (version, name, text, _) in KEPT {
        if version == SCHEMA_VERSION {
            let written = verdict::to_json(&Record::from_json(text).unwrap());
            let record = |text: &str| text.split_once("\"record\":").unwrap().1.to_owned();
            // For runs that end by another condition than the number of transactions, the first
            // program versions recorded 2^40 instead of `null`.
            let text =
                record(text).replace("\"transactions\":1099511627776,", "\"transactions\":null,");
            assert!(record(&written) == text, "{name}");
        }
    }
}

fn counts(record: &Record) -> Vec<(Action, u64)> {
    let operations = record
        .actual
        .transactions()
        .flat_map(|phase| phase.measured());
    operations
        .flat_map(|segment| &segment.operations)
        .map(|operation| (operation.action, operation.meter.operations))
        .collect()
}

#[test]
fn record_of_a_mix_with_schema_1_is_read() {
    let record = kept("1-mix");
    assert_eq!(record.tool.generators, 1);
    assert_eq!(record.spec.command_line[..2], ["postmark", "run"]);
    assert_eq!(
        record.fingerprint.as_str(),
        "xxh3-128:c840403b470df9802a93a20adef202b1"
    );
    assert_eq!(
        (record.spec.engine, record.spec.latencies),
        (EngineName::POSIX, true)
    );
    let mix = record.spec.workload.mix().unwrap();
    assert_eq!((mix.files, mix.transactions, mix.seed), (20, 60, 7));
    assert_eq!(mix.weights.to_string(), "create=1,read=3,append=1,delete=1");
    assert_eq!(mix.sizes.to_string(), "1..4KiB");
    let how = &record.spec;
    assert_eq!(
        (&how.durability, how.cache),
        (&Durability::Fsync.into(), Cache::AsIs)
    );
    assert!(how.sync_phases && how.series && how.steps && how.verify && !how.direct);
    // The monotonic clock and the uptime both count from boot. The program reads the uptime just
    // before the origin.
    let uptime_s = *record.host.uptime_seconds.known().unwrap();
    let monotonic_s = record.origin.monotonic_ns as f64 / 1e9;
    assert!((monotonic_s - uptime_s).abs() < 1.0, "{:?}", record.origin);
    let target = record.locations[0].target.known().unwrap();
    assert_eq!(target.mount.known().unwrap().file_system_type, "tmpfs");
    let actual = &record.actual;
    assert_eq!(
        (&actual.outcome, &actual.end),
        (&Outcome::Complete, &Fact::Known(End::Complete))
    );
    let phases: Vec<Phase> = actual.phases.iter().map(|phase| phase.phase).collect();
    assert_eq!(phases, Phase::ALL);
    assert_eq!(
        counts(&record),
        [
            (Action::Create, 16),
            (Action::Read, 67),
            (Action::Append, 10),
            (Action::Delete, 14)
        ]
    );
    let transactions = &actual.phases[1];
    assert_eq!(transactions.workers.len(), 2);
    let read = &transactions.segments[0].operations[1];
    assert_eq!(
        (read.meter.bytes, read.meter.latency.count()),
        (134_039, 67)
    );
    let steps: Vec<&str> = read.steps.iter().map(|step| step.step.as_str()).collect();
    assert_eq!(steps, ["open", "read", "stat", "close"]);
    let over_time = &transactions.slices.totals()[&(Role::Worker, Action::Read)];
    assert_eq!((over_time.operations, over_time.latency.count()), (67, 67));
    assert!(
        transactions
            .machine
            .as_ref()
            .is_some_and(|machine| machine.len() == 1)
    );
    let mut slowest = transactions.slowest.iter();
    let slowest = slowest
        .find(|slowest| slowest.action == Action::Read)
        .unwrap();
    assert_eq!(Some(slowest.operations[0].ns), read.meter.latency.max_ns());
}

#[test]
fn record_of_a_sweep_with_schema_1_is_read() {
    let record = kept("1-sweep");
    let asked = record.spec.drive.sweep.as_ref().unwrap();
    assert_eq!(asked.climb, Climb::Rates(vec![50.0, 100.0]));
    let loads: Vec<Load> = record
        .actual
        .sweep_steps
        .iter()
        .map(|sweep_step| sweep_step.load)
        .collect();
    assert_eq!(loads, [Load::Rate(50.0), Load::Rate(100.0)]);
    let sweep = Summary::of(&record).sweep.unwrap();
    assert!(
        sweep
            .sweep_steps
            .iter()
            .all(|sweep_step| sweep_step.complete && sweep_step.holds),
        "{sweep:?}"
    );
    assert!(sweep.sweep_steps[1].achieved_per_second.unwrap() > 80.0);
    // The levels have too few operations for a 99th percentile of the service times.
    let levels = record.actual.sweep_steps.iter();
    let phases = levels.filter_map(|level| level.transactions());
    let mut operations = phases.flat_map(|phase| phase.measured_operations());
    assert!(operations.all(|of| of.meter.service.is_some()));
}

#[test]
fn record_of_a_failed_run_with_schema_1_is_read() {
    let record = kept("1-failed");
    let Outcome::Failed { why } = &record.actual.outcome else {
        panic!("{:?}", record.actual.outcome);
    };
    why.shows("File too large");
    let error = &record.actual.errors[0];
    assert_eq!(
        (error.operation.as_str(), error.step.as_str()),
        ("append", "write")
    );
    assert_eq!((&error.errno, error.count), (&Fact::Known(27), 1));
    let removed = record.actual.clean_up.as_ref().unwrap();
    assert_eq!((removed.files, removed.left.len()), (22, 0));
    let complete: Vec<(Phase, bool)> = record
        .actual
        .phases
        .iter()
        .map(|phase| (phase.phase, phase.complete))
        .collect();
    assert_eq!(
        complete,
        [(Phase::Prepare, true), (Phase::Transactions, false)]
    );
    assert!(Summary::of(&record).partial);
}

#[test]
fn record_of_a_classic_run_with_schema_1_is_read() {
    let record = kept("1-classic");
    let classic = record.spec.workload.classic().unwrap();
    assert_eq!(
        (classic.edition, classic.files, classic.transactions),
        (Edition::V1_5, 30, 60)
    );
    assert_eq!(record.spec.engine, EngineName::STDIO);
    let figures = record.actual.classic.as_ref().unwrap();
    assert_eq!(
        (figures.created_alone, figures.created_mixed, figures.read),
        (30, 32, 27)
    );
    assert_eq!(
        (figures.bytes_read, figures.bytes_written),
        (174_772.0, 390_243.0)
    );
    assert_eq!(
        counts(&record),
        [
            (Action::Create, 32),
            (Action::Read, 27),
            (Action::Append, 33),
            (Action::Delete, 28)
        ]
    );
}

#[test]
fn record_with_schema_1_has_a_summary() {
    let summary = Summary::of(&kept("1-mix"));
    assert_eq!(
        summary.verdict.level,
        Level::Invalid,
        "107 operations are few"
    );
    let transactions = summary.phase(Phase::Transactions).unwrap();
    assert_eq!(
        (
            transactions.transactions.unwrap().count,
            transactions.skipped.total()
        ),
        (107, 13),
        "60 of each worker"
    );
    assert_eq!(transactions.operations.len(), 4);
    assert!(summary.elapsed_ns > 0 && !summary.partial);
}

#[test]
fn sums_above_64_bits_are_unchanged_by_json() {
    let mut record = kept("1-mix");
    let latency = &mut record.actual.phases[1].segments[0].operations[0]
        .meter
        .latency;
    (0..4).for_each(|_| latency.record(u64::MAX));
    assert!(
        verdict::to_json(&record).contains("\"sum_ns\":7378"),
        "four times 2^64"
    );
    assert_eq!(
        Record::from_json(&verdict::to_json(&record)).unwrap(),
        record
    );
}
