//! Starts the classic prompt as known wrapper scripts do, and compares its output with that of the
//! original PostMark. Some tests cover messages that intentionally differ from the original.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use faultfs::{Delay, Options, Passthrough, RequestKind};
use rustix::process::Signal;
use testkit::Shows;

use crate::original::{self, say};
use crate::support::Engine::{Posix, Raw, Stdio as Streams};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::program;
use crate::support::test_dir::create_user_files;
use crate::support::{INTERFACES, Phase, Running, TestDir, Work, is_met, names};

const COMMANDS: &[u8] = b"set number 20\nset transactions 40\nshow\nquit\n";

/// Performs a session. Returns standard output, standard error and the exit status.
fn session(arguments: &[&str], directory: &Path, commands: &[u8]) -> (String, String, i32) {
    let mut command = Running::command(program());
    command
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped());
    command.env("POSTMARK_ARCHIVE", "none");
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), commands).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code().unwrap(),
    )
}

/// If the configuration file is missing, the prompt starts with a warning. The original starts
/// without one.
#[test]
fn missing_file_starts_the_prompt() {
    for name in ["nothing.cfg", "run.cfg", "-", "no/such.conf", "frobnicate"] {
        let directory = original::directory();
        let (output, errors, code) = session(&[name], directory.path(), COMMANDS);
        assert_eq!(code, 0, "{name}: {errors}");
        errors.begins_with("Warning: ").shows(name);
        assert!(errors.lines().count() == 1, "{errors}");
        if let Some(oracle) = original::oracle() {
            let said = say(oracle, &[OsStr::new(name)], directory.path(), COMMANDS, &[]);
            assert_eq!(
                (output.as_bytes(), Some(code)),
                (&said.output[..], said.code),
                "{name}"
            );
        }
    }
    // A word that resembles a command is refused, and so is a directory.
    let directory = original::directory();
    for word in ["stduy", "colect", "."] {
        let (output, errors, code) = session(&[word], directory.path(), COMMANDS);
        assert_eq!((output.as_str(), code), ("", 2), "{word}: {errors}");
        errors.shows("is neither a command nor a classic configuration file");
    }
}

/// Text after a location is ignored if it is not a number. If the location and the text together
/// name an existing directory, this directory is the location.
#[test]
fn location_weight_that_is_not_a_number_is_ignored() {
    let directory = original::directory();
    for name in ["place", "with", "with blanks"] {
        std::fs::create_dir(directory.path().join(name)).unwrap();
    }
    for (argument, is_originals) in [
        ("place WORD", true),
        ("place five", true),
        ("with blanks", false),
    ] {
        let commands =
            format!("set number 20\nset transactions 40\nset location {argument}\nshow\nquit\n");
        let (output, errors, code) = session(&[], directory.path(), commands.as_bytes());
        assert_eq!(code, 0);
        if !is_originals {
            output.shows("\twith blanks (weight=1)\n");
            continue;
        }
        let word = argument.rsplit(' ').next().unwrap();
        assert_eq!(errors, format!("Error: ignoring invalid weight '{word}'\n"));
        output.shows("\tplace (weight=1)\n");
        if let Some(oracle) = original::oracle() {
            let said = say(oracle, &[], directory.path(), commands.as_bytes(), &[]);
            let ours = (output.as_bytes(), errors.as_bytes());
            assert_eq!(ours, (&said.output[..], &said.errors[..]), "{argument}");
        }
    }
    let commands = b"set number 20\nset transactions 40\nset location place WORD\nrun\n";
    let (output, errors, code) = session(&[], directory.path(), commands);
    assert!(
        code == 0 && output.contains(" seconds total\n"),
        "{errors}{output}"
    );
}

/// Even repeated blanks in the input are quoted unchanged.
#[test]
fn error_message_quotes_the_input_unchanged() {
    let directory = original::directory();
    let (_, errors, _) = session(&[], directory.path(), b"set size  10 20\nset number  5k\n");
    errors.shows("'set size  10 20' is understood");
    errors.shows("give plain numbers of bytes: 'set size 10 20'");
    errors.shows("'set number  5k' is understood");
}

/// A session with a configuration file that loads itself must end with an error.
#[test]
fn files_that_load_each_other_fail() {
    let directory = original::directory();
    std::fs::write(directory.path().join("again"), "load again\n").unwrap();
    std::fs::write(directory.path().join("twice"), "load twice\nload twice\n").unwrap();
    for (arguments, commands) in [
        (&["again"][..], &b"quit\n"[..]),
        (&[], b"load again\nquit\n"),
        (&["twice"], b""),
    ] {
        let (_, errors, code) = session(arguments, directory.path(), commands);
        errors.shows("which is the limit");
        assert_eq!(code, 1, "{arguments:?}: {errors}");
    }
}

#[test]
fn removed_location_is_reported() {
    for interface in INTERFACES {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        let mut running = interface.begin(
            &Work::long(&location, Phase::Prepare),
            &test_dir,
            Phase::Prepare,
        );
        running.stop();
        std::fs::remove_dir_all(&location).unwrap();
        running.send(Signal::CONT);
        let ended = running.finish();
        ended.ends("1 | was removed during the run");
        ended.does_not_show("moved or").does_not_show("was moved");
    }
}

