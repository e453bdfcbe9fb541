//! Runs all commands in the README, the documents and the manual pages, in the order of each text.
//! Paths, sizes and times are replaced by smaller ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use crate::{layout, original};

/// Replacements in a documented command, so that its run is short.
const SCALED: [(&str, &str); 21] = [
    // A small tree that every machine has.
    ("learn /usr/lib/python3", "learn /etc"),
    (
        " --trace tar.trace",
        concat!(
            " --trace ",
            env!("CARGO_MANIFEST_DIR"),
            "/../../fuzz/seeds/strace/calls"
        ),
    ),
    (
        "replay tar.trace",
        concat!(
            "replay ",
            env!("CARGO_MANIFEST_DIR"),
            "/../../fuzz/seeds/strace/calls"
        ),
    ),
    (
        " --trace nfs.pcap",
        concat!(
            " --trace ",
            env!("CARGO_MANIFEST_DIR"),
            "/../../fuzz/seeds/capture/calls"
        ),
    ),
    // Short runs in memory get the verdict INVALID, so with --strict they would fail.
    (" --strict", ""),
    (
        " --rounds 200",
        " --rounds 1 --files 20 --crash-within 50ms",
    ),
    ("'make:ext4?in=/mnt/disk&direct'", "make:ext4"),
    ("'make:xfs?in=/mnt/disk&direct'", "make:xfs"),
    // There is no server to kill.
    (
        " --kill-server /run/my.pid --restore ./start.sh",
        " --crash true",
    ),
    ("cargo run --release -- run", "postmark run"),
    // The directories of this test are in memory, where durable repeated runs are refused.
    (
        " --repeat 10",
        " --repeat 10 --quiet-time 0s --durability none",
    ),
    (
        " --until 2%",
        " --until 2% --repeat 10 --quiet-time 0s --durability none",
    ),
    (" --files 20k", " --files 100"),
    (" --files 10k", " --files 100"),
    (" --transactions 100k", " --transactions 300"),
    (" --working-set 4x", " --files 100"),
    (" --working-set 64GiB", " --files 100"),
    (" --scale 4", " --files 100"),
    ("set number 20000", "set number 100"),
    ("set transactions 100000", "set transactions 300"),
    (
        " --preset paper-20000-100000",
        " --preset paper-20000-100000 --files 100 --transactions 300",
    ),
];

/// Options of commands that take minutes or empty the page cache of the machine. For such a
/// command, only the plan is printed.
const PLANNED: [&str; 3] = [" --sweep ", " --steady ", " --cache cold"];

/// The commands in a document: lines of code blocks that begin with the name of the program. Lines
/// that begin with `printf` pipe their output to the program.
fn commands(document: &str) -> Vec<String> {
    let joined = document.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("    "));
    let is_ours = |line: &&str| {
        ["cargo run --release -- run", "postmark", "printf "]
            .iter()
            .any(|begin| line.starts_with(begin))
    };
    lines.filter(is_ours).map(str::to_owned).collect()
}

/// Documents that are tested at the same time.
const AT_ONCE: usize = 6;

/// A run that precedes the commands of each document, as on the machine of a reader: its record is
/// in the archive and in a file.
const EARLIER: &str = "postmark run --preset mail --format json --output result.json \
                       --target /mnt/disk";

/// Directories that contain the targets in the documents.
const TARGETS: [&str; 2] = ["/mnt/", "/srv/"];

/// Path of the acknowledgement log in the documents. It is on another file system than the targets.
const ACK_LOG: &str = "/var/log/postmark.ack";

/// Replaces the first two components of a documented target path by the directory of the test.
fn placed(word: &str, target: &Path) -> String {
    if !TARGETS.iter().any(|begin| word.starts_with(begin)) {
        return word.to_owned();
    }
    let end = word[5..]
        .find(['/', '\\'])
        .map_or(word.len(), |end| end + 5);
    format!("{}{}", target.display(), &word[end..])
}

