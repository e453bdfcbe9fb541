//! Published scripts parse the output of a classic session: those of the Phoronix Test Suite, LKP,
//! mmtests and others. The tests find the banner, the dots and the figures in the output of this
//! program as the scripts do. The search patterns are rewritten, not copied.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use testkit::{Assert, Shows};

use crate::original::{self, Said, say};

fn session(lines: &str) -> String {
    let directory = original::directory();
    let said = say(
        original::ours(),
        &[],
        directory.path(),
        lines.as_bytes(),
        &[],
    );
    assert_eq!(
        (said.code, said.errors.as_slice()),
        (Some(0), &b""[..]),
        "{said:?}"
    );
    assert!(
        original::tree(directory.path()).is_empty(),
        "something is left behind"
    );
    String::from_utf8(said.output).unwrap()
}

/// The script that the Phoronix profile `pts/postmark` installs, with its arguments in the same
/// order.
const PHORONIX_SCRIPT: &str = r#"#!/bin/sh
printf 'set transactions %s\nset size %s %s\nset number %s\nrun\nquit\n' "$1" "$2" "$3" "$4" \
    > benchmark.pmrc
"$POSTMARK" benchmark.pmrc > "$LOG_FILE" 2>&1
"#;
/// The suite's template of the line with the result. `PHORONIX_HINT` identifies this line in a log.
const PHORONIX_LINE: &str = "\t7 seconds of transactions (#_RESULT_# per second)";
const PHORONIX_HINT: &str = "seconds of transactions";

fn phoronix_tokens(line: &str) -> Vec<&str> {
    let line = line.split([' ', '\t', '(', ')']);
    line.filter(|token| !token.is_empty()).collect()
}

/// Finds the result as the suite does: in the last line with `PHORONIX_HINT`, at the position that
/// the result has in the template.
fn phoronix_result(log: &str) -> String {
    let place = phoronix_tokens(PHORONIX_LINE);
    let place = place
        .iter()
        .position(|token| *token == "#_RESULT_#")
        .unwrap();
    let line = log.lines().rfind(|line| line.contains(PHORONIX_HINT));
    let line = line.unwrap_or_else(|| panic!("no result in\n{log}"));
    phoronix_tokens(line)[place].to_owned()
}

/// Runs the script of the suite with a program, and returns its log.
fn phoronix(program: &Path, directory: &Path) -> String {
    let log = directory.join("log");
    let script = directory.join("postmark.sh");
    std::fs::write(&script, PHORONIX_SCRIPT).unwrap();
    let performed = Command::new("/bin/sh")
        .arg(&script)
        .args(["2500", "512", "10240", "50"])
        .envs([
            ("POSTMARK", program.as_os_str()),
            ("LOG_FILE", log.as_os_str()),
        ])
        .env("POSTMARK_ARCHIVE", "none")
        .current_dir(directory)
        .status()
        .unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(performed.success(), "{log}");
    log
}

/// The script of the Phoronix Test Suite finds the rate in the output of this program, as it does
/// in the output of the original PostMark. If root runs the script in a directory of another user,
/// the log also contains a warning.
#[test]
fn phoronix_script_finds_the_rate() {
    let mut programs = vec![(original::ours(), false)];
    if rustix::process::geteuid().is_root() {
        programs.push((original::ours(), true));
    }
    programs.extend(original::oracle().map(|oracle| (oracle, false)));
    for (program, is_given) in programs {
        let directory = original::directory();
        if is_given {
            std::os::unix::fs::chown(directory.path(), Some(12_345), None).unwrap();
        }
        let log = phoronix(program, directory.path());
        assert_eq!(log.contains("Warning: "), is_given, "{log}");
        let line = log
            .lines()
            .rfind(|line| line.contains(PHORONIX_HINT))
            .unwrap();
        // The duration in whole seconds, at least 1.
        let seconds: u64 = phoronix_tokens(line)[0].parse().unwrap();
        assert_eq!(
            phoronix_result(&log),
            (2_500 / seconds).to_string(),
            "{program:?}: {log}"
        );
    }
}

/// Phoronix writes the commands to a file and names the file as the only argument.
#[test]
fn configuration_file_is_read_from_an_argument() {
    let directory = original::directory();
    std::fs::write(
        directory.path().join("config"),
        "set transactions 100\nset number 50\nrun\nquit\n",
    )
    .unwrap();
    let Said { output, code, .. } = say(
        original::ours(),
        &[OsStr::new("config")],
        directory.path(),
        b"",
        &[],
    );
    let output = String::from_utf8(output).unwrap();
    assert_eq!(code, Some(0));
    assert!(
        output.contains("\nReading configuration from file 'config'\n")
            && output.contains(" seconds total\n")
    );
    output.does_not_show("pm>");
}

