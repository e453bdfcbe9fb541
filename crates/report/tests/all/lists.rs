//! Tests of lists and exports: which values they contain, and how they escape untrusted strings.

use std::collections::BTreeMap;

use record::{ArrivalProcess, Climb, Load, Outcome, Phase, Record, Sweep, SweepStep};
use report::{export, list};
use testkit::{Assert, Shows, kept};
use verdict::{Headline, Level, ListedRun, State};

fn entry(record: &Record) -> ListedRun {
    ListedRun {
        number: Some(12),
        headline: Headline::of(record),
        tags: Vec::new(),
        note: None,
    }
}

#[test]
fn list_fits_a_terminal_and_names_its_columns() {
    let record = kept();
    let mut second = entry(&record);
    second.number = Some(1_234);
    second.headline.host = "a-machine-with-a-long-name".to_owned();
    second.headline.preset = Some("web-cache".to_owned());
    second.headline.verdict = Level::Doubtful;
    second.headline.p99_ns = Some(1_234_567);
    let text = listed(&[entry(&record), second]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    let header: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(
        header,
        [
            "run", "begun", "(UTC)", "host", "on", "workload", "verdict", "trans/s", "p99"
        ]
    );
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(
        lines[2].contains("a-machin…") && lines[2].contains("1.23 ms"),
        "{text}"
    );
    assert_eq!(listed(&[]), "No runs\n");
    assert_eq!(list::json(&[]), "[]\n");
    let listed: Vec<ListedRun> = serde_json::from_str(&list::json(&[entry(&record)])).unwrap();
    assert_eq!(listed, [entry(&record)]);
}

#[test]
fn incomplete_runs_show_their_state_instead_of_a_verdict() {
    let mut record = kept();
    for (outcome, word) in [
        (Outcome::Unfinished, "unfinished"),
        (Outcome::Interrupted { signal: 2 }, "interrupted"),
        (Outcome::Failed { why: String::new() }, "failed"),
        (Outcome::PlaceGone { why: String::new() }, "place-gone"),
    ] {
        record.actual.outcome = outcome;
        let entry = entry(&record);
        assert_eq!(entry.headline.verdict, Level::Invalid);
        assert!(listed(std::slice::from_ref(&entry)).contains(word));
        assert!(list::markdown(std::slice::from_ref(&entry)).contains(word));
        assert!(list::csv(&[entry]).contains(&format!(",{word},")));
    }
    let mut going = entry(&record);
    going.headline.state = State::Going;
    assert!(listed(std::slice::from_ref(&going)).contains("running"));
    assert!(list::csv(&[going]).contains(",going,"));
}

#[test]
fn list_row_shows_the_measured_transactions() {
    let record = kept();
    let headline = Headline::of(&record);
    let transactions = record.actual.phase(Phase::Transactions);
    let transactions = transactions.unwrap();
    let rate = transactions.transactions() as f64 * 1e9 / transactions.measured_ns() as f64;
    assert_eq!(headline.transactions_per_second, Some(rate));
    assert!(headline.p99_ns.is_some());
    // For a sweep of workers, the row shows the sustained load level with the highest rate.
    let mut sweep = record.clone();
    sweep.spec.drive.sweep = Some(Sweep {
        climb: Climb::Workers(vec![1, 2]),
        arrivals: ArrivalProcess::Poisson,
        fresh: true,
        slo_operation: None,
        slo_p99_ns: None,
    });
    let mut slow = transactions.clone();
    slow.segments[0].transactions /= 2;
    let sweep_step = |workers, phase: &record::PhaseRecord| SweepStep {
        load: Load::Workers(workers),
        name: None,
        workers,
        phases: vec![phase.clone()],
        of_run: None,
    };
    sweep.actual.sweep_steps = vec![
        sweep_step(2, transactions),
        sweep_step(1, &slow),
        sweep_step(3, &slow),
    ];
    sweep
        .actual
        .phases
        .retain(|phase| phase.phase != Phase::Transactions);
    assert_eq!(Headline::of(&sweep).transactions_per_second, Some(rate));
    listed(&[entry(&sweep)]).shows("* load sweep: trans/s and p99");
    listed(&[entry(&record)]).does_not_show("*");
    list::markdown(&[entry(&sweep)]).shows("(sweep)");
    // For a sweep of rates, the row shows the load level at the saturation rate. The closed loop
    // that is measured before these levels is faster, but it has no offered rate.
    let mut rates = sweep.clone();
    rates.spec.drive.sweep.as_mut().unwrap().climb = Climb::OfClosedLoop(vec![0.5, 1.5]);
    let level = |load, caught_up_ns, phase: &record::PhaseRecord| SweepStep {
        load,
        name: None,
        workers: 1,
        phases: vec![record::PhaseRecord {
            caught_up_ns,
            ..phase.clone()
        }],
        of_run: None,
    };
    rates.actual.sweep_steps = vec![
        level(Load::Closed, None, transactions),
        level(Load::Rate(100.0), Some(u64::MAX), &slow),
        level(Load::Rate(300.0), None, transactions),
    ];
    let sustained = slow.transactions() as f64 * 1e9 / slow.measured_ns() as f64;
    let headline = Headline::of(&rates);
    assert_eq!(headline.transactions_per_second, Some(sustained));
    let rows = export::csv(&entry(&sweep), &sweep);
    let steps: Vec<&str> = rows
        .lines()
        .filter(|line| line.contains(",transactions,all,transaction,"))
        .collect();
    let by_load = [",2,workers,1,1,", ",1,workers,2,2,", ",3,workers,3,3,"];
    assert_eq!(steps.len(), by_load.len(), "{rows}");
    rows.assert(
        steps
            .iter()
            .zip(by_load)
            .all(|(row, step)| row.contains(step)),
    );
    // Without transactions there is no rate.
    let mut none = record;
    none.actual.phases.truncate(1);
    assert_eq!(Headline::of(&none).transactions_per_second, None);
    assert_eq!(Headline::of(&none).p99_ns, None);
}

#[test]
fn every_csv_row_has_the_columns_of_its_header() {
    let record = kept();
    let columns = |line: &str| line.matches(',').count();
    let csv = list::csv(&[entry(&record), entry(&record)]);
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.lines().all(|line| columns(line) == 17), "{csv}");
    let rows = export::csv(&entry(&record), &record);
    let header = export::CSV_HEADER.trim_end();
    assert!(rows.lines().count() >= 5);
    rows.assert(rows.lines().all(|line| columns(line) == columns(header)));
    assert_eq!(
        rows.matches(",transactions,all,transaction,").count(),
        1,
        "{rows}"
    );
    let row = rows
        .lines()
        .find(|line| line.contains(",transactions,worker,read,"))
        .unwrap();
    row.shows(",232,");
    let markdown = list::markdown(&[entry(&record)]);
    assert!(
        markdown.lines().all(|line| line.matches('|').count() == 13),
        "{markdown}"
    );
}

