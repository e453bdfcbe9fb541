//! Pages are complete and reproducible, show the same numbers as other views, and are harmless
//! whatever a record contains.

use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use document::{Block, Cell, Document, Picture};
use proptest::prelude::*;
use record::{
    Action, ArrivalProcess, Climb, Load, Meter, Outcome, Phase, Record, Role, SliceMeter, Slices,
    Sweep, SweepStep,
};
use report::page::{PAGE_BYTES_MAX, PageError, PageRun, fits, page, records};
use sha2::{Digest, Sha256};
use testkit::{Assert, Shows};
use verdict::Summary;

use crate::built;
use crate::paged::{is_well_formed, shown, without_script};

const RUN: &str = include_str!("../golden/run.json");
pub const HOSTILE: &str =
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}\u{0}&amp;";

pub fn kept() -> Record {
    Record::from_json(RUN).unwrap()
}

pub fn page_of(record: &Record) -> String {
    page(&[run(record, &verdict::to_json(record))])
}

/// A run without remarks.
pub fn run<'a>(record: &'a Record, json: &'a str) -> PageRun<'a> {
    PageRun {
        record,
        json,
        remarks: Document::default(),
        more: Document::default(),
    }
}

/// A record whose transactions have `slices` slices, each with all `actions`.
pub fn over_time(slices: u64, actions: &[Action]) -> Record {
    filled(built::private(&kept()), slices, actions)
}

fn filled(mut record: Record, slices: u64, actions: &[Action]) -> Record {
    for phase in &mut record.actual.phases {
        if phase.phase != Phase::Transactions {
            continue;
        }
        phase.slices = Slices::default();
        if let Some(segment) = phase.segments.last_mut() {
            segment.ended_ns = segment.began_ns + slices * 1_000_000_000;
        }
        for second in 0..slices {
            for (number, action) in (1..).zip(actions) {
                let meter = SliceMeter {
                    operations: 20,
                    bytes: 4_096,
                    failed: u64::from(second == 3),
                    latency: built::durations(20, 20_000 * number + second).take_sparse(),
                };
                phase.slices.add(second, (Role::Worker, *action), meter);
            }
        }
    }
    record
}

pub fn figures(document: &Document) -> Vec<&Picture> {
    let blocks = document.blocks().iter();
    let figures = blocks.filter_map(|block| match block {
        Block::Picture(figure) => Some(figure),
        _ => None,
    });
    figures.collect()
}

/// Compares a text with a golden file, or writes the file if POSTMARK_WRITE_GOLDEN is set.
pub fn compare(name: &str, golden: &str, text: &str) {
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).unwrap();
    }
    // Pages are long, so only the first different line is shown.
    let differing = text
        .lines()
        .zip(golden.lines())
        .find(|(one, other)| one != other);
    let start = |line: &str| line.chars().take(300).collect::<String>();
    let differing = differing.map(|(one, other)| (start(one), start(other)));
    assert!(text == golden, "{name}: {differing:#?}");
}

#[test]
fn page_of_the_kept_run_matches_its_golden_file() {
    let page = page_of(&kept());
    let (shown, _) = page.split_once("<script").unwrap();
    compare("page.html", include_str!("../golden/page.html"), shown);
    assert_eq!(
        page,
        page_of(&kept()),
        "the same record gives the same bytes"
    );
}

#[test]
fn charts_over_time_match_their_golden_file() {
    let document = report::page::document(&over_time(40, &[Action::Read, Action::Create]));
    let pictures: Vec<String> = figures(&document)
        .iter()
        .map(|figure| figure.svg.clone())
        .collect();
    compare(
        "pictures.svg",
        include_str!("../golden/pictures.svg"),
        &(pictures.join("\n") + "\n"),
    );
}

