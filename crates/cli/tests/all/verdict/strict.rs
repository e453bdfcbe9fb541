//! How a user learns the verdict: from the top of the report, from standard error, and from the
//! exit status.

use record::Outcome;
use rustix::process::Signal;
use testkit::Shows;
use verdict::rules::{Errors, Partial};
use verdict::{Level, Reason};

use super::{has, in_memory, text};
use crate::runs::{Ran, Run};
use crate::support::interface::{has_ended, program};
use crate::support::running::in_shell;
use crate::support::{Ended, Running, TestDir, names};

/// Runs `postmark run` with these options on a target in the test directory.
fn say(test_dir: &TestDir, words: &str) -> Ended {
    let location = test_dir.directory("location");
    let mut command = Running::command(program());
    command
        .args(["run", "--quiet", "--target", text(&location)])
        .args(words.split_whitespace());
    Running::run_to_end(command, &location)
}

/// Options with an offered rate that no machine reaches.
const TOO_FAST: &str = "--engine null --mix stat=1 --files 100 --rate 1000000000 --for 300ms";
/// Options of a run that is too short for a VALID verdict. The overhead is not measured, because
/// its measurement could make the verdict INVALID: on a busy machine and a target in memory, the
/// overhead may exceed half of the run time.
const LITTLE: &str = "--files 200 --transactions 500 --no-overhead";
/// Options of a run that is so short that its verdict is INVALID.
const NEXT_TO_NOTHING: &str = "--files 20 --transactions 20";

#[test]
fn report_starts_with_title_result_and_verdict() {
    let test_dir = TestDir::in_memory();
    for (words, level) in [
        (LITTLE, "DOUBTFUL"),
        (NEXT_TO_NOTHING, "INVALID"),
        (TOO_FAST, "INVALID"),
    ] {
        let ended = say(&test_dir, words);
        ended.code(0);
        let mut lines = ended.output.lines();
        let title = lines.next().unwrap_or_default();
        ended.assert(title.starts_with("PostMark "), "there is no title");
        // The conditions and the result take several lines of the default width.
        let result: Vec<&str> = lines.by_ref().take(5).collect();
        let end = result
            .iter()
            .position(|line| line.split("  ").last() == Some(level));
        let Some(end) = end else {
            panic!("the verdict is not under the title\n{ended}");
        };
        ended.assert(
            result[..=end].join(" ").contains(" transactions/s"),
            "the rate is not before the verdict",
        );
        let lines = result[end + 1..].iter().copied().chain(lines);
        let reasons: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
        ended
            .assert(
                reasons.first().is_some_and(|line| line.starts_with("  - ")),
                "there is no reason",
            )
            .assert(
                reasons.iter().all(|line| line.chars().count() <= 100),
                "a line is too long",
            );
    }
}

#[test]
fn option_strict_changes_only_the_exit_status_of_invalid_runs() {
    let test_dir = TestDir::in_memory();
    for (words, plain, strict) in [(LITTLE, 0, 0), (NEXT_TO_NOTHING, 0, 3), (TOO_FAST, 0, 3)] {
        say(&test_dir, words).code(plain);
        for format in ["text", "json"] {
            say(&test_dir, &format!("{words} --strict --format {format}")).code(strict);
        }
    }
    // With a classic format, the verdict is neither in the report nor on standard error.
    let classic = say(
        &test_dir,
        &format!("{NEXT_TO_NOTHING} --strict --format terse"),
    );
    classic
        .code(3)
        .does_not_show("INVALID")
        .does_not_show("Verdict");
    say(&test_dir, "--rate 0 --strict").code(2);
}

