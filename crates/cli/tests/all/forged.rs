//! Records with changed values, and with a summary that agrees with them. `postmark check` must
//! find the change by contradictions within the record.
//!
//! `POSTMARK_FORGERIES` sets the number of random changes. `POSTMARK_FORGERIES_SEED` selects other
//! random changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use record::Record;
use serde_json::{Value, json};
use testkit::{Random, number_of, rows};

use crate::support::interface::{postmark, program};
use crate::support::{Running, TestDir};

/// Default number of random changes, spread over records of all kinds.
const DRAWN: usize = 400;
/// Minimum share of random changes that `postmark check` must find. It finds 94 to 95 % of many;
/// which fields are drawn depends on what the kernel offers, so the share of 400 varies (sd 1.1 %).
const FOUND_MIN: f64 = 0.9;

/// Fields whose changes cannot be found, because no other field of the record depends on them. Each
/// has a reason.
const FREE: &str = "
    .id | a hash of what is not in the record, too
    .schema | other versions are refused
    .tool.version | records of other versions have other command lines
    .host.hostname | a name
    .host.kernel. | names of the kernel
    .host.operating_system | a name
    .host.boot_id | a random identity
    .host.uptime_seconds | a container has another than its clock
    .host.load_average. | the load before the run
    .host.processors.model | a name
    .host.processors.sockets | what else has sockets is not recorded
    .host.processors.hypervisor | as above
    .host.emulated | as above
    .host.memory_ | sizes of the machine
    .host.swap_total_bytes | as above
    .host.cgroup. | as above
    .host.steal_fraction_since_boot | of the time before the run
    .host.transparent_hugepage | a setting
    .host.clock_sources_available | names
    .origin.monotonic_ns | moments count from it, and no other clock of that boot is recorded
    .origin.uncertainty_ns | how well two clocks were read
    .during.clocks.uncertainty_ns | as above
    .during.busiest. | other programs
    .locations[].target.known.mount.known. | identities and options of the mount
    .hints | sentences about the options
    .waiting_ns | waits for a processor, which no other counter has
    .why | reasons in words
    .unavailable | as above
    .message | as above
    .canonical_path | a path may have symbolic links anywhere
    .room.exact | how the room was reckoned
    .room.volumes[].available_ | others fill and empty a file system meanwhile
    .space.known.inodes_ | as above
    .space.known.device. | an identity
    .synchronous.known | a setting of the mount
    .host.processors.online | a container may see other ones than it uses
    .host.processors.usable | as above
    .host.page_size_bytes | a size of the machine
    .overhead.known.transactions | of runs of its own, which are not recorded
    .overhead.known.operations | as above
    .overhead.known.ns_per_operation | as above
    context_switches | a count that the kernel makes once
    _faults | as above
    .during.counted.threads.known.count | as above
    max_resident_bytes | as above
    .system.total_ns[] | the time of processors that come and go
    .during.counted.system.dirty_bytes | a state at one moment
    .during.counted.system.running_tasks | as above
    .during.counted.system.blocked_tasks | as above
    .machine.threads.known[].name | a name
    .during.counted.resident_bytes | as above
    .syncing.own. | what the process was charged with, which no device need have done
    .residency. | a sample of the page cache
    .check.known.duration_ns | how long a look took that has no other moments
    .pauses.shortest_ns | a threshold of the program
    [].tid | an identity
    .each[].name | a name
    .machine.unknown | what could not be read
    .synchronous_directories | a setting of the mount
    .space_back_ns | how long a wait took that has no other moments
    .performing.own. | what the process was charged with, as above
    .threads.known[].cpu_ns[] | times of threads that have ended are recorded once
";

/// Performs a run with these options, and returns its record.
fn record_of(test_dir: &TestDir, name: &str, options: &str) -> Value {
    let mut command = Running::command(program());
    let words = format!(
        "run --quiet --archive none --format json --output {name} --target target {options}"
    );
    command
        .args(words.split_whitespace())
        .current_dir(test_dir.path());
    Running::run_to_end(command, test_dir.path()).code(0);
    let text = fs::read_to_string(test_dir.path().join(name)).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["record"].take()
}

