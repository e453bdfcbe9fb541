//! `postmark report`: the HTML page that it writes, and commands that read such a page.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::Shows;
use testkit::records::KEPT;

use crate::original::{self, Said, directory, ours};

/// A test directory that contains the record `run.json`.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(directory());
        fs::write(place.path("run.json"), KEPT).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the program with the arguments in `words`, separated by blanks. Returns its output.
    fn answer(&self, words: &str) -> String {
        original::answer(&words.split(' ').collect::<Vec<_>>(), self.0.path())
    }

    fn ended(&self, words: &str) -> Said {
        original::ended(&words.split(' ').collect::<Vec<_>>(), self.0.path())
    }

    fn refuses(&self, words: &str) {
        assert_eq!(self.ended(words).code, Some(2), "{words}");
    }

    fn page(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

#[test]
fn page_can_be_read_as_its_record() {
    let place = Place::new();
    place.answer("report run.json -o page.html");
    let json = |file: &str| place.answer(&format!("show {file} --format json"));
    assert_eq!(json("page.html"), json("run.json"));
    let imported = place.answer("import page.html --archive a.db");
    imported.shows("Run 1: new");
    let exported = place.answer("export 1 --archive a.db");
    assert_eq!(exported, json("run.json"));
    // The page of the archived run equals the page of the record file. If the run gets a note, its
    // page contains the note.
    place.answer("report 1 --archive a.db -o again.html");
    assert_eq!(place.page("again.html"), place.page("page.html"));
    place.answer("note 1 <b>slow --archive a.db");
    place.answer("report 1 --archive a.db -o noted.html");
    place.page("noted.html").shows("Note: &lt;b&gt;slow");
    place.answer("import noted.html --archive b.db");
    let listed = place.answer("export 1 --archive b.db");
    listed.shows("<b>slow");
}

#[test]
fn existing_page_stays_and_page_without_records_is_refused() {
    let place = Place::new();
    fs::write(place.path("other.html"), "<!DOCTYPE html><p>nothing").unwrap();
    place.refuses("report run.json -o other.html");
    place.refuses("show other.html");
    let kept = place.page("other.html");
    assert_eq!(kept, "<!DOCTYPE html><p>nothing");
    place.answer("report run.json -o other.html --force");
    assert!(place.answer("show other.html").contains("transactions/s"));
}

/// Runs a command with a file size limit of 4 KiB, above which each write fails, as on a full file
/// system. Returns the exit status.
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
fn page_is_written_completely_or_not_at_all() {
    let place = Place::new();
    let path = |name: &str| place.path(name);
    fs::write(path("good.html"), "good").unwrap();
    fs::set_permissions(path("good.html"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("good.html", path("link.html")).unwrap();
    let there = ["good.html", "link.html", "run.json"];
    for to in ["good.html", "link.html", "new.html"] {
        let words = format!("report run.json --force -o {to}");
        assert_eq!(ended_on_full(&words, place.0.path()), Some(1), "{to}");
        assert_eq!(
            fs::read_to_string(path("good.html")).unwrap(),
            "good",
            "{to}"
        );
        assert_eq!(names(place.0.path()), there, "{to}");
    }
    place.answer("report run.json --force -o link.html");
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
    assert_eq!(names(place.0.path()), there);
}

#[test]
fn page_is_written_even_if_the_text_report_is_not() {
    let place = Place::new();
    let words = "run --engine null --transactions 10 --target . --archive none --quiet --output \
                 /dev/full --report run.html";
    assert_eq!(place.ended(words).code, Some(1));
    assert!(place.answer("show run.html").contains("transactions/s"));
}

#[test]
fn figures_path_that_is_a_file_is_refused_before_the_page() {
    let place = Place::new();
    let words = "report run.json -o page.html --figures run.json";
    place.refuses(words);
    assert_eq!(names(place.0.path()), ["run.json"]);
}

#[test]
fn show_accepts_a_page_of_several_runs_and_option_like_refuses_it() {
    let place = Place::new();
    place.answer("report run.json run.json -o two.html");
    let show = |file: &str, format: &str| place.answer(&format!("show {file} --format {format}"));
    let one = show("run.json", "text");
    assert_eq!(show("two.html", "text"), format!("{one}\n{one}"));
    fs::write(place.path("two.json"), show("two.html", "json")).unwrap();
    for file in ["two.html", "two.json"] {
        let refused = place.ended(&format!("run --like {file}"));
        let errors = String::from_utf8(refused.errors).unwrap();
        assert_eq!(refused.code, Some(2), "{errors}");
        errors.shows("it holds 2 runs");
    }
}

/// The visible part of a page, without its styles and records.
fn shown(page: &str) -> &str {
    let (_, shown) = page.split_once("<body>").unwrap();
    shown.split_once("<script").unwrap().0
}

#[test]
fn study_page_contains_all_its_runs() {
    let place = Place::new();
    for target in ["one", "two"] {
        fs::create_dir(place.path(target)).unwrap();
    }
    let at = place.0.path().display();
    place.answer(&format!(
        "study --name pair --preset mail --archive a.db --no-twin --blocks 1 --quiet-time 0s \
         --files 50 --for 50ms --no-overhead --durability none --report study.html --format json \
         --target one={at}/one --target two={at}/two"
    ));
    place.answer("report pair --archive a.db -o again.html");
    assert_eq!(place.page("again.html"), place.page("study.html"));
    // The page, the table and JSON contain the same values.
    let text = place.answer("compare pair --archive a.db");
    let json = place.answer("compare pair --archive a.db --format json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let row = &json[0]["rows"][0];
    let ratio = row["outcome"]["estimated"]["ratio"].as_f64();
    // On a busy machine, all attempts of a block may be INVALID. The table and the page then report
    // that.
    match ratio {
        Some(ratio) => {
            let ratio = format!("{ratio:.2}");
            text.shows(&ratio);
            assert!(shown(&place.page("study.html")).contains(&ratio), "{text}");
        }
        None => assert!(
            text.contains("too many INVALID")
                && place.page("study.html").contains("too many INVALID")
        ),
    }
    let runs = place.answer("list --archive a.db --format csv");
    let runs = runs.lines().count() - 1;
    let imported = place.answer("import study.html --archive b.db");
    assert_eq!(imported.matches(": new").count(), runs, "{imported}");
    // The imported runs belong to the same study.
    place.answer("report pair --archive b.db -o imported.html");
    assert_eq!(
        shown(&place.page("imported.html"))
            .matches("<details")
            .count(),
        shown(&place.page("study.html")).matches("<details").count()
    );
    place.answer("report one two --archive a.db -o sides.html");
    place
        .page("sides.html")
        .shows("<h1>PostMark: two compared with one</h1>");
    place.answer("report 1..1 2..2 --archive a.db -o ranges.html");
    place.answer("report 1 2 --compare --archive a.db -o single.html");
    place
        .page("single.html")
        .shows("<h1>PostMark: run 2 compared with run 1</h1>");
    place.refuses("report 1 2 --unlike --archive a.db -o no.html");
    let figures = "report 1 --archive a.db -o f.html --figures figures";
    place.answer(figures);
    let all: Vec<_> = fs::read_dir(place.path("figures")).unwrap().collect();
    assert!(all.len() >= 4 && all.len() % 4 == 0, "{all:?}");
    place.refuses(figures);
    place.refuses("report nosuch --archive a.db -o no.html");
    assert!(!place.path("no.html").exists());
}

#[test]
fn run_writes_its_page_when_it_ends() {
    let place = Place::new();
    let run = "run --preset paper-1000-50000 --transactions 500 --engine null --target . \
               --archive a.db --quiet --report";
    place.answer(&format!("{run} run.html"));
    place.answer("report 1 --archive a.db -o again.html");
    assert_eq!(
        shown(&place.page("again.html")),
        shown(&place.page("run.html"))
    );
    // An existing page is not overwritten.
    place.refuses(&format!("{run} run.html"));
    place.refuses(&format!("{run} -"));
}

#[test]
fn page_compares_classic_run_with_published_results() {
    let place = Place::new();
    place.answer(
        "run --preset paper-1000-50000 --engine null --target . --archive none --quiet --report \
         run.html",
    );
    let page = place.page("run.html");
    let shown = shown(&page);
    assert!(
        shown.contains("Transactions, 1997 to today")
            && shown.contains("Throughput, 1997 to today")
    );
    assert!(shown.contains("compares whole systems"));
}

/// The example pages in the order of their creation, each with the arguments of `report`.
const EXAMPLES: [(&str, &str); 5] = [
    ("run", "last"),
    ("sweep", "last"),
    ("study", "examples-workers"),
    ("undecided-comparison", "before after"),
    ("damaged-record", "last"),
];

/// If POSTMARK_WRITE_GOLDEN is set, each example page is written again from the records in it.
#[test]
fn examples_are_small_and_reproducible_from_their_records() {
    let place = Place::new();
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
        // If all examples are imported in this order, their runs get the same numbers as in the
        // pages.
        let imported = format!("import {} --archive examples.db", example.display());
        let imported = place.answer(&imported);
        assert!(imported.contains(": new"), "{name}: {imported}");
        let to = format!("{name}.html");
        place.answer(&format!("report {words} --archive examples.db -o {to}"));
        let made = place.page(&to);
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
