//! `postmark published`, from its arguments to its output.

use published::Submission;
use record::Record;
use std::ffi::OsStr;
use testkit::Shows;

use crate::original::{answer, directory, ended, json, ours, say, split};

const RUN: &str = include_str!("../../../report/tests/golden/run.json");

#[test]
fn published_list_names_arguments_of_show() {
    let place = directory();
    let list = answer(&["published", "list"], place.path());
    for name in [
        "paper-1",
        "paper-session",
        "veritas-multi-32",
        "mail-page-4",
        "lfs-sessions",
        "nfs-iscsi-5",
    ] {
        list.shows(&format!("\n  {name} "));
    }
    let shown = answer(&["published", "show", "veritas-multi-32"], place.path());
    shown.shows_all(
        "Percent | Parameters # | Massive 1 | 11.33 | \
         unavailable: the row, shifted by one cell in the copy | improvements",
    );
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
}

#[test]
fn improvements_printed_in_a_paper_are_compared_with_its_rates() {
    let place = directory();
    let shown = answer(&["published", "show", "veritas-logging"], place.path());
    shown.shows("3 of 4 printed improvements agree");
    shown.shows("differs by -4.08");
}

#[test]
fn published_table_has_the_same_cells_in_every_format() {
    let place = directory();
    let csv = answer(
        &split("published show mail-page --format csv"),
        place.path(),
    );
    assert_eq!(csv.lines().count(), 1 + 225);
    let row = csv.lines().find(|line| line.contains(",6092.8,")).unwrap();
    row.begins_with(
        "mail-page,mail-page-1,p3-dpt,,,,1000/50000,1000,50000,1,1,1.0,data-read-rate,kB/s,6092.8,",
    );
    let shown = json(&split("published show mail-page-3"), place.path());
    let cell = &shown["sources"][0]["tables"][0]["rows"][1]["cells"][9];
    assert_eq!(cell["known"]["printed"], "329.79");
    let made = shown["findings"].as_array().unwrap();
    let soft = made
        .iter()
        .find(|one| one["system"] == "2xp3-soft")
        .unwrap();
    assert!(
        soft["made"]["neither"]["cause"]
            .as_str()
            .unwrap()
            .contains("misprinted")
    );
    let ranges = answer(
        &split("published show veritas-logging --format csv"),
        place.path(),
    );
    ranges.shows(",-88-(-77)%,-88,-77,");
    let markdown = answer(
        &split("published show paper-1 --format markdown"),
        place.path(),
    );
    markdown
        .shows("| 1000/50000 | UFS | TMPFS |")
        .shows("| --- | --: |");
    let text = answer(&split("published show paper-1"), place.path());
    assert!(text.contains("neither") && text.contains("4880"), "{text}");
}

#[test]
fn message_about_an_unknown_name_lists_the_known_names() {
    let place = directory();
    let said = ended(&["published", "show", "paper-9"], place.path());
    assert_eq!(said.code, Some(2));
    let errors = String::from_utf8(said.errors).unwrap();
    errors.shows("'paper-9' (use one of paper, paper-1");
    assert_eq!(
        ended(&split("published show paper --format html"), place.path()).code,
        Some(2)
    );
    assert_eq!(ended(&["published"], place.path()).code, Some(2));
}

#[test]
fn submissions_in_files_are_shown_as_a_table() {
    let place = directory();
    let submission = Submission::of(
        &Record::from_json(RUN).unwrap(),
        "Jo Doe",
        "A box with ext4",
    )
    .unwrap();
    std::fs::write(place.path().join("jo.json"), submission.to_json()).unwrap();
    let text = answer(
        &split("published submissions jo.json jo.json"),
        place.path(),
    );
    text.shows("S1 [Jo Doe]: A box with ext4")
        .does_not_show("S2");
    // A file may contain several submissions, as an export of several runs does. The last
    // submission corrects the first.
    let of = |by: &str, system: &str| {
        Submission::of(&Record::from_json(RUN).unwrap(), by, system)
            .unwrap()
            .to_json()
    };
    let several = [
        of("Jo Doe", "A box"),
        of("Al", "Another"),
        of("Jo Doe", "A larger box"),
    ]
    .concat();
    std::fs::write(place.path().join("several.json"), &several).unwrap();
    let of_file = answer(&split("published submissions several.json"), place.path());
    of_file.shows_all("S1 [Jo Doe]: A larger box | S2 [Al]: Another");
    of_file.does_not_show("S3");
    let words = ["published", "submissions", "-"].map(OsStr::new);
    let piped = say(ours(), &words, place.path(), several.as_bytes(), &[]);
    assert_eq!(String::from_utf8(piped.output).unwrap(), of_file);
    std::fs::write(place.path().join("no.json"), "{\"record\":1}").unwrap();
    std::fs::write(place.path().join("cut.json"), &several[..several.len() - 9]).unwrap();
    let said = ended(&split("published submissions cut.json"), place.path());
    assert_eq!(said.code, Some(2));
    let errors = String::from_utf8(said.errors).unwrap();
    errors.shows("cut.json: JSON document 3: it is truncated");
    for words in [
        "published submissions no.json",
        "published submissions missing.json",
        "published beside no.json",
    ] {
        let said = ended(&split(words), place.path());
        let errors = String::from_utf8(said.errors).unwrap();
        assert_eq!(said.code, Some(2), "{words}: {errors}");
        errors.shows(words.rsplit(' ').next().unwrap());
    }
}

#[test]
fn run_is_compared_with_published_results() {
    let place = directory();
    let run =
        "run --preset default --compat 1.0 --engine null --format json --output run.json --quiet";
    answer(&split(run), place.path());
    let text = answer(&split("published beside run.json"), place.path());
    text.shows("this run").shows("paper-session");
    let other = run
        .replace("--preset default", "--files 77 --transactions 500")
        .replace("run.json", "other.json");
    answer(&split(&other), place.path());
    let said = ended(
        &split("published beside other.json --format csv"),
        place.path(),
    );
    let errors = String::from_utf8(said.errors).unwrap();
    assert_eq!(
        (said.code, said.output.split(|byte| *byte == b'\n').count()),
        (Some(0), 2)
    );
    errors.shows("there are no published results for 77/500");
}

#[test]
fn byte_counts_of_version_1_0_are_exact() {
    let place = directory();
    let run = "run --preset paper-1000-50000 --engine null --quiet --archive none --no-overhead";
    let run = json(&split(run), place.path());
    for field in ["bytes_read", "bytes_written"] {
        let exact = run["summary"]["paper"][field]["count"].as_u64().unwrap();
        assert!(exact > 1 << 24, "a float would not show it");
        assert_eq!(
            run["record"]["actual"]["classic"][field].as_f64(),
            Some(exact as f64),
            "{field}"
        );
    }
}
