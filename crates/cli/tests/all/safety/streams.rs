//! Output streams that are closed, full, or have no reader. The run must not panic, and its files
//! are removed. If a requested report cannot be written, the exit status reports that.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::Engine::{Posix, Raw, Stdio as Buffered};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::program;
use crate::support::running::in_shell;
use crate::support::test_dir::{create_user_files, write};
use crate::support::{Ended, INTERFACES, Interface, Phase, Running, Snapshot, TestDir, Work};

fn without_reader() -> Stdio {
    let (ours, theirs) = UnixStream::pair().unwrap();
    drop(theirs);
    Stdio::from(OwnedFd::from(ours))
}

fn full() -> Stdio {
    Stdio::from(File::options().write(true).open("/dev/full").unwrap())
}

/// A shell command that starts `command` with redirections of its streams.
fn redirected(command: &Command, redirections: &str) -> Command {
    in_shell(&format!("exec \"$0\" \"$@\" {redirections}"), command)
}

/// Performs a small run in a location with files of the user. `change` replaces the streams of its
/// command.
fn performed(interface: Interface, change: impl FnOnce(Command) -> Command) -> Ended {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let command = change(interface.command(&Work::small(&location), &test_dir));
    let ended = Running::run_to_end(command, &location);
    before.assert_kept(&location, &ended);
    ended
}

#[test]
fn standard_output_without_a_reader_is_an_error() {
    for interface in INTERFACES {
        let ended = performed(interface, |mut command| {
            command.stdout(without_reader());
            command
        });
        ended.code(1);
    }
    // The prompt prints no message about the missing reader. `postmark run` does, because its
    // report is lost.
    performed(Run(Raw), |mut command| {
        command.stdout(without_reader());
        command
    })
    .shows("cannot write the report to standard output");
}

#[test]
fn full_standard_output_is_an_error() {
    for interface in INTERFACES {
        let ended = performed(interface, |mut command| {
            command.stdout(full());
            command
        });
        ended.code(1).shows("No space left on device");
    }
}

/// If the user closes standard output, no output is wanted, so the run is performed as usual.
#[test]
fn closed_standard_output_is_no_error() {
    for interface in INTERFACES {
        let ended = performed(interface, |command| redirected(&command, ">&-"));
        ended
            .code(0)
            .assert(ended.output.is_empty(), "it says something");
    }
}

#[test]
fn unwritable_standard_error_is_no_error() {
    for interface in INTERFACES {
        performed(interface, |mut command| {
            command.stderr(without_reader());
            command
        })
        .code(0);
        performed(interface, |mut command| {
            command.stderr(full());
            command
        })
        .code(0);
        performed(interface, |command| redirected(&command, "2>&-")).code(0);
        performed(interface, |command| redirected(&command, "<&- >&- 2>&-")).code(0);
    }
    // Even if an error cannot be printed, the program must not panic.
    for redirections in ["2>&-", ">&- 2>&-", "2>/dev/full"] {
        let test_dir = TestDir::new();
        for interface in INTERFACES {
            let work = Work::small(&test_dir.path().join("nowhere"));
            let command = redirected(&interface.command(&work, &test_dir), redirections);
            let ended = Running::run_to_end(command, test_dir.path());
            ended.code(if interface.is_prompt() { 1 } else { 2 });
        }
    }
}

#[test]
fn standard_output_closed_by_its_reader_during_the_run_is_an_error() {
    for interface in [Prompt(Buffered), Prompt(Raw), Run(Posix)] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let work = Work::long_on_disk(&location, Phase::Prepare);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut command = interface.command(&work, &test_dir);
        command.stdout(OwnedFd::from(ours));
        let mut running = Running::start(command, &location);
        interface.wait_for(&mut running, &work, Phase::Prepare);
        drop(theirs);
        let ended = running.finish();
        ended.code(1);
        before.assert_kept(&location, &ended);
    }
}

