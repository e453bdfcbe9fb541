//! A command overwrites an existing output file only with `--force`, and never a file that it also
//! reads.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use faultfs::{Options, Passthrough, RequestKind};

use crate::support::interface::{postmark, program};
use crate::support::running::in_shell;
use crate::support::{Ended, Running, TestDir, is_met};

/// A small run, with its target below the working directory.
const LITTLE: &str = "run --quiet --files 5 --transactions 5 --no-overhead --target target";

fn say(test_dir: &TestDir, words: &str) -> Ended {
    let mut command = postmark(words);
    command.current_dir(test_dir.path());
    Running::run_to_end(command, test_dir.path())
}

fn read(test_dir: &TestDir, name: &str) -> String {
    fs::read_to_string(test_dir.path().join(name)).unwrap()
}

/// A test directory with a target, a configuration file, a histogram, the record of a run, and
/// links to these files.
fn test_dir() -> TestDir {
    let test_dir = TestDir::new();
    test_dir.directory("target");
    let write = |name: &str, text: &str| fs::write(test_dir.path().join(name), text).unwrap();
    write(
        "c.toml",
        "files = 5\nmix = 'read=1'\nsize = 'histogram@sizes'\n",
    );
    write("sizes", "1..100 1\n");
    write("precious", "mine\n");
    say(
        &test_dir,
        &format!("{LITTLE} --format json --output r.json"),
    )
    .code(0);
    for name in ["c.toml", "sizes", "r.json"] {
        std::os::unix::fs::symlink(name, test_dir.path().join(format!("link-{name}"))).unwrap();
        fs::hard_link(
            test_dir.path().join(name),
            test_dir.path().join(format!("hard-{name}")),
        )
        .unwrap();
    }
    test_dir
}

#[test]
fn existing_output_requires_force() {
    let test_dir = test_dir();
    for words in [
        format!("{LITTLE} --output precious"),
        format!("{LITTLE} --live precious"),
        format!("{LITTLE} --dry-run --output precious"),
        "show r.json --output precious".to_owned(),
    ] {
        let ended = say(&test_dir, &words);
        ended.ends("2 | precious: the file exists (use another file | --force");
        ended.assert(read(&test_dir, "precious") == "mine\n", "it was written to");
        ended.assert(
            fs::read_dir(test_dir.path().join("target"))
                .unwrap()
                .count()
                == 0,
            "the target was touched",
        );
        say(&test_dir, &format!("{words} --force")).code(0);
        ended.assert(read(&test_dir, "precious") != "mine\n", "--force writes");
        fs::write(test_dir.path().join("precious"), "mine\n").unwrap();
    }
    // `export` reads an archive, which the command `import` creates first.
    say(&test_dir, "import r.json --archive a.db").code(0);
    say(&test_dir, "export --archive a.db --output precious")
        .code(2)
        .shows("--force");
    assert_eq!(read(&test_dir, "precious"), "mine\n");
    say(&test_dir, "export --archive a.db --output precious --force").code(0);
    assert!(read(&test_dir, "precious").contains("\"record\""));
}

