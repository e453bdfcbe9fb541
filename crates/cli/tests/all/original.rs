//! Code shared by tests that compare this program with the original: finding the original, running
//! programs, and random configurations.
//!
//! The original is the binary of Debian's package `postmark`. The tests only run it; its source is
//! not used.

pub mod configuration;
pub mod trace;

use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian's `postmark`. `None` if it is not installed, with a message that the test is skipped.
///
/// # Panics
/// Panics if it is not installed and all tests must run: in CI, or with `POSTMARK_TEST_ALL=1`.
pub fn oracle() -> Option<&'static Path> {
    tool("/usr/bin/postmark", "apt-get install postmark")
}

/// `strace`. `None` if it is not installed, with a message that the test is skipped. Panics under
/// the same condition as [`oracle`].
pub fn strace() -> Option<&'static Path> {
    tool("/usr/bin/strace", "apt-get install strace")
}

/// A program that a test needs. `None` if it is not installed, with a message that the test is
/// skipped. Panics under the same condition as [`oracle`].
pub fn tool(path: &'static str, remedy: &str) -> Option<&'static Path> {
    let path = Path::new(path);
    if path.exists() {
        return Some(path);
    }
    let all = std::env::var_os("CI").is_some()
        || std::env::var_os("POSTMARK_TEST_ALL").is_some_and(|all| all == "1");
    let message = format!("{} is missing: {remedy}", path.display());
    assert!(!all, "{message}");
    eprintln!("skipped: {message}");
    None
}

pub fn ours() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_postmark"))
}

/// A temporary directory, on /dev/shm if that exists. Tests create thousands of files in it, and
/// compare only results that are the same on every file system.
pub fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    tempfile::Builder::new()
        .prefix("postmark-test-")
        .tempdir_in(place)
        .unwrap()
}

/// Output and exit status of the original or of this program, which tests compare.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    pub output: Vec<u8>,
    /// Standard error, without the warnings that our program prints and the original does not.
    pub errors: Vec<u8>,
    /// The exit status; `None` if a signal ended the program.
    pub code: Option<i32>,
}

pub fn say(
    program: &Path,
    arguments: &[&OsStr],
    directory: &Path,
    input: &[u8],
    environment: &[(&str, &OsStr)],
) -> Said {
    let mut child = Command::new(program)
        .args(arguments)
        // Without this variable, the test would write to the archive of the user.
        .env("POSTMARK_ARCHIVE", "none")
        // Without this variable, the width of screens does not depend on the environment of the
        // tests.
        .env_remove("COLUMNS")
        .envs(environment.iter().copied())
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Write errors are ignored, because the program may exit before it has read all its input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Said {
        output: output.stdout,
        errors: without_warnings(&output.stderr),
        code: output.status.code(),
    }
}

/// Removes the warnings that only this program prints.
pub fn without_warnings(errors: &[u8]) -> Vec<u8> {
    errors
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !line.starts_with(b"Warning: "))
        .flatten()
        .copied()
        .collect()
}

/// Compiles the library that makes `time()` return seconds from a list, and returns its path.
/// LD_PRELOAD loads the library into the original.
pub fn seconds_library(directory: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/original/seconds.c");
    let library = directory.join("seconds.so");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .status()
        .expect("cc is needed: apt-get install gcc");
    assert!(status.success(), "cc {}: {status}", source.display());
    library
}

/// All entries below a directory, sorted: the paths and sizes of files, and `None` as the size of
/// directories.
pub fn tree(directory: &Path) -> Vec<(PathBuf, Option<u64>)> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(at) = left.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            let name = entry.path().strip_prefix(directory).unwrap().to_owned();
            found.push((name, metadata.is_file().then_some(metadata.len())));
            if metadata.is_dir() {
                left.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Runs the program with arguments that must be valid, and returns its output.
pub fn answer(words: &[&str], at: &Path) -> String {
    let said = ended(words, at);
    assert_eq!(
        said.code,
        Some(0),
        "{words:?}\n{}",
        String::from_utf8_lossy(&said.errors)
    );
    String::from_utf8(said.output).unwrap()
}

pub fn ended(words: &[&str], at: &Path) -> Said {
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    say(ours(), &words, at, b"", &[])
}

/// Runs the program with `--format json`, and parses its output.
pub fn json(words: &[&str], at: &Path) -> Value {
    serde_json::from_str(&answer(&[words, &["--format", "json"]].concat(), at)).unwrap()
}

/// Splits arguments that are separated by one blank.
pub fn split(words: &str) -> Vec<&str> {
    words.split(' ').collect()
}
