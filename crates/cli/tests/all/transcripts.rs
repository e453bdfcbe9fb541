//! Transcripts in the book: commands with their output. Most are written from real runs
//! (`POSTMARK_WRITE_GOLDEN=1`). Those that are marked `kept` were measured once on the machine that
//! their page names. Tests compare the form of both with that of shorter runs.

use std::collections::BTreeSet;

use crate::layout;

mod stage;

use stage::{Stage, is_written};

/// The pages with transcripts that this module performs, in the order of their commands, and what
/// is performed before the first transcript of a page.
const PAGES: [(&str, &str); 16] = [
    ("tutorial/first-run.md", ""),
    ("tutorial/from-doubtful-to-valid.md", ""),
    ("tutorial/two-configurations.md", ""),
    ("how-to/choose-a-workload.md", ""),
    (
        "how-to/file-sizes.md",
        "printf '0..1023 416\\n1KiB..16KiB 1835\\n16KiB..64KiB 524\\n' > sizes.txt",
    ),
    ("how-to/pool-size-and-cache.md", ""),
    ("how-to/workers.md", ""),
    ("how-to/durable-writes.md", ""),
    ("how-to/rates-and-sweeps.md", ""),
    (
        "how-to/keep-and-find-runs.md",
        "postmark run --preset mail --for 20s --tag baseline --target /mnt/disk",
    ),
    ("how-to/observe-a-program.md", ""),
    ("how-to/classic-scripts.md", ""),
    (
        "how-to/kernel-or-firmware.md",
        "for block in 1 2 3 4 5; do for side in old new; do
         postmark study --preset mail --target /mnt/disk --tag kernels --side $side --block $block
         done; done",
    ),
    ("how-to/which-server.md", ""),
    ("how-to/nfs.md", ""),
    ("how-to/object-storage.md", ""),
];

const BEGIN: &str = "<!-- transcript";
/// Follows [`BEGIN`]: the transcript is compared, and never written.
const KEPT: &str = ", kept -->\n";
const WRITTEN: &str = " -->\n";
const END: &str = "<!-- end -->";

/// The length from which on a line is nearly full. The output has at most 92 columns.
const FULL: usize = 75;

/// Words that differ from run to run.
const VARYING: [&str; 3] = ["VALID", "DOUBTFUL", "INVALID"];

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
/// the machine, and are left out. With `has_prose`, so are lines that continue a sentence: they are
/// not indented, and follow a line that is nearly full.
fn labels(output: &str, has_prose: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut is_note, mut is_reason, mut is_full) = (false, false, false);
    for line in output.lines() {
        let is_continued = has_prose && is_full && !line.starts_with(' ');
        is_full = line.chars().count() >= FULL;
        is_note = line.starts_with("Note:") || (is_note && !line.is_empty());
        is_reason = line.starts_with("  - ") || (is_reason && line.starts_with("    "));
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_label = first.chars().any(char::is_alphabetic)
            && !first.contains(|other: char| other.is_ascii_digit() || "/(%)".contains(other))
            && !VARYING.contains(&first);
        if is_label && !is_note && !is_reason && !is_continued {
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

/// Compares a transcript with the output of its command. A kept one may lack lines of the output,
/// because it is of another machine.
fn compare(page: &str, command: &str, shown: &str, output: &str, is_kept: bool) {
    let (kept, new) = (labels(shown, is_kept), labels(output, false));
    let missing = differences(&kept, output);
    let added = differences(&new, shown);
    assert!(
        !kept.is_empty() && missing.is_empty() && (is_kept || added.is_empty()),
        "{page}: {command}missing: {missing:?}, new: {added:?}\n{output}"
    );
}

/// Performs the transcripts of a page in their order, and compares or writes them.
fn examine(page: &str, earlier: &str) {
    let path = layout::root().join("docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut parts = text.split(BEGIN);
    let mut written = parts.next().unwrap().to_owned();
    let parts: Vec<&str> = parts.collect();
    assert!(!parts.is_empty(), "{page} has no transcript");
    if is_written() && parts.iter().all(|part| part.starts_with(KEPT)) {
        return;
    }
    let Some(stage) = Stage::of(page) else {
        return;
    };
    if !earlier.is_empty() {
        stage.perform(earlier);
    }
    for part in parts {
        let (mark, rest) = part.split_at(part.find('\n').unwrap() + 1);
        assert!([KEPT, WRITTEN].contains(&mark), "{page}: {BEGIN}{mark}");
        let (block, behind) = rest.split_once(END).unwrap();
        let before = unindented(block);
        let command = command(&before);
        let mut lines = block.to_owned();
        if !is_written() {
            let output = stage.perform(&command);
            compare(
                page,
                &command,
                &before[command.len()..],
                &output,
                mark == KEPT,
            );
        } else if mark == WRITTEN {
            let output = stage.perform(&command);
            let text = format!("{command}{}", output.trim_end());
            let indented = text.lines().map(|line| format!("    {line}"));
            lines = indented
                .map(|line| line.trim_end().to_owned() + "\n")
                .collect();
        }
        written += &format!("{BEGIN}{mark}{lines}{END}{behind}");
    }
    if is_written() {
        std::fs::write(&path, written).unwrap();
    }
}

#[test]
fn transcripts_have_the_form_of_the_output() {
    if is_written() {
        // Nothing else runs beside a run that is shown.
        for (page, earlier) in PAGES {
            examine(page, earlier);
        }
        return;
    }
    std::thread::scope(|scope| {
        for (page, earlier) in PAGES {
            scope.spawn(move || examine(page, earlier));
        }
    });
}

#[test]
fn labels_are_the_first_words_outside_of_reasons() {
    let sentence = format!("Ratio: {} of blocks", "mean ".repeat(FULL / 5));
    let output = format!(
        "PostMark 0.1.0: mail-1\n5 transactions/s\n  - too-short: 1 s\n    measured\n\n  append  \
         4 µs\nreads: 3 %\n{sentence}\nin which both ran.\n"
    );
    let expected = ["PostMark", "Ratio", "append", "reads"].map(str::to_owned);
    assert_eq!(labels(&output, true), BTreeSet::from(expected));
}
