//! Tests studies with the real program: studies that are killed, interrupted or refused, and two
//! studies at the same time. Also tests full disks, mounts that disappear, and results.
//!
//! Studies are killed at random times. The seed is printed. With `POSTMARK_SEED` set to this
//! number, the times are the same.

mod ended;
mod faults;
mod made;
mod refused;
mod repeated;
mod results;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use archive::{Archive, ArchiveError, ArchiveErrorKind, Filter, JournalMode, Opening};
use record::{Outcome, Record, StudyPart};
use verdict::{Level, ListedRun, Summary};

use crate::support::interface::program;
use crate::support::{Ended, Running, TestDir, Volume, is_root, names};

/// Options of runs that take about 50 ms each.
const LITTLE: &str = "--files 50 --for 50ms --no-overhead --quiet-time 0s";

/// The position of a run in its study, and its record.
type StudiedRun = (StudyPart, Record);

/// A test directory with an archive, two targets and a directory for images.
struct Lab {
    test_dir: TestDir,
    archive: PathBuf,
}

impl Lab {
    fn new() -> Self {
        let test_dir = TestDir::in_memory();
        for name in ["a", "b", "images"] {
            test_dir.directory(name);
        }
        let archive = test_dir.path().join("archive.db");
        Self { test_dir, archive }
    }

    /// Creates a [`Lab`] for a test that mounts file systems. `None` if the test does not run as
    /// root.
    fn rooted() -> Option<Self> {
        is_root().then(Self::new)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.test_dir.path().join(name)
    }

    /// A target that creates a scratch file system, whose image is in the directory `images`.
    fn made(&self, kind: &str, size: &str) -> String {
        format!(
            "make:{kind}?size={size}&in={}",
            self.path("images").display()
        )
    }

    /// A command that starts the program with the arguments in `words`, separated by blanks.
    fn command(&self, words: &str) -> Command {
        self.command_of(program(), words)
    }

    fn command_of(&self, program: &Path, words: &str) -> Command {
        let mut command = Running::command(program);
        command.args(words.split_whitespace());
        if !words.starts_with("clean ") {
            command.arg("--archive").arg(&self.archive);
        }
        command.current_dir(self.test_dir.path());
        command
    }

    fn start(&self, words: &str) -> Running {
        Running::start(self.command(words), self.test_dir.path())
    }

    fn shows(&self, words: &str) -> Ended {
        self.start(words).finish()
    }

    /// Runs the command at the start of `row`. Asserts the exit status and the output: in `row`,
    /// the status and texts of the output follow the command, separated by ` | `.
    fn row(&self, row: &str) {
        let (words, expected) = row.split_once(" | ").unwrap();
        self.shows(words).ends(expected);
    }

    /// Runs `postmark gate` on the latest study.
    fn gates(&self, requirement: &str) -> Ended {
        self.gates_by("gate last", requirement)
    }

    /// Runs of tests are short and therefore DOUBTFUL, so no gate passes without this option.
    fn gates_despite_doubts(&self, requirement: &str) -> Ended {
        self.gates_by("gate last --allow-doubtful", requirement)
    }

    fn gates_by(&self, words: &str, requirement: &str) -> Ended {
        let mut command = self.command(words);
        command.args(["--require", requirement]);
        Running::run_to_end(command, self.test_dir.path())
    }

    fn answer(&self, words: &str) -> String {
        let ended = self.shows(words);
        ended.code(0);
        ended.output
    }

    fn opened(&self) -> Result<Archive, ArchiveError> {
        let opening = Opening {
            path: &self.archive,
            journal: JournalMode::WriteAhead,
            owner: None,
            make: false,
            patience: std::time::Duration::from_secs(60),
        };
        Archive::open(&opening)
    }

    fn open(&self) -> Archive {
        self.opened().unwrap()
    }

    /// All archived runs. Empty if the archive does not exist or is just being created.
    fn listed(&self) -> Vec<ListedRun> {
        match self.opened() {
            Err(error) if error.kind == ArchiveErrorKind::Missing => Vec::new(),
            archive => archive.unwrap().list(&Filter::default()).unwrap(),
        }
    }

