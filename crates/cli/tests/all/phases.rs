//! Workloads with phases, in configuration files: each phase has its own results, and a run that is
//! killed in a phase leaves only what `clean` removes.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::Shows;

use crate::original::{answer, directory, ended, json, ours, split};

const PHASES: &str = r#"
files = 120
dirs = 6
size = "100..4000"

[[phase]]
name = "scan"
walk = "list-stat"

[[phase]]
name = "read-warm"
walk = "read"
cache = "warm"

[[phase]]
name = "modify"
mix = "append=3,replace=2,rename=1,create=1"
transactions = 300

[[phase]]
name = "offered"
mix = "read=1"
for = "300ms"
rate = 1000

[[phase]]
name = "remove"
walk = "delete"

[[phase]]
name = "unpack"
walk = "create"
"#;

fn config(at: &Path, text: &str) -> String {
    let path = at.join("phases.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn each_phase_has_its_own_results() {
    let (at, settings) = (directory(), directory());
    let config = config(settings.path(), PHASES);
    let words = format!("--config {config} --verify");
    let record = json(&split(&format!("run --quiet {words}")), at.path());
    let steps = record["summary"]["sweep"]["sweep_steps"]
        .as_array()
        .unwrap();
    let names: Vec<&str> = steps
        .iter()
        .map(|step| step["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["scan", "read-warm", "modify", "offered", "remove", "unpack"]
    );
    let count = |name: &str| {
        let step = &steps[names.iter().position(|one| *one == name).unwrap()];
        step["transactions"].as_u64().unwrap()
    };
    assert_eq!(
        [count("scan"), count("read-warm"), count("unpack")],
        [6, 120, 120]
    );
    assert!(count("remove") > 120, "modify created files");
    assert!(
        (100..=400).contains(&count("offered")),
        "{}",
        count("offered")
    );
    let removed = &steps[4]["by_operation"];
    assert_eq!(removed.as_array().unwrap().len(), 1, "{removed}");
    assert_eq!(removed[0]["action"], "delete");
    assert_eq!(record["record"]["actual"]["outcome"], "complete");
    let check = &record["record"]["actual"]["check"];
    assert_eq!(check["known"]["wrong"], 0, "{check}");
    assert_eq!(
        std::fs::read_dir(at.path()).unwrap().count(),
        0,
        "nothing is left"
    );
    let plan = json(&split(&format!("plan {words}")), at.path());
    let of_record = &record["record"]["fingerprint"];
    assert_eq!(&plan["plan"]["fingerprint"], of_record);
}

#[test]
fn phases_are_shown_a_line_each() {
    let (at, settings) = (directory(), directory());
    let config = config(settings.path(), PHASES);
    let text = answer(&split(&format!("run --quiet --config {config}")), at.path());
    text.shows_all("6 phases | name  achieved/s | \n       scan  | \n  read-warm  ");
    text.does_not_show("Knee");
    text.does_not_show("Saturation");
    let full = answer(
        &split(&format!("run --quiet --full --config {config}")),
        at.path(),
    );
    full.shows_all("Phase       name | phases in their order");
    let plan = answer(&split(&format!("plan --config {config}")), at.path());
    plan.shows_all(
        "scan: walk with list-stat | read-warm: walk with read, cache warm | offered: read=1 | \
         1,000 transactions/s offered",
    );
}

#[test]
fn written_configuration_describes_the_same_phases() {
    let (at, settings) = (directory(), directory());
    let first = config(settings.path(), PHASES);
    let written = answer(
        &split(&format!("plan --format toml --config {first}")),
        at.path(),
    );
    assert_eq!(written.matches("[[phase]]").count(), 6, "{written}");
    let second = settings.path().join("written.toml");
    std::fs::write(&second, &written).unwrap();
    let plan = |path: &str| json(&split(&format!("plan --config {path}")), at.path());
    let [one, other]: [Value; 2] = [plan(&first), plan(second.to_str().unwrap())];
    assert_eq!(one["plan"]["fingerprint"], other["plan"]["fingerprint"]);
    assert_eq!(one["spec"]["drive"], other["spec"]["drive"]);
}

#[test]
fn contradictions_of_phases_are_refused() {
    let (at, settings) = (directory(), directory());
    let refused = |text: &str, words: &str| {
        let config = config(settings.path(), text);
        let ended = ended(
            &split(format!("plan --config {config} {words}").trim_end()),
            at.path(),
        );
        assert_eq!(ended.code, Some(2), "{text} {words}");
        String::from_utf8_lossy(&ended.errors).into_owned()
    };
    let phase = |keys: &str| format!("files = 10\n[[phase]]\nname = \"one\"\n{keys}\n");
    refused(&phase(""), "").shows("it has no operations");
    refused(&phase("walk = \"mkdir\""), "").shows("a walk cannot perform mkdir");
    refused(&phase("walk = \"read\"\nmix = \"read=1\""), "").shows("cannot be combined");
    refused(&phase("mix = \"read=1\"\ntransactions = 0"), "").shows("expected at least 1");
    for (option, words) in [
        ("--sweep auto", "--sweep cannot be combined with phases"),
        (
            "--transactions 5",
            "--transactions 5 cannot be combined with phases",
        ),
        ("--keep", "--keep cannot be combined with phases"),
        ("--writers 2", "--writers cannot be combined with phases"),
    ] {
        refused(PHASES, option).shows(words);
    }
    let config = config(settings.path(), PHASES);
    let plan = json(
        &split(&format!("plan --config {config} --mix read=1")),
        at.path(),
    );
    let sweep = &plan["spec"]["drive"]["sweep"];
    assert!(sweep.is_null(), "a mix replaces the phases: {sweep}");
}

#[test]
fn run_that_is_killed_in_a_phase_is_cleaned() {
    let (at, settings) = (directory(), directory());
    for last in ["mix = \"create=1,delete=1\"", "walk = \"create\"\nrate = 5"] {
        let text = format!(
            "files = 60\n[[phase]]\nname = \"remove\"\nwalk = \"delete\"\n\n[[phase]]\nname = \
             \"last\"\n{last}\nfor = \"60s\"\n"
        );
        let config = config(settings.path(), &text);
        let mut run = std::process::Command::new(ours())
            .args(["run", "--config", &config, "--archive", "none", "--target"])
            .arg(at.path())
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(2_500));
        run.kill().unwrap();
        run.wait().unwrap();
        assert_eq!(
            std::fs::read_dir(at.path()).unwrap().count(),
            1,
            "the run was going"
        );
        answer(&["clean", at.path().to_str().unwrap()], at.path());
        assert_eq!(std::fs::read_dir(at.path()).unwrap().count(), 0, "{last}");
    }
}
