//! The result of crash rounds in the archive, in gates and pages, and in
//! `docs/how-to/prove-durability.md`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::original::{directory, ours};
use crate::support::{Ended, Running, is_met};

const BOOK: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/how-to/prove-durability.md"
);
const SCHEMA: &str = include_str!("../../../../docs/schema/crash-1.json");

/// Runs the program in a directory, with an archive there.
fn perform(at: &Path, words: &[&str]) -> Ended {
    let mut command = Running::command(ours());
    command
        .args(words)
        .current_dir(at)
        .env("POSTMARK_ARCHIVE", at.join("archive.db"));
    Running::run_to_end(command, at)
}

/// A crash command that removes the files of the run.
const DAMAGE: &str = "find \"$POSTMARK_TARGET\" -type f -name '[0-9]*' -delete";

/// Performs two rounds with a crash command, and archives the result. Each round crashes after an
/// acknowledged create, however slow the machine is.
fn crash(at: &Path, target: &Path, words: &[&str]) -> Ended {
    let begin = [
        "crash",
        "--files",
        "40",
        "--mix",
        "create=1",
        "--aim",
        "acknowledgement",
        "--durability",
        "fsync+dir",
        "--rounds",
        "2",
        "--target",
        target.to_str().unwrap(),
    ];
    perform(at, &[&begin[..], words].concat())
}

#[test]
fn results_are_entries_of_the_archive() {
    let (target, beside) = (directory(), tempfile::tempdir().unwrap());
    let at = beside.path();
    let words = ["--crash", "true", "--ack-log", "a", "--tag", "nightly"];
    crash(at, target.path(), &words)
        .ends("0 | No loss in 2 rounds | crash rounds 1 of the archive");
    let run = [
        "run",
        "--files",
        "5",
        "--transactions",
        "5",
        "--no-overhead",
        "--target",
    ];
    let run = [&run[..], &[target.path().to_str().unwrap(), "--quiet"]].concat();
    perform(at, &run).code(0);
    perform(at, &["list"]).ends("0 | mix | crash: 2 rounds, 0 lost | nightly");
    perform(at, &["show", "nightly"]).ends("0 | Tags: nightly | fewer than 77.6 %");
    perform(at, &["show", "1", "--format", "markdown"]).ends("0 | | create |");
    perform(at, &["show", "1", "--format", "classic"]).ends("2 | cannot show crash rounds");
    perform(at, &["compare", "1", "2"]).ends("2 | has the result of crash rounds, not a run");
    perform(at, &["note", "1", "before the update"]).code(0);
    perform(at, &["export", "1..2", "--output", "all.jsonl"]).code(0);
    perform(at, &["import", "all.jsonl", "--archive", "other.db"])
        .ends("0 | Crash rounds 1: 2 rounds, 0 lost | Run 2: new");
    perform(at, &["show", "1", "--archive", "other.db"]).ends("0 | before the update");
    perform(at, &["report", "1", "--output", "page.html"]).code(0);
    let page = std::fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("crash: 2 rounds, 0 lost") && page.contains("before the update"));
    // Continued rounds that have ended are shown again, and stay one entry.
    perform(at, &["crash", "--resume", "a.rounds"]).ends("0 | crash rounds 1 of the archive");
    perform(at, &["delete", "1"]).code(0);
    perform(at, &["list"]).code(0).does_not_show("crash:");
}

#[test]
fn result_as_json_has_the_published_schema() {
    let (target, beside) = (directory(), tempfile::tempdir().unwrap());
    let at = beside.path();
    let words = [
        "--crash",
        DAMAGE,
        "--ack-log",
        "a",
        "--archive",
        "none",
        "--format",
        "json",
    ];
    let ended = crash(at, target.path(), &words);
    let result: Value = serde_json::from_str(&ended.code(1).output).unwrap();
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&result)
        .map(|one| one.to_string())
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    assert!(
        result["loss_share"]["min"].as_f64().unwrap() > 0.1,
        "{result:#}"
    );
}

#[test]
fn gate_judges_an_entry_and_a_file() {
    let (target, beside) = (directory(), tempfile::tempdir().unwrap());
    let at = beside.path();
    let words = ["--crash", DAMAGE, "--ack-log", "a", "--format", "json"];
    let ended = crash(at, target.path(), &words);
    std::fs::write(at.join("crash.json"), &ended.code(1).output).unwrap();
    for result in ["1", "last", "crash.json"] {
        let gate = |requirement| perform(at, &["gate", result, "--require", requirement]);
        gate("lost == 0").ends("4 | Gate failed: 2 rounds | lost == 0");
        gate("torn == 0").ends("0 | Gate passed");
        gate("lost.bound < 2%").ends("4 | Gate failed");
        gate("lost == 7").ends("2 | expected 'lost == 0'");
    }
    let kill = ["--ack-log", "b", "--quiet"];
    crash(at, target.path(), &kill).code(0);
    perform(at, &["gate", "2", "--require", "lost == 0"]).ends("5 | Gate undecided");
    let mixed = [
        "gate",
        "1",
        "--require",
        "lost == 0",
        "--require",
        "transactions >= 0.9",
    ];
    perform(at, &mixed).ends("2 | no ratio beside them");
    perform(at, &["gate", "b.rounds", "--require", "lost == 0"])
        .ends("2 | is not a result of crash rounds");
}

/// The lines of a text as a set, without numbers and without the notes about single rounds, which
/// differ each time.
fn shape(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(masked);
    lines.filter(|line| !line.starts_with(" Round N")).collect()
}