#[test]
fn clean_removes_files_even_if_its_output_cannot_be_written() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let work = Work::long_on_disk(&location, Phase::Prepare);
    Prompt(Raw).begin(&work, &test_dir, Phase::Prepare).kill();
    let mut command = Running::command(program());
    command.arg("clean").arg(&location).stdout(full());
    let ended = Running::run_to_end(command, &location);
    ended.code(1).shows("No space left on device");
    before.assert_kept(&location, &ended);
}

#[test]
fn run_with_an_unwritable_output_file_is_refused() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let work = Work::small(&location);
    let attempt = |output: &Path| {
        let mut command = Run(Raw).command(&work, &test_dir);
        command.arg("--force").arg("--output").arg(output);
        let ended = Running::run_to_end(command, &location);
        before.assert_kept(&location, &ended);
        ended
    };
    for output in [
        test_dir.path().join("nowhere/report"),
        test_dir.path().to_owned(),
        location.join("notes.txt/report"),
    ] {
        let ended = attempt(&output);
        ended
            .code(2)
            .shows(&output.display().to_string())
            .shows("--output")
            .assert(ended.output.is_empty(), "it reports");
    }
    // /dev/full can be opened, and reports the error only when it is written.
    attempt(Path::new("/dev/full"))
        .code(1)
        .shows("cannot write the report to /dev/full");
    // With --force, the report replaces all contents of an existing file.
    let report = test_dir.path().join("report");
    write(&report, &"an older report\n".repeat(10_000), 0o600);
    attempt(&report).code(0);
    let text = std::fs::read_to_string(&report).unwrap();
    assert!(text.contains(" transactions/s ") && !text.contains("older"));
}

/// If lines of `--live` cannot be written, one message after the run reports that. A reader that
/// closes its pipe is no error.
#[test]
fn unwritable_live_lines_exit_with_status_1() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let command = |live: &str| {
        let mut command = Running::command(program());
        command
            .args([
                "run",
                "--quiet",
                "--no-overhead",
                "--files",
                "20",
                "--for",
                "2s",
                "--live",
                live,
                "--target",
            ])
            .arg(&location);
        command
    };
    let ended = Running::run_to_end(command("/dev/full"), &location);
    ended.ends("1 | cannot write --live to /dev/full: No space left on device | transactions/s");
    let mut gone = command("-");
    gone.arg("--output")
        .arg(test_dir.path().join("report"))
        .stdout(without_reader());
    Running::run_to_end(gone, &location).code(0);
    assert_eq!(crate::support::names(&location).unwrap(), [] as [&str; 0]);
}

/// A refused run changes neither an existing output file nor a link, and creates no missing file.
#[test]
fn refused_run_leaves_its_output_file_unchanged() {
    let test_dir = TestDir::new();
    let place = test_dir.directory("place");
    write(&place.join("old"), "an older report\n", 0o600);
    std::os::unix::fs::symlink("old", place.join("link")).unwrap();
    std::os::unix::fs::symlink("not-yet", place.join("dangling")).unwrap();
    let before = Snapshot::of(&place);
    let work = Work::small(&test_dir.path().join("nowhere"));
    for name in ["old", "new", "link", "dangling"] {
        let mut command = Run(Raw).command(&work, &test_dir);
        command.arg("--force").arg("--output").arg(place.join(name));
        let ended = Running::run_to_end(command, &place);
        ended.code(2);
        before.assert_kept_but_for_directories(&place, &ended);
    }
}

/// A reader that closes the pipe has read enough, as in `postmark schema | head -1`, so this is no
/// error.
#[test]
fn printing_commands_exit_with_0_on_a_closed_pipe() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    for words in [
        &["schema"][..],
        &["published", "list"],
        &["plan"],
        &["presets"],
        &["engines"],
    ] {
        let mut command = Running::command(program());
        command.args(words).stdout(without_reader());
        let ended = Running::run_to_end(command, &location);
        ended.code(0);
        ended.assert(ended.errors.is_empty(), "it complains");
    }
}
