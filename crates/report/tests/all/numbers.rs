//! Numbers are the same on the page, in the JSON and in the text, for every kind of record. A row
//! of the page contains the exact value of the JSON, and a line of the text contains all cells of
//! this row.

use document::units::{latency, rate};
use measure::Histogram;
use record::{Action, ErrorRecord, Outcome, Phase, Record};
use serde_json::Value;
use verdict::{Level, Summary};

use crate::built;
use crate::noisy::noisy;
use crate::pages::{kept, over_time, page_of, swept};

/// A table cell: its text, and its exact value.
type Shown = (String, Option<f64>);

fn plain(html: &str) -> String {
    let text: String = html
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
        .collect();
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// The rows of all tables of a page.
fn rows(page: &str) -> Vec<Vec<Shown>> {
    let cell = |cell: &str| {
        let (tag, rest) = cell.split_once('>')?;
        let value = tag
            .split_once("data-value=\"")
            .and_then(|(_, value)| value.split_once('"')?.0.parse().ok());
        Some((plain(rest), value))
    };
    let rows = page
        .split("<tr>")
        .skip(1)
        .map(|row| row.split_once("</tr>").unwrap().0);
    rows.map(|row| {
        let cells = row.replace("<th", "<td");
        cells.split("<td").filter_map(cell).collect()
    })
    .collect()
}

/// Whether `line` contains all `words` in order.
fn has(line: &str, words: &[&str]) -> bool {
    let mut rest = line;
    words.iter().all(|word| match rest.split_once(word) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// Checks that a row named `name` on the page contains all `values`, and that a line of the text
/// contains all cells of such a row.
fn same(what: &str, (page, text): (&[Vec<Shown>], &str), name: &str, values: &[f64]) {
    let is_near = |one: f64, other: f64| (one - other).abs() <= one.abs() * 1e-9;
    let has_values = |row: &&Vec<Shown>| {
        let mut left = row.iter().filter_map(|(_, value)| *value);
        values.iter().all(|wanted| {
            left.any(|value| is_near(value, *wanted) || is_near(value * 1e3, *wanted))
        })
    };
    let of_name = |row: &&Vec<Shown>| row.iter().any(|(shown, _)| shown == name);
    let found: Vec<&Vec<Shown>> = page.iter().filter(of_name).filter(has_values).collect();
    assert!(!found.is_empty(), "{what}: no row of {name} has {values:?}");
    let is_told = found.iter().any(|row| {
        let shown: Vec<&str> = row
            .iter()
            .map(|(shown, _)| shown.as_str())
            .filter(|shown| !shown.is_empty())
            .collect();
        text.lines().any(|line| has(line, &shown))
    });
    assert!(
        is_told,
        "{what}: no line of the text has a row of {name}: {found:?}"
    );
}

fn numbers(value: &Value, keys: &[&str]) -> Vec<f64> {
    keys.iter().filter_map(|key| value[key].as_f64()).collect()
}

/// Compares all numbers of a record; returns the number of compared rows.
fn compare(what: &str, record: &Record) -> usize {
    let json: Value = serde_json::from_str(&verdict::to_json(record)).unwrap();
    let summary = &json["summary"];
    let page = page_of(record);
    let (shown, _) = page.split_once("<script").unwrap();
    let text = report::text::render(record).replace('\u{a0}', " ");
    let all = rows(shown);
    let both = (&all[..], &text[..]);
    let verdict = summary["verdict"]["level"].as_str().unwrap().to_uppercase();
    let strip = plain(
        shown
            .split_once("<section")
            .unwrap()
            .1
            .split_once("</section>")
            .unwrap()
            .0,
    );
    assert!(
        strip.contains(&verdict) && text.contains(&verdict),
        "{what}: {verdict}"
    );
    let mut compared = 0;
    for phase in summary["phases"].as_array().unwrap() {
        for operation in phase["operations"].as_array().unwrap() {
            let action = operation["action"].as_str().unwrap();
            let name = action.replace('_', "-");
            let values = numbers(
                &operation["latency_ns"],
                &["mean", "p50", "p90", "p95", "p99", "p99_9", "max"],
            );
            if !values.is_empty() {
                same(what, both, &name, &values);
                compared += 1;
            }
            let done = &operation["operations"];
            same(what, both, &name, &numbers(done, &["count", "per_second"]));
        }
    }
    if let Some(per_second) = summary["transactions"]["per_second"].as_f64() {
        let achieved = rate(Some(per_second));
        assert!(
            strip.contains(&achieved) && text.contains(&achieved),
            "{what}: {achieved}"
        );
        if let Some(p99) = summary["transactions"]["latency_ns"]["p99"].as_f64() {
            assert!(strip.contains(&latency(p99)), "{what}: {p99}");
        }
        compared += 1;
    }
    for step in summary["sweep"]["sweep_steps"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let requested = rate(step["load"]["rate"].as_f64());
        let values = numbers(
            step,
            &[
                "achieved_per_second",
                "mean_ns",
                "p50_ns",
                "p99_ns",
                "p999_ns",
                "max_ns",
            ],
        );
        same(what, both, &requested, &values);
        compared += 1;
    }
    compared
}

/// A record whose transactions are measured from their due times.
fn open() -> Record {
    let mut record = over_time(40, &[Action::Read, Action::Append]);
    for phase in &mut record.actual.phases {
        let operations = phase
            .segments
            .iter_mut()
            .flat_map(|segment| &mut segment.operations);
        for operation in operations.filter(|_| phase.phase == Phase::Transactions) {
            let mut response = Histogram::default();
            for (ns, count) in operation.meter.latency.durations() {
                (0..count).for_each(|_| response.record(ns * 3));
            }
            operation.meter.service =
                Some(std::mem::replace(&mut operation.meter.latency, response));
        }
    }
    record
}

fn failed() -> Record {
    let mut record = built::private(&kept());
    record.actual.phases.truncate(2);
    record.actual.phases[1].complete = false;
    record.actual.outcome = Outcome::Failed {
        why: "create: Input/output error".to_owned(),
    };
    record
}

/// The record of a failed run with errors, so that its verdict is INVALID.
fn invalid() -> Record {
    let mut record = failed();
    let first: Vec<ErrorRecord> = built::shared(&kept()).actual.errors;
    record.actual.errors = first;
    record
}

#[test]
fn numbers_agree_between_page_json_and_text() {
    let base = built::private(&kept());
    let kinds = [
        ("classic", kept(), 4),
        ("private pools", base.clone(), 7),
        ("a mix on a shared pool", built::shared(&kept()), 10),
        (
            "over time",
            noisy(&base, 7, 60, &[Action::Read, Action::Append], 100),
            4,
        ),
        ("open loop", open(), 4),
        ("sweep", swept(), 4),
        ("failed", failed(), 4),
        ("INVALID", invalid(), 4),
    ];
    for (what, record, least) in kinds {
        let compared = compare(what, &record);
        println!("{what}: {compared}");
        assert!(compared >= least, "{what}: {compared} rows");
    }
    assert_eq!(Summary::of(&invalid()).verdict.level, Level::Invalid);
}

#[test]
fn page_shows_the_verdict_once() {
    for record in [kept(), open(), invalid()] {
        assert_eq!(page_of(&record).matches("<dt>Verdict</dt>").count(), 1);
    }
}

#[test]
fn check_of_page_detects_a_changed_number() {
    let record = kept();
    let page = page_of(&record);
    let all = rows(page.split_once("<script").unwrap().0);
    let text = report::text::render(&record).replace('\u{a0}', " ");
    let p50 = Summary::of(&record).operations["append"]
        .latency_ns
        .p50
        .unwrap() as f64;
    same("kept", (&all, &text), "append", &[p50]);
    for (page, text, value) in [
        (&all[..], &text[..], p50 + 1.0),
        (&all, "", p50),
        (&[], &text, p50),
    ] {
        let found = std::panic::catch_unwind(|| same("kept", (page, text), "append", &[value]));
        assert!(found.is_err());
    }
}