#[test]
fn output_must_not_be_an_input() {
    let test_dir = test_dir();
    let config = read(&test_dir, "c.toml");
    let record = read(&test_dir, "r.json");
    let run = "run --quiet --no-overhead --target target --transactions 5";
    let absolute = test_dir
        .path()
        .join("target/../c.toml")
        .display()
        .to_string();
    for words in [
        format!("{run} --config c.toml --output c.toml"),
        format!("{run} --config c.toml --output ./c.toml"),
        format!("{run} --config c.toml --output {absolute}"),
        format!("{run} --config c.toml --output link-c.toml"),
        format!("{run} --config link-c.toml --output hard-c.toml"),
        format!("{run} --config c.toml --live c.toml"),
        format!("{run} --config c.toml --dry-run --output c.toml"),
        format!("{run} --config c.toml --output sizes"),
        format!("{run} --config c.toml --live link-sizes"),
        // The file of a histogram is refused as output file, even if an option overrides the sizes
        // of the configuration file.
        format!("{run} --config c.toml --size 5 --output hard-sizes"),
        format!("{run} --mix read=1 --size histogram@sizes --output sizes"),
        format!("{run} --mix append=1 --append-size histogram@sizes --output sizes"),
        format!("{run} --like r.json --output r.json"),
        format!("{run} --like hard-r.json --live link-r.json"),
        "show r.json --output r.json".to_owned(),
        "show link-r.json --output hard-r.json --format json".to_owned(),
    ] {
        for force in ["", " --force"] {
            say(&test_dir, &format!("{words}{force}"))
                .code(2)
                .shows("the run reads this file (")
                .shows("use another file");
        }
        assert_eq!(
            (
                read(&test_dir, "c.toml"),
                read(&test_dir, "sizes"),
                read(&test_dir, "r.json")
            ),
            (config.clone(), "1..100 1\n".to_owned(), record.clone()),
            "{words}"
        );
    }
    // A file is also refused as output if it is read as standard input.
    let mut command = postmark("show - --force --output r.json");
    command.current_dir(test_dir.path());
    let ended = Running::run_to_end(
        in_shell("exec \"$0\" \"$@\" < r.json", &command),
        test_dir.path(),
    );
    ended.code(2).shows("the run reads this file (RUN)");
    assert_eq!(read(&test_dir, "r.json"), record);
}

#[test]
fn two_outputs_must_be_different_files() {
    let test_dir = test_dir();
    std::os::unix::fs::symlink("precious", test_dir.path().join("link")).unwrap();
    for words in [
        "--live new --output new",
        "--live ./new --output new",
        "--live precious --output precious --force",
        "--live link --output precious --force",
        "--ack-log new --output new",
        "--ack-log target/../new --live new",
    ] {
        say(&test_dir, &format!("{LITTLE} {words}"))
            .code(2)
            .shows("writes to the same file");
        assert_eq!(read(&test_dir, "precious"), "mine\n", "{words}");
        assert!(!test_dir.path().join("new").exists(), "{words}");
    }
    for name in ["c.toml", "./c.toml"] {
        say(
            &test_dir,
            &format!("run --target target --config c.toml --archive {name}"),
        )
        .code(2)
        .shows("the same file");
        say(
            &test_dir,
            &format!("run --target target --config c.toml --ack-log {name}"),
        )
        .code(2)
        .shows("the run reads this file");
    }
}

#[test]
fn dangling_link_as_output_is_reported() {
    let test_dir = test_dir();
    std::os::unix::fs::symlink("nowhere", test_dir.path().join("dangling")).unwrap();
    for words in ["--output dangling", "--live dangling --force"] {
        say(&test_dir, &format!("{LITTLE} {words}"))
            .code(2)
            .shows("dangling: the symbolic link points to nowhere, which does not exist")
            .shows("remove the link");
    }
    assert!(!test_dir.path().join("nowhere").exists());
}

/// Devices and pipes have no contents that could be lost. A file descriptor leads to a file that
/// the user has opened in the shell.
#[test]
fn devices_and_descriptors_need_no_force() {
    let test_dir = test_dir();
    let path = |name: &str| test_dir.path().join(name);
    say(
        &test_dir,
        &format!("{LITTLE} --output /dev/null --live /dev/null"),
    )
    .code(0);
    say(&test_dir, &format!("{LITTLE} --output -"))
        .code(0)
        .shows(" transactions/s ");
    say(&test_dir, &format!("{LITTLE} --output /dev/stdout"))
        .code(0)
        .shows(" transactions/s ");
    let to_file = |script: &str, words: &str| {
        let mut command = postmark(words);
        command.current_dir(test_dir.path());
        Running::run_to_end(in_shell(script, &command), test_dir.path())
    };
    // A file that the shell has opened keeps its contents: output is appended.
    for (script, words) in [
        ("exec \"$0\" \"$@\" >> precious", "--output /dev/stdout"),
        ("exec \"$0\" \"$@\" 3>> precious", "--output /dev/fd/3"),
        (
            "exec \"$0\" \"$@\" 3>> precious",
            "--live /proc/self/fd/3 --output /dev/null",
        ),
    ] {
        fs::write(path("precious"), "mine\n").unwrap();
        to_file(script, &format!("{LITTLE} {words}")).code(0);
        // A run that lasts less than a second writes no line to `--live`.
        let told = if words.contains("--live") {
            ""
        } else {
            " transactions/s "
        };
        let text = read(&test_dir, "precious");
        assert!(
            text.starts_with("mine\n") && text.contains(told),
            "{words}: {text}"
        );
    }
    // A file that the command reads is refused as output, even if the shell has opened it.
    let config = read(&test_dir, "c.toml");
    let ended = to_file(
        "exec \"$0\" \"$@\" 3>> c.toml",
        "run --target target --config c.toml --output /dev/fd/3",
    );
    ended.code(2).shows("the run reads this file (--config)");
    assert_eq!(read(&test_dir, "c.toml"), config);
}

