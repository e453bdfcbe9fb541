//! `postmark report`: the file that it writes, and what reads it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::original::{answer, directory, ended, ours};

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
    answer(
        &["report", "1", "--archive", "a.db", "-o", "again.html"],
        place.path(),
    );
    let page = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(page("again.html"), page("page.html"));
    answer(&["note", "1", "<b>slow", "--archive", "a.db"], place.path());
    answer(
        &["report", "1", "--archive", "a.db", "-o", "noted.html"],
        place.path(),
    );
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
    answer(
        &["report", "run.json", "-o", "other.html", "--force"],
        place.path(),
    );
    assert!(answer(&["show", "other.html"], place.path()).contains("transactions/s"));
}

/// What a command comes to that may write no file beyond 4 KiB, as on a file system that is full.
fn ended_on_full(words: &str, at: &Path) -> Option<i32> {
    let command = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} {words}",
        ours().display()
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &command])
        .current_dir(at)
        .output()
        .unwrap()
        .status
        .code()
}

fn names(at: &Path) -> Vec<String> {
    let entries = fs::read_dir(at).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_page_is_written_whole_or_not_at_all() {
    let place = directory();
    let path = |name: &str| place.path().join(name);
    fs::write(path("run.json"), RUN).unwrap();
    fs::write(path("good.html"), "good").unwrap();
    fs::set_permissions(path("good.html"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("good.html", path("link.html")).unwrap();
    let there = ["good.html", "link.html", "run.json"];
    for to in ["good.html", "link.html", "new.html"] {
        let words = format!("report run.json --force -o {to}");
        assert_eq!(ended_on_full(&words, place.path()), Some(1), "{to}");
        assert_eq!(
            fs::read_to_string(path("good.html")).unwrap(),
            "good",
            "{to}"
        );
        assert_eq!(names(place.path()), there, "{to}");
    }
    answer(
        &["report", "run.json", "--force", "-o", "link.html"],
        place.path(),
    );
    assert!(
        fs::read_to_string(path("good.html"))
            .unwrap()
            .contains("</html>")
    );
    assert!(
        fs::symlink_metadata(path("link.html"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::metadata(path("good.html")).unwrap().mode() & 0o777,
        0o640
    );
    assert_eq!(names(place.path()), there);
}

#[test]
fn a_page_is_written_also_where_nobody_could_be_given_the_report() {
    let place = directory();
    let run = [
        "run",
        "--storage",
        "null",
        "--transactions",
        "10",
        "--target",
        ".",
    ];
    let to = ["--output", "/dev/full", "--report", "run.html"];
    let words = [&run[..], &["--archive", "none", "--quiet"], &to].concat();
    assert_eq!(ended(&words, place.path()).code, Some(1));
    assert!(answer(&["show", "run.html"], place.path()).contains("transactions/s"));
}

#[test]
fn a_file_is_refused_for_figures_before_a_page_is_written() {
    let place = directory();
    fs::write(place.path().join("run.json"), RUN).unwrap();
    let words = [
        "report",
        "run.json",
        "-o",
        "page.html",
        "--figures",
        "run.json",
    ];
    assert_eq!(ended(&words, place.path()).code, Some(2));
    assert_eq!(names(place.path()), ["run.json"]);
}

#[test]
fn the_runs_of_a_page_are_shown_one_after_another_and_one_of_them_is_repeated() {
    let place = directory();
    fs::write(place.path().join("run.json"), RUN).unwrap();
    answer(
        &["report", "run.json", "run.json", "-o", "two.html"],
        place.path(),
    );
    let show = |file: &str, format: &str| answer(&["show", file, "--format", format], place.path());
    let one = show("run.json", "text");
    assert_eq!(show("two.html", "text"), format!("{one}\n{one}"));
    fs::write(place.path().join("two.json"), show("two.html", "json")).unwrap();
    for file in ["two.html", "two.json"] {
        let refused = ended(&["run", "--like", file], place.path());
        let errors = String::from_utf8(refused.errors).unwrap();
        assert_eq!(refused.code, Some(2), "{errors}");
        assert!(errors.contains("it holds 2 runs"), "{errors}");
    }
}

/// The text of a page that is shown: what is in it, and no style or records.
fn shown(page: &str) -> &str {
    let (_, shown) = page.split_once("<body>").unwrap();
    shown.split_once("<script").unwrap().0
}

#[test]
fn a_study_has_a_page_with_all_of_its_runs() {
    let place = directory();
    for target in ["one", "two"] {
        fs::create_dir(place.path().join(target)).unwrap();
    }
    let targets =
        ["one", "two"].map(|target| format!("{target}={}", place.path().join(target).display()));
    let mut study = vec![
        "study",
        "--name",
        "pair",
        "--preset",
        "mail",
        "--archive",
        "a.db",
        "--no-twin",
    ];
    study.extend([
        "--blocks",
        "1",
        "--quiet-time",
        "0s",
        "--set",
        "files=50",
        "--set",
        "for=50ms",
    ]);
    study.extend([
        "--set",
        "no-overhead=true",
        "--report",
        "study.html",
        "--format",
        "json",
    ]);
    study.extend(
        targets
            .iter()
            .flat_map(|target| ["--target", target.as_str()]),
    );
    answer(&study, place.path());
    let page = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    answer(
        &["report", "pair", "--archive", "a.db", "-o", "again.html"],
        place.path(),
    );
    assert_eq!(page("again.html"), page("study.html"));
    // The numbers are those of the table and of JSON.
    let text = answer(&["compare", "pair", "--archive", "a.db"], place.path());
    let json = answer(
        &["compare", "pair", "--archive", "a.db", "--format", "json"],
        place.path(),
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let row = &json[0]["rows"][0];
    let ratio = row["outcome"]["estimated"]["ratio"].as_f64();
    // All attempts may be INVALID on a loaded machine: then all say that.
    match ratio {
        Some(ratio) => {
            let ratio = format!("{ratio:.2}");
            assert!(
                text.contains(&ratio) && shown(&page("study.html")).contains(&ratio),
                "{text}"
            );
        }
        None => assert!(
            text.contains("too many INVALID") && page("study.html").contains("too many INVALID")
        ),
    }
    let runs = answer(
        &["list", "--archive", "a.db", "--format", "csv"],
        place.path(),
    );
    let runs = runs.lines().count() - 1;
    let imported = answer(&["import", "study.html", "--archive", "b.db"], place.path());
    assert_eq!(imported.matches(": new").count(), runs, "{imported}");
    // What was imported is the same study.
    answer(
        &["report", "pair", "--archive", "b.db", "-o", "imported.html"],
        place.path(),
    );
    assert_eq!(
        shown(&page("imported.html")).matches("<details").count(),
        shown(&page("study.html")).matches("<details").count()
    );
    let sides = [
        "report",
        "one",
        "two",
        "--archive",
        "a.db",
        "-o",
        "sides.html",
    ];
    answer(&sides, place.path());
    assert!(page("sides.html").contains("<h1>PostMark: two compared with one</h1>"));
    answer(
        &[
            "report",
            "1..1",
            "2..2",
            "--archive",
            "a.db",
            "-o",
            "ranges.html",
        ],
        place.path(),
    );
    answer(
        &[
            "report",
            "1",
            "2",
            "--compare",
            "--archive",
            "a.db",
            "-o",
            "single.html",
        ],
        place.path(),
    );
    assert!(page("single.html").contains("<h1>PostMark: run 2 compared with run 1</h1>"));
    let refused = [
        "report",
        "1",
        "2",
        "--unlike",
        "--archive",
        "a.db",
        "-o",
        "no.html",
    ];
    assert_eq!(
        ended(&refused, place.path()).code,
        Some(2),
        "nothing is compared"
    );
    let figures = [
        "report",
        "1",
        "--archive",
        "a.db",
        "-o",
        "f.html",
        "--figures",
        "figures",
    ];
    answer(&figures, place.path());
    let all: Vec<_> = fs::read_dir(place.path().join("figures"))
        .unwrap()
        .collect();
    assert!(all.len() >= 4 && all.len() % 4 == 0, "{all:?}");
    assert_eq!(ended(&figures, place.path()).code, Some(2), "they exist");
    let refused = ended(
        &["report", "nosuch", "--archive", "a.db", "-o", "no.html"],
        place.path(),
    );
    assert_eq!(refused.code, Some(2));
    assert!(!place.path().join("no.html").exists());
}

#[test]
fn a_run_writes_its_page_when_it_ends() {
    let place = directory();
    let run = [
        "run",
        "--preset",
        "paper-1000-50000",
        "--transactions",
        "500",
        "--storage",
        "null",
    ];
    let run: Vec<&str> = run
        .into_iter()
        .chain(["--target", ".", "--archive", "a.db", "--quiet"])
        .collect();
    let with = |report: &[&'static str]| {
        run.iter()
            .copied()
            .chain(report.iter().copied())
            .collect::<Vec<_>>()
    };
    answer(&with(&["--report", "run.html"]), place.path());
    answer(
        &["report", "1", "--archive", "a.db", "-o", "again.html"],
        place.path(),
    );
    let page = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(shown(&page("again.html")), shown(&page("run.html")));
    assert_eq!(
        ended(&with(&["--report", "run.html"]), place.path()).code,
        Some(2),
        "it exists"
    );
    assert_eq!(ended(&with(&["--report", "-"]), place.path()).code, Some(2));
}

#[test]
fn classic_work_stands_beside_what_was_published() {
    let place = directory();
    let run = [
        "run",
        "--preset",
        "paper-1000-50000",
        "--storage",
        "null",
        "--target",
        ".",
    ];
    let run: Vec<&str> = run
        .into_iter()
        .chain(["--archive", "none", "--quiet", "--report", "run.html"])
        .collect();
    answer(&run, place.path());
    let page = fs::read_to_string(place.path().join("run.html")).unwrap();
    let shown = shown(&page);
    assert!(
        shown.contains("Transactions, 1997 to today")
            && shown.contains("Throughput, 1997 to today")
    );
    assert!(shown.contains("compares whole systems"));
}

/// The examples in the order in which they were made, with the words that `report` makes them of.
const EXAMPLES: [(&str, &[&str]); 5] = [
    ("run", &["last"]),
    ("sweep", &["last"]),
    ("study", &["examples-workers"]),
    ("undecided-comparison", &["before", "after"]),
    ("damaged-record", &["last"]),
];

/// With POSTMARK_WRITE_GOLDEN they are made again of the records within them.
#[test]
fn the_examples_are_small_and_what_their_records_make() {
    let place = directory();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = fs::read_dir(&examples)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|end| end == "html"));
    assert_eq!(pages.count(), EXAMPLES.len());
    let mut differing = Vec::new();
    for (name, words) in EXAMPLES {
        let example = examples.join(format!("{name}.html"));
        let committed = fs::read_to_string(&example).unwrap();
        assert!(committed.len() < 500_000, "{name}: {}", committed.len());
        // Numbers of runs are as they were where all are imported in their order.
        let imported = answer(
            &[
                "import",
                example.to_str().unwrap(),
                "--archive",
                "examples.db",
            ],
            place.path(),
        );
        assert!(imported.contains(": new"), "{name}: {imported}");
        let to = format!("{name}.html");
        let report = [&["report"], words, &["--archive", "examples.db", "-o", &to]].concat();
        answer(&report, place.path());
        let made = fs::read_to_string(place.path().join(&to)).unwrap();
        if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
            fs::write(&example, &made).unwrap();
        }
        if made != committed {
            differing.push(name);
        }
    }
    assert_eq!(
        differing, [""; 0],
        "POSTMARK_WRITE_GOLDEN=1 makes them again"
    );
}
