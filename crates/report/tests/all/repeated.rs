//! Repeated runs of synthetic numbers, compared with a golden file in three widths and as CSV.

use document::Format;
use record::StudyPart;
use study::{Design, Metric, Observed, Repeats, StudyRun, UnlikeWhat};
use testkit::Shows;
use verdict::Level;

use crate::compared::{NOISE, compare, metric};

/// The design of a repeated run, as `run --repeat` writes it.
const DESIGN: &str = "name = \"mail-1\"\ntargets = [\"/mnt/disk\"]\ntwin = false\n\
                      metrics = [\"transactions\", \"deliver.p99\", \"read.p99\"]\n\
                      [[workload]]\npreset = \"mail\"\n";

fn run(number: u32, rate: f64) -> StudyRun {
    let noise = 1.0 + NOISE[number as usize * 5 % 6] / 100.0;
    let values = [
        (Metric::Transactions, rate * noise),
        (metric("deliver.p99"), 1.68e6 / noise / noise),
        (metric("read.p99"), 95e3 / noise),
    ];
    // In every third run, fewer than ten reads are beyond the percentile, so the run has no value
    // of `read.p99`.
    let has_read = !number.is_multiple_of(3);
    let values = values.into_iter().take(if has_read { 3 } else { 2 });
    StudyRun {
        part: StudyPart {
            block: number,
            attempt: 1,
            ..StudyPart::default()
        },
        observed: Observed {
            run: Some(u64::from(number) + 40),
            block: None,
            subject: study::Subject::default(),
            level: Level::Valid,
            begun_unix_ns: 0,
            elapsed_s: 30.0,
            needed_s: Default::default(),
            values: values.collect(),
            reasons: [].into(),
            advice: [].into(),
            conditions: [(UnlikeWhat::Fingerprint, "f".to_owned())].into(),
            incomplete: [].into(),
        },
    }
}

/// Ten runs: one is DOUBTFUL, and one is INVALID.
fn ten(rate: impl Fn(u32) -> f64) -> Vec<StudyRun> {
    let mut runs: Vec<StudyRun> = (1..=10).map(|number| run(number, rate(number))).collect();
    for (place, level, reason) in [
        (3, Level::Doubtful, "other-load"),
        (6, Level::Invalid, "too-short"),
    ] {
        runs[place].observed.level = level;
        runs[place].observed.reasons.insert(reason.to_owned());
    }
    runs
}

fn repeats(rest: &str, runs: &[StudyRun]) -> Repeats {
    Repeats::of(
        &Design::parse(&format!("{rest}{DESIGN}")).unwrap(),
        "0123456789ab",
        runs,
    )
}

#[test]
fn interval_that_reaches_below_zero_is_shown_without_a_lower_end() {
    let rate = |number| if number == 1 { 50_000.0 } else { 100.0 };
    let document = report::repeats::document(&repeats("", &ten(rate)));
    let text = document::text(&document, 120);
    assert!(
        text.contains("  up to ") && !text.contains("0 to "),
        "{text}"
    );
}

/// A mean between two groups of rates describes no run.
#[test]
fn two_groups_of_rates_are_named() {
    let shown = |rate: &dyn Fn(u32) -> f64| {
        let document = report::repeats::document(&repeats("", &ten(rate)));
        let text = document::text(&document, 100);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    shown(&|number| if number % 5 < 2 { 4_200.0 } else { 2_000.0 })
        .shows("Transactions/s in the order of the runs: 4,")
        .shows("The rates form two groups, 5 runs with ")
        .shows("and 4 runs with 4,")
        .shows("describes neither");
    shown(&|_| 2_000.0).does_not_show("groups");
    shown(&|number| if number == 2 { 50_000.0 } else { 2_000.0 }).does_not_show("groups");
}

#[test]
fn report_of_a_repeated_run_matches_its_golden_file_in_three_widths() {
    let found = repeats("", &ten(|_| 4_933.0));
    let document = report::repeats::document(&found);
    let mut text = String::new();
    for width in [60, 80, 120] {
        let shown = document::text(&document, width);
        assert!(
            shown.lines().all(|line| line.chars().count() <= width),
            "{shown}"
        );
        text += &format!("==== {width} columns\n\n{shown}\n");
    }
    text += &format!(
        "==== Markdown\n\n{}",
        Format::Markdown.document(&document, 80)
    );
    text += "\n==== until 0.5 %, and a drift\n\n";
    let falling = repeats(
        "until = \"0.5%\"\n",
        &ten(|number| 5_000.0 - f64::from(number) * 120.0),
    );
    text += &document::text(&report::repeats::document(&falling), 80);
    text += "\n==== 3 of 10 runs are INVALID\n\n";
    let mut invalid = ten(|_| 4_933.0);
    for run in &mut invalid[..2] {
        run.observed.level = Level::Invalid;
    }
    text += &document::text(&report::repeats::document(&repeats("", &invalid)), 80);
    text += "\n==== four runs\n\n";
    let few = &ten(|_| 4_933.0)[..4];
    text += &document::text(&report::repeats::document(&repeats("", few)), 80);
    compare(
        "repeated.txt",
        include_str!("../golden/repeated.txt"),
        &text,
    );
}

#[test]
fn csv_of_a_repeated_run_has_a_row_for_each_metric() {
    let found = repeats("", &ten(|_| 4_933.0));
    let csv = report::repeats::as_csv(&found);
    let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 4);
    let cell = |row: usize, column: &str| {
        let place = rows[0].iter().position(|header| *header == column);
        rows[row][place.unwrap()]
    };
    assert_eq!(cell(1, "metric"), "transactions");
    assert_eq!((cell(1, "unit"), cell(2, "unit")), ("1/s", "ns"));
    assert_eq!((cell(1, "runs"), cell(3, "runs")), ("9", "6"));
    assert_eq!(
        (cell(1, "runs_valid"), cell(1, "runs_doubtful")),
        ("8", "1")
    );
    assert_eq!(cell(1, "is_drift_seen"), "false");
    assert_eq!(cell(2, "is_drift_seen"), "");
    let mean: f64 = cell(1, "mean").parse().unwrap();
    assert_eq!(Some(mean), found.metrics[0].mean);
    cell(1, "reasons").shows("other-load");
}
