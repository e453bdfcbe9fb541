//! The system calls that a program makes for files of a benchmark, according to strace(1).

use crate::result::Result;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::Command;

use workload::Action;

use crate::process::output;

/// A system call that a thread made between its first and its last operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCall {
    /// The operation to which the call belongs. For a call that does not concern a file, the
    /// previous operation.
    pub operation: Action,
    /// The call, with flags if it opens a file, and with `(other)` if it does not concern a file of
    /// the benchmark.
    pub what: String,
    /// Other properties that equal calls must share: names, and bytes requested and transferred.
    pub detail: String,
}

/// The calls of a command on files whose path fulfils a condition, for each thread with such calls.
pub fn trace(
    command: &Command,
    log: &Path,
    is_file: impl Fn(&str) -> bool,
) -> Result<Vec<Vec<FileCall>>> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-s", "0", "-o"]).arg(log);
    strace.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        strace.current_dir(directory);
    }
    output(&mut strace)?;
    Ok(file_calls(&std::fs::read_to_string(log)?, is_file))
}

/// A finished system call in the log of strace.
pub struct Call {
    pub name: String,
    pub arguments: String,
    /// The return value; `None` if the call failed.
    pub answer: Option<i64>,
    /// The name of the error, for example `ENOENT`; `None` if the call succeeded.
    pub error: Option<String>,
}

/// The finished calls of a log, by thread.
pub fn calls(text: &str) -> BTreeMap<u32, Vec<Call>> {
    let mut begun: HashMap<u32, String> = HashMap::new();
    let mut calls: BTreeMap<u32, Vec<Call>> = BTreeMap::new();
    for line in text.lines() {
        let Some((thread, rest)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let Ok(thread) = thread.parse() else { continue };
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, start.to_owned());
            continue;
        }
        let resumed = rest
            .strip_prefix("<... ")
            .and_then(|rest| rest.split_once(" resumed>"));
        let whole = match resumed {
            Some((_, end)) => begun.remove(&thread).unwrap_or_default() + end,
            None => rest.to_owned(),
        };
        calls.entry(thread).or_default().extend(call(&whole));
    }
    calls
}

fn call(text: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, answer) = rest.rsplit_once(" = ")?;
    Some(Call {
        name: name.to_owned(),
        arguments: arguments.trim_end().strip_suffix(')')?.to_owned(),
        // With the option `-y`, the path of a returned descriptor follows in angle brackets.
        answer: answer
            .split([' ', '<'])
            .next()?
            .parse()
            .ok()
            .filter(|answer| *answer >= 0),
        error: answer
            .strip_prefix("-1 ")
            .and_then(|error| error.split(' ').next())
            .map(str::to_owned),
    })
}

fn file_calls(text: &str, is_file: impl Fn(&str) -> bool) -> Vec<Vec<FileCall>> {
    let of_thread = |calls: Vec<Call>| {
        let mut seen = Seen::default();
        calls.iter().for_each(|call| seen.take(call, &is_file));
        seen.calls
    };
    calls(text)
        .into_values()
        .map(of_thread)
        .filter(|calls| !calls.is_empty())
        .collect()
}

/// The calls that a thread has made up to the current line of the log of strace.
#[derive(Default)]
struct Seen {
    open: HashSet<i64>,
    operation: Option<Action>,
    calls: Vec<FileCall>,
    /// Calls after the last call that concerns a file of the benchmark.
    others: Vec<FileCall>,
}

/// The flags with which a call opens a file.
fn flags(call: &Call) -> &str {
    let mut parts = call.arguments.split(", ");
    parts.find(|part| part.starts_with("O_")).unwrap_or("")
}

/// The operation that opens a file with `flags`.
fn opens_for(flags: &str) -> Action {
    match flags {
        _ if flags.contains("O_CREAT") => Action::Create,
        _ if flags.contains("O_APPEND") => Action::Append,
        _ => Action::Read,
    }
}

impl Seen {
    fn take(&mut self, call: &Call, is_file: impl Fn(&str) -> bool) {
        let path = call
            .arguments
            .split('"')
            .nth(1)
            .filter(|path| !path.is_empty() && is_file(path));
        let (first, rest) = call
            .arguments
            .split_once(", ")
            .unwrap_or((&call.arguments, ""));
        let on_open = first
            .parse()
            .is_ok_and(|file: i64| self.open.contains(&file));
        let mut what = call.name.clone();
        let mut detail = String::new();
        match (call.name.as_str(), path) {
            ("open" | "openat" | "creat", Some(path)) => {
                let flags = flags(call);
                self.operation = Some(opens_for(flags));
                self.open.extend(call.answer);
                what = format!("{} {flags}", call.name);
                detail = path.to_owned();
            }
            ("unlink" | "unlinkat", Some(path)) => {
                self.operation = Some(Action::Delete);
                detail = path.to_owned();
            }
            // A call on a file before the first operation is only a check, which is not counted.
            (_, Some(_)) if self.operation.is_none() => return,
            ("close", None) if on_open => self.open.retain(|file| first != file.to_string()),
            _ if on_open => detail = format!("{rest} = {:?}", call.answer),
            _ => {
                let Some(operation) = self.operation else {
                    return;
                };
                self.others.push(FileCall {
                    operation,
                    what: format!("{} (other)", call.name),
                    detail,
                });
                return;
            }
        }
        let Some(operation) = self.operation else {
            return;
        };
        self.calls.append(&mut self.others);
        self.calls.push(FileCall {
            operation,
            what,
            detail,
        });
    }
}

/// Number of calls for each operation and kind of call.
pub fn counts(threads: &[Vec<FileCall>]) -> BTreeMap<(Action, String), u64> {
    let mut counts = BTreeMap::new();
    for call in threads.iter().flatten() {
        *counts
            .entry((call.operation, call.what.clone()))
            .or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"7  newfstatat(AT_FDCWD, "5", 0x7ff, 0) = -1 ENOENT (No such file)
8  openat(AT_FDCWD, "/x/w0", O_RDONLY|O_CLOEXEC) = 3
8  openat(3, "5", O_WRONLY|O_CREAT|O_EXCL, 0644 <unfinished ...>
9  mmap(NULL, 5) = 0x7f
8  <... openat resumed>)          = 4
8  write(4,  <unfinished ...>
8  <... write resumed>""..., 10)               = 10
8  futex(0x7, FUTEX_WAKE)            = 0
8  close(4)                = 0
8  close(4)                = -1 EBADF (Bad file descriptor)
8  unlinkat(3, "5", 0)               = 0
8  exit(0)                           = ?
8  +++ exited with 0 +++
"#;

    #[test]
    fn calls_on_files_are_distinguished_from_other_calls() {
        let threads = file_calls(LOG, |path| path.bytes().all(|byte| byte.is_ascii_digit()));
        assert_eq!(threads.len(), 1);
        let seen: Vec<(Action, &str, &str)> = threads[0]
            .iter()
            .map(|call| (call.operation, call.what.as_str(), call.detail.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (Action::Create, "openat O_WRONLY|O_CREAT|O_EXCL", "5"),
                (Action::Create, "write", "\"\"..., 10 = Some(10)"),
                (Action::Create, "futex (other)", ""),
                (Action::Create, "close", ""),
                (Action::Create, "close (other)", ""),
                (Action::Delete, "unlinkat", "5"),
            ]
        );
        assert_eq!(counts(&threads)[&(Action::Create, "close".to_owned())], 1);
    }
}
