//! The original and this program are killed at the same unlink of a session. The remaining trees
//! must have the same names and sizes. This shows that both programs perform operations in the same
//! order and with the same sizes, not only that their results are equal.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::original;
use testkit::Random;

use crate::original::configuration::{Chance, DIRECTORIES, Limits, session};
use crate::support::heartbeats;

const SESSIONS: u64 = 12;
const KILLS_PER_SESSION: u64 = 3;
const MANIFEST: &str = ".postmark-manifest.json";

#[test]
fn killed_program_leaves_the_same_tree_as_the_killed_original() {
    let (Some(original), Some(strace)) = (original::oracle(), original::strace()) else {
        return;
    };
    let limits = Limits {
        files: 60,
        transactions: 200,
        block: 64,
        runs: 1,
        talk: false,
        working_directory: false,
    };
    let mut files_left = 0;
    for seed in 0..SESSIONS {
        let mut chance = Chance(Random(0xdead_0000 + seed));
        let lines = session(&mut chance, limits).lines;
        let unlinks = unlinks(strace, original, &lines);
        for _ in 0..KILLS_PER_SESSION {
            let when = chance.between(1, unlinks);
            let theirs = killed(strace, original, &lines, when);
            let ours = killed(strace, original::ours(), &lines, when);
            assert_eq!(theirs, ours, "killed at unlink {when} of:\n{lines}");
            files_left += theirs.iter().filter(|(_, size)| size.is_some()).count();
        }
    }
    assert!(files_left > 300, "only {files_left} files were compared");
}

/// Number of unlinks that the original performs in a session.
fn unlinks(strace: &Path, program: &Path, lines: &str) -> u64 {
    let (directory, work) = place(lines);
    let log = directory.path().join("log");
    let status = command(strace, directory.path(), &work)
        .args(["-e", "trace=unlink", "-o"])
        .arg(&log)
        .arg(program)
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    let log = std::fs::read_to_string(log).unwrap();
    log.lines().filter(|line| line.contains("unlink(")).count() as u64
}

/// The tree that remains after a program is killed at the unlink with number `when`.
fn killed(strace: &Path, program: &Path, lines: &str, when: u64) -> Vec<(PathBuf, Option<u64>)> {
    let (directory, work) = place(lines);
    let status = command(strace, directory.path(), &work)
        .args([
            "-e",
            "trace=unlink,unlinkat",
            "-e",
            &format!("inject=unlink,unlinkat:signal=KILL:when={when}"),
        ])
        .args(["-o", "/dev/null"])
        .arg(program)
        .status()
        .unwrap();
    // strace ends itself by the signal that ended the program.
    assert_eq!(
        status.signal(),
        Some(9),
        "{} was not killed at unlink {when} of:\n{lines}",
        program.display()
    );
    let mut tree = original::tree(&work);
    let manifests = tree.iter().filter(|(path, _)| path.ends_with(MANIFEST));
    manifests.for_each(|(path, _)| heartbeats::remove_manifests_after_test(&work.join(path)));
    tree.retain(|(path, _)| path.file_name().is_none_or(|name| name != MANIFEST));
    tree
}

fn place(lines: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = original::directory();
    let work = directory.path().join("work");
    for location in DIRECTORIES {
        std::fs::create_dir_all(work.join(location)).unwrap();
    }
    std::fs::write(directory.path().join("input"), lines).unwrap();
    (directory, work)
}

fn command(strace: &Path, root: &Path, work: &Path) -> Command {
    let mut command = Command::new(strace);
    command
        .arg("-f")
        .env("POSTMARK_ARCHIVE", "none")
        .current_dir(work)
        .stdin(std::fs::File::open(root.join("input")).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
