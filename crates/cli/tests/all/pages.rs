//! `postmark report`: the file that it writes, and what reads it.

use std::fs;

use crate::original::{answer, directory, ended};

const RUN: &str = include_str!("../../../report/tests/golden/run.json");

#[test]
fn a_page_is_read_as_its_record_is() {
    let place = directory();
    fs::write(place.path().join("run.json"), RUN).unwrap();
    answer(&["report", "run.json", "-o", "page.html"], place.path());
    let json = |file: &str| answer(&["show", file, "--format", "json"], place.path());
    assert_eq!(json("page.html"), json("run.json"));
    let imported = answer(&["import", "page.html", "--archive", "a.db"], place.path());
    assert!(imported.contains("Run 1: new"), "{imported}");
    let exported = answer(&["export", "1", "--archive", "a.db"], place.path());
    assert_eq!(exported, json("run.json"));
    // From the archive the same page comes out, with what was noted there.
    answer(&["report", "1", "--archive", "a.db", "-o", "again.html"], place.path());
    let page = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(page("again.html"), page("page.html"));
    answer(&["note", "1", "<b>slow", "--archive", "a.db"], place.path());
    answer(&["report", "1", "--archive", "a.db", "-o", "noted.html"], place.path());
    assert!(page("noted.html").contains("Note: &lt;b&gt;slow"));
    answer(&["import", "noted.html", "--archive", "b.db"], place.path());
    let listed = answer(&["export", "1", "--archive", "b.db"], place.path());
    assert!(listed.contains("<b>slow"), "{listed}");
}

#[test]
fn a_page_that_is_there_stays_and_one_without_records_is_refused() {
    let place = directory();
    fs::write(place.path().join("run.json"), RUN).unwrap();
    fs::write(place.path().join("other.html"), "<!DOCTYPE html><p>nothing").unwrap();
    let refused = ended(&["report", "run.json", "-o", "other.html"], place.path());
    assert_eq!(refused.code, Some(2));
    assert_eq!(ended(&["show", "other.html"], place.path()).code, Some(2));
    let kept = fs::read_to_string(place.path().join("other.html")).unwrap();
    assert_eq!(kept, "<!DOCTYPE html><p>nothing");
    answer(&["report", "run.json", "-o", "other.html", "--force"], place.path());
    assert!(answer(&["show", "other.html"], place.path()).contains("transactions/s"));
}