/// The record with a summary derived from it. `None` if the record cannot be read.
fn with_summary(record: &Value) -> Option<String> {
    let text = json!({ "record": record }).to_string();
    Some(verdict::to_json(&Record::from_json(&text).ok()?))
}

/// Runs `postmark check`. For each record, returns the first rule that it breaks, `None` if it
/// breaks no rule, or `not read` if it is no valid record.
fn found(test_dir: &TestDir, forged: &[Value]) -> Vec<Option<String>> {
    let mut answers: Vec<Option<String>> = vec![Some("not read".to_owned()); forged.len()];
    let mut command = postmark("check --format json");
    command.current_dir(test_dir.path());
    let mut checked = Vec::new();
    for (number, record) in forged.iter().enumerate() {
        if let Some(text) = with_summary(record) {
            let name = format!("forged-{number}.json");
            fs::write(test_dir.path().join(&name), text).unwrap();
            command.arg(name);
            checked.push(number);
        }
    }
    let ended = Running::run_to_end(command, test_dir.path());
    let lines: Vec<Value> = ended
        .output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), checked.len());
    for (number, line) in checked.into_iter().zip(lines) {
        assert_eq!(
            line["differences"]["first"],
            json!([]),
            "the summary was derived: {line}"
        );
        answers[number] = line["broken"][0]["rule"].as_str().map(str::to_owned);
    }
    answers
}

fn transactions(record: &mut Value) -> &mut Value {
    let phases = record["actual"]["phases"].as_array_mut().unwrap();
    phases
        .iter_mut()
        .find(|phase| phase["phase"] == "transactions")
        .unwrap()
}

fn measured(record: &mut Value) -> &mut Value {
    let segments = transactions(record)["segments"].as_array_mut().unwrap();
    segments
        .iter_mut()
        .find(|segment| segment["kind"] == "measured")
        .unwrap()
}

fn meters(record: &mut Value) -> impl Iterator<Item = &mut Value> {
    let operations = measured(record)["operations"].as_array_mut().unwrap();
    operations
        .iter_mut()
        .map(|operation| &mut operation["meter"])
}

fn change(value: &mut Value, by: impl Fn(u64) -> u64) {
    *value = json!(by(value.as_u64().unwrap()));
}