/// A line whose numbers are replaced.
fn masked(line: &str) -> String {
    let mut masked = String::new();
    for word in line.split_whitespace() {
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        let letters = word.chars().filter(|letter| !letter.is_ascii_digit());
        masked.push(' ');
        match is_number {
            true => masked.push('N'),
            false => masked.extend(letters),
        }
    }
    masked.replace(" rounds", " round")
}

/// Compares a transcript in the book with a new one, or writes it.
fn compare(name: &str, transcript: &str) {
    let book = std::fs::read_to_string(BOOK).unwrap();
    let begin = format!("<!-- transcript: {name} -->\n");
    let at = book.find(&begin).unwrap() + begin.len();
    let end = at + book[at..].find("<!-- end -->").unwrap();
    let indented: String = transcript
        .lines()
        .map(|line| format!("    {line}").trim_end().to_owned() + "\n")
        .collect();
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        std::fs::write(BOOK, format!("{}{indented}{}", &book[..at], &book[end..])).unwrap();
        return;
    }
    assert_eq!(
        shape(&book[at..end]),
        shape(&indented),
        "{name}:\n{transcript}"
    );
}

/// The command as the book shows it, and its output with the paths of the book.
fn transcript(shown: &str, ended: &Ended, paths: &[(&Path, &str)]) -> String {
    let mut output = ended.output.clone();
    for (path, of_book) in paths {
        output = output.replace(path.to_str().unwrap(), of_book);
    }
    // Of lines that differ only in their numbers, such as those of lossy rounds, the first is kept.
    let mut seen = BTreeSet::new();
    let is_new = |line: &&str| line.is_empty() || seen.insert(masked(line));
    let lines: Vec<&str> = output.lines().filter(is_new).collect();
    format!("$ {shown}\n{}\n", lines.join("\n"))
}

/// Performs rounds on a file system that forgets. `options` contain the way of crashing.
fn forgets(options: &str, status: i32) -> Option<String> {
    if let Err(why) = faultfs::is_possible() {
        assert!(!crate::support::everything(), "skipped: {why}");
        eprintln!("skipped: {why}");
        return None;
    }
    let (point, beside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ack_log = beside.path().join("ack");
    let mut words = "crash --rounds 10 --files 30 --durability fsync+dir --seed 1 \
                     --crash-within 60ms --quiet --archive none --target"
        .split(' ')
        .map(Path::new)
        .collect::<Vec<_>>();
    words.extend([point.path(), Path::new("--ack-log"), &ack_log]);
    words.extend(options.split(' ').map(Path::new));
    let mut command = Running::command(ours());
    command.args(words);
    let ended = Running::run_to_end(command, beside.path());
    ended.code(status);
    let shown = format!(
        "postmark crash --rounds 10 --files 30 --durability fsync+dir \\
    --target /mnt/my --ack-log /var/tmp/ack {options}"
    );
    let paths = [(point.path(), "/mnt/my"), (beside.path(), "/var/tmp")];
    Some(transcript(&shown, &ended, &paths))
}

#[test]
fn transcripts_of_the_book_are_those_of_rounds() {
    // Creates are the only operations, so all losses are of one kind.
    let bug = "--crash forget:size-without-data --mix create=1 --aim acknowledgement";
    if let Some(bug) = forgets(bug, 1) {
        compare("bug", &bug);
    }
    // With renames, every moment comes.
    if let Some(honest) = forgets("--crash forget --mix create=3,rename=1", 0) {
        compare("honest", &honest);
    }
    if let Some(bindfs) = bindfs() {
        compare("bindfs", &bindfs);
    }
}

/// Unmounts bindfs, and ends its process.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Performs the rounds of the how-to on bindfs, with the script in the book.
fn bindfs() -> Option<String> {
    let is_possible = faultfs::is_possible().is_ok();
    let is_installed = Command::new("bindfs").arg("--version").output().is_ok();
    if !is_met(is_possible && is_installed, "bindfs and /dev/fuse") {
        return None;
    }
    let (served, beside) = (directory(), tempfile::tempdir().unwrap());
    let (point, pid) = (tempfile::tempdir().unwrap(), beside.path().join("pid"));
    let book = std::fs::read_to_string(BOOK).unwrap();
    let (_, script) = book.split_once("bindfs on `/srv/my`:\n\n").unwrap();
    let script = script.lines().map_while(|line| line.strip_prefix("    "));
    let script: Vec<&str> = script.collect();
    let script = script
        .join("\n")
        .replace("/srv/my", served.path().to_str().unwrap())
        .replace("/mnt/my", point.path().to_str().unwrap())
        .replace("/run/my.pid", pid.to_str().unwrap());
    std::fs::write(beside.path().join("start.sh"), script).unwrap();
    let mounted = Mounted(point.path().to_owned());
    let mut start = Command::new("sh");
    start.arg("start.sh").current_dir(beside.path());
    assert!(start.status().unwrap().success());
    let mut command = Running::command(ours());
    command
        .args("crash --rounds 5 --preset varmail --files 100 --durability fsync+dir".split(' '))
        .args("--quiet --archive none --crash-within 100ms --restore".split(' '))
        .args(["sh start.sh", "--ack-log", "ack", "--target"])
        .arg(point.path())
        .arg("--kill-server")
        .arg(&pid)
        .current_dir(beside.path());
    let ended = Running::run_to_end(command, beside.path());
    drop(mounted);
    ended.code(0);
    let shown = "postmark crash --rounds 5 --preset varmail --files 100 --durability fsync+dir \\
    --target /mnt/my --ack-log /var/tmp/ack --kill-server /run/my.pid \\
    --restore 'sh start.sh'";
    let paths = [(point.path(), "/mnt/my"), (pid.as_path(), "/run/my.pid")];
    Some(transcript(shown, &ended, &paths))
}