#[test]
fn untrusted_strings_are_escaped_in_lists() {
    let mut evil = entry(&kept());
    evil.headline.host = "\u{1b}[2J=a|b\n".to_owned();
    evil.headline.preset = Some("=HYPERLINK(\"x\")".to_owned());
    evil.headline.file_systems = vec!["<script>".to_owned()];
    evil.note = Some("\u{202e}|note".to_owned());
    evil.tags = vec!["@tag".to_owned()];
    let evil = [evil];
    for text in [listed(&evil), list::markdown(&evil), list::csv(&evil)] {
        let is_harmful = |character: char| {
            document::sanitize::is_harmful(character) && !"\r\n".contains(character)
        };
        assert!(!text.contains(is_harmful), "{text:?}");
    }
    assert_eq!(listed(&evil).lines().count(), 2);
    let markdown = list::markdown(&evil);
    markdown.does_not_show("<script>");
    assert_eq!(markdown.lines().count(), 3);
    let csv = list::csv(&evil);
    csv.shows("'=HYPERLINK").shows("'@tag");
}

#[test]
fn unfinished_run_reports_its_completed_phases() {
    let mut record = kept();
    record.actual.outcome = Outcome::Unfinished;
    loop {
        let text = report::text::render(&record);
        text.shows("UNFINISHED: the program was killed");
        text.shows("INVALID");
        // The loop ends with a run that completed no phase.
        if record.actual.phases.pop().is_none() {
            break;
        }
    }
}

#[test]
fn list_names_the_side_and_the_block_of_a_run() {
    let run = ListedRun {
        number: Some(6),
        ..entry(&kept())
    };
    let of_side = list::CellOfRun {
        cell: "old".to_owned(),
        block: 3,
    };
    let cells = BTreeMap::from([(6, of_side)]);
    let text = document::text(&list::document(&[run], &cells), document::WIDTH);
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    lines[0].join(" ").shows("cell block");
    lines[1].join(" ").shows("old 3");
}

fn listed(entries: &[ListedRun]) -> String {
    document::text(&list::document(entries, &BTreeMap::new()), document::WIDTH)
}
