//! `postmark history` and `postmark gate --against history` with the real program.

use serde_json::Value;
use testkit::Shows;

use super::{Archived, NOISE, one_line, part};

/// An archive with 40 runs, whose rate falls by 10 % at run 21.
fn fallen() -> Archived {
    let mut archived = Archived::new();
    for run in 0..40_usize {
        let factor = if run < 20 { 1.0 } else { 0.9 };
        let mut record = archived.copy(factor * NOISE[run * 7 % 11 % 5]);
        record.origin.unix_ns += run as i64 * 1_000_000_000;
        let tag = format!("commit:c{:02}", run / 5);
        archived.add(&record, &tag);
    }
    archived
}

#[test]
fn change_is_shown_with_its_runs_and_size() {
    let archived = fallen();
    let told = one_line(&archived.answer("history last --by tag:commit"));
    told.shows("transactions/s by tag:commit")
        .shows("40 runs: ")
        .shows("Found 1 change")
        .shows("Between run 20 (c03) and run 21 (c04): -10.")
        .shows("change for the worse, p = 0.00")
        .shows("Host or system: not available (no A/A control");
    let json: Value = serde_json::from_str(&archived.answer("history --format json")).unwrap();
    assert_eq!(json["changes"][0]["first_after"], 21);
    assert_eq!(json["levels"][1]["runs"], 20);
    let csv = archived.answer("history 1..40 --format csv");
    assert_eq!(csv.lines().count(), 41, "{csv}");
    let otava = archived.answer("history --by tag:commit --format otava");
    otava.shows("time,run,verdict,commit,transactions");
    let bencher = archived.answer("history --by tag:commit --format bencher");
    bencher.shows("\"lower_value\"").shows("\"transactions\"");
    let path = archived.test_dir.path().join("history.html");
    let words = format!("history -o {}", path.display());
    archived.shows(&words).code(0);
    let page = std::fs::read_to_string(&path).unwrap();
    page.shows("<h1>PostMark: history of transactions/s, classic</h1>")
        .shows("run 21");
    archived.shows(&words).code(2);
}

#[test]
fn gate_against_the_history_fails_a_loss_only() {
    let mut archived = fallen();
    let mut add = |factor: f64, later: i64| {
        let mut record = archived.copy(factor);
        record.origin.unix_ns += later * 1_000_000_000;
        archived.add(&record, "new");
    };
    add(0.8, 50);
    add(0.9, 60);
    // The copied runs are DOUBTFUL.
    archived.shows("gate 41 --against history").code(5);
    let failed = archived.shows("gate 41 --against history --allow-doubtful");
    failed.code(4);
    one_line(&failed.output)
        .shows("Gate failed despite doubts: transactions/s of run 41")
        .shows("20 earlier runs, the last level, from run 21");
    let passed = archived.shows("gate 42 --against history --allow-doubtful");
    passed.code(0);
    let few = archived.shows("gate 5 --against history");
    few.code(5);
    one_line(&few.output)
        .shows("History 4 earlier runs")
        .shows("a decision needs 10 counted runs since the last change");
    let missing = archived.shows("gate 42 --against history --metric deliver.p99");
    missing.code(2);
    one_line(&missing.errors)
        .shows("deliver.p99 is not in run 42 of '42' (a percentile needs ten samples")
        .does_not_show("INVALID");
    archived.shows("gate 41 42 --against history").code(2);
    archived
        .shows("gate 41 --against history --require transactions_>=_0.9")
        .code(2);
}

#[test]
fn wrong_selections_are_answered_with_the_way_out() {
    let mut archived = Archived::new();
    archived.tagged("base", 1.0, 1);
    let few = one_line(&archived.answer("history"));
    few.shows("Found not available (a search needs 5 runs with the metric)");
    for (words, told) in [
        ("history nothing", "invalid run 'nothing'"),
        (
            "history --preset mail",
            "no run that has ended and is no load sweep",
        ),
        (
            "history --metric rename.p99",
            "no run of the series contains rename.p99",
        ),
        ("history --metric speed", "unknown metric 'speed'"),
        (
            "history --by commit",
            "expected time, note or tag:NAME, like tag:commit",
        ),
        (
            "history --by tag:commit",
            "none of the 1 runs has a tag commit:VALUE",
        ),
    ] {
        let ended = archived.shows(words);
        ended.code(2);
        one_line(&ended.errors).shows(told);
    }
    let mut other = archived.copy(1.0);
    other.host.hostname = "\u{1b}[31mother".to_owned();
    other.spec.verify = true;
    archived.add(&other, "x");
    let ended = archived.shows("history");
    ended.code(2);
    one_line(&ended.errors)
        .shows("the runs are of 2 series (choose one by a run of it")
        .shows("postmark history 1: 1 run, classic (")
        .shows(", reads verified");
    // Each series is on a line of its own.
    ended.errors.shows("\n  postmark history 1: ");
    ended.errors.does_not_show("\\n");
    assert!(!ended.errors.contains('\u{1b}'), "{}", ended.errors);
}

#[test]
fn control_of_a_study_shows_that_the_host_changed() {
    let mut archived = Archived::new();
    for block in 1..=24_u32 {
        let host = if block <= 12 { 1.0 } else { 0.8 };
        for (position, (cell, is_twin)) in [("old", false), ("old", true), ("new", false)]
            .into_iter()
            .enumerate()
        {
            let factor = NOISE[(block as usize * (position + 2)) % 5];
            let mut record = archived.copy(host * factor);
            record.study = Some(part(cell, is_twin, block));
            record.origin.unix_ns += i64::from(block * 10 + position as u32) * 1_000_000_000;
            archived.add(&record, "study:0123456789ab");
        }
    }
    let told = one_line(&archived.answer("history last"));
    told.shows("24 runs: ")
        .shows("The host changed: the A/A control changed by -20");
    let json: Value = serde_json::from_str(&archived.answer("history last --format json")).unwrap();
    assert_eq!(json["changes"][0]["cause"]["changed"], "host");
}