fn workers(record: &mut Value) -> impl Iterator<Item = &mut Value> {
    transactions(record)["workers"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
}

/// Shortens the measured time by `tenths` tenths. Moves all times at the end of the measurement
/// back by the same amount.
fn shorter(record: &mut Value, tenths: u64) {
    let segment = measured(record);
    let (began, ended) = (
        segment["began_ns"].as_u64().unwrap(),
        segment["ended_ns"].as_u64().unwrap(),
    );
    let cut = (ended - began) * tenths / 10;
    change(&mut segment["ended_ns"], |ns| ns - cut);
    workers(record).for_each(|worker| change(&mut worker["ended_ns"], |ns| ns - cut));
    change(&mut transactions(record)["first_done"]["at_ns"], |ns| {
        ns - cut
    });
}

fn times(record: &mut Value, factor: u64) {
    for name in ["transactions", "issued"] {
        change(&mut measured(record)[name], |count| count * factor);
        workers(record).for_each(|worker| change(&mut worker[name], |count| count * factor));
    }
    change(&mut transactions(record)["first_done"]["done"], |count| {
        count * factor
    });
}

/// Divides all latencies by 4: the histogram's buckets, and with `with_sums` also the exact sum,
/// minimum and maximum.
fn faster(record: &mut Value, with_sums: bool) {
    for meter in meters(record) {
        let latency = &mut meter["latency"];
        for bucket in latency["buckets"].as_array_mut().unwrap() {
            change(&mut bucket[0], |index| index.saturating_sub(256));
        }
        for name in ["sum_ns", "min_ns", "max_ns"] {
            if with_sums {
                change(&mut latency[name], |ns| ns / 4);
            }
        }
    }
}

/// Halves all points in time of the run.
fn halved(value: &mut Value) {
    const PHASES: [&str; 4] = ["began_ns", "ended_ns", "at_ns", "latest_ns"];
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_u64() {
                    Some(ns) if PHASES.contains(&name.as_str()) => *field = json!(ns / 2),
                    _ => halved(field),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(halved),
        _ => {}
    }
}

type Forge = fn(&mut Value);

/// Changes that make the main results look better. Each was found in an audit and has a name.
const FORGERIES: [(&str, Forge); 40] = [
    ("time halved", |record| shorter(record, 5)),
    ("time a tenth", |record| shorter(record, 9)),
    ("began later", |record| {
        let segment = measured(record);
        let half =
            (segment["ended_ns"].as_u64().unwrap() - segment["began_ns"].as_u64().unwrap()) / 2;
        change(&mut segment["began_ns"], |ns| ns + half);
        let warm_up = &mut transactions(record)["segments"][0];
        change(&mut warm_up["ended_ns"], |ns| ns + half);
        workers(record).for_each(|worker| change(&mut worker["began_ns"], |ns| ns + half));
    }),
    ("transactions doubled", |record| {
        change(&mut measured(record)["transactions"], |count| count * 2);
    }),
    ("transactions of workers doubled", |record| times(record, 2)),
    ("transactions times four", |record| times(record, 4)),
    ("skipped added", |record| {
        let count = measured(record)["issued"].as_u64().unwrap();
        change(&mut measured(record)["issued"], |issued| issued * 2);
        measured(record)["skipped"]["pool_empty"] = json!(count);
        workers(record).for_each(|worker| change(&mut worker["issued"], |issued| issued * 2));
    }),
    ("buckets shifted", |record| faster(record, false)),
    ("latencies a quarter", |record| faster(record, true)),
    ("sums halved", |record| {
        meters(record).for_each(|meter| change(&mut meter["latency"]["sum_ns"], |ns| ns / 2));
    }),
    ("greatest cut", |record| {
        meters(record).for_each(|meter| change(&mut meter["latency"]["max_ns"], |ns| ns * 2 / 3));
    }),
    ("tail moved", |record| {
        for meter in meters(record) {
            let buckets = meter["latency"]["buckets"].as_array_mut().unwrap();
            let last = buckets.len() - 1;
            let moved = buckets.remove(last)[1].as_u64().unwrap();
            change(&mut buckets[0][1], |count| count + moved);
        }
    }),
    ("bytes doubled", |record| {
        meters(record).for_each(|meter| change(&mut meter["bytes"], |bytes| bytes * 2));
    }),
    ("bytes of workers doubled", |record| {
        meters(record).for_each(|meter| change(&mut meter["bytes"], |bytes| bytes * 2));
        workers(record).for_each(|worker| change(&mut worker["bytes"], |bytes| bytes * 2));
    }),
    ("failures without errors", |record| {
        meters(record).for_each(|meter| meter["failed"] = json!(5));
    }),
    ("many failures", |record| {
        measured(record)["operations"][0]["meter"]["failed"] = json!(1_000)
    }),
    ("more failures", |record| {
        measured(record)["operations"][0]["meter"]["failed"] = json!(20_000)
    }),
    ("outcome", |record| {
        record["actual"]["outcome"] = json!({"interrupted": {"signal": 2}})
    }),
    ("durability", |record| {
        record["spec"]["durability"] = json!("fsync+dir")
    }),
    ("storage", |record| record["spec"]["storage"] = json!("raw")),
    ("direct", |record| record["spec"]["direct"] = json!(true)),
    ("cache", |record| record["spec"]["cache"] = json!("cold")),
    ("seed", |record| {
        record["spec"]["workload"]["work"]["seed"] = json!(7)
    }),
    ("files", |record| {
        record["spec"]["workload"]["work"]["files"] = json!(100_000)
    }),
    ("sizes", |record| {
        record["spec"]["workload"]["work"]["sizes"] = json!("500..3000")
    }),
    ("fingerprint", |record| {
        record["fingerprint"] = json!("xxh3-128:00000000000000000000000000000000");
    }),
    ("pace", |record| {
        record["spec"]["drive"]["pace"] =
            json!({"open": {"per_second": 500.0, "arrivals": "poisson"}});
    }),
    ("a longer stop", |record| {
        record["spec"]["drive"]["stop"]["after_ns"] = json!(100_000_000_000_u64)
    }),
    ("warm-up measured", |record| {
        transactions(record)["segments"][0]["kind"] = json!("measured")
    }),
    ("warm-up dropped", |record| {
        transactions(record)["segments"]
            .as_array_mut()
            .unwrap()
            .remove(0);
    }),
    ("file system", |record| {
        let text = record["locations"]
            .to_string()
            .replace("\"tmpfs\"", "\"ext4\"");
        record["locations"] = serde_json::from_str(&text).unwrap();
    }),
    ("processors", |record| {
        record["host"]["processors"]["online"] = json!({"known": 64})
    }),
    ("overhead", |record| {
        let overhead = &mut record["actual"]["overhead"]["known"];
        for name in ["files", "transactions", "operations"] {
            change(&mut overhead[name], |count| (count / 10).max(1));
        }
    }),
    ("busiest emptied", |record| {
        record["during"]["busiest"] = json!({"known": []})
    }),
    ("machine dropped", |record| {
        let phases = record["actual"]["phases"].as_array_mut().unwrap();
        phases
            .iter_mut()
            .for_each(|phase| phase["machine"] = Value::Null);
    }),
    ("slices exchanged", |record| {
        let slices = &mut transactions(record)["slices"]["slices"];
        let (one, other) = (slices[0]["meters"].take(), slices[1]["meters"].take());
        (slices[0]["meters"], slices[1]["meters"]) = (other, one);
    }),
    ("check", |record| {
        record["actual"]["check"]["known"]["names"] = json!(1)
    }),
    ("sync", |record| {
        let sync = &mut transactions(record)["sync"];
        sync["ended_ns"] = json!(sync["began_ns"].as_u64().unwrap() + 1);
    }),
    ("slowest emptied", |record| {
        transactions(record)["slowest"] = json!([])
    }),
    ("all moments halved", |record| halved(&mut record["actual"])),
];

/// Maximum number of forgeries that the check may miss. A forgery cannot be found if it also
/// changes every field that depends on the forged value.
const PASS_MAX: usize = 4;

const LONG: &str = "--mix read=6,create=2,delete=2 --files 300 --transactions 500k --for 2500ms \
                    --warm-up 500ms --calls --workers 2 --durability fsync";

#[test]
fn check_finds_forgeries_that_improve_results() {
    let test_dir = TestDir::in_memory();
    test_dir.directory("target");
    let base = record_of(&test_dir, "base.json", LONG);
    assert_eq!(
        found(&test_dir, std::slice::from_ref(&base)),
        [None],
        "the record itself breaks no rule"
    );
    let forged: Vec<Value> = FORGERIES
        .iter()
        .map(|(name, forge)| {
            let mut record = base.clone();
            forge(&mut record);
            assert_ne!(record, base, "{name}");
            record
        })
        .collect();
    let found = found(&test_dir, &forged);
    let names = FORGERIES.iter().map(|(name, _)| *name);
    let passed: Vec<&str> = names
        .zip(&found)
        .filter(|(_, rule)| rule.is_none())
        .map(|(name, _)| name)
        .collect();
    assert!(passed.len() <= PASS_MAX, "{passed:?}");
}

/// Collects the JSON pointers of all values except objects, lists and null. They are grouped by
/// field path, in which `[]` stands for a list index.
fn leaves(value: &Value, pointer: &str, field: &str, all: &mut BTreeMap<String, Vec<String>>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                leaves(
                    value,
                    &format!("{pointer}/{escaped}"),
                    &format!("{field}.{name}"),
                    all,
                );
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                leaves(
                    value,
                    &format!("{pointer}/{index}"),
                    &format!("{field}[]"),
                    all,
                );
            }
        }
        Value::Null => {}
        _ => all
            .entry(field.to_owned())
            .or_default()
            .push(pointer.to_owned()),
    }
}

