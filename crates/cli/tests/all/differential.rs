//! Performs random sessions in the original, Debian's `postmark`, and in this program. The test
//! compares standard output byte for byte, the error messages of the original, report files, and
//! the remaining directory tree.
//!
//! In a third of the sessions both programs get the same artificial clock, on which a phase lasts 1
//! to 100,000 seconds. So the arithmetic of rates is compared exactly. In the other sessions,
//! values that depend on time are masked. `POSTMARK_DIFFERENTIAL` sets the number of sessions.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use campaign::classic::{Interpreter, Plain, PromptSettings, Streams};
use cli::commands::classic::runner::PromptRunner;
use engines::raw::Raw;
use engines::stdio::Stdio;
use record::Edition;
use runner::{Clock, Control, Events, RunSpec, SystemClock};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use testkit::Random;

use crate::original::configuration::{Chance, DIRECTORIES, Limits, REPORT_FILE, Session, session};
use crate::original::{self, Said, oracle, say, seconds_library, tree, without_warnings};

const SESSIONS: u64 = 180;
const SEED: u64 = 0x1997_2001;
const LIMITS: Limits = Limits {
    files: 400,
    transactions: 2_000,
    block: 1,
    runs: 3,
    talk: true,
    working_directory: true,
};
/// Limits if `POSTMARK_DIFFERENTIAL` is not set, for about a quarter of the work of [`LIMITS`].
/// Both programs may read and write files byte by byte, which takes long.
const LITTLE: Limits = Limits {
    files: 150,
    transactions: 500,
    ..LIMITS
};

/// Sessions whose byte counts and rates exceed the precision of 32-bit floats. They are the first
/// sessions with the artificial clock.
const LARGE: [&str; 2] = [
    "set location d\nset size 100000 200000\nset number 60\nset transactions 1000\nset write \
     65536\nset read 65536\nrun\nset report terse\nset seed 7\nset buffering false\nrun\nquit\n",
    "set location d\nset size 1\nset number 10\nset bias read -1\nset bias create -1\nset \
     transactions 2000003\nrun\nset report terse\nrun\nquit\n",
];

fn sessions() -> (u64, Limits) {
    let asked = std::env::var("POSTMARK_DIFFERENTIAL").ok();
    let asked = asked.map(|number| {
        number
            .parse()
            .expect("POSTMARK_DIFFERENTIAL is a number of sessions")
    });
    asked.map_or((SESSIONS, LITTLE), |number: u64| {
        (number.max(SESSIONS), LIMITS)
    })
}

/// What a program printed, the report file that it wrote, and the files that remained in its
/// directory.
#[derive(Debug, PartialEq, Eq)]
struct Done {
    said: Said,
    report: Option<Vec<u8>>,
    left: Vec<(PathBuf, Option<u64>)>,
}

/// Runs a program in a new directory. The path is the same for both programs, because `show` prints
/// it.
fn in_fresh_directory(work: &Path, perform: impl FnOnce() -> Said) -> Done {
    let _ = std::fs::remove_dir_all(work);
    for location in DIRECTORIES {
        std::fs::create_dir_all(work.join(location)).unwrap();
    }
    let said = perform();
    let report = std::fs::read(work.join(REPORT_FILE)).ok();
    let mut left = tree(work);
    left.retain(|(path, _)| path != Path::new(REPORT_FILE));
    Done { said, report, left }
}

fn compare(index: u64, lines: &str, theirs: &Done, ours: &Done) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let pairs = [
        (
            "standard output",
            text(&theirs.said.output),
            text(&ours.said.output),
        ),
        (
            "standard error",
            text(&theirs.said.errors),
            text(&ours.said.errors),
        ),
        (
            "the report's file",
            format!("{:?}", theirs.report.as_deref().map(text)),
            format!("{:?}", ours.report.as_deref().map(text)),
        ),
        (
            "the tree that is left",
            format!("{:?}", theirs.left),
            format!("{:?}", ours.left),
        ),
        (
            "the exit status",
            format!("{:?}", theirs.said.code),
            format!("{:?}", ours.said.code),
        ),
    ];
    for (what, theirs, ours) in pairs {
        assert!(
            theirs == ours,
            "{what} differs in session {index}:\n{lines}\noriginal:\n{theirs}\nours:\n{ours}"
        );
    }
}