/// Converts a documented command to one with small sizes and an existing target.
fn scaled(command: &str, target: &Path, log: &Path) -> String {
    let mut command = SCALED
        .iter()
        .fold(command.to_owned(), |command, (from, to)| {
            command.replace(from, to)
        });
    command = command.replace(ACK_LOG, &log.display().to_string());
    let words = command.split(' ').map(|word| placed(word, target));
    let mut words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    if PLANNED.iter().any(|slow| command.contains(slow)) && words[1] == "run" {
        words[1] = "plan".to_owned();
    }
    // Levels of a sweep have a least time. Only their plan is printed, so they are not shortened.
    let is_sweep = command.contains(" --sweep ");
    for index in 1..words.len() {
        match words[index - 1].as_str() {
            "--for" if !is_sweep => words[index] = "200ms".to_owned(),
            "--warm-up" => words[index] = "10ms".to_owned(),
            _ => {}
        }
    }
    if words.starts_with(&["postmark", "run"].map(str::to_owned)) {
        words.insert(2, "--no-overhead".to_owned());
    }
    command = words.join(" ");
    let is_study = |option| command.starts_with(&format!("postmark study {option} "));
    if ["--preset", "--config", "--replay"]
        .into_iter()
        .any(is_study)
    {
        // In this test, all target directories of a document are the same directory. So names
        // distinguish the targets: `a`, `b` and so on.
        for (word, name) in words.iter_mut().zip('a'..) {
            if word.starts_with(&*target.to_string_lossy()) {
                *word = format!("{name}={word}");
            }
        }
        command = words
            .join(" ")
            .replace("make:ext4", "make:ext4?size=256MiB")
            .replace("make:xfs", "make:xfs?size=300MiB");
        // The directories of this test are in memory, where a durable study is refused.
        let short = [
            " --files 100",
            " --transactions 200",
            " --for 100ms",
            " --durability none",
            " --blocks 1",
            " --quiet-time 0s",
        ];
        for option in short {
            let (name, _) = option.rsplit_once(' ').unwrap_or_default();
            // A trace determines the files and the end of its replay.
            let is_given = command.contains(" --replay ")
                && [" --files", " --transactions", " --for"].contains(&name);
            if !is_given && !command.contains(&format!("{name} ")) {
                command.push_str(option);
            }
        }
    }
    if command.starts_with("postmark run") || command.starts_with("postmark plan") {
        if command.contains(" --preset ") && !command.contains(" --files ") {
            command.push_str(" --files 100");
        }
        // For a run that is limited only by time, the fingerprint covers 100,000 operations.
        // Generating 100,000 operations would take a second. Levels of a sweep end by time.
        if !is_sweep && !command.contains(" --transactions ") && !has_phases(&command) {
            command.push_str(" --transactions 500");
        }
    }
    command
}

/// Whether the preset of a command consists of phases, which have their own ends.
fn has_phases(command: &str) -> bool {
    let after = command.split_once(" --preset ").map(|(_, after)| after);
    let name = after.and_then(|after| after.split(' ').next());
    let preset = name.and_then(workload::presets::find);
    preset.is_some_and(|preset| !preset.how.phases.is_empty())
}

/// Runs the commands in order, in a new directory.
pub fn perform(document: &str, commands: &[String]) {
    let test_dir = original::directory();
    let elsewhere = tempfile::tempdir().unwrap();
    let [target, programs] = ["target", "programs"].map(|name| test_dir.path().join(name));
    fs::create_dir(&target).unwrap();
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(original::ours(), programs.join("postmark")).unwrap();
    for command in commands {
        let scaled = scaled(command, &target, &elsewhere.path().join("ack.log"));
        let output = Command::new("sh")
            .args(["-c", &scaled])
            .current_dir(test_dir.path())
            .env(
                "PATH",
                format!("{}:{}", programs.display(), std::env::var("PATH").unwrap()),
            )
            .env("POSTMARK_ARCHIVE", test_dir.path().join("archive.db"))
            .output()
            .unwrap();
        // Short runs are INVALID. For an INVALID run, `check` exits with 1 and `gate` with 2.
        let judges =
            |name: &str, code| command.starts_with(name) && output.status.code() == Some(code);
        let says_invalid = judges("postmark check", 1) || judges("postmark gate", 2);
        // The servers in the documents do not exist. A command contacts its server only after it
        // has checked all arguments. So an error about the server shows that the arguments are
        // valid.
        let told = String::from_utf8_lossy(&output.stderr);
        let lacks_server = [
            "cannot resolve the host server",
            "cannot connect to",
            "no credentials for profile",
        ];
        let is_without_server = ["nfs://", "s3://"].iter().any(|url| command.contains(url))
            && lacks_server.iter().any(|words| told.contains(words));
        assert!(
            output.status.success() || says_invalid || is_without_server,
            "{document}: {command}\n{scaled}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert_eq!(
        fs::read_dir(&target).unwrap().count(),
        0,
        "{document}: something is left"
    );
}

#[test]
fn documented_commands_succeed() {
    let root = layout::root();
    let documents: BTreeMap<String, Vec<String>> = layout::documents()
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            (name, commands(&fs::read_to_string(&path).unwrap()))
        })
        // Its lines that begin with `postmark` describe the usage.
        .filter(|(name, all)| !name.ends_with("commands.md") && !all.is_empty())
        .collect();
    let counts: BTreeMap<&str, usize> = documents
        .iter()
        .map(|(name, all)| (name.as_str(), all.len()))
        .collect();
    assert!(counts["README.md"] >= 2, "{counts:?}");
    assert!(counts.values().sum::<usize>() >= 90, "{counts:?}");
    let waiting = Mutex::new(documents.iter());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().next();
                    let Some((name, commands)) = next else {
                        break;
                    };
                    perform(name, &[&[EARLIER.to_owned()], &commands[..]].concat());
                }
            });
        }
    });
}

#[test]
fn short_help_of_run_has_a_line_for_each_option_and_three_examples() {
    let directory = original::directory();
    let [short, long] =
        ["-h", "--help"].map(|help| original::answer(&["run", help], directory.path()));
    let begin =
        |text: &str, begins: &str| text.lines().filter(|line| line.starts_with(begins)).count();
    assert_eq!(begin(&short, "  postmark run "), 3, "{short}");
    assert!(begin(&short, "      --") > 60, "{short}");
    assert!(short.lines().count() <= 130, "{short}");
    let [examples, options] = ["Examples:", "What to run:"].map(|word| long.find(word).unwrap());
    assert!(examples < options, "{long}");
}
