//! Tests of submissions and of comparisons with published results, based on a stored record of a
//! real run.

use std::time::Duration;

use document::{Format, units};
use published::submissions::{Group, Numbered};
use published::{Beside, Library, Submission, submission_tables, submissions};
use record::{ArrivalProcess, Outcome, Record, SteadyAsked, SteadyRule, Stop, Workload};
use testkit::{Assert, Shows, kept, runs::at_rate, table};
use verdict::{Level, Summary};
use workload::presets;
use workload::{Action, Classic, Edition, Mix, Weights, Workers, fingerprint};

fn beside_run(library: &Library, record: &Record) -> Beside {
    published::beside(library, record)
}

/// Returns the stored record with another workload.
fn of(workload: Workload) -> Record {
    let fingerprint = fingerprint::fingerprint(&workload).unwrap();
    let mut record = kept();
    record.spec.workload = workload;
    Record {
        fingerprint,
        ..record
    }
}

fn preset(name: &str) -> Workload {
    presets::find(name).unwrap().workload
}

/// Returns a record with the original PostMark's default configuration.
fn plain() -> Record {
    of(preset("default"))
}

fn submitted(workload: Workload, contributor: &str) -> Submission {
    Submission::of(&of(workload), contributor, "A machine, ext4 on an SSD").unwrap()
}

fn grouped(library: &Library, all: &[Submission]) -> Vec<Group> {
    let numbered = |(at, submission): (usize, &Submission)| Numbered {
        number: at as u64 + 1,
        submission: submission.clone(),
    };
    let all: Vec<Numbered> = all.iter().enumerate().map(numbered).collect();
    submissions::groups(library, &all)
}

#[test]
fn submissions_are_read_back_from_json() {
    let submission = Submission::of(&plain(), " Jo Doe ", "Ultra 5, ext4").unwrap();
    assert_eq!(
        (
            submission.contributor.as_str(),
            submission.configuration.as_str()
        ),
        ("Jo Doe", "default")
    );
    let paper = Summary::of(&kept()).paper.unwrap();
    assert_eq!(
        submission.rates.transactions_per_second,
        paper.transactions.per_second.unwrap()
    );
    assert_eq!(
        submission.rates.kilobytes_read_per_second * 1024.0,
        paper.bytes_read.per_second.unwrap()
    );
    assert_eq!(submission.verdict, Summary::of(&kept()).verdict.level);
    let text = submission.to_json();
    assert_eq!(Submission::from_json(&text).unwrap(), submission);
    text.does_not_show("/mnt");
}

#[test]
fn work_without_preset_is_named_by_its_options() {
    let other = Workload::from(Classic {
        files: 777,
        ..Classic::default()
    });
    let submission = submitted(other.clone(), "Jo");
    assert_eq!(submission.configuration, record::workload_in_words(&other));
}

#[test]
fn runs_without_comparable_rates_are_not_submitted() {
    let listing = Mix {
        weights: "list=1,create=1".parse().unwrap(),
        ..Mix::default()
    };
    let record = of(Workload::from(listing));
    let mut timeless = plain();
    timeless.actual.phases.clear();
    for record in [record, timeless] {
        let error = Submission::of(&record, "Jo", "x").unwrap_err().to_string();
        error.begins_with("the run has no rates for a table of published results");
    }
}