#[test]
fn rate_verdict_and_percentiles_on_the_page_match_the_json() {
    let record = kept();
    let json: serde_json::Value = serde_json::from_str(&verdict::to_json(&record)).unwrap();
    let per_second = json["summary"]["transactions"]["per_second"]
        .as_f64()
        .unwrap();
    let verdict = json["summary"]["verdict"]["level"].as_str().unwrap();
    let page = page_of(&record);
    page.shows(&document::units::rate(Some(per_second)));
    page.shows(&verdict.to_uppercase());
    let document = report::page::document(&record);
    let all = figures(&document);
    let table = all
        .iter()
        .find(|figure| figure.title.starts_with("Percentiles"))
        .unwrap();
    let shown = document::csv(&table.data, "\n");
    for (name, total) in Summary::of(&record).operations {
        if let Some(p50) = total.latency_ns.p50 {
            assert!(
                shown
                    .lines()
                    .any(|line| line.starts_with(&name) && line.contains(&format!(",{p50},"))),
                "{name}: {shown}"
            );
        }
    }
}

#[test]
fn rates_in_the_chart_over_time_match_the_counts_of_the_record() {
    let record = over_time(10, &[Action::Read]);
    let document = report::page::document(&record);
    let all = figures(&document);
    let rate = all
        .iter()
        .find(|figure| figure.title == "Rate over time")
        .unwrap();
    let rows = document::csv(&rate.data, "\n");
    assert_eq!(
        rows.lines().filter(|row| row.ends_with(",20")).count(),
        10,
        "{rows}"
    );
    rate.caption.shows("(1 failed)");
}

#[test]
fn embedded_records_are_read_back_exactly() {
    let json = verdict::to_json(&kept());
    let record = kept();
    let text = page(&[run(&record, &json), run(&record, &json)]);
    let mut read = String::new();
    records(text.as_bytes())
        .unwrap()
        .read_to_string(&mut read)
        .unwrap();
    assert_eq!(read, json.repeat(2));
    assert_eq!(records(b"<!DOCTYPE html><p>").err(), Some(PageError::None));
    let at = text.find("application/vnd").unwrap();
    assert_eq!(
        records(&text.as_bytes()[..at + 200]).err(),
        Some(PageError::Damaged)
    );
    let spoilt = text.replace("id=\"records\">", "id=\"records\">!");
    assert_eq!(records(spoilt.as_bytes()).err(), Some(PageError::Damaged));
    // A page that is too long is refused, not truncated.
    let long = text + &" ".repeat(PAGE_BYTES_MAX);
    assert_eq!(fits(&long), Err(PageError::TooLong));
    assert_eq!(records(long.as_bytes()).err(), Some(PageError::TooLong));
}

/// A page with markup in every untrusted string.
pub fn hostile() -> String {
    let mut record = over_time(5, &[Action::Read]);
    record.host.hostname = HOSTILE.to_owned();
    record.spec.preset = Some(HOSTILE.to_owned());
    record.actual.outcome = Outcome::Failed {
        why: HOSTILE.to_owned(),
    };
    for location in &mut record.locations {
        location.directory = HOSTILE.to_owned();
    }
    let mut remarks = Document::default();
    remarks.words(HOSTILE);
    page(&[PageRun {
        record: &record,
        json: &verdict::to_json(&record),
        remarks,
        more: Document::default(),
    }])
}

#[test]
fn page_of_a_hostile_record_executes_and_fetches_nothing() {
    let text = hostile();
    assert_eq!(
        text.matches("<script").count(),
        2,
        "the records and the script of the page"
    );
    assert!(!text.contains("<img") && !text.contains("onerror=alert(1)>"));
    assert!(!text.contains('\u{202e}') && !text.contains('\u{0}'));
    assert!(!text.contains("href=\"http"), "nothing is fetched");
    assert!(text.contains("default-src 'none'"));
    is_well_formed(&without_script(&text));
}

#[test]
fn policy_allows_only_the_script_of_the_page() {
    let page = page_of(&kept());
    let (_, script) = page.split_once("<script>").unwrap();
    let (script, _) = script.split_once("</script>").unwrap();
    let hash = BASE64_STANDARD.encode(Sha256::digest(script));
    page.shows(&format!("script-src 'sha256-{hash}';"));
}

