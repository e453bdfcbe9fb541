//! Studies in the tables of the papers: the small study files of the project, for real (as root).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::original::{directory, ours};
use crate::support::is_root;

/// A study file of the project.
fn study_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../studies/{name}.toml"))
}

fn perform(place: &Path, words: &[&str]) -> Output {
    Command::new(ours())
        .args(words)
        .env("POSTMARK_ARCHIVE", place.join("archive.db"))
        .current_dir(place)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}{told}");
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Performs the small study of a layout, with what the paper printed.
fn studied(place: &Path, name: &str) -> String {
    let file = study_file(name);
    text(&perform(
        place,
        &[
            "study",
            file.to_str().unwrap(),
            "--with-published",
            "--quiet",
        ],
    ))
}

#[test]
fn small_studies_show_the_tables_of_their_papers() {
    if !is_root() {
        return;
    }
    let place = directory();
    for (name, shown) in [
        (
            "tr3022-small",
            &[
                "Table 1, Table 4: 1,000 files, 50,000 transactions 1000/50000 ext4 tmpfs \
                 Transactions per second",
                "paper: 1000/50000 UFS TMPFS ODS/R0",
                "As Table 2, Table 5: 200 files, 500 transactions",
                "ext4 with UFS, tmpfs with TMPFS",
                "times as fast: tmpfs as TMPFS",
            ][..],
        ),
        (
            "veritas-small",
            &[
                "Massive 1 12 100 20 200",
                "The brief, 64 bit",
                "ext4 ext4+journal ext2, %",
                "UFS Logging/UFS (64 bit)",
            ],
        ),
        (
            "completion-small",
            &[
                "NFS v3, 200 files, 1,000 files: not measured",
                "the study has no target with iSCSI",
                "ext4 CPU (s)",
            ],
        ),
    ] {
        let text = studied(place.path(), name);
        for words in shown {
            assert!(text.contains(words), "{name}: {words} in\n{text}");
        }
    }
    // The archive has all that a layout needs: what was shown is shown again, in every format.
    let shown = |words: &[&str]| {
        text(&perform(
            place.path(),
            &[&["compare", "tr3022-small"], words].concat(),
        ))
    };
    let again = shown(&["--layout", "tr3022", "--with-published", "--format", "csv"]);
    assert!(
        again.starts_with("layout,work,files,transactions,"),
        "{again}"
    );
    assert!(
        again.contains("transactions-rate,,/s,36,,,,,,36"),
        "{again}"
    );
    let markdown = shown(&["--layout", "submissions", "--format", "markdown"]);
    assert!(
        markdown.contains("| 1000/50000 | ext4 | tmpfs |"),
        "{markdown}"
    );
    assert!(!markdown.contains("UFS"), "{markdown}");
}

#[test]
fn unknown_layouts_and_counterparts_are_refused_before_anything_is_made() {
    let place = directory();
    let file = place.path().join("study.toml");
    let at = place.path().display();
    let refused = |text: &str, words: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let output = perform(
            place.path(),
            &[&["study", file.to_str().unwrap()], words].concat(),
        );
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(!place.path().join("archive.db").exists(), "{text}");
        let told = String::from_utf8(output.stderr).unwrap();
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let study = |layout: &str, more: &str| {
        format!(
            "{layout}\ntargets = [{{ name = \"a\", at = \"{at}\" \
             }}]\n{more}\n[[workload]]\npreset = \"default\"\n"
        )
    };
    let told = refused(&study("layout = \"tr3023\"", ""), &[]);
    let list = "line 1: layout: unknown layout 'tr3023' (use tr3022, veritas, sessions, \
                submissions, completion)";
    assert!(told.contains(list), "{told}");
    let told = refused(
        &study("layout = \"tr3022\"", "counterparts = { b = \"UFS\" }"),
        &[],
    );
    assert!(
        told.contains("line 3: counterparts.b: no target has this name"),
        "{told}"
    );
    let told = refused(
        &study("layout = \"tr3022\"", "counterparts = { a = \"VxFS\" }"),
        &[],
    );
    assert!(
        told.contains("paper has no such system (use one of UFS, TMPFS"),
        "{told}"
    );
    let told = refused(&study("", ""), &["--layout", "tr3023"]);
    assert!(told.contains("unknown layout 'tr3023'"), "{told}");
    let told = refused(&study("", ""), &["--with-published"]);
    assert!(
        told.contains("--with-published requires a layout"),
        "{told}"
    );
}

#[test]
fn a_layout_of_directories_needs_no_root() {
    let place = directory();
    let target = place.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let words = [
        "study",
        "--preset",
        "default",
        "--target",
        target.to_str().unwrap(),
        "--blocks",
        "2",
        "--quiet-time",
        "0s",
        "--quiet",
        "--layout",
        "tr3022",
        "--with-published",
    ];
    let shown = text(&perform(place.path(), &words));
    for words in [
        "medians of 2 blocks",
        "least to greatest",
        "paper: 500/500 Session",
        "Not judged",
    ] {
        assert!(shown.contains(words), "{words} in\n{shown}");
    }
}