/// If a run is refused after it has created an output file, only this file is removed.
#[test]
fn refused_run_removes_only_its_own_output() {
    let test_dir = test_dir();
    say(
        &test_dir,
        "run --quiet --files 5 --target nowhere --output new --live lines",
    )
    .code(2);
    assert!(!Path::exists(&test_dir.path().join("new")) && !test_dir.path().join("lines").exists());
    say(
        &test_dir,
        "run --quiet --files 5 --target nowhere --output precious --force",
    )
    .code(2);
    assert_eq!(read(&test_dir, "precious"), "mine\n");
}

/// The classic prompt appends to output files, as the original does. But it must not append to the
/// file that it is reading.
#[test]
fn prompt_does_not_write_to_the_file_it_reads() {
    let test_dir = test_dir();
    let text = "set number 5\nset transactions 5\nset location target\nrun .pmrc\nshow \
                ./.pmrc\nrun report\n";
    fs::write(test_dir.path().join(".pmrc"), text).unwrap();
    let script = "run script\nshow .pmrc\nquit\n";
    fs::write(test_dir.path().join("script"), script).unwrap();
    let mut command = Running::command(program());
    command.current_dir(test_dir.path());
    let ended = Running::run_to_end(in_shell("exec \"$0\" < script", &command), test_dir.path());
    ended.ends(
        "0 | '.pmrc': commands are being read from it | 'script': commands are being read from it",
    );
    assert_eq!(read(&test_dir, "script"), script);
    // After the prompt has read a file completely, it may write to the file.
    assert!(
        read(&test_dir, ".pmrc").starts_with(text) && read(&test_dir, ".pmrc").len() > text.len(),
        "{ended}"
    );
    assert!(read(&test_dir, "report").contains("Time:"), "{ended}");
}

/// If the file system of an output file hangs, `close` would block. The error message must be
/// printed before `close`.
#[test]
fn hanging_output_does_not_delay_a_refusal() {
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return;
    }
    let test_dir = test_dir();
    let (backing, point) = (test_dir.directory("backing"), test_dir.directory("point"));
    for option in ["--output", "--live"] {
        let mounted = Passthrough::mount(&backing, &point, Options::default()).unwrap();
        mounted.stall_at(RequestKind::Flush);
        let mut command = postmark(LITTLE);
        // The file of the acknowledgement log already exists, so the run is refused. This is
        // checked only when all output files are open.
        command
            .args([
                "--mix",
                "read=1",
                "--ack-log",
                "precious",
                option,
                "point/report",
            ])
            .current_dir(test_dir.path());
        let running = Running::start(command, &backing);
        let began = Instant::now();
        while !running.errors().contains("precious: the file exists")
            && began.elapsed() < Duration::from_secs(30)
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        let told = running.errors();
        // The process can end only after the server has ended.
        drop(mounted);
        running.finish().code(2);
        assert!(
            told.contains("precious: the file exists"),
            "{option}: {told}"
        );
        assert_eq!(fs::read_dir(&backing).unwrap().count(), 0, "{option}");
    }
}
