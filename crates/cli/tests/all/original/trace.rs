//! Uses strace to record those system calls of a program that concern files and directories of its
//! pool.
//!
//! Only names that a run creates are compared: numbers, and `s` followed by a number. Values that
//! differ between runs are removed: descriptors, times, process numbers.

use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    /// The file or directory, relative to the working directory.
    pub path: PathBuf,
    /// The other arguments as strace prints them, without descriptors and addresses.
    pub rest: String,
    /// The result, without the number of a new descriptor.
    pub result: String,
}

/// Runs a program under strace. Returns, in order of time, the system calls of all its threads that
/// concern files and directories of the pool.
pub fn calls(
    strace: &Path,
    program: &Path,
    directory: &Path,
    input: &Path,
    logs: &Path,
) -> Vec<Call> {
    std::fs::create_dir(logs).unwrap();
    let status = Command::new(strace)
        .args([
            "-ff",
            "-ttt",
            "-y",
            "-s",
            "16",
            "-e",
            "trace=%file,%desc",
            "-e",
            "signal=none",
            "-o",
        ])
        .arg(logs.join("thread"))
        .arg(program)
        .env("POSTMARK_ARCHIVE", "none")
        .current_dir(directory)
        .stdin(std::fs::File::open(input).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{}: {status}", program.display());
    let mut timed = Vec::new();
    for log in std::fs::read_dir(logs).unwrap() {
        let log = std::fs::read_to_string(log.unwrap().path()).unwrap();
        for line in log.lines() {
            let (at, line) = line.split_once(' ').unwrap();
            if let Some(call) = parse(line, directory) {
                timed.push((at.parse::<f64>().unwrap(), call));
            }
        }
    }
    timed.sort_by(|one, other| one.0.total_cmp(&other.0));
    timed.into_iter().map(|(_, call)| call).collect()
}

/// Parses a line of strace. `None` if the call does not concern a file or directory of the pool.
fn parse(line: &str, directory: &Path) -> Option<Call> {
    let (name, line) = line.split_once('(')?;
    let (arguments, result) = line.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let mut at = directory.to_owned();
    let mut rest = Vec::new();
    let mut named = false;
    for (index, argument) in split(arguments).into_iter().enumerate() {
        if let Some(path) = descriptor(argument).filter(|_| index == 0) {
            at = path;
            // If no file name follows as an argument, the descriptor identifies the file itself.
            named = !argument.starts_with("AT_FDCWD");
        } else if let Some(path) = argument
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .filter(|_| rest.is_empty() && index < 2 && takes_path(name))
        {
            at.push(path);
            named = true;
        } else if !argument.starts_with("0x") && !argument.starts_with('{') {
            rest.push(argument);
        }
    }
    let path = normal(at.strip_prefix(directory).ok()?);
    let result = result.split(['<', ' ']).next()?;
    (named && in_pool(&path)).then(|| Call {
        result: if opens(name) && !result.starts_with('-') {
            "a descriptor"
        } else {
            result
        }
        .to_owned(),
        name: name.to_owned(),
        path,
        rest: rest.join(", "),
    })
}

fn opens(name: &str) -> bool {
    ["open", "openat", "creat", "openat2", "dup", "fcntl"].contains(&name)
}

/// Whether a string argument of a call may be a path. For calls that read or write, it is data.
fn takes_path(name: &str) -> bool {
    !["read", "write", "pread64", "pwrite64"].contains(&name)
}

/// The path in an argument such as `3</path>` or `AT_FDCWD</path>`. strace appends `(deleted)` to
/// the path of a removed file.
fn descriptor(argument: &str) -> Option<PathBuf> {
    let (number, path) = argument.split_once('<')?;
    let is_descriptor = number == "AT_FDCWD" || number.bytes().all(|byte| byte.is_ascii_digit());
    let path = path
        .strip_suffix("(deleted)")
        .unwrap_or(path)
        .strip_suffix('>')?;
    (is_descriptor && !number.is_empty()).then(|| PathBuf::from(path))
}

/// Splits arguments at commas outside of quotes, braces, brackets and parentheses.
fn split(arguments: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut quoted, mut escaped) =
        (Vec::new(), 0, 0, false, false);
    for (at, character) in arguments.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' | '(' if !quoted => depth += 1,
            '}' | ']' | ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(arguments[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(arguments[from..].trim());
    parts
}

fn normal(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

/// Whether the last component of a path is a name that a run creates.
fn in_pool(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let digits = name.strip_prefix('s').unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