/// A session of LKP contains no `quit`. LKP takes the first line of only numbers, dots and blanks
/// as the terse report.
#[test]
fn lkp_script_finds_the_terse_report() {
    let output = session(
        "set size 500 1000\nset number 20\nset transactions 100\nset subdirectories 5\nset report \
         terse\nrun\n",
    );
    let numeric =
        |line: &&str| !line.is_empty() && line.chars().all(|c| matches!(c, '0'..='9' | '.' | ' '));
    let numbers: Vec<f64> = output
        .lines()
        .find(numeric)
        .unwrap()
        .split(' ')
        .map(|number| number.parse().unwrap())
        .collect();
    assert_eq!(numbers.len(), 13, "{output}");
    assert!(numbers.iter().all(|number| *number >= 0.0));
    assert!(output.ends_with("\npm>"));
}

/// mmtests searches the output for the patterns below. `Mixed with transactions` occurs in two
/// lines, one for creations and one for deletions, which mmtests distinguishes only by their order.
#[test]
fn mmtests_script_finds_the_figures_in_order() {
    let output = session("set transactions 500\nrun\nquit\n");
    let mut from = 0;
    for pattern in [
        "seconds of transactions (",
        "Creation alone: 500 files (",
        "Mixed with transactions: ",
        "Deletion alone: ",
        "Mixed with transactions: ",
        "megabytes read (",
        "megabytes written (",
    ] {
        let at = output[from..]
            .find(pattern)
            .unwrap_or_else(|| panic!("no '{pattern}' from {from} on:\n{output}"));
        from += at + pattern.len();
        let number = output[from..].trim_start();
        assert!(
            number.starts_with(|c: char| c.is_ascii_digit()),
            "no number behind '{pattern}':\n{output}"
        );
    }
}

#[test]
fn first_line_is_the_banner() {
    let output = session("quit\n");
    let (version, date) = output
        .lines()
        .next()
        .unwrap()
        .strip_prefix("PostMark v")
        .unwrap()
        .split_once(" : ")
        .unwrap();
    let (major, minor) = version.split_once('.').unwrap();
    version.assert(
        [major, minor]
            .iter()
            .all(|part| part.parse::<u32>().is_ok()),
    );
    date.assert(date.chars().all(|c| c.is_ascii_digit() || c == '/'));
}

#[test]
fn run_prints_ten_dots_and_one_line_of_bytes_read() {
    let output = session("set transactions 200\nset number 20\nrun\n");
    let dots = output
        .lines()
        .find(|line| line.starts_with("Performing transactions"))
        .unwrap();
    assert_eq!(dots, "Performing transactions..........Done");
    let lines = output
        .lines()
        .filter(|line| line.contains("read") && line.contains("bytes"));
    assert_eq!(lines.count(), 1, "{output}");
}

/// With fewer than ten transactions, the original divides by zero. This program completes the run.
#[test]
fn run_with_fewer_than_ten_transactions_completes() {
    let output = session("set transactions 3\nset number 5\nrun\nquit\n");
    output.shows("Performing transactions...Done\n");
}

/// The session of version 1.00 that the PostMark paper prints, except for values that depend on
/// time.
#[test]
fn session_of_the_paper_is_reproduced() {
    let directory = original::directory();
    let arguments = [OsStr::new("--compat"), OsStr::new("1.0")];
    let said = say(
        original::ours(),
        &arguments,
        directory.path(),
        b"show\nrun\nquit\n",
        &[],
    );
    assert_eq!((said.code, said.errors.as_slice()), (Some(0), &b""[..]));
    let output = String::from_utf8(said.output).unwrap();
    let expected = "PostMark v1.00 : 8/11/97\npm>Current configuration is:\nTransactions: \
                    500\nFiles range between 500 bytes and 9.77 kilobytes in size\nRandom number \
                    generator seed is 42\nThe base number of files is 500\nThe working directory \
                    is: .\nBlock sizes are: read=512 bytes, write=512 bytes\nBiases are: \
                    read/append=5, create/delete=5\nUsing Unix buffered file I/O\npm>Creating \
                    files...Done\nPerforming transactions..........Done\nDeleting \
                    files...Done\nTime:\n";
    output.begins_with(expected);
    for figure in [
        "\n\t740 created (",
        "\n\t\tCreation alone: 500 files (",
        "\n\t\tMixed with transactions: 240 files (",
        "\n\t237 read (",
        "\n\t262 appended (",
        "\n\t740 deleted (",
        "\n\t\tDeletion alone: 480 files (",
        "\n\t\tMixed with transactions: 260 files (",
        "\n\t1.31 megabytes read (",
        "\n\t4.20 megabytes written (",
    ] {
        assert!(output.contains(figure), "no {figure:?}:\n{output}");
    }
    assert!(output.ends_with(" per second)\n\npm>"), "{output}");
    assert!(original::tree(directory.path()).is_empty());
}