#[test]
fn output_equals_that_of_the_original_except_for_times() {
    let Some(original) = oracle() else { return };
    let directory = original::directory();
    let work = directory.path().canonicalize().unwrap().join("work");
    let mut seen = Seen::default();
    let (sessions, limits) = sessions();
    for index in 0..sessions * 2 / 3 {
        let mut chance = Chance(Random(SEED + index));
        let Session { lines, runs } = session(&mut chance, limits);
        let way = *chance.pick(&[
            Way::Input,
            Way::Input,
            Way::Argument,
            Way::Default,
            Way::Load,
        ]);
        let [theirs, ours] = [original, original::ours()].map(|program| {
            let mut done = in_fresh_directory(&work, || way.say(program, &work, &lines));
            done.said.output = masked(&done.said.output);
            done.report = done.report.map(|report| masked(&report));
            done
        });
        compare(index, &lines, &theirs, &ours);
        seen.take(runs, &lines, &theirs.said.output);
    }
    seen.check();
}

#[test]
fn output_equals_that_of_the_original_with_the_same_clock() {
    let Some(original) = oracle() else { return };
    let directory = original::directory();
    let library = seconds_library(directory.path());
    let work = directory.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut seen = Seen::default();
    let (sessions, limits) = sessions();
    for index in 0..sessions.div_ceil(3) {
        let mut chance = Chance(Random(!SEED - index));
        let Session { lines, runs } = match LARGE.get(index as usize) {
            Some(lines) => Session {
                lines: (*lines).to_owned(),
                runs: 2,
            },
            None => session(&mut chance, limits),
        };
        let seconds = seconds(&mut chance, runs);
        let theirs = in_fresh_directory(&work, || {
            let list: Vec<String> = seconds.iter().map(i64::to_string).collect();
            let list = list.join(",");
            let environment = [
                ("LD_PRELOAD", library.as_os_str()),
                ("POSTMARK_TEST_SECONDS", OsStr::new(&list)),
            ];
            say(original, &[], &work, lines.as_bytes(), &environment)
        });
        let ours = in_fresh_directory(&work, || in_process(&work, &lines, &seconds));
        compare(index, &lines, &theirs, &ours);
        seen.take(runs, &lines, &theirs.said.output);
    }
    seen.check();
}

/// How the program receives the commands of a session.
#[derive(Clone, Copy)]
enum Way {
    Input,
    /// The commands are in a file that the command line names.
    Argument,
    /// The commands are in `.pmrc`, which is read by default.
    Default,
    /// The commands are in a file. Standard input contains `load` with its name.
    Load,
}

impl Way {
    fn say(self, program: &Path, work: &Path, lines: &str) -> Said {
        let file = |name: &str| std::fs::write(work.join(name), lines).unwrap();
        match self {
            Self::Input => say(program, &[], work, lines.as_bytes(), &[]),
            Self::Argument => {
                file("a file");
                say(program, &[OsStr::new("a file")], work, b"", &[])
            }
            Self::Default => {
                file(".pmrc");
                say(program, &[], work, b"", &[])
            }
            Self::Load => {
                file("a file");
                say(program, &[], work, b"load a file\nshow\n", &[])
            }
        }
    }
}

/// The times in seconds that the clock returns: four readings for each run, 0 to 100,000 seconds
/// apart.
fn seconds(chance: &mut Chance, runs: usize) -> Vec<i64> {
    let mut now = chance.between(0, 2_000_000_000) as i64;
    (0..runs * 4)
        .map(|_| {
            // Sometimes a phase takes 0 seconds, for which the original assumes 1.
            now += if chance.once_in(12) {
                0
            } else {
                chance.scale(1, 100_000) as i64
            };
            now
        })
        .collect()
}

/// A clock whose seconds come from a list. The nanoseconds are real.
#[derive(Clone)]
struct Scripted(Arc<Mutex<VecDeque<i64>>>);

impl Clock for Scripted {
    fn now_ns(&self) -> u64 {
        SystemClock.now_ns()
    }

    fn wall_s(&self) -> i64 {
        self.0
            .lock()
            .unwrap()
            .pop_front()
            .expect("more seconds were asked for than the original asks for")
    }
}

