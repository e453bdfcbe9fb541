//! `postmark site`, from its arguments to its answer and its exit status.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::Shows;

use crate::original::{answer, directory, ended};
use crate::support::interface::program;

const RUN: &str = include_str!("../../../report/tests/golden/run.json");

#[test]
fn site_is_built_and_submissions_are_checked() {
    let place = directory();
    let at = place.path();
    fs::create_dir_all(at.join("data/mine")).unwrap();
    fs::write(at.join("data/mine/run.json"), RUN).unwrap();
    let built = answer(&["site", "data", "-o", "out"], at);
    built.shows("Site: out (1 run, 1 system, 0 studies)\n");
    assert!(at.join("out/index.html").exists());
    let none = ended(&["site", "check", "data"], at);
    assert_eq!(none.code, Some(2));
    let disclosed = "contributor = \"A\"\nsystem = \"B\"\ntuned = \"\"\nlicence = \"CC0-1.0\"\n";
    fs::write(at.join("data/mine/submission.toml"), disclosed).unwrap();
    let unreadable = ended(&["site", "check", "data"], at);
    assert_eq!(unreadable.code, Some(2));
    let disclosed =
        disclosed.replace("tuned = \"\"", "tuned = \"nothing\"") + "class = \"strict\"\n";
    fs::write(at.join("data/mine/submission.toml"), disclosed).unwrap();
    let strict = ended(&["site", "check", "data"], at);
    assert_eq!(strict.code, Some(1));
    let told = String::from_utf8_lossy(&strict.output).into_owned();
    told.shows("mine: ");
    told.shows("mine/run.json:1: blocks-with-control: the run belongs to no study");
    fs::write(at.join("out/mine.txt"), "").unwrap();
    let refused = ended(&["site", "data", "-o", "out"], at);
    assert_eq!(refused.code, Some(2));
    assert!(at.join("out/mine.txt").exists());
}

/// The script compares all bytes, so that this test and its user do the same.
#[test]
fn site_of_another_clone_has_the_same_bytes() {
    let place = directory();
    let at = place.path().join("data");
    fs::create_dir_all(at.join("mine")).unwrap();
    fs::write(at.join("mine/run.json"), RUN).unwrap();
    let archive = at.join("archive.db");
    let import = ["import", "data/mine/run.json", "--archive"];
    answer(
        &[&import[..], &[archive.to_str().unwrap()]].concat(),
        place.path(),
    );
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../studies/collection/rebuild"
    );
    let output = Command::new(Path::new(script))
        .arg(&at)
        .env("POSTMARK", program())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    said.shows("equal: ");
}