#[test]
fn pages_of_incomplete_records_state_what_is_missing() {
    let nothing = |mut record: Record| {
        record.actual.phases.clear();
        record.actual.outcome = Outcome::Unfinished;
        record
    };
    let no_slices = |mut record: Record| {
        record
            .actual
            .phases
            .iter_mut()
            .for_each(|phase| phase.slices = Slices::default());
        record
    };
    // Returns a record in which `meter` changed the meters of all operations.
    let done = |meter: fn(&mut Meter)| {
        let mut record = kept();
        let phases = record.actual.phases.iter_mut();
        let segments = phases.flat_map(|phase| &mut phase.segments);
        for operation in segments.flat_map(|segment| &mut segment.operations) {
            meter(&mut operation.meter);
        }
        record
    };
    let one = |meter: &mut Meter| {
        *meter = Meter::default();
        meter.count(1);
        meter.latency.record(1);
    };
    let failed = |meter: &mut Meter| {
        *meter = Meter {
            failed: meter.operations,
            ..Meter::default()
        }
    };
    for (what, record, words) in [
        (
            "killed",
            nothing(kept()),
            "the run ended before its first phase did",
        ),
        ("no slices", no_slices(kept()), "--no-series"),
        ("one slice", over_time(1, &[Action::Read]), "<circle"),
        ("shared", built::shared(&kept()), "Percentiles"),
        (
            "none",
            done(|meter| *meter = Meter::default()),
            "Percentiles",
        ),
        ("one of each", done(one), "ten must lie beyond the median"),
        ("all failed", done(failed), "ten must lie beyond the median"),
    ] {
        let page = without_script(&shown(&record));
        assert!(page.contains(words), "{what}");
    }
}

/// A sweep over three sustained rates, each with the same transactions.
pub fn swept() -> Record {
    let mut record = kept();
    let mut transactions = record.actual.phase(Phase::Transactions).unwrap().clone();
    transactions.caught_up_ns = transactions.segments.last().map(|last| last.ended_ns);
    record
        .actual
        .phases
        .retain(|phase| phase.phase != Phase::Transactions);
    record.spec.drive.sweep = Some(Sweep {
        climb: Climb::Rates(vec![500.0, 1_000.0, 2_000.0]),
        arrivals: ArrivalProcess::Poisson,
        fresh: false,
        slo_operation: None,
        slo_p99_ns: Some(1_000_000),
    });
    record.actual.sweep_steps = [500.0, 1_000.0, 2_000.0]
        .map(|rate| SweepStep {
            load: Load::Rate(rate),
            name: None,
            workers: 1,
            phases: vec![transactions.clone()],
            of_run: None,
        })
        .to_vec();
    record
}

#[test]
fn page_of_a_sweep_charts_latency_against_the_achieved_rate() {
    let record = swept();
    let document = report::page::document(&record);
    let all = figures(&document);
    let latency = all
        .iter()
        .find(|figure| figure.title == "Latency against the achieved rate")
        .unwrap();
    assert_eq!(
        latency.svg.matches("<path class=\"line").count(),
        4,
        "a line and its name for each percentile with enough operations"
    );
    let offered = all
        .iter()
        .find(|figure| figure.title == "Achieved against offered rate")
        .unwrap();
    let achieved = Summary::of(&record).sweep.unwrap().sweep_steps[2]
        .achieved_per_second
        .unwrap();
    let rows = document::csv(&offered.data, "\n");
    rows.shows(&format!("2000,{achieved},2000"));
    shown(&record);
}