/// Performs the session in this process, on a thread with its own working directory. Threads that
/// this thread starts inherit the directory.
fn in_process(work: &Path, lines: &str, seconds: &[i64]) -> Said {
    let session = || {
        // SAFETY: `FS` unshares only the working directory, the root and the umask. Unsharing the
        // table of descriptors would be unsafe.
        unsafe { unshare_unsafe(UnshareFlags::FS) }.unwrap();
        std::env::set_current_dir(work).unwrap();
        session_here(lines, seconds)
    };
    std::thread::scope(|scope| scope.spawn(session).join().unwrap())
}

fn session_here(lines: &str, seconds: &[i64]) -> Said {
    let clock = Scripted(Arc::new(Mutex::new(seconds.iter().copied().collect())));
    let perform = |spec: &RunSpec, events: &mut dyn Events| match spec.engine.name() {
        "stdio" => runner::run(spec, &Stdio, &clock, &mut Control::default, events),
        "raw" => runner::run(spec, &Raw, &clock, &mut Control::default, events),
        _ => unreachable!("the prompt has no other engine"),
    };
    let mut runner = PromptRunner::new(perform, vec!["postmark".to_owned()]);
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let streams = Streams {
        output: &mut output,
        errors: &mut errors,
    };
    let settings = PromptSettings::new(Edition::V1_5);
    let mut interpreter = Interpreter::new(settings, &mut runner, streams, false);
    let code = interpreter.session(None, &mut Plain::new(lines.as_bytes()));
    let code = code.unwrap();
    Said {
        output,
        errors: without_warnings(&errors),
        code: Some(code.into()),
    }
}

/// Replaces seconds and rates, which differ between runs, by placeholders of the same format.
fn masked(output: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(output);
    let mut masked = String::new();
    for line in text.split_inclusive('\n') {
        if is_terse(line) {
            let forms = line
                .split(' ')
                .map(|number| if number.contains('.') { "0.00" } else { "0" });
            masked.push_str(&forms.collect::<Vec<_>>().join(" "));
            masked.push('\n');
        } else if line.starts_with('\t')
            && (line.contains(" per second)") || line.contains(" seconds "))
        {
            let (tabs, line) =
                line.split_at(line.bytes().take_while(|byte| *byte == b'\t').count());
            let line = if line.contains(" seconds ") {
                line.trim_start_matches(|c: char| c.is_ascii_digit())
            } else {
                line
            };
            masked.push_str(tabs);
            masked.push_str(line.split_once('(').map_or(line, |(count, _)| count));
        } else {
            masked.push_str(line);
        }
    }
    masked.into_bytes()
}

fn is_terse(line: &str) -> bool {
    line.split_whitespace().count() == 13
        && line
            .trim()
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b' ' | b'-'))
}

/// Counts the sessions of each kind, so that the test can check that all kinds occurred.
#[derive(Default)]
struct Seen {
    sessions: usize,
    runs: usize,
    verbose: usize,
    terse: usize,
    out_of_files: usize,
    several_locations: usize,
    raw: usize,
}

impl Seen {
    fn take(&mut self, runs: usize, lines: &str, output: &[u8]) {
        let output = String::from_utf8_lossy(output);
        self.sessions += 1;
        self.runs += runs;
        self.verbose += output.matches("Data:\n").count();
        self.terse += output.lines().filter(|line| is_terse(line)).count();
        self.out_of_files += output.matches("out of files!").count();
        self.several_locations += usize::from(lines.contains("set location +"));
        self.raw += usize::from(lines.contains("set buffering false"));
    }

    fn check(&self) {
        eprintln!(
            "{} sessions, {} runs: {} verbose and {} terse reports, {} out of files",
            self.sessions, self.runs, self.verbose, self.terse, self.out_of_files
        );
        for (count, what) in [
            (self.verbose, "verbose reports"),
            (self.terse, "terse reports"),
            (self.out_of_files, "runs out of files"),
            (self.several_locations, "sessions with several locations"),
            (self.raw, "sessions without buffering"),
        ] {
            assert!(
                count * 20 > self.sessions,
                "only {count} {what} in {} sessions",
                self.sessions
            );
        }
    }
}
