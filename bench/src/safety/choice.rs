//! The actions of a round, chosen at random before it starts.

use std::time::Duration;

use rustix::process::Signal;

use crate::draws::Draws;

/// The way in which a run is started: by `postmark run` with options, or by commands at the classic
/// prompt.
#[derive(Clone, Debug)]
pub struct Face {
    /// Arguments for `postmark run`; empty for the classic prompt.
    pub words: Vec<String>,
    /// Commands for the prompt, after the command that sets the location; `None` for `postmark
    /// run`.
    pub commands: Option<String>,
    /// Initial number of files in the pool. Numbers in the names of the run's files reach at least
    /// this number.
    pub numbers: u64,
    /// Maximum number of files that the run writes at the same time. A kill may leave this number
    /// of incomplete files.
    pub workers: u64,
}

impl Face {
    /// Whether the run is started at the classic prompt. In this case its files are next to the
    /// user's files, and not in a separate directory.
    pub fn is_prompt(&self) -> bool {
        self.commands.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    /// The run ends by itself.
    Nothing,
    Kill,
    Interrupt,
    Terminate,
    /// The location or the run's own directory is renamed, and another directory replaces it.
    Exchange,
    /// Another file system or another directory is mounted over the location.
    MountOver,
    /// The location's own mount is detached lazily.
    LazyUnmount,
}

#[derive(Clone, Copy, Debug)]
pub struct IncidentMoment {
    /// Whether the incident happens only after the run has created its manifest.
    pub after_mark: bool,
    pub after: Duration,
}

/// How often `clean` is called after the run, and what runs at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    Once,
    Twice,
    /// `clean` is called while another run starts in the same location, and once more after that
    /// run.
    BesideARun,
}

/// The random choices for one round of the safety campaign.
#[derive(Clone, Debug)]
pub struct Round {
    pub face: Face,
    pub event: Incident,
    pub moment: IncidentMoment,
    pub cleaning: Cleaning,
    /// For [`Incident::Exchange`]: true if the run's own directory is exchanged, false if the
    /// location is exchanged.
    pub of_run_directory: bool,
    /// For [`Incident::MountOver`]: true if a new tmpfs is mounted over the location, false if
    /// another directory is mounted over it.
    pub over_tmpfs: bool,
    pub user_files_during: bool,
    pub user_files_after: bool,
}

impl Incident {
    pub fn signal(self) -> Option<Signal> {
        match self {
            Self::Kill => Some(Signal::KILL),
            Self::Interrupt => Some(Signal::INT),
            Self::Terminate => Some(Signal::TERM),
            Self::Nothing | Self::Exchange | Self::MountOver | Self::LazyUnmount => None,
        }
    }
}

impl Round {
    pub fn choose(dice: &mut Draws, is_slow: bool) -> Self {
        let event = dice.one(&[
            Incident::Nothing,
            Incident::Kill,
            Incident::Kill,
            Incident::Kill,
            Incident::Interrupt,
            Incident::Terminate,
            Incident::Exchange,
            Incident::Exchange,
            Incident::MountOver,
            Incident::LazyUnmount,
        ]);
        let long = match (event, is_slow) {
            (Incident::Nothing, _) => None,
            (_, false) => Some(LONG),
            (_, true) => Some(LONG / 10),
        };
        let face = if dice.once_in(2) {
            prompt(dice, long)
        } else {
            run(dice, long)
        };
        Self {
            of_run_directory: !face.is_prompt() && dice.once_in(2),
            face,
            event,
            moment: IncidentMoment {
                after_mark: !dice.once_in(3),
                after: dice.up_to(Duration::from_millis(250)),
            },
            cleaning: dice.one(&[
                Cleaning::Once,
                Cleaning::Once,
                Cleaning::Twice,
                Cleaning::BesideARun,
            ]),
            over_tmpfs: dice.once_in(2),
            user_files_during: dice.once_in(3),
            user_files_after: !dice.once_in(4),
        }
    }
}

/// Number of transactions of a run that must still be running when it is killed, or when its target
/// is unmounted or replaced. The transactions take one or two seconds, and planning them takes no
/// noticeable time. On FUSE, a tenth is used, because a server in this process answers every call.
const LONG: u64 = 30_000;

fn prompt(dice: &mut Draws, long: Option<u64>) -> Face {
    let numbers = dice.between(200, 3_000);
    let transactions = long.unwrap_or(dice.between(100, 1_000));
    let buffering = dice.one(&["true", "false"]);
    let subdirectories = dice.one(&[1, 1, 3, 10]);
    let sizes = dice.one(&["1 100", "500 3000", "100 9000"]);
    Face {
        words: Vec::new(),
        commands: Some(format!(
            "set number {numbers}\nset transactions {transactions}\nset size {sizes}\nset \
             buffering {buffering}\nset subdirectories {subdirectories}\nset seed {}\nrun\nquit\n",
            dice.between(1, 100_000)
        )),
        numbers,
        workers: 1,
    }
}

/// Mixes that an engine can perform. For a shared pool, only mixes with reads are included.
fn mixes(engine: &str, is_shared: bool) -> Vec<&'static str> {
    let mixes: &[&str] = match engine {
        "stdio" => &["read=5,append=2,create=2,delete=2", "create=1,delete=1"],
        _ => &[
            "read=5,append=2,create=2,delete=2",
            "create=1,delete=1",
            "read=3,append=2,create=3,delete=3,rename=1,replace=1,deliver=1,link=1,symlink=1,\
             readlink=1,overwrite=1,truncate=1,stat=1,mkdir=1,rmdir=1,list=1",
            "deliver=2,delete=2,replace=2,read=1",
        ],
    };
    // Some workers of a shared pool are only readers, so their mix must contain reads.
    let is_possible = |mix: &&str| !is_shared || mix.contains("read=");
    mixes.iter().copied().filter(is_possible).collect()
}

fn run(dice: &mut Draws, long: Option<u64>) -> Face {
    let engine = dice.one(&["stdio", "raw", "posix"]);
    let files = dice.between(100, 1_500);
    let mut words = format!(
        "run --quiet --no-overhead --no-sync-phases --engine {engine} --files {files} --size \
         1..3000"
    );
    let mut add = |more: String| {
        words.push(' ');
        words.push_str(&more);
    };
    add(format!("--seed {}", dice.between(1, 100_000)));
    let transactions = long.unwrap_or(dice.between(100, 1_000));
    add(format!("--transactions {transactions}"));
    add(format!(
        "--contents {}",
        dice.one(&["text", "incompressible", "compressible:2"])
    ));
    let mut workers = dice.one(&[1, 1, 2, 3]);
    let is_mix = !dice.once_in(3);
    let is_shared = is_mix && dice.once_in(3);
    if is_mix {
        add(format!("--mix {}", dice.one(&mixes(engine, is_shared))));
        add(format!(
            "--names {}",
            dice.one(&["decimal", "padded:16", "hashed:20", "maildir"])
        ));
        add(format!(
            "--dirs {}",
            dice.one(&["flat", "subdirs:5", "tree:3x2"])
        ));
    } else {
        add(format!("--dirs {}", dice.one(&[1, 1, 4])));
    }
    if is_shared {
        add(format!("--writers {workers} --readers 1"));
        workers += 1;
    } else {
        add(format!("--workers {workers}"));
        if dice.once_in(4) && long.is_none() {
            add("--keep".to_owned());
        }
    }
    Face {
        words: words.split_whitespace().map(str::to_owned).collect(),
        commands: None,
        numbers: files,
        workers,
    }
}
