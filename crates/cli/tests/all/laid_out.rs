//! Performs the small studies in the directory `studies`, which need root. Their results are
//! printed as tables in the form of published papers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testkit::{Shows, rows};

use crate::original::{directory, ours};
use crate::support::is_root;

fn study_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../studies/{name}.toml"))
}

/// Runs the program with the arguments in `words`, separated by blanks.
fn perform(place: &Path, words: &str) -> Output {
    Command::new(ours())
        .args(words.split_whitespace())
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

/// Performs the study `name` from the directory `studies`, and returns its report on one line. The
/// report includes the values printed in the paper that the study reproduces.
fn studied(place: &Path, name: &str) -> String {
    let file = study_file(name);
    let words = format!("study {} --with-published --quiet", file.display());
    text(&perform(place, &words))
}

/// Study files, each with texts that its output must contain.
const SHOWN: &str = "
    tr3022-small | Table 1, Table 4: 1,000 files, 50,000 transactions 1000/50000 ext4 tmpfs \
        Transactions per second | paper: 1000/50000 UFS TMPFS ODS/R0
        | As Table 2, Table 5: 200 files, 500 transactions | ext4 with UFS, tmpfs with TMPFS
        | times as fast: tmpfs as TMPFS
    veritas-small | Massive 1 12 100 20 200 | The brief, 64 bit | ext4 ext4+journal ext2, %
        | UFS Logging/UFS (64 bit)
    completion-small | NFS v3, 200 files, 1,000 files: not measured
        | the study has no target with iSCSI | ext4 CPU (s)
";

#[test]
fn small_studies_show_the_tables_of_their_papers() {
    if !is_root() {
        return;
    }
    let place = directory();
    for shown in rows(SHOWN) {
        let text = studied(place.path(), shown[0]);
        for words in &shown[1..] {
            text.shows(words);
        }
    }
    // The archive contains all data of the tables, so they can be printed later in every format.
    let shown = |options: &str| {
        text(&perform(
            place.path(),
            &format!("compare tr3022-small {options}"),
        ))
    };
    let again = shown("--layout tr3022 --with-published --format csv");
    again.begins_with("layout,work,files,transactions,");
    again.shows("transactions-rate,,/s,36,,,,,,36");
    let markdown = shown("--layout submissions --format markdown");
    markdown.shows("| 1000/50000 | ext4 | tmpfs |");
    markdown.does_not_show("UFS");
}

#[test]
fn unknown_layouts_and_published_systems_are_refused_in_advance() {
    let place = directory();
    let file = place.path().join("study.toml");
    let at = place.path().display();
    let refused = |text: &str, options: &str| {
        std::fs::write(&file, text).unwrap();
        let output = perform(place.path(), &format!("study {} {options}", file.display()));
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
    let told = refused(&study("layout = \"tr3023\"", ""), "");
    let list = "line 1: layout: unknown layout 'tr3023' (use tr3022, veritas, sessions, \
                submissions, completion)";
    told.shows(list);
    let told = refused(
        &study("layout = \"tr3022\"", "counterparts = { b = \"UFS\" }"),
        "",
    );
    told.shows("line 3: counterparts.b: no target has this name");
    let told = refused(
        &study("layout = \"tr3022\"", "counterparts = { a = \"VxFS\" }"),
        "",
    );
    told.shows("paper has no such system (use one of UFS, TMPFS");
    let told = refused(&study("", ""), "--layout tr3023");
    told.shows("unknown layout 'tr3023'");
    let told = refused(&study("", ""), "--with-published");
    told.shows("--with-published requires a layout");
}

#[test]
fn layout_with_directories_needs_no_root() {
    let place = directory();
    let target = place.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let words = format!(
        "study --preset default --target {} --blocks 2 --quiet-time 0s --quiet --layout tr3022 \
         --with-published",
        target.display()
    );
    let shown = text(&perform(place.path(), &words));
    shown
        .shows_all("medians of 2 blocks | least to greatest | paper: 500/500 Session | Not judged");
}
