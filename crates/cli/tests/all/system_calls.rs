//! Under strace, this program makes the same system calls as the original on the files and
//! directories of the pool, in the same order. Call, flags, mode, name, sizes and results must be
//! equal. Differences that protect files of other users are allowed: creation is exclusive, links
//! are not followed, and names are resolved from the open directory of the location. Because of
//! that, a C library stream is created from an open descriptor (fdopen), which causes one more
//! call.
//!
//! Calls on the manifest and on the locations, and checks before the start, are not compared.

use std::path::Path;

use crate::original;
use testkit::Random;

use crate::original::configuration::{Chance, DIRECTORIES, Limits, session};
use crate::original::trace::{Call, calls};

const SESSIONS: u64 = 24;

#[test]
fn system_calls_equal_those_of_the_original() {
    let (Some(original), Some(strace)) = (original::oracle(), original::strace()) else {
        return;
    };
    let limits = Limits {
        files: 25,
        transactions: 60,
        block: 150,
        runs: 1,
        talk: false,
        working_directory: true,
    };
    let mut seen = Seen::default();
    for seed in 0..SESSIONS {
        let mut chance = Chance(Random(0x5ca1_1000 + seed));
        let buffering = if seed % 2 == 0 { "true" } else { "false" };
        let session = session(&mut chance, limits).lines;
        let session = session.replace("run\n", &format!("set buffering {buffering}\nrun\n"));
        let theirs = traced(strace, original, &session);
        let ours = traced(strace, original::ours(), &session);
        seen.take(&theirs);
        compare(seed, &session, &theirs, &ours);
    }
    seen.check();
}

/// The system calls of a session in a new directory, starting with the first creation of a file.
fn traced(strace: &Path, program: &Path, session: &str) -> Vec<Call> {
    let directory = original::directory();
    let root = directory.path().canonicalize().unwrap();
    let work = root.join("work");
    for location in DIRECTORIES {
        std::fs::create_dir_all(work.join(location)).unwrap();
    }
    let input = root.join("input");
    std::fs::write(&input, session).unwrap();
    let calls = calls(strace, program, &work, &input, &root.join("logs"));
    let makes = |call: &Call| call.name.starts_with("mkdir") || call.rest.contains("O_CREAT");
    calls
        .into_iter()
        .skip_while(|call| !makes(call))
        .filter_map(as_if_unsafe)
        .collect()
}

/// Converts a call of this program to the call that the original would make.
fn as_if_unsafe(call: Call) -> Option<Call> {
    let (name, rest) = match (call.name.as_str(), call.rest.as_str()) {
        // Two calls are left out. fdopen queries the flags of the file. fopen for appending moves
        // to the end of the file, which has no effect on appended writes.
        ("fcntl", "F_GETFL") | ("lseek", "0, SEEK_END") => return None,
        ("unlinkat", "0") => ("unlink", ""),
        ("unlinkat", "AT_REMOVEDIR") => ("rmdir", ""),
        ("mkdirat", rest) => ("mkdir", rest),
        same => same,
    };
    Some(Call {
        name: name.to_owned(),
        rest: rest.replace("|O_EXCL", "").replace("|O_NOFOLLOW", ""),
        ..call.clone()
    })
}

fn compare(seed: u64, session: &str, theirs: &[Call], ours: &[Call]) {
    assert!(
        !theirs.is_empty(),
        "session {seed} made no call:\n{session}"
    );
    let differs = theirs
        .iter()
        .zip(ours)
        .position(|(one, other)| one != other);
    let Some(at) = differs.or((theirs.len() != ours.len()).then(|| theirs.len().min(ours.len())))
    else {
        return;
    };
    let around = |calls: &[Call]| {
        let shown = calls.iter().enumerate().skip(at.saturating_sub(3)).take(7);
        shown
            .map(|(index, call)| format!("{index}: {call:?}\n"))
            .collect::<String>()
    };
    panic!(
        "session {seed}:\n{session}call {at} differs.\noriginal:\n{}ours:\n{}",
        around(theirs),
        around(ours)
    );
}

/// Counts the compared calls, so that the test can check that all relevant kinds occurred.
#[derive(Default)]
struct Seen {
    calls: usize,
    names: std::collections::BTreeSet<String>,
}

impl Seen {
    fn take(&mut self, calls: &[Call]) {
        self.calls += calls.len();
        self.names
            .extend(calls.iter().map(|call| call.name.clone()));
    }

    fn check(&self) {
        for name in [
            "openat", "read", "write", "close", "unlink", "mkdir", "rmdir",
        ] {
            assert!(
                self.names.contains(name),
                "no {name} in {} calls",
                self.calls
            );
        }
    }
}
