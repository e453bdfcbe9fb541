//! Reports of kept records, letter for letter. `run.json` is a record of schema 1 as a real run wrote it; it
//! must be readable for ever.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use record::{CleanUp, End, ErrorRecord, Fact, Left, Outcome, ReadError, Record};

const RUN: &str = include_str!("golden/run.json");

fn kept() -> Record {
    Record::from_json(RUN).unwrap()
}

/// Writes the text where POSTMARK_WRITE_GOLDEN is set, so that a wanted change shows in the diff.
fn compare(name: &str, golden: &str, text: &str) {
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(text, golden, "{name}");
}

#[test]
fn a_complete_run_is_reported_as_ever() {
    compare(
        "complete.txt",
        include_str!("golden/complete.txt"),
        &report::text::render(&kept()),
    );
}

#[test]
fn a_failed_run_says_what_failed_and_what_was_left() {
    let mut record = kept();
    record.actual.outcome = Outcome::Failed {
        why: "cannot append to /mnt/disk/7 (step write): No space left on device (os error 28)".to_owned(),
    };
    record.actual.stream_hash = Fact::Unavailable("the stream was not performed to its end".to_owned());
    record.actual.phases.pop();
    let transactions = record.actual.phases.last_mut().unwrap();
    transactions.complete = false;
    record.actual.errors.push(ErrorRecord {
        operation: "append".to_owned(),
        step: "write".to_owned(),
        errno: Fact::Known(28),
        message: "No space left on device (os error 28)".to_owned(),
        count: 1,
        first_path: "/mnt/disk/7".to_owned(),
        moved_bytes: Fact::Known(4096),
    });
    record.actual.clean_up = Some(CleanUp {
        files: 1_234,
        directories: 4,
        beneath: 2,
        left: vec![Left {
            path: "/mnt/disk/5".to_owned(),
            why: "it is older than the run".to_owned(),
        }],
    });
    compare(
        "failed.txt",
        include_str!("golden/failed.txt"),
        &report::text::render(&record),
    );
}

#[test]
fn an_interrupted_run_and_a_dry_pool_are_marked() {
    let mut record = kept();
    record.actual.outcome = Outcome::Interrupted { signal: 2 };
    record.latencies = false;
    record.hints.push("the target lies in memory".to_owned());
    let text = report::text::render(&record);
    assert!(text.contains("PARTIAL: interrupted by signal 2"), "{text}");
    assert!(text.contains("Latencies were not recorded"), "{text}");
    assert!(text.ends_with("Note: the target lies in memory\n"), "{text}");
    for (end, words) in [(End::OutOfFiles, "ran dry"), (End::OutOfReach, "search for ever")] {
        record.actual.end = end;
        assert!(report::text::render(&record).contains(words), "{words}");
    }
}

#[test]
fn a_record_comes_back_from_its_json() {
    assert_eq!(Record::from_json(&kept().to_json()).unwrap(), kept());
}

#[test]
fn a_newer_or_foreign_record_is_refused() {
    let newer = RUN.replace("\"schema\":1", "\"schema\":999");
    assert!(matches!(
        Record::from_json(&newer),
        Err(ReadError::Newer { found: 999 })
    ));
    for foreign in ["", "{}", "[1]", "{\"record\":{\"schema\":1}}"] {
        assert!(
            matches!(Record::from_json(foreign), Err(ReadError::Json(_))),
            "{foreign}"
        );
    }
}
