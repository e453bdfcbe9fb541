//! The interfaces by which a run can be started, and the workload of a run.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Ended, Running, TestDir, names};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Stdio,
    Raw,
    Posix,
    /// The I/O engine `uring` with a queue depth of 8 per worker.
    Uring,
}

/// The command that starts a run, with its I/O engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The classic prompt with a configuration file. The run's files are directly in the location.
    Prompt(Engine),
    /// `postmark run`. The run's files are in a new directory.
    Run(Engine),
}

pub const INTERFACES: [Interface; 5] = [
    Interface::Prompt(Engine::Stdio),
    Interface::Prompt(Engine::Raw),
    Interface::Run(Engine::Stdio),
    Interface::Run(Engine::Raw),
    Interface::Run(Engine::Posix),
];

/// The phase in which a test interferes with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Prepare,
    Transactions,
    Delete,
}

pub const PHASES: [Phase; 3] = [Phase::Prepare, Phase::Transactions, Phase::Delete];

/// What a test run performs and where. [`Interface`] converts this to options or to commands of the
/// prompt.
#[derive(Clone, Debug)]
pub struct Work {
    pub files: u64,
    pub transactions: u64,
    pub sizes: (u64, u64),
    pub subdirectories: u32,
    /// Bias of reading over appending, and of creating over deleting, in tenths. -1 disables both
    /// operations.
    pub biases: (i64, i64),
    pub room_check: bool,
    pub locations: Vec<PathBuf>,
}

impl Work {
    pub fn small(location: &Path) -> Self {
        Self {
            files: 30,
            transactions: 60,
            sizes: (1, 2_000),
            subdirectories: 1,
            biases: (5, 5),
            room_check: true,
            locations: vec![location.to_owned()],
        }
    }

    /// A run whose `phase` is long enough to be interrupted; the other phases are short.
    pub fn long(location: &Path, phase: Phase) -> Self {
        let (files, transactions) = match phase {
            Phase::Prepare => (60_000, 1),
            Phase::Transactions => (1_000, 100_000),
            Phase::Delete => (40_000, 1),
        };
        Self {
            files,
            transactions,
            sizes: (1, 40),
            ..Self::small(location)
        }
    }

    /// A run whose `phase` is long enough on a disk to be interrupted. It has fewer files than
    /// [`Self::long`], because every operation takes longer on a disk.
    pub fn long_on_disk(location: &Path, phase: Phase) -> Self {
        let (files, transactions) = match phase {
            Phase::Prepare | Phase::Delete => (20_000, 1),
            Phase::Transactions => (1_000, 40_000),
        };
        Self {
            files,
            transactions,
            ..Self::long(location, phase)
        }
    }

    pub fn in_subdirectories(self, subdirectories: u32) -> Self {
        Self {
            subdirectories,
            ..self
        }
    }

    fn config(&self, engine: Engine) -> Vec<u8> {
        let mut text = format!(
            "set number {}\nset transactions {}\nset size {} {}\nset subdirectories {}\nset bias \
             read {}\nset bias create {}\n",
            self.files,
            self.transactions,
            self.sizes.0,
            self.sizes.1,
            self.subdirectories,
            self.biases.0,
            self.biases.1
        )
        .into_bytes();
        let buffering = match engine {
            Engine::Stdio => "true",
            Engine::Raw => "false",
            Engine::Posix | Engine::Uring => panic!("the prompt has no such engine"),
        };
        text.extend_from_slice(format!("set buffering {buffering}\n").as_bytes());
        for (index, location) in self.locations.iter().enumerate() {
            text.extend_from_slice(if index == 0 {
                b"set location "
            } else {
                b"set location +"
            });
            text.extend_from_slice(location.as_os_str().as_bytes());
            text.push(b'\n');
        }
        text.extend_from_slice(b"run\n");
        text
    }

    fn options(&self, engine: Engine) -> Vec<OsString> {
        let name = match engine {
            Engine::Stdio => "stdio",
            Engine::Raw => "raw",
            Engine::Posix => "posix",
            Engine::Uring => "uring",
        };
        let mut words: Vec<OsString> = vec!["run".into(), "--engine".into(), name.into()];
        if engine == Engine::Uring {
            words.extend(["--depth".into(), "8".into()]);
        }
        for (option, value) in [
            ("--files", self.files.to_string()),
            ("--transactions", self.transactions.to_string()),
            ("--size", format!("{}..{}", self.sizes.0, self.sizes.1)),
            ("--dirs", self.subdirectories.to_string()),
            ("--bias-read", self.biases.0.to_string()),
            ("--bias-create", self.biases.1.to_string()),
        ] {
            words.extend([option.into(), value.into()]);
        }
        for location in &self.locations {
            words.extend(["--target".into(), location.clone().into_os_string()]);
        }
        words
    }
}

pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_postmark"))
}

/// A command that starts the program with the arguments in `words`, separated by blanks.
pub fn postmark(words: &str) -> Command {
    let mut command = Running::command(program());
    command.args(words.split_whitespace());
    command
}