/// If a user has removed the files of a killed run, only its manifest remains. The next run then
/// starts without a message.
#[test]
fn run_starts_after_files_of_a_killed_run_were_removed_by_hand() {
    for (engine, subdirectories) in [(Streams, 1), (Raw, 3)] {
        let interface = Prompt(engine);
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let work = Work::long(&location, Phase::Prepare).in_subdirectories(subdirectories);
        let mut running = interface.begin(&work, &test_dir, Phase::Prepare);
        running.stop();
        // Removes all names that do not start with a dot, as `rm -r *` does, except the name `but`.
        let remove = |but: Option<&str>| {
            for name in names(&location).unwrap() {
                let path = location.join(&name);
                if !name.as_bytes().starts_with(b".")
                    && Some(name.to_string_lossy().as_ref()) != but
                {
                    match path.symlink_metadata().unwrap().is_dir() {
                        true => std::fs::remove_dir_all(path).unwrap(),
                        false => std::fs::remove_file(path).unwrap(),
                    }
                }
            }
        };
        remove(None);
        // The stopped run still holds the lock of the location.
        interface
            .perform(&Work::small(&location), &test_dir)
            .code(1)
            .shows("is in use by another run");
        running.kill();
        // If one name of the killed run remains, the manifest stays, and a new run is refused.
        let name = if subdirectories > 1 { "s0" } else { "17" };
        std::fs::create_dir(location.join(name)).unwrap();
        let refused = interface.perform(
            &Work::small(&location).in_subdirectories(subdirectories),
            &test_dir,
        );
        refused
            .code(1)
            .shows("still contains files of a killed run");
        remove(None);
        for _ in 0..2 {
            let ended = interface.perform(
                &Work::small(&location).in_subdirectories(subdirectories),
                &test_dir,
            );
            ended.code(0).does_not_show("killed run");
            let left = names(&location).unwrap();
            ended.assert(left == [".pmrc-not"], "something is left behind");
        }
    }
}

/// Writing the only file takes more than a minute. A signal must end the run between two blocks of
/// the file.
#[test]
fn signal_ends_a_run_in_the_middle_of_a_file() {
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return;
    }
    for interface in [Prompt(Streams), Prompt(Raw), Run(Posix)] {
        let test_dir = TestDir::new();
        let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
        let options = Options {
            delay: Some(Delay {
                at: RequestKind::Write,
                by: Duration::from_millis(10),
            }),
            ..Options::default()
        };
        let _mounted = Passthrough::mount(&backing, &at, options).unwrap();
        // Each request of at most 4 KiB takes 10 ms, so writing the file takes more than a minute.
        let work = Work {
            files: 1,
            transactions: 1,
            sizes: (32 << 20, 32 << 20),
            ..Work::small(&at)
        };
        let mut running = Running::start(interface.command(&work, &test_dir), &backing);
        let is_written = |directory: &Path| {
            let mut found = names(directory).unwrap_or_default();
            found.retain(|name| name != ".postmark-manifest.json");
            found.iter().any(|name| {
                let path = directory.join(name);
                let inner = path.join("1");
                [path, inner].iter().any(|path| {
                    path.is_file() && path.metadata().is_ok_and(|facts| facts.len() > 10_000)
                })
            })
        };
        running.until("that the file is written", |_| is_written(&backing));
        let since = Instant::now();
        running.send(Signal::TERM);
        let ended = running.finish();
        ended.code(143).shows("signal 15");
        ended.assert(since.elapsed() < Duration::from_secs(60), "it went on");
        ended.assert(
            names(&backing).unwrap().is_empty(),
            "something is left behind",
        );
    }
}

/// Output on a terminal, with environment variables. Without a command, the prompt starts and reads
/// `quit`.
fn on_terminal(directory: &Path, words: &str, environment: &[(&str, &str)]) -> String {
    let mut script = Command::new("/usr/bin/script");
    script.args([
        "-q",
        "-e",
        "-c",
        &format!("exec '{}' {words}", program().display()),
        "/dev/null",
    ]);
    for name in [
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "CI",
        "TERM",
    ] {
        script.env_remove(name);
    }
    script
        .env("POSTMARK_ARCHIVE", "none")
        .envs(environment.iter().copied());
    script
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = script
        .spawn()
        .expect("script is needed: apt-get install bsdutils");
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"quit\r");
    String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
}

/// On the pseudo-terminal of a launcher, or on a terminal without escape sequences, no escape
/// sequences are written. This holds for the line editor, help, reports and progress.
#[test]
fn escape_sequences_are_used_only_on_user_terminals() {
    let directory = original::directory();
    let run = "run --files 20 --transactions 30 --no-overhead --target .";
    let users = [("TERM", "xterm")];
    for words in ["", "--help", run] {
        let written = on_terminal(directory.path(), words, &users);
        assert!(
            written.contains('\u{1b}'),
            "'{words}' has none at all: {written:?}"
        );
        for others in [
            &[
                ("TERM", "xterm"),
                ("OMPI_COMM_WORLD_SIZE", "1"),
                ("OMPI_COMM_WORLD_RANK", "0"),
            ][..],
            &[("TERM", "xterm"), ("PMI_SIZE", "1"), ("PMI_RANK", "0")],
            &[("TERM", "dumb")],
            &[],
        ] {
            let written = on_terminal(directory.path(), words, others);
            assert!(
                !written.is_empty() && !written.contains('\u{1b}'),
                "'{words}' {others:?}: {written:?}"
            );
        }
    }
}
