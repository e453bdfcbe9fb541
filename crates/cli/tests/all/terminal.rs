//! Width and colors of reports, on a terminal (created by the program `script`) and on a pipe.

use std::path::Path;
use std::process::{Command, Stdio};
use testkit::{Assert, Shows};

use crate::support::TestDir;
use crate::support::interface::program;

const COLUMNS: usize = 60;

/// The output of a command on a terminal of 60 columns, with environment variables.
fn on_terminal(test_dir: &TestDir, words: &str, environment: &[(&str, &str)]) -> String {
    let command = format!(
        "stty cols {COLUMNS}; exec '{}' {words}",
        program().display()
    );
    let mut script = Command::new("/usr/bin/script");
    script.args(["-q", "-e", "-c", &command, "/dev/null"]);
    written(test_dir, script, environment)
}

/// The output of a command to a pipe, with environment variables.
fn on_pipe(test_dir: &TestDir, words: &str, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(program());
    command.args(words.split_whitespace());
    written(test_dir, command, environment)
}

fn written(test_dir: &TestDir, mut command: Command, environment: &[(&str, &str)]) -> String {
    for name in [
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "CI",
        "POSTMARK_ARCHIVE",
    ] {
        command.env_remove(name);
    }
    let output = command
        .env("TERM", "xterm")
        .env("XDG_DATA_HOME", test_dir.path().join("data"))
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("script is needed: apt-get install bsdutils");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// Removes colors from a text.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

fn is_narrow(text: &str) {
    for line in plain(text).lines() {
        // A long path is not wrapped. With the label before it (up to 12 columns), its line may be
        // wider than the terminal.
        let is_word = line
            .split(' ')
            .any(|word| word.chars().count() > COLUMNS - 12);
        assert!(
            line.trim_end().chars().count() <= COLUMNS || is_word,
            "{line:?}\n{text}"
        );
    }
}

fn run(target: &Path) -> String {
    format!(
        "run --quiet --no-overhead --engine posix --files 40 --transactions 100 --seed 7 \
         --target {}",
        target.display()
    )
}

#[test]
fn reports_fit_a_terminal_of_sixty_columns() {
    let test_dir = TestDir::in_memory();
    let run = run(&test_dir.directory("target"));
    let sweep =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../verdict/tests/versions/1-sweep.json");
    for words in [
        &*run,
        "show last",
        "show last --full",
        "list",
        "presets",
        "engines",
        "published list",
        "run -h",
    ] {
        is_narrow(&on_terminal(&test_dir, words, &[]));
    }
    let sweep = on_pipe(&test_dir, &format!("import {}", sweep.display()), &[]);
    sweep.shows("new");
    for words in ["show 2", "show 2 --full"] {
        let text = on_terminal(&test_dir, words, &[]);
        text.shows("Saturation");
        is_narrow(&text);
    }
}

#[test]
fn screens_in_pipes_have_the_width_of_the_variable_columns() {
    let test_dir = TestDir::in_memory();
    let run = run(&test_dir.directory("target"));
    for words in [
        &*run,
        "show last",
        "show last --full",
        "list",
        "presets",
        "published list",
        "published show paper-1",
        "run -h",
    ] {
        is_narrow(&on_pipe(&test_dir, words, &[("COLUMNS", "60")]));
    }
    let width = |environment: &[(&str, &str)]| {
        let text = on_pipe(&test_dir, "show last --full", environment);
        text.lines().map(|line| line.chars().count()).max().unwrap()
    };
    // In a pipe, tables are wrapped only if `COLUMNS` sets a width.
    for (environment, range) in [
        (&[][..], 80..=140),
        (&[("COLUMNS", "0")], 80..=140),
        (&[("COLUMNS", "160")], 120..=160),
    ] {
        let width = width(environment);
        assert!(range.contains(&width), "{environment:?}: {width}");
    }
}

/// In this test, standard error is the terminal. Progress stays in one line, and notes are broken
/// between words.
#[test]
fn progress_and_notes_fit_a_terminal_of_sixty_columns() {
    let test_dir = TestDir::in_memory();
    let target = test_dir.directory("target");
    let words = format!(
        "run --no-overhead --output /dev/null --engine posix --durability fsync --files 40 --for \
         1s --target {}",
        target.display()
    );
    let text = on_terminal(&test_dir, &words, &[]);
    let (progress, notes): (Vec<&str>, Vec<&str>) = text
        .split(['\r', '\n'])
        .partition(|line| line.contains('\u{1b}'));
    text.assert(progress.iter().any(|line| line.contains("transactions")));
    for line in progress {
        let shown: String = line.split("\u{1b}[").map(uncontrolled).collect();
        assert!(
            shown.trim_end().chars().count() <= COLUMNS,
            "{shown:?}\n{text:?}"
        );
    }
    let notes = notes.join("\n");
    assert!(notes.contains("postmark: the run is INVALID:"), "{text:?}");
    is_narrow(&notes);
}

/// Removes a terminal control sequence (ECMA-48) from the start of a text. The final byte of the
/// sequence is a letter.
fn uncontrolled(part: &str) -> &str {
    let parameters =
        part.trim_start_matches(|character: char| character.is_ascii_digit() || character == ';');
    match parameters.len() < part.len() || part.starts_with(['K', 'A', 'B']) {
        true => parameters.get(1..).unwrap_or_default(),
        false => part,
    }
}

#[test]
fn colours_are_used_only_on_terminals_that_allow_them() {
    let test_dir = TestDir::in_memory();
    let run = run(&test_dir.directory("target"));
    let painted = on_terminal(&test_dir, &run, &[]);
    painted.assert(painted.contains("\u{1b}[33mDOUBTFUL\u{1b}[0m"));
    assert_eq!(
        painted.matches("\u{1b}[0m").count(),
        2,
        "the rate and the verdict: {painted:?}"
    );
    for environment in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
        let text = on_terminal(&test_dir, &run, &environment);
        assert!(!text.contains('\u{1b}'), "{environment:?}: {text:?}");
    }
    assert!(on_terminal(&test_dir, &run, &[("NO_COLOR", "")]).contains('\u{1b}'));
    assert!(!on_pipe(&test_dir, &run, &[]).contains('\u{1b}'));
    assert!(on_pipe(&test_dir, &run, &[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    for format in ["json", "markdown", "classic"] {
        let text = on_pipe(
            &test_dir,
            &format!("{run} --format {format}"),
            &[("CLICOLOR_FORCE", "1")],
        );
        assert!(!text.contains('\u{1b}'), "{format}: {text:?}");
    }
    let file = test_dir.path().join("report");
    on_pipe(
        &test_dir,
        &format!("{run} --output {}", file.display()),
        &[("CLICOLOR_FORCE", "1")],
    );
    assert!(!std::fs::read_to_string(file).unwrap().contains('\u{1b}'));
}
