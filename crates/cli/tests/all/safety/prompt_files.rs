//! This program must not have the bugs of the original PostMark in reading configuration files.
//! These bugs concern lines of more than 255 characters, a last line without a newline, and shell
//! commands after `!`. Fewer than ten transactions and a location with conflicting names are tested
//! as well.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::support::interface::program;
use crate::support::test_dir::create_user_files;
use crate::support::{Ended, INTERFACES, Running, Snapshot, TestDir, Work};

/// Performs a session with a configuration file in the test directory.
fn session(test_dir: &TestDir, text: &[u8]) -> Ended {
    std::fs::write(test_dir.path().join("commands"), text).unwrap();
    let mut command = Running::command(program());
    command.arg("commands").current_dir(test_dir.path());
    Running::run_to_end(command, test_dir.path())
}

#[test]
fn run_with_fewer_than_ten_transactions_is_complete() {
    for transactions in 1..=12 {
        for interface in INTERFACES {
            let test_dir = TestDir::new();
            let location = test_dir.directory("location");
            create_user_files(&location);
            let before = Snapshot::of(&location);
            let work = Work {
                transactions,
                ..Work::small(&location)
            };
            let ended = interface.perform(&work, &test_dir);
            ended.code(0);
            if interface.is_prompt() {
                // With fewer than ten transactions, each transaction prints a dot.
                let dots = ".".repeat(usize::try_from(transactions).unwrap());
                ended
                    .shows(&format!("Performing transactions{dots}Done\n"))
                    .shows("seconds total");
            }
            before.assert_kept(&location, &ended);
        }
    }
}

#[test]
fn long_lines_are_not_split() {
    let test_dir = TestDir::new();
    let name = "long".repeat(60);
    let location = test_dir.directory(&format!("{name}/{name}/{name}"));
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let path = location.display();
    let ended = session(
        &test_dir,
        format!("set location {path}\nset transactions 20\nshow\nrun\n").as_bytes(),
    );
    ended
        .code(0)
        .shows(&path.to_string())
        .shows("Performing transactions..........Done")
        .does_not_show("Eh?");
    before.assert_kept(&location, &ended);
    // The original would read the rest of a long line as a second line.
    let padding = " ".repeat(300);
    let touched = test_dir.path().join("touched");
    let ended = session(
        &test_dir,
        format!(
            "nonsense{padding}show\n{padding}!touch {}\n",
            touched.display()
        )
        .as_bytes(),
    );
    assert_eq!(ended.output.matches("Eh?").count(), 2, "{ended}");
    ended.does_not_show("Current configuration");
    assert!(!touched.exists());
}

#[test]
fn last_line_without_a_newline_is_read() {
    let test_dir = TestDir::new();
    for text in ["set transactions 30\nrun", "run"] {
        let ended = session(&test_dir, text.as_bytes());
        ended.code(0).shows("seconds total").does_not_show("Eh?");
    }
    let ended = session(
        &test_dir,
        b"set number 77\nset transactions 123\nshow\nset seed 9",
    );
    ended.code(0).shows("123").does_not_show("Eh?");
}

#[test]
fn shell_commands_require_an_interactive_prompt() {
    let test_dir = TestDir::new();
    let touched = test_dir.path().join("touched");
    let line = format!("!touch {}\n", touched.display());
    let ended = session(&test_dir, line.as_bytes());
    ended.shows("Error: '!' runs a shell at an interactive prompt only");
    // The line with `!` is read from standard input, and from a file that `load` names.
    std::fs::write(test_dir.path().join("loaded"), &line).unwrap();
    std::fs::write(test_dir.path().join(".pmrc"), &line).unwrap();
    for input in [line.as_str(), "load loaded\n"] {
        let mut command = Running::command(program());
        command
            .current_dir(test_dir.path())
            .stdin(Stdio::from(file_of(&test_dir, input)));
        let ended = Running::run_to_end(command, test_dir.path());
        assert_eq!(ended.errors.matches("interactive").count(), 2, "{ended}");
    }
    assert!(!touched.exists(), "a shell was run");
}

/// Writes a file with this content, and opens it for reading.
fn file_of(test_dir: &TestDir, content: &str) -> std::fs::File {
    let path = test_dir.path().join("input");
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(content.as_bytes()).unwrap();
    std::fs::File::open(path).unwrap()
}

/// After a refused or failed run the session continues, and its exit status reports the failure.
#[test]
fn failed_run_determines_the_exit_status_of_the_session() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    std::fs::write(location.join("1"), "mine\n").unwrap();
    let text = format!(
        "set location {}\nrun\nset location .\nset transactions 20\nrun\nquit\n",
        location.display()
    );
    let ended = session(&test_dir, text.as_bytes());
    ended.ends("1 | already contains '1' | seconds total");
    assert_eq!(std::fs::read(location.join("1")).unwrap(), b"mine\n");
    let names = names(test_dir.path());
    assert_eq!(names, ["commands", "location"], "{ended}");
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