    /// The records of complete runs, with the position of each run in the study.
    fn complete(&self) -> Vec<StudiedRun> {
        let archive = self.open();
        archive.check().unwrap();
        let listed = archive.list(&Filter::default()).unwrap();
        let records = listed
            .iter()
            .map(|run| archive.record(run.number.unwrap()).unwrap());
        let complete = records.filter(|record| record.actual.outcome == Outcome::Complete);
        complete
            .map(|record| (record.study.clone().expect("it is of a study"), record))
            .collect()
    }

    /// The complete runs of the last attempt of each block. A block with an INVALID run, which a
    /// busy machine can cause, is repeated.
    fn counted(&self) -> Vec<StudiedRun> {
        let mut runs = self.complete();
        let block = |part: &StudyPart| (part.study.clone(), part.side.clone(), part.block);
        let mut last = BTreeMap::new();
        for (part, _) in &runs {
            let attempt = last.entry(block(part)).or_insert(part.attempt);
            *attempt = part.attempt.max(*attempt);
        }
        runs.retain(|(part, _)| last[&block(part)] == part.attempt);
        runs
    }

    /// Asserts that every block was performed, and that no run was performed twice. An attempt of a
    /// block may end early only at an INVALID run, which a busy machine can cause. Another attempt
    /// of this block must follow, unless all permitted attempts were made.
    fn is_complete(&self, blocks: u32, runs: u32) {
        let complete = self.complete();
        let studies: BTreeSet<&str> = complete
            .iter()
            .map(|(part, _)| part.study.as_str())
            .collect();
        assert_eq!(studies.len(), 1, "{studies:?}");
        let mut attempts: BTreeMap<(u32, u32), BTreeMap<u32, &StudiedRun>> = BTreeMap::new();
        for run in &complete {
            let part = &run.0;
            let attempt = attempts.entry((part.block, part.attempt)).or_default();
            let earlier = attempt.insert(part.position, run);
            assert!(earlier.is_none(), "a run was made twice: {part:?}");
        }
        let all: BTreeSet<u32> = attempts.keys().map(|(block, _)| *block).collect();
        assert_eq!(all, (1..=blocks).collect());
        for ((block, number), attempt) in &attempts {
            let last = attempt.len() as u32;
            let place = format!("block {block}, attempt {number}");
            assert!(
                attempt.keys().copied().eq(1..=last),
                "{place}: {:?}",
                attempt.keys()
            );
            let level = Summary::of(&attempt[&last].1).verdict.level;
            if level == Level::Invalid {
                let is_repeated = attempts.contains_key(&(*block, number + 1));
                assert!(
                    is_repeated || *number == campaign::study::ATTEMPTS,
                    "{place} is not repeated"
                );
                continue;
            }
            assert_eq!(last, runs, "{place} is not whole");
            let cells: BTreeSet<_> = attempt
                .values()
                .map(|run| (&run.0.cell, run.0.is_twin))
                .collect();
            assert_eq!(cells.len() as u32, runs, "{place}: {cells:?}");
        }
    }

    /// Asserts that the study has left no mounts, loop devices, images or run directories. Only
    /// `volumes` may still be mounted.
    fn is_clean(&self, volumes: &[&Volume], told: &impl std::fmt::Display) {
        let mounts = std::fs::read("/proc/self/mounts").unwrap();
        let mounts = String::from_utf8_lossy(&mounts);
        let place = self.test_dir.path().to_str().unwrap();
        let ours: Vec<&str> = mounts.lines().filter(|line| line.contains(place)).collect();
        assert_eq!(ours.len(), volumes.len(), "{ours:#?}\n{told}");
        for device in names(Path::new("/sys/block")).unwrap() {
            let file = Path::new("/sys/block")
                .join(device)
                .join("loop/backing_file");
            let backing = std::fs::read_to_string(file).unwrap_or_default();
            assert!(!backing.contains(place), "{backing}\n{told}");
        }
        for directory in ["images", "a", "b"] {
            let left = names(&self.path(directory)).unwrap();
            assert!(left.is_empty(), "{directory} has {left:?}\n{told}");
        }
    }

    /// Runs `clean` on the directories of a killed study.
    fn cleans(&self) -> Ended {
        let places = ["images", "a", "b"].map(|name| self.path(name).display().to_string());
        let ended = self.shows(&format!("clean {}", places.join(" ")));
        ended.code(0);
        ended
    }
}

/// Waits until the study has printed that a run is measured.
fn until_measured(running: &mut Running, run: &str) {
    running.until(run, |running| running.errors().contains(run));
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