/// A change to a plain run, and part of the expected message.
type Change = (fn(&mut Record), &'static str);

#[test]
fn incomplete_runs_and_runs_with_special_options_are_not_submitted() {
    let changes: [Change; 9] = [
        (
            |run| run.actual.outcome = Outcome::Interrupted { signal: 2 },
            "did not complete",
        ),
        (
            |run| {
                run.spec.drive.pace = at_rate(100.0, ArrivalProcess::Constant);
            },
            "--rate",
        ),
        (
            |run| run.spec.drive.warm_up = Duration::from_nanos(1),
            "--warm-up",
        ),
        (
            |run| run.spec.drive.stop = Stop::After(Duration::from_nanos(1)),
            "--for",
        ),
        (
            |run| {
                run.spec.drive.stop = Stop::Steady(SteadyAsked {
                    rule: SteadyRule::Snia,
                    round_ns: 1,
                    rounds_max: 5,
                });
            },
            "--steady",
        ),
        (
            |run| {
                run.spec.workload = run
                    .spec
                    .workload
                    .clone()
                    .with_transactions(Workload::ENDLESS)
            },
            "ended by time",
        ),
        (|run| run.spec.keeping.reuse = true, "--reuse"),
        (|run| run.spec.keeping.keep = true, "--keep"),
        (
            |run| {
                run.spec.keeping.keep = true;
                run.spec.keeping.reuse = true;
            },
            "created no files",
        ),
    ];
    let library = Library::read();
    let plain = of(preset("mail-page-1"));
    assert_eq!(beside_run(&library, &plain).none, None);
    for (change, told) in changes {
        let mut run = plain.clone();
        change(&mut run);
        let why = published::why_not_plain(&run).unwrap();
        why.shows(told);
        assert_eq!(
            Submission::of(&run, "Jo", "x").unwrap_err().to_string(),
            format!("{why} (submit a run without these options)")
        );
        assert_eq!(beside_run(&library, &run).none.as_deref(), Some(why));
    }
}

/// Each line has a text in the JSON, its replacement, and part of the expected message. `LONG`
/// stands for 600 letters, and `~` for a space.
const HOSTILE: &str = r#"
    "Jo" | "Jo\u001b[2J" | U+001B
    "Jo" | "\u202eoJ" | U+202E
    "Jo" | "J\no" | U+000A
    "Jo" | " " | contributor (--by): it is empty
    "A machine" | "LONG" | it has 600 characters (at most 500)
    "storage": " | "storage": "\u0007 | U+0007
    "xxh3-128: | "xxh3-128:\u001b | fingerprint: expected 'xxh3
    "xxh3-128: | "md5: | fingerprint: expected 'xxh3
    "elapsed_s":~ | "elapsed_s":~- | rates: expected numbers from 0
    "elapsed_s": | "elapsed_s": 9e999, "x": | not a submission
    "files": 500 | "files": 0 | workload: invalid number of files 0
    "schema": 1 | "schema": 2 | schema version 2, and this program reads versions up to 1
    "contributor" | "by\u001b[31m" | unknown field `by\x1b[31m`
    "submission" | "record" | it has no key 'submission'
    "when_unix_ns":~ | "when_unix_ns":~- | not a submission
    { | [ | not a submission
"#;

#[test]
fn hostile_submissions_are_refused_without_echoing_control_characters() {
    let good = Submission::of(&plain(), "Jo", "A machine")
        .unwrap()
        .to_json();
    let long = "x".repeat(600);
    for [from, to, told] in table(HOSTILE) {
        let plain = |text: &str| text.replace("LONG", &long).replace('~', " ");
        let (from, to) = (plain(from), plain(to));
        good.shows(&from);
        let error = Submission::from_json(&good.replacen(&from, &to, 1))
            .unwrap_err()
            .to_string();
        assert!(error.contains(told), "{from} as {to}: {error}");
        assert!(!error.chars().any(char::is_control), "{error:?}");
    }
    let much = format!("{good}{}", " ".repeat(70_000));
    let error = Submission::from_json(&much).unwrap_err().to_string();
    error.shows("bytes (at most 65536)");
    assert!(
        Submission::from_json("").is_err() && Submission::from_json(&"[".repeat(60_000)).is_err()
    );
}

#[test]
fn submissions_share_a_table_with_published_columns() {
    let library = Library::read();
    let mut invalid = submitted(preset("mail-page-1"), "B. Other");
    invalid.verdict = Level::Invalid;
    let all = [
        submitted(preset("mail-page-1"), "A. One"),
        submitted(preset("paper-1000-50000"), "C. Third"),
        invalid,
    ];
    let groups = grouped(&library, &all);
    // PostMark 1.0 and 1.5 perform different operations, so each has its own group.
    let told: Vec<(&str, Option<Edition>, usize, usize)> = groups
        .iter()
        .map(|group| {
            (
                group.label.as_str(),
                group.shape.map(|(_, edition)| edition),
                group.submissions.len(),
                group.apart.len(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("1000/50000", Some(Edition::V1_5), 2, 0),
            ("1000/50000", Some(Edition::V1_0), 1, 0)
        ]
    );
    // There are 11 columns of the paper, and 15 columns of the mail administrator's page that are
    // not in the paper.
    assert_eq!(groups[0].published.len(), 26);
    let column = |name: &str| {
        groups[0]
            .published
            .iter()
            .find(|column| column.column == name)
            .unwrap()
    };
    let value = |name: &str| {
        column(name)
            .figures
            .iter()
            .map(|one| one.value)
            .collect::<Vec<_>>()
    };
    assert_eq!(value("UFS"), [36.0, 115.67, 118.27]);
    // A megabyte in PostMark 1.0 is 1,000 kilobytes, so the printed 5.95 and 6.09 megabytes per
    // second are 5,950 and 6,090 kilobytes per second.
    assert!(column("P3+DPT").is_converted && !column("PBG4/MFS").is_converted);
    assert_eq!(value("P3+DPT"), [1851.0, 5950.0, 6090.0]);
    let ufs = &groups[0].published[0];
    assert_eq!(
        (
            ufs.column.as_str(),
            ufs.edition.as_str(),
            ufs.tables.join(" ")
        ),
        ("UFS", "1.0", "paper-1 mail-page-1".to_owned())
    );
    let text = submission_tables::show(&groups, Format::Text);
    text.shows_all(
        "S1 [A. One] | S3 [B. Other] | S2 [C. Third] | Transactions per second | INVALID | \
         Compaq+Soft",
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 130),
        "{text}"
    );
    // Columns of another PostMark edition are in a second table. P3+DPT therefore follows
    // PBG3/HFS+, although it precedes PBG3/HFS+ on the page.
    let (ours, behind) = text
        .split_once("made by another edition or by none")
        .unwrap();
    ours.shows("PBG3/HFS+").does_not_show("P3+DPT");
    behind.shows("P3+DPT").shows("2.4 % too high");
    // An empty line separates the groups.
    text.shows("\n\n1000/50000, edition 1.0\n");
    let csv = submission_tables::show(&groups, Format::Csv);
    assert_eq!(csv.lines().count(), 1 + 3 + 2 * 26);
    csv.shows(",1851,5950,6090,,");
    let json: serde_json::Value =
        serde_json::from_str(&submission_tables::show(&groups, Format::Json)).unwrap();
    let configuration = &json["configurations"][0];
    assert_eq!(configuration["submissions"].as_array().unwrap().len(), 2);
    assert_eq!(configuration["submissions"][1]["number"], 3);
    assert_eq!(configuration["published"][0]["figures"][1]["value"], 115.67);
}

#[test]
fn completion_times_are_shown_if_a_source_prints_them() {
    let all = [
        submitted(preset("nfs-iscsi-1000"), "A"),
        submitted(preset("default"), "B"),
    ];
    let groups = grouped(&Library::read(), &all);
    let text = submission_tables::show(&groups[..1], Format::Text);
    let row = text
        .lines()
        .find(|line| line.contains("Completion time (s)"))
        .unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[3..5], ["146", "12"], "{text}");
    assert_eq!(cells[5], format!("{:.2}", all[0].rates.elapsed_s), "{text}");
    // The PostMark edition of the published rows is unknown, so there is no second table for
    // another edition.
    text.does_not_show("another edition");
    let bare = [submitted(Workload::from(Mix::default()), "C")];
    let groups = grouped(&Library::read(), &bare);
    assert!(!submission_tables::show(&groups, Format::Text).contains("Completion time"));
}

#[test]
fn long_contributor_names_are_not_in_headers() {
    let long = "x".repeat(80);
    let all = [
        submitted(preset("default"), &long),
        submitted(preset("default"), "Jo Doe of Somewhere"),
    ];
    let text = submission_tables::show(&grouped(&Library::read(), &all), Format::Text);
    assert_eq!(text.matches(&long).count(), 1, "{text}");
    text.shows(&format!("- S1 [{long}]:"));
    let table = text.split_once("500/500 ").unwrap().1;
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    text.shows("Somewhere]");
}

#[test]
fn an_empty_table_explains_how_to_submit() {
    let text = submission_tables::show(&[], Format::Text);
    assert_eq!(
        text,
        "No submissions (add some with postmark import FILE)\n"
    );
    assert_eq!(submission_tables::show(&[], Format::Csv).lines().count(), 1);
}

#[test]
fn corrected_submission_is_recognized_as_the_same_run() {
    let first = submitted(preset("default"), "Jo");
    let corrected = Submission {
        system: "Another machine".to_owned(),
        ..first.clone()
    };
    assert!(corrected.is_of_same_run(&first));
    let later = Submission {
        when_unix_ns: first.when_unix_ns + 1,
        ..first.clone()
    };
    assert!(!later.is_of_same_run(&first));
    assert!(!submitted(preset("default"), "Al").is_of_same_run(&first));
}

#[test]
fn submissions_with_other_fingerprints_are_listed_as_not_comparable() {
    let library = Library::read();
    let seeded = Workload::from(Classic {
        files: 1_000,
        transactions: 50_000,
        seed: 7,
        ..Classic::default()
    });
    let mut forged = submitted(preset("mail-page-1"), "F");
    forged.fingerprint = fingerprint::fingerprint(&preset("default")).unwrap();
    let mut renamed = submitted(preset("default"), "R");
    renamed.configuration = "mail-page-1".to_owned();
    // This submission has the fingerprint of the preset, but a workload with another seed.
    let mut reseeded = submitted(preset("mail-page-1"), "Z");
    reseeded.workload = seeded.clone();
    let mut steal = submitted(preset("default"), "T");
    steal.configuration = "mail-page-1".to_owned();
    steal.fingerprint = fingerprint::fingerprint(&preset("mail-page-1")).unwrap();
    let all = [
        submitted(preset("mail-page-1"), "G"),
        submitted(seeded.clone(), "S"),
        forged,
        renamed,
        steal,
        reseeded,
    ];
    let groups = grouped(&library, &all);
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].submissions.len(), 1);
    let why: Vec<(&str, bool)> = groups[0]
        .apart
        .iter()
        .zip([
            "seed 7 instead of 42",
            "its fingerprint does not match its workload",
            "its name is mail-page-1, but its workload differs",
            "its workload does not match its fingerprint",
            "its workload does not match its fingerprint",
        ])
        .map(|(apart, told)| (apart.why.as_str(), apart.why.contains(told)))
        .collect();
    why.assert(why.len() == 5 && why.iter().all(|(_, is_told)| *is_told));
    let text = submission_tables::show(&groups, Format::Text);
    text.shows("with other fingerprints: not comparable");
}

#[test]
fn huge_workloads_are_not_planned() {
    let mut large = submitted(preset("default"), "L");
    large.workload = Workload {
        workers: Workers::Private { workers: 4_096 },
        ..Workload::from(Classic {
            files: 1 << 35,
            ..Classic::default()
        })
    };
    large.configuration = record::workload_in_words(&large.workload);
    let again = Submission::from_json(&large.to_json()).unwrap();
    let groups = grouped(&Library::read(), &[again]);
    assert!(
        groups[0]
            .fingerprint
            .why()
            .unwrap()
            .contains("were not checked")
    );
    assert_eq!(groups[0].apart.len(), 1);
}

#[test]
fn submissions_of_equal_mixes_share_a_group() {
    let library = Library::read();
    let mix = || Workload::from(Mix::default());
    let other = Workload::from(Mix {
        seed: 9,
        ..Mix::default()
    });
    let all = [
        submitted(mix(), "A"),
        submitted(other, "B"),
        submitted(mix(), "C"),
    ];
    let groups = grouped(&library, &all);
    let told: Vec<(usize, usize, usize)> = groups
        .iter()
        .map(|group| {
            (
                group.submissions.len(),
                group.apart.len(),
                group.published.len(),
            )
        })
        .collect();
    assert_eq!(told, [(2, 0, 0), (1, 0, 0)]);
}

#[test]
fn markup_of_contributors_is_escaped() {
    let submission = Submission::of(&plain(), "<b>|x|", "=HYPERLINK(\"http://x\")").unwrap();
    let groups = grouped(&Library::read(), &[submission]);
    let markdown = submission_tables::show(&groups, Format::Markdown);
    markdown.does_not_show("<b>").does_not_show("|x|");
    let csv = submission_tables::show(&groups, Format::Csv);
    csv.shows("\"'=HYPERLINK(");
    for name in ["-inf", "+1", "-5"] {
        let submission = Submission::of(&plain(), name, "A machine").unwrap();
        let csv = submission_tables::show(&grouped(&Library::read(), &[submission]), Format::Csv);
        csv.shows(&format!(",'{name},"));
    }
}

#[test]
fn a_run_is_compared_with_all_published_rows_of_its_configuration() {
    let library = Library::read();
    let beside = beside_run(&library, &of(preset("mail-page-3")));
    assert_eq!(
        (beside.configuration.as_str(), &beside.none),
        ("20000/100000", &None)
    );
    let ours = beside.ours.unwrap();
    let row = |column: &str| beside.rows.iter().find(|row| row.column == column).unwrap();
    let soft = row("2xP3+SOFT");
    assert_eq!(soft.edition, "neither");
    assert_eq!(soft.figures.len(), 3);
    assert_eq!(soft.figures[0].printed, "139 /s");
    assert_eq!(soft.figures[0].factor, ours.transactions_per_second / 139.0);
    assert_eq!(row("NFS/F630").tables, ["paper-3", "mail-page-3"]);
    // The configuration Medium of the VERITAS brief equals that of the run, but the brief prints
    // only its transaction rates.
    let vxfs = row("VxFS, 32 bit");
    assert_eq!(
        (vxfs.figures.len(), vxfs.figures[0].printed.as_str()),
        (1, "75.00 /s")
    );
    assert_eq!(beside.rows.len(), 5 + 4 + 15 + 8);
    let text = beside.show(Format::Text);
    let paper = Summary::of(&kept()).paper.unwrap();
    let took = format!(
        "100,000 transactions took {} s in this run",
        units::seconds(paper.transactions_ns)
    );
    for words in [
        "Comparable:",
        "Comparable in transactions: rows of edition 1.0",
        "Not comparable: rows marked 'neither'",
        "Converted: rates of U5+TMPFS",
        &took,
        "the clock:",
        "the cache:",
        "durability:",
        "this run",
    ] {
        let flowed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowed.contains(words), "{words} in\n{text}");
    }
    text.does_not_show("'?'");
    assert!(
        beside.comparable[0].starts_with("Comparable: rows of edition 1.5 have"),
        "{:?}",
        beside.comparable
    );
    let converted = row("U5+TMPFS");
    assert!(converted.is_converted);
    assert_eq!(
        (
            converted.figures[1].printed.as_str(),
            converted.figures[1].theirs
        ),
        ("1679.36 kB/s", 1_640.0)
    );
    assert!(beside.show(Format::Csv).lines().count() > 60);
    assert!(serde_json::from_str::<serde_json::Value>(&beside.show(Format::Json)).is_ok());
}