#[test]
fn sweep_reports_rate_and_cache_hits_of_its_last_sustained_level() {
    let mut record = swept();
    for (number, step) in (1_u64..).zip(&mut record.actual.sweep_steps) {
        let phase = &mut step.phases[0];
        phase.evidence = Some(built::evidence(
            record::Fact::Known(number * 1_000),
            number * 40_960,
        ));
        for operation in phase
            .segments
            .iter_mut()
            .flat_map(|segment| &mut segment.operations)
        {
            operation.meter.service = Some(operation.meter.latency.clone());
        }
    }
    // The last load level never caught up with its arrivals.
    record.actual.sweep_steps[2].phases[0].caught_up_ns = None;
    let summary = Summary::of(&record);
    let steps = &summary.sweep.as_ref().unwrap().sweep_steps;
    assert!(steps[1].holds && !steps[2].holds);
    let page = shown(&record);
    let (strip, _) = page.split_once("</section>").unwrap();
    let rate = document::units::rate(steps[1].achieved_per_second);
    let said = format!(
        "at <strong class=\"headline\">{rate}</strong> transactions/s achieved (1,000 offered)"
    );
    strip.shows(&said);
    assert!(strip.contains("p99 service time") && !page.contains("in the JSON"));
    let document = report::page::document(&record);
    let all = figures(&document);
    let percentiles = all
        .iter()
        .find(|figure| figure.title == "Percentiles of response time by operation")
        .unwrap();
    percentiles
        .caption
        .shows("Of the last sustained level, 1,000 transactions/s.");
    let header = document::csv(&percentiles.data, "\n");
    header.assert(header.lines().next().unwrap().contains("p99 service time"));
    // The table has a row for each load level.
    let (_, served) = page.split_once("<h2>Served by</h2>").unwrap();
    let (served, _) = served.split_once("<h2>").unwrap();
    for load in ["500", "1,000", "2,000"] {
        served.shows(&format!("<th scope=\"row\">{load} transactions/s</th>"));
    }
}

#[test]
fn page_charts_timed_calls_and_shows_what_served_each_operation() {
    let record = built::shared(&kept());
    let document = report::page::document(&record);
    let all = figures(&document);
    let steps = all
        .iter()
        .find(|figure| figure.title == "System calls of the transactions")
        .unwrap();
    let data = document::csv(&steps.data, "\n");
    let summary = Summary::of(&record);
    let phase = summary.phase(Phase::Transactions).unwrap();
    let each = phase
        .operations
        .iter()
        .flat_map(|operation| &operation.steps);
    assert_eq!(data.lines().count(), 1 + each.clone().count(), "{data}");
    for step in each {
        let p50 = step.duration_ns.p50.unwrap();
        assert!(data.lines().any(
            |line| line.contains(&format!(",{},{},", step.step, step.count))
                && line.contains(&p50.to_string())
        ));
    }
    assert!(
        !figures(&report::page::document(&kept()))
            .iter()
            .any(|figure| figure.title.contains("System calls"))
    );
    let page = page_of(&record);
    assert!(page.contains("served by, of ") && page.contains("several kinds of operations"));
    let mut local = kept();
    for phase in &mut local.actual.phases {
        phase.evidence = Some(built::evidence(record::Fact::Known(0), 40_960));
    }
    let page = page_of(&local);
    assert!(
        page.contains("served by, of create in prepare"),
        "one kind: why it is not known"
    );
}

#[test]
fn page_contains_a_command_for_the_same_work() {
    let page = page_of(&kept());
    let (_, command) = page.split_once("<pre tabindex=\"0\">").unwrap();
    let (command, _) = command.split_once("</pre>").unwrap();
    command.begins_with("postmark run --");
    assert!(command.ends_with(" --target ."), "{command}");
    command.shows_all("--files= | --transactions=500 | --compat=1.5");
}

proptest! {
    #[test]
    fn any_text_on_a_page_is_escaped(text in "[ -~<>&\"'\\x00-\\x1f\u{202a}-\u{202e}]{0,40}") {
        let mut document = Document::default();
        document.title(text.clone());
        document.pair(0, &text, &text);
        let mut table = document::Table::new(1, &[&text]);
        table.row(vec![Cell::Text(text.clone())]);
        document.table(table);
        let html = document::html(&document);
        is_well_formed(&html);
        let is_bad = html.contains(['\u{0}', '\u{1b}', '\u{202e}']);
        prop_assert!(!is_bad);
    }
}