fn is_free(field: &str) -> bool {
    rows(FREE).iter().any(|row| field.contains(row[0]))
}

/// Changes one random value of a record, but none of the [`FREE`] fields. Returns the field path
/// and the changed record, or `None` if the new value equals the old one. `others` contains, for
/// each field path, the texts of this field in all records.
fn forge(
    draws: &mut Random,
    record: &Value,
    others: &BTreeMap<String, BTreeSet<String>>,
) -> Option<(String, Value)> {
    let mut fields = BTreeMap::new();
    leaves(record, "", "", &mut fields);
    fields.retain(|field, _| !is_free(field));
    let (field, pointers) = fields.iter().nth(draws.index(fields.len()))?;
    let pointer = &pointers[draws.index(pointers.len())];
    let mut forged = record.clone();
    let (list, index) = pointer.rsplit_once('/')?;
    let kind = draws.index(5);
    let is_list = forged.pointer(list).is_some_and(Value::is_array);
    if kind == 4 && is_list {
        let list = forged.pointer_mut(list)?.as_array_mut()?;
        let index: usize = index.parse().ok()?;
        if draws.index(2) == 0 || list.len() < 2 {
            list.remove(index);
        } else {
            let next = (index + 1) % list.len();
            list.swap(index, next);
        }
    } else {
        let leaf = forged.pointer_mut(pointer)?;
        *leaf = match leaf {
            Value::Bool(is) => json!(!*is),
            Value::String(text) => {
                let mut others: Vec<&String> = others[field]
                    .iter()
                    .filter(|other| *other != text)
                    .collect();
                match others.len() {
                    0 => json!(format!("{text}2")),
                    count => json!(others.swap_remove(draws.index(count))),
                }
            }
            Value::Number(number) => match (number.as_u64(), number.as_f64()) {
                (Some(count), _) => json!(match kind {
                    0 => count.saturating_mul(2),
                    1 => count / 2,
                    2 => count + 1,
                    _ => count / 10,
                }),
                (None, Some(number)) => json!(match kind {
                    0 => number * 2.0,
                    1 => number / 2.0,
                    2 => number + 1.0,
                    _ => number / 10.0,
                }),
                (None, None) => return None,
            },
            _ => return None,
        };
    }
    (forged != *record).then(|| (field.clone(), forged))
}