#[test]
fn invalid_verdict_is_printed_in_one_line_if_the_report_goes_to_a_file() {
    let test_dir = TestDir::in_memory();
    let report = test_dir.path().join("report");
    let to_file = |words: &str| {
        say(
            &test_dir,
            &format!("{words} --force --output {}", text(&report)),
        )
    };
    let ended = to_file(TOO_FAST);
    let told: Vec<&str> = ended.errors.lines().collect();
    let is_told = matches!(told[..], [line] if line.starts_with("postmark: the run is INVALID: \
        rate-not-reached: ")
        && line.ends_with(&format!("(report: {})", text(&report))));
    ended.assert(is_told, "it is not told in one line");
    let written = std::fs::read_to_string(&report).unwrap();
    written.shows("  INVALID\n");
    let doubtful = to_file(LITTLE);
    doubtful.assert(doubtful.errors.is_empty(), "of a doubt nobody is told");
}

#[test]
fn run_that_ends_in_its_warm_up_is_invalid() {
    let test_dir = TestDir::in_memory();
    say(
        &test_dir,
        "--files 20 --transactions 50 --warm-up 1m --strict",
    )
    .code(3)
    .shows("ended during the warm-up: use a");
}

#[test]
fn option_strict_keeps_the_exit_status_of_an_interrupted_run() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let before = names(&location).unwrap();
    let mut running = Run::new(&location, "--mix stat=1 --files 100 --for 1m --strict").start();
    running.until("the transactions", |running| {
        has_ended(&running.errors(), "prepare")
    });
    running.send(Signal::TERM);
    let ended = running.finish();
    ended.code(143).does_not_show("the run is INVALID");
    let ran = Ran::of(ended, before);
    ran.is(Level::Invalid);
    let verdict = &ran.summary.verdict;
    let told = matches!(
        verdict.reasons[..],
        [Reason::Partial(Partial {
            outcome: Outcome::Interrupted { signal: 15 }
        })]
    );
    ran.assert(told, format_args!("{verdict:#?}"));
}

/// A script that limits files to 16 blocks. Shells use blocks of 512 bytes or 1 KiB, so the limit
/// is 8 KiB or 16 KiB.
const SMALL_FILES: &str = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
const LARGE_FILES: &str =
    "--mix create=1,delete=1,read=1 --files 200 --transactions 2000 --size 1KiB..8500 --strict";

#[test]
fn option_strict_keeps_the_exit_status_of_runs_with_errors() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    for (on_error, code, level) in [
        ("stop", 1, Level::Invalid),
        ("3", 1, Level::Invalid),
        ("100000", 0, Level::Doubtful),
    ] {
        let before = names(&location).unwrap();
        let run = Run::new(&location, LARGE_FILES).with("--on-error", on_error);
        let ended = Running::run_to_end(in_shell(SMALL_FILES, &run.command()), &location);
        ended.code(code).does_not_show("the run is INVALID");
        let ran = Ran::of(ended, before);
        ran.is(level).leaves_nothing();
        let verdict = &ran.summary.verdict;
        let failed = level == Level::Invalid;
        ran.assert(
            has!(verdict, Reason::Errors(Errors { is_exceeded, .. }) if *is_exceeded == failed)
                && has!(verdict, Reason::Partial(_)) == failed,
            format_args!("{on_error}: {verdict:#?}"),
        );
    }
}

#[test]
fn verdict_covers_the_preparation_if_there_are_no_transactions() {
    let test_dir = TestDir::in_memory();
    let ended = say(&test_dir, "--files 500 --transactions 0");
    ended
        .code(0)
        .shows("  - too-short: ")
        .shows(" of preparation, at least 10 s: use more files")
        .does_not_show(" measured, at least");
}

/// Writing the acknowledgement log lowers the measured rates, so the verdict is DOUBTFUL.
#[test]
fn run_with_an_ack_log_is_doubtful() {
    let test_dir = TestDir::in_memory();
    let Some(location) = in_memory(&test_dir) else {
        return;
    };
    // The log is on another file system than the target.
    let beside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let ran = Run::new(
        &location,
        "--mix create=1,delete=1 --files 50 --transactions 200",
    )
    .with("--ack-log", beside.path().join("ack_log"))
    .perform();
    let verdict = &ran.summary.verdict;
    ran.is(Level::Doubtful);
    ran.assert(
        has!(verdict, Reason::AckLog(_)),
        format_args!("{verdict:#?}"),
    );
}
