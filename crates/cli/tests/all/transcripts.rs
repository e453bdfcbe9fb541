//! Transcripts in the book: commands with their output. They are written from real runs
//! (`POSTMARK_WRITE_GOLDEN=1`), and tests compare their form with that of shorter runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::{layout, original};

/// The pages with transcripts that this module performs, in the order of their commands.
const PAGES: [&str; 9] = [
    "tutorial/first-run.md",
    "tutorial/from-doubtful-to-valid.md",
    "how-to/choose-a-workload.md",
    "how-to/workers.md",
    "how-to/durable-writes.md",
    "how-to/rates-and-sweeps.md",
    "how-to/keep-and-find-runs.md",
    "how-to/observe-a-program.md",
    "how-to/classic-scripts.md",
];

/// A page whose transcripts need an earlier run, and this run.
const EARLIER: (&str, &str) = (
    "how-to/keep-and-find-runs.md",
    "postmark run --preset mail --for 20s --tag baseline --target /mnt/disk",
);

const BEGIN: &str = "<!-- transcript -->\n";
const END: &str = "<!-- end -->";

/// The target of the commands in the book.
const TARGET: &str = "/mnt/disk";

/// Words that differ from run to run.
const VARYING: [&str; 3] = ["VALID", "DOUBTFUL", "INVALID"];

/// Replacements that make the run of a comparison short.
const SHORTER: [(&str, &str); 6] = [
    (" --for 60s", " --for 500ms"),
    (" --for 20s", " --for 500ms"),
    (" --for 2s", " --for 500ms"),
    (" --files 10k", " --files 300"),
    ("set number 20000", "set number 200"),
    ("set transactions 100000", "set transactions 500"),
];

fn is_written() -> bool {
    std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some()
}

/// The text of a block without its indentation.
fn unindented(block: &str) -> String {
    let lines = block.lines();
    let lines = lines.map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned() + "\n");
    lines.collect()
}

/// The command of a transcript: its first line, with the lines that continue it.
fn command(transcript: &str) -> String {
    let mut command = String::new();
    for line in transcript.lines() {
        command += line;
        command.push('\n');
        if !line.ends_with('\\') {
            break;
        }
    }
    command
}

/// The first word of each line that describes its numbers. Reasons of a verdict and notes depend on
/// the machine, and are left out.
fn labels(output: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut is_note, mut is_reason) = (false, false);
    for line in output.lines() {
        is_note = line.starts_with("Note:") || (is_note && !line.is_empty());
        is_reason = line.starts_with("  - ") || (is_reason && line.starts_with("    "));
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_label = first.chars().any(char::is_alphabetic)
            && !first.contains(|other: char| other.is_ascii_digit() || "/(%)".contains(other))
            && !VARYING.contains(&first);
        if is_label && !is_note && !is_reason {
            found.insert(first.trim_end_matches([':', ',']).to_owned());
        }
    }
    found
}

/// Labels that only one of two outputs contains, anywhere.
fn differences<'a>(labels: &'a BTreeSet<String>, other: &str) -> Vec<&'a String> {
    labels
        .iter()
        .filter(|label| !other.contains(*label))
        .collect()
}

/// Performs a command of the book, and returns its output with the paths of the book.
fn perform(command: &str, place: &Path, target: &Path) -> String {
    let command = command.trim_start_matches("$ ").trim_end();
    let mut placed = command.replace(TARGET, target.to_str().unwrap());
    // A plan of a short run has other verdicts.
    if !is_written() && !command.starts_with("postmark plan") {
        for (from, to) in SHORTER {
            placed = placed.replace(from, to);
        }
    }
    let programs = original::ours().parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("{placed} 2>&1")])
        .current_dir(place)
        .env("PATH", path)
        .env("COLUMNS", "92")
        .env("POSTMARK_ARCHIVE", place.join("archive.db"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{placed}\n{text}");
    let text = text.replace(target.to_str().unwrap(), TARGET);
    // Messages about the archive name a path of the test.
    let lines = text.lines().filter(|line| !line.starts_with("postmark: "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Performs the transcripts of a page in their order, and compares or writes them.
fn examine(page: &str) {
    let path = layout::root().join("docs").join(page);
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let target = tempfile::tempdir_in("/var/tmp").unwrap();
    if page == EARLIER.0 {
        perform(EARLIER.1, place.path(), target.path());
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let mut parts = text.split(BEGIN);
    let mut written = parts.next().unwrap().to_owned();
    let mut count = 0;
    for part in parts {
        let (block, behind) = part.split_once(END).unwrap();
        let before = unindented(block);
        let command = command(&before);
        let output = perform(&command, place.path(), target.path());
        let shown = &before[command.len()..];
        if !is_written() {
            let (kept, new) = (labels(shown), labels(&output));
            let missing = differences(&kept, &output);
            let added = differences(&new, shown);
            assert!(
                !kept.is_empty() && missing.is_empty() && added.is_empty(),
                "{page}: {command}missing: {missing:?}, new: {added:?}\n{output}"
            );
        }
        let lines = format!("{command}{}", output.trim_end());
        let lines = lines.lines().map(|line| format!("    {line}"));
        let lines = lines.map(|line| line.trim_end().to_owned() + "\n");
        written += &format!("{BEGIN}{}{END}{behind}", lines.collect::<String>());
        count += 1;
    }
    assert!(count > 0, "{page} has no transcript");
    if is_written() {
        std::fs::write(&path, written).unwrap();
    }
}

#[test]
fn transcripts_have_the_form_of_the_output() {
    if is_written() {
        // Nothing else runs beside a run that is shown.
        PAGES.into_iter().for_each(examine);
        return;
    }
    // Most runs wait for earlier writes.
    std::thread::scope(|scope| {
        for page in PAGES {
            scope.spawn(|| examine(page));
        }
    });
}

#[test]
fn labels_are_the_first_words_outside_of_reasons() {
    let output = "PostMark 0.1.0: mail-1\n5 transactions/s\n  - too-short: 1 s\n    measured\n\n  \
                  append  4 µs\nreads: 3 %\n";
    let expected = ["PostMark", "append", "reads"].map(str::to_owned);
    assert_eq!(labels(output), BTreeSet::from(expected));
}
