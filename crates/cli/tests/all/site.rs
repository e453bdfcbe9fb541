//! `postmark site`, from its arguments to its answer and its exit status.

use std::fs;

use testkit::Shows;

use crate::original::{answer, directory, ended};

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