#[test]
fn check_finds_random_changes_in_records() {
    let test_dir = TestDir::in_memory();
    test_dir.directory("target");
    let options = [
        LONG,
        "--files 200 --transactions 2000",
        "--mix read=6,create=2,delete=2,append=1 --files 200 --transactions 2000 --verify \
         --contents incompressible",
        "--rate 400 --for 2s --transactions 500k --mix read=3,create=1,delete=1 --files 100",
    ];
    let numbered = options.iter().enumerate();
    let records: Vec<Value> = numbered
        .map(|(number, options)| record_of(&test_dir, &format!("record-{number}.json"), options))
        .collect();
    assert!(
        found(&test_dir, &records).iter().all(Option::is_none),
        "the records themselves break no rule"
    );
    let mut others: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in &records {
        let mut fields = BTreeMap::new();
        leaves(record, "", "", &mut fields);
        for (field, pointers) in fields {
            let texts = pointers
                .iter()
                .filter_map(|pointer| record.pointer(pointer)?.as_str());
            others
                .entry(field)
                .or_default()
                .extend(texts.map(str::to_owned));
        }
    }
    let mut draws = Random(number_of("POSTMARK_FORGERIES_SEED", 29));
    let wanted = number_of("POSTMARK_FORGERIES", DRAWN as u64) as usize;
    let mut forged = Vec::new();
    while forged.len() < wanted {
        let record = &records[draws.index(records.len())];
        forged.extend(forge(&mut draws, record, &others));
    }
    let (fields, forged): (Vec<String>, Vec<Value>) = forged.into_iter().unzip();
    let found = found(&test_dir, &forged);
    let passed: Vec<&String> = fields
        .iter()
        .zip(&found)
        .filter(|(_, rule)| rule.is_none())
        .map(|(field, _)| field)
        .collect();
    let share = 1.0 - passed.len() as f64 / wanted as f64;
    println!(
        "{:.1} % of {wanted} found; not in {passed:?}",
        share * 100.0
    );
    assert!(
        share >= FOUND_MIN,
        "{:.1} % found; not in {passed:?}",
        share * 100.0
    );
}