/// Copies the program into the test directory, where every user may execute it.
pub fn program_for_all(test_dir: &TestDir) -> PathBuf {
    let copy = test_dir.path().join("postmark");
    // `cp` copies the program. If this process had the copy open for writing, a child process of
    // another test could inherit the descriptor. The kernel would then refuse to execute the copy.
    let copied = Command::new("cp")
        .arg(program())
        .arg(&copy)
        .status()
        .unwrap();
    assert!(copied.success(), "cannot copy the program");
    super::test_dir::set_mode(&copy, 0o755);
    copy
}

impl Interface {
    /// Whether the run's files are directly in the location.
    pub fn is_prompt(self) -> bool {
        matches!(self, Self::Prompt(_))
    }

    pub fn command(self, work: &Work, test_dir: &TestDir) -> Command {
        self.command_of(program(), work, test_dir)
    }

    /// The command that starts the run with this copy of the program.
    pub fn command_of(self, program: &Path, work: &Work, test_dir: &TestDir) -> Command {
        let mut command = Running::command(program);
        command.current_dir(test_dir.path());
        if !work.room_check {
            // The prompt has no setting for a run without the check for free space. So the option
            // applies to the whole session.
            if let Self::Prompt(_) = self {
                command.arg("--no-space-check");
            }
        }
        match self {
            Self::Prompt(engine) => {
                let file = tempfile::Builder::new()
                    .prefix("commands-")
                    .tempfile_in(test_dir.path())
                    .unwrap();
                std::fs::write(file.path(), work.config(engine)).unwrap();
                super::test_dir::set_mode(file.path(), 0o644);
                // The configuration file is removed with the test directory.
                command.arg(file.into_temp_path().keep().unwrap());
            }
            Self::Run(engine) => {
                command.args(work.options(engine));
                if !work.room_check {
                    command.arg("--no-space-check");
                }
            }
        }
        command
    }

    /// Performs the run to its end.
    pub fn perform(self, work: &Work, test_dir: &TestDir) -> Ended {
        Running::run_to_end(self.command(work, test_dir), &work.locations[0])
    }

    /// Starts the run, and waits for the middle of a phase.
    pub fn begin(self, work: &Work, test_dir: &TestDir, phase: Phase) -> Running {
        let mut running = Running::start(self.command(work, test_dir), &work.locations[0]);
        self.wait_for(&mut running, work, phase);
        running
    }

    /// Waits until the run is in the middle of a phase.
    pub fn wait_for(self, running: &mut Running, work: &Work, phase: Phase) {
        let what = format!("{phase:?} of {self:?}");
        running.until(&what, |running| match (self, phase) {
            (_, Phase::Prepare) => self.has_files(work, 0),
            // In the transactions phase, the run creates files with higher numbers than those of
            // the pool.
            (_, Phase::Transactions) => self.has_files(work, work.files),
            (Self::Prompt(_), Phase::Delete) => running.output().contains("\nDeleting files..."),
            (Self::Run(_), Phase::Delete) => has_ended(&running.errors(), "transactions"),
        });
    }

    /// Whether the run has created a file whose number exceeds `beyond` by more than 100. Only the
    /// first location is searched.
    fn has_files(self, work: &Work, beyond: u64) -> bool {
        let location = &work.locations[0];
        let made = beyond + 101..=work.files + work.transactions;
        let has_file = |directory: &Path| {
            let directories = match work.subdirectories {
                1 => vec![directory.to_owned()],
                several => (0..several)
                    .map(|number| directory.join(format!("s{number}")))
                    .collect(),
            };
            let all = directories.iter().filter_map(|path| names(path).ok());
            let mut numbers = all.flatten().filter_map(|name| name.to_str()?.parse().ok());
            numbers.any(|number: u64| made.contains(&number))
        };
        match self {
            Self::Prompt(_) => has_file(location),
            Self::Run(_) => own_directories(location).iter().any(|own| has_file(own)),
        }
    }
}

/// Whether the progress that `postmark run` prints shows the end of a stage, for example `prepare`
/// or `sync`. Only the lines before the end contain ` of `.
pub fn has_ended(progress: &str, stage: &str) -> bool {
    let of_stage = |line: &&str| line.starts_with(stage);
    progress
        .lines()
        .filter(of_stage)
        .any(|line| !line.contains(" of "))
}

/// A process number that cannot exist, because it is above the maximum of the kernel.
pub const NOBODY: u32 = 4_194_304;

/// The name of the draft of a manifest that a killed run has left.
pub fn draft_of_killed_run() -> String {
    format!(".postmark-manifest.json.{NOBODY}-1700000000000000000")
}

/// The run directories in a location.
pub fn own_directories(location: &Path) -> Vec<PathBuf> {
    let names = names(location).unwrap_or_default().into_iter();
    names
        .filter(|name| name.as_bytes().starts_with(b"postmark-"))
        .map(|name| location.join(name))
        .filter(|path| path.is_dir())
        .collect()
}

pub fn clean(directory: &Path) -> Ended {
    let mut command = Running::command(program());
    command.arg("clean").arg(directory);
    Running::run_to_end(command, directory)
}