#[test]
fn rates_are_compared_per_process() {
    let library = Library::read();
    let record = of(preset("veritas-massive-2"));
    let all = Summary::of(&record)
        .paper
        .unwrap()
        .transactions
        .per_second
        .unwrap();
    let beside = beside_run(&library, &record);
    let row = beside
        .rows
        .iter()
        .find(|row| row.column == "UFS, 32 bit")
        .unwrap();
    assert_eq!(row.figures[0].factor, all / 12.0 / 9.08);
    assert_eq!(beside.rows.len(), 8);
}

#[test]
fn completion_times_and_megabytes_are_compared() {
    let library = Library::read();
    let of_iscsi = beside_run(&library, &of(preset("nfs-iscsi-5000")));
    let elapsed = Summary::of(&kept()).elapsed_ns as f64 / 1e9;
    let iscsi = of_iscsi
        .rows
        .iter()
        .find(|row| row.column == "iSCSI")
        .unwrap();
    assert_eq!(
        (iscsi.figures.len(), iscsi.figures[0].factor),
        (1, 35.0 / elapsed)
    );
    of_iscsi
        .comparable
        .assert(of_iscsi.comparable[0].contains("rows with '?'"));
    assert!(
        !of_iscsi
            .show(Format::Text)
            .contains("have the same operations")
    );
    let of_lfs = beside_run(&library, &of(preset("lfs-session")));
    let lfs = of_lfs.rows.iter().find(|row| row.column == "LFS").unwrap();
    let theirs: Vec<f64> = lfs.figures.iter().map(|against| against.theirs).collect();
    assert_eq!(theirs, [4_970.0, 16.19 * 1024.0, 16.19 * 1024.0, 1_007.0]);
}

#[test]
fn comparison_of_unpublished_work_states_why_it_is_empty() {
    let library = Library::read();
    let none = |workload: Workload| beside_run(&library, &of(workload)).none.unwrap();
    assert!(none(Workload::from(Mix::default())).contains("the run is a mix"));
    let mix = Workload {
        workers: Workers::Private { workers: 4 },
        contents: Some(workload::ContentSpec {
            kind: workload::contents::ContentKind::Incompressible,
            dedup: 1.0,
        }),
        ..Workload::from(Mix {
            files: 300,
            weights: Weights::default()
                .with(Action::Read, 1)
                .with(Action::Append, 4),
            ..Mix::default()
        })
    };
    let words = beside_run(&library, &of(mix)).configuration;
    assert_eq!(words, "--files=300 --mix=read=1,append=4 --workers=4");
    let odd = Classic {
        files: 777,
        ..Classic::default()
    };
    assert!(
        none(Workload::from(odd))
            .contains("there are no published results for 777/500 (there are some for 1000/50000")
    );
    let seeded = Classic {
        seed: 7,
        ..Classic::default()
    };
    assert!(none(Workload::from(seeded)).contains("seed 7 instead of 42"));
}
