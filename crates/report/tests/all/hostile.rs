//! Untrusted records: whatever they contain, they are refused with a message or shown harmlessly.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use record::LOCATIONS_MAX;
use record::{
    Action, ArrivalProcess, Climb, Load, Outcome, Phase, ReadError, Record, Role, Sizing,
    SliceMeter, SlowOperation, SlowStep, SlowestRecord, Stalled, SteadyAsked, SteadyFound,
    SteadyRule, Stop, Sweep, SweepStep, SweepStepRun,
};
use serde_json::Value;
use testkit::{Assert, Shows, runs::at_rate};

use crate::imported::{everything, import};
use crate::{built, paged};

const RUN: &str = include_str!("../golden/run.json");
/// A text that clears the screen, sets the title, reverses the writing direction, and ends the line
/// to forge another line.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{7f}\u{0}\
                       \u{2028}\r\nForged      all is well\n\t|`<script>=cmd";

fn kept() -> Record {
    Record::from_json(RUN).unwrap()
}

/// Adds the number of operations in each second, and the slowest operations, to the transactions.
fn over_time(mut record: Record) -> Record {
    let transactions = record.actual.phases.iter_mut();
    for phase in transactions.filter(|phase| phase.phase == Phase::Transactions) {
        for second in 0..30 {
            let meter = SliceMeter {
                operations: 1_000 - second,
                bytes: 4_096,
                failed: second % 2,
                latency: built::durations(1_000 - second, 20_000 + 100 * second).take_sparse(),
            };
            phase
                .slices
                .add(second, (Role::Worker, Action::Read), meter);
        }
        phase.slowest = vec![SlowestRecord {
            action: Action::Read,
            operations: vec![SlowOperation {
                ns: 5_000_000,
                worker: 0,
                issued_ns: 7_000_000,
                path: "/mnt/disk/7".to_owned(),
                step: Some(SlowStep {
                    step: "open".to_owned(),
                    ns: 4_000_000,
                }),
            }],
        }];
    }
    record
}

/// A run that ended by a steady-state rule.
fn steady() -> Record {
    let mut record = over_time(built::private(&kept()));
    record.spec.drive.stop = Stop::Steady(SteadyAsked {
        rule: SteadyRule::Slope,
        round_ns: 5_000_000_000,
        rounds_max: 25,
    });
    let seconds: Vec<f64> = (0..25)
        .map(|second| f64::from(1_000 - second % 7))
        .collect();
    let phases = record.actual.phases.iter_mut();
    for phase in phases.filter(|phase| phase.phase == Phase::Transactions) {
        let rounds = vec![990.0, 1_000.0, 1_010.0, 995.0, 1_005.0];
        phase.steady = Some(SteadyFound {
            is_steady: true,
            snia: measure::steady::window(&rounds),
            slope: measure::steady::drift(&seconds, measure::steady::DRIFT_MAX),
            rounds,
            seconds: seconds.clone(),
        });
    }
    record
}

/// Records that together contain every kind of value that a record can have.
fn records() -> Vec<(&'static str, Record)> {
    let mut failed = over_time(built::shared(&kept()));
    failed.actual.outcome = Outcome::Failed {
        why: "no room".to_owned(),
    };
    failed.actual.stalled.push(Stalled {
        worker: Some(1),
        operation: "append".to_owned(),
        path: "/mnt/5".to_owned(),
        ns: 70_000_000_000,
        came_back: false,
    });
    failed.sizing = Some(Sizing {
        working_set: record::WorkingSet::OfCache(4.0),
        cache_bytes: 1 << 30,
        cache_is: "the machine's memory".to_owned(),
        mean_file_bytes: 1e4,
        files: 400_000,
        calibration: None,
        transactions: None,
    });
    failed.spec.ack_log = Some("/mnt/ack_log".into());
    let mut sweep = over_time(built::private(&kept()));
    sweep.spec.drive.pace = at_rate(1_000.0, ArrivalProcess::Poisson);
    sweep.spec.drive.sweep = Some(Sweep {
        climb: Climb::Rates(vec![1_000.0, 2_000.0]),
        arrivals: ArrivalProcess::Poisson,
        fresh: false,
        slo_operation: None,
        slo_p99_ns: Some(1_000_000),
    });
    for load in [
        Load::Closed,
        Load::Rate(1_000.0),
        Load::Workers(2),
        Load::Ranks(2),
    ] {
        sweep.actual.sweep_steps.push(SweepStep {
            load,
            name: None,
            workers: 2,
            phases: sweep.actual.phases.clone(),
            of_run: Some(Box::new(SweepStepRun {
                fingerprint: sweep.fingerprint.clone(),
                origin: sweep.origin,
                during: sweep.during.clone(),
                room: sweep.room.clone(),
            })),
        });
    }
    vec![
        ("run", kept()),
        ("failed", failed),
        ("sweep", sweep),
        ("steady", steady()),
    ]
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a directory and their contents, sorted by name, without `.md` files.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|path| path.extension().is_none_or(|extension| extension != "md"));
    let read = files.into_iter().map(|path| {
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    });
    read.collect()
}

/// If POSTMARK_WRITE_GOLDEN is set, the test writes the seeds.
#[test]
fn fuzzing_seeds_are_valid_records() {
    let directory = root().join("fuzz/seeds/import");
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        for (name, record) in records() {
            std::fs::write(
                directory.join(format!("{name}.json")),
                verdict::to_json(&record),
            )
            .unwrap();
        }
    }
    let mut seeds = files(&directory);
    // Submissions are tested in `cli/tests/all/hostile.rs`.
    seeds.retain(|(path, _)| !path.ends_with("submission.json"));
    assert_eq!(seeds.len(), records().len());
    for (path, seed) in seeds {
        assert!(import(&seed), "{}", path.display());
    }
}

#[test]
fn inputs_found_by_fuzzing_are_processed_without_failure() {
    for (path, find) in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/finds/import")) {
        println!("{}", path.display());
        import(&find);
    }
}

/// Collects the JSON pointers of all strings in a document.
fn strings(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(place.to_owned()),
        Value::Array(list) => {
            for (index, element) in list.iter().enumerate() {
                strings(element, &format!("{place}/{index}"), found);
            }
        }
        Value::Object(object) => {
            for (name, field) in object {
                strings(field, &format!("{place}/{name}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn record_with_hostile_strings_is_shown_harmlessly() {
    for (name, record) in records() {
        let mut document: Value = serde_json::from_str(&verdict::to_json(&record)).unwrap();
        let mut places = Vec::new();
        strings(&document["record"], "/record", &mut places);
        let mut hostile = 0;
        for place in &places {
            let string = document.pointer_mut(place).unwrap();
            let kept = std::mem::replace(string, Value::String(HOSTILE.to_owned()));
            // The record is refused if this string must be a known name, for example of an engine.
            // In this case the original string is restored.
            match Record::from_json(&document.to_string()) {
                Ok(_) => hostile += 1,
                Err(error) => {
                    assert!(
                        matches!(
                            error,
                            ReadError::NoRecord { .. } | ReadError::Impossible { .. }
                        ),
                        "{error}"
                    );
                    *document.pointer_mut(place).unwrap() = kept;
                }
            }
        }
        assert!(hostile > 60, "{name}: {hostile} of {}", places.len());
        let text = document.to_string();
        assert!(import(text.as_bytes()));
        let record = Record::from_json(&text).unwrap();
        let mut shown = everything(&record);
        shown.push(paged::shown(&record));
        shown[0].shows("\\x1b[2J\\x1b]0;x\\x07\\u{9b}31m\\u{202e}");
        // No line starts with the forged text, and the host name is read back unchanged.
        shown[0].assert(!shown[0].lines().any(|line| line.starts_with("Forged")));
        assert_eq!(record.host.hostname, HOSTILE);
        assert_eq!(Record::from_json(&shown[1]).unwrap().host.hostname, HOSTILE);
    }
}

/// Returns the error for the stored record after the value at the JSON pointer `place` was
/// replaced.
fn refused(place: &str, other: Value) -> String {
    let mut document: Value = serde_json::from_str(RUN).unwrap();
    *document.pointer_mut(place).unwrap() = other;
    let text = document.to_string();
    import(text.as_bytes());
    match Record::from_json(&text) {
        Ok(_) => panic!("{place} was taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn impossible_value_is_refused_with_the_name_of_its_field() {
    let phase = "/record/actual/phases/1";
    let first = "record.actual.phases[1]";
    for (place, other, field, why) in [
        (
            format!("{phase}/segments/0/ended_ns"),
            Value::from(0),
            format!("{first}.segments[0].ended_ns"),
            "before",
        ),
        (
            format!("{phase}/segments/0/ended_ns"),
            Value::from(u64::MAX),
            format!("{first}.segments[0].ended_ns"),
            "more than",
        ),
        (
            format!("{phase}/workers/0/ended_ns"),
            Value::from(0),
            format!("{first}.workers[0].ended_ns"),
            "before",
        ),
        (
            format!("{phase}/phase"),
            Value::from("prepare"),
            "record.actual.phases".to_owned(),
            "twice",
        ),
        (
            format!("{phase}/segments/0/transactions"),
            Value::from(-1),
            format!("{first}.segments[0].transactions"),
            "-1",
        ),
        (
            "/record/spec/workload/work/files".to_owned(),
            Value::from(u64::MAX),
            "record.spec.workload".to_owned(),
            "at most",
        ),
        (
            "/record/actual/classic/bytes_read".to_owned(),
            Value::from(1e300),
            "record.actual.classic.bytes_read".to_owned(),
            "1e300 is not from 0.0 to",
        ),
        (
            "/record/actual/classic/bytes_read".to_owned(),
            Value::from(-1.0),
            "record.actual.classic.bytes_read".to_owned(),
            "-1",
        ),
        (
            "/record/actual/classic/created_alone".to_owned(),
            Value::from(u64::MAX),
            "record.actual.classic.created_mixed".to_owned(),
            "2^64",
        ),
    ] {
        let told = refused(&place, other);
        assert!(
            told.contains(&field) && told.contains(why),
            "{place}: {told}"
        );
    }
}

#[test]
fn record_whose_totals_overflow_is_refused() {
    for place in [
        "issued",
        "transactions",
        "skipped/at_maximum_size",
        "operations/0/meter/operations",
        "operations/0/meter/bytes",
    ] {
        let mut document: Value = serde_json::from_str(RUN).unwrap();
        for phase in 0..2 {
            let place = format!("/record/actual/phases/{phase}/segments/0/{place}");
            *document.pointer_mut(&place).unwrap() = Value::from(u64::MAX);
        }
        let told = Record::from_json(&document.to_string())
            .unwrap_err()
            .to_string();
        told.shows("record.actual.phases[1].segments[0]")
            .shows("2^64");
    }
}

#[test]
fn record_of_a_run_of_a_century_is_processed_in_time() {
    let mut record = over_time(built::shared(&kept()));
    for phase in &mut record.actual.phases {
        phase.first_done = None;
        phase.segments.last_mut().unwrap().ended_ns = 1 << 62;
    }
    assert!(import(verdict::to_json(&record).as_bytes()));
}

#[test]
fn record_with_the_maximum_number_of_locations_is_readable() {
    let mut record = kept();
    record.locations = vec![record.locations[0].clone(); LOCATIONS_MAX];
    assert!(import(verdict::to_json(&record).as_bytes()));
    record.locations.push(record.locations[0].clone());
    let told = Record::from_json(&verdict::to_json(&record))
        .unwrap_err()
        .to_string();
    told.shows("record.locations")
        .shows("there are at most 16384");
}

#[test]
fn invalid_records_are_refused_with_one_line() {
    let deep = format!("{{\"record\":{}{}}}", "[".repeat(300), "]".repeat(300));
    let hostile = format!(
        "{{\"record\":{{\"schema\":\"{}\"}}}}",
        "\u{202e}".repeat(10_000)
    );
    for text in [
        "",
        "{",
        "null",
        "\u{feff}{}",
        "[]",
        "{\"record\":null}",
        "{\"record\":{}} x",
        &deep,
        &hostile,
    ] {
        assert!(!import(text.as_bytes()), "{text:?}");
    }
    assert!(!import(b"\xff\xfe"));
    let trailing = format!("{RUN} x");
    assert!(
        Record::from_json(&trailing)
            .unwrap_err()
            .to_string()
            .contains("trailing")
    );
}

/// The number of values in a document.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(object) => object.values().map(count).sum(),
        _ => 0,
    }
}

/// The value with this index, in the order of the document.
fn at<'a>(value: &'a mut Value, number: &mut usize) -> Option<&'a mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(list) => list.iter_mut().find_map(|element| at(element, number)),
        Value::Object(object) => object.values_mut().find_map(|field| at(field, number)),
        _ => None,
    }
}

#[derive(Clone, Debug)]
enum Mutation {
    Replace(Value),
    /// Removes the first element of an array or the first field of an object.
    Shorten,
    /// Repeats the last element of an array this many times.
    Repeat(usize),
    /// Replaces the value by another value of the document.
    Copy(prop::sample::Index),
    /// Adds this value to a number.
    Add(i64),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let extremes = prop::sample::select(vec![
        Value::Null,
        Value::from(true),
        Value::from(0),
        Value::from(1),
        Value::from(-1),
        Value::from(1_u64 << 53),
        Value::from(1_u64 << 62),
        Value::from(u64::MAX),
        Value::from(u64::MAX - 1),
        Value::from(i64::MIN),
        Value::from(0.5),
        Value::from(-0.0),
        Value::from(f64::MAX),
        Value::from(f64::MIN),
        Value::from(f64::MIN_POSITIVE),
        Value::from(1e40),
        Value::from(""),
        Value::from(HOSTILE),
        Value::from("not_applicable"),
        serde_json::json!({"unavailable": HOSTILE}),
        serde_json::json!({"known": u64::MAX}),
        Value::from("x".repeat(100_000)),
        serde_json::json!([]),
        serde_json::json!({}),
    ]);
    prop_oneof![
        4 => extremes.prop_map(Mutation::Replace),
        1 => any::<u64>().prop_map(|number| Mutation::Replace(Value::from(number))),
        1 => any::<f64>().prop_map(|number| Mutation::Replace(Value::from(number))),
        1 => any::<String>().prop_map(|text| Mutation::Replace(Value::from(text))),
        1 => Just(Mutation::Shorten),
        1 => (2_usize..40).prop_map(Mutation::Repeat),
        2 => any::<prop::sample::Index>().prop_map(Mutation::Copy),
        1 => prop_oneof![-3_i64..4, any::<i64>()].prop_map(Mutation::Add),
    ]
}

fn mutate(document: &mut Value, place: prop::sample::Index, mutation: Mutation) {
    let all = count(document);
    let other = match &mutation {
        Mutation::Copy(other) => at(&mut document.clone(), &mut other.index(all)).cloned(),
        _ => None,
    };
    let Some(value) = at(document, &mut place.index(all)) else {
        return;
    };
    match (mutation, value) {
        (Mutation::Replace(other), value) => *value = other,
        (Mutation::Copy(_), value) => *value = other.unwrap_or_default(),
        (Mutation::Shorten, Value::Array(list)) if !list.is_empty() => drop(list.remove(0)),
        (Mutation::Shorten, Value::Object(object)) => {
            let first = object.keys().next().cloned();
            first.and_then(|name| object.remove(&name));
        }
        (Mutation::Repeat(times), Value::Array(list)) => {
            if let Some(last) = list.last().cloned() {
                list.extend(std::iter::repeat_n(last, times));
            }
        }
        (Mutation::Add(more), value) => {
            if let Some(number) = value.as_u64() {
                *value = Value::from(number.wrapping_add_signed(more));
            }
        }
        _ => {}
    }
}

fn documents() -> Vec<Value> {
    let mut all: Vec<Value> = records()
        .iter()
        .map(|(_, record)| serde_json::from_str(&verdict::to_json(record)).unwrap())
        .collect();
    for document in &mut all {
        document.as_object_mut().unwrap().remove("summary");
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_shrink_iters: 200,
        ..ProptestConfig::default() })]

    /// A document gets at most three mutations, because one invalid value hides the effects of all
    /// others.
    #[test]
    fn mutated_records_are_refused_or_shown_harmlessly(
        which in any::<prop::sample::Index>(),
        mutations in prop::collection::vec((any::<prop::sample::Index>(), mutation()), 1..4),
    ) {
        thread_local!(static DOCUMENTS: Vec<Value> = documents());
        let mut document = DOCUMENTS.with(|all| which.get(all).clone());
        for (place, mutation) in mutations {
            mutate(&mut document, place, mutation);
        }
        let text = document.to_string();
        if import(text.as_bytes()) {
            prop_assert!(paged::show(text.as_bytes()));
        }
    }
}
