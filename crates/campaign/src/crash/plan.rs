//! What the rounds are to do.

use std::path::PathBuf;
use std::time::Duration;

use document::sanitize;
use faultfs::forget::Bug;
use rundir::{CRASH_SCHEMA, CrashReport, CrashRound, CrashSubject};
use serde::{Deserialize, Serialize};
use workload::random::{Key, below};

use super::aim::Aim;
use super::device::Device;

/// Maximum number of rounds.
pub const ROUNDS_MAX: u32 = 1_000_000;

/// How a round crashes the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crash {
    /// Kills the run only. The system under the target is not crashed.
    Kill,
    /// Executes a command with `sh -c`.
    Command(String),
    /// Kills the process whose number is in this file.
    KillServer(PathBuf),
    /// Crashes a file system of this program over the target, which loses what was not synced. The
    /// planted defect is `None` for an honest one.
    Forget(Option<Bug>),
    /// Lets a device of the device mapper lose all writes from the crash on.
    Flakey(Device),
    /// Lets a device of the device mapper lose all writes that were not flushed before the crash.
    LogWrites(Device),
}

impl Crash {
    /// Whether the crash ends more than the run.
    pub fn is_of_system(&self) -> bool {
        *self != Self::Kill
    }

    fn describe(&self) -> String {
        match self {
            Self::Kill => "kill of the run only".to_owned(),
            Self::Command(command) => format!("command: {}", sanitize::sanitize(command)),
            Self::KillServer(path) => format!("kill of the server of {}", sanitize::path(path)),
            Self::Forget(None) => "crash of a file system that forgets what was not synced".into(),
            Self::Forget(Some(bug)) => format!(
                "crash of a file system that forgets what was not synced, with the planted bug {}",
                bug.name()
            ),
            Self::Flakey(device) => format!("lost writes of the device {}", device.name),
            Self::LogWrites(device) => {
                format!(
                    "power cut of the device {}, which keeps what was flushed",
                    device.name
                )
            }
        }
    }
}

/// What becomes of the files of a round after its verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Survivors {
    /// They are removed.
    #[default]
    Remove,
    /// They are repaired, and the next run continues on them.
    Continue,
}

impl Survivors {
    pub const ALL: [Self; 2] = [Self::Remove, Self::Continue];

    /// The name by which a user selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Remove => "remove",
            Self::Continue => "continue",
        }
    }
}

/// The rounds that are to be performed. It is the first line of the state file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrashPlan {
    /// The program that planned the rounds.
    pub tool: String,
    pub subject: CrashSubject,
    pub rounds: u32,
    /// Seed of the crash times. The run of round `n` has the seed `seed + n - 1`, or that of the
    /// run that made its pool.
    pub seed: u64,
    /// The crash happens within this time after the preparation, in nanoseconds.
    pub within_ns: u64,
    pub crash: Crash,
    /// The moment of the crash.
    #[serde(default)]
    pub aim: Aim,
    #[serde(default)]
    pub survivors: Survivors,
    /// The command that restores the target after the crash.
    pub restore: Option<String>,
    pub restore_timeout_ns: u64,
    pub target: PathBuf,
    /// Path of the acknowledgement logs, without the number of the round.
    pub ack_log: PathBuf,
    pub durability: String,
    /// Number of files that the run makes before its transactions.
    pub prepared_files: u64,
    /// The options of the run, as a configuration file.
    pub config: String,
    /// Further arguments of the run.
    pub arguments: Vec<String>,
}

impl CrashPlan {
    /// Returns the time from the end of the preparation to the crash of a round.
    pub(super) fn delay(&self, round: u32) -> Duration {
        let key = Key::new(self.seed, "crash time", 0);
        Duration::from_nanos(below(key.at(round.into()), self.within_ns.max(1)))
    }

    /// The seed of the run that makes a pool in a round.
    pub(super) fn run_seed(&self, round: u32) -> u64 {
        self.seed.saturating_add(u64::from(round) - 1)
    }

    /// The seed of what survives the crash of a round.
    pub(super) fn survival_seed(&self, round: u32) -> u64 {
        Key::new(self.seed, "crash survival", 0).at(round.into())
    }

    pub(super) fn restore_timeout(&self) -> Duration {
        Duration::from_nanos(self.restore_timeout_ns)
    }

    /// Path of a file beside the acknowledgement log.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        let mut path = self.ack_log.clone().into_os_string();
        path.push(".");
        path.push(ending);
        path.into()
    }

    pub(super) fn log_of(&self, round: u32) -> PathBuf {
        self.beside(&round.to_string())
    }

    /// The file from which the rounds can be continued.
    pub fn state(&self) -> PathBuf {
        self.beside("rounds")
    }

    pub(super) fn report(&self, rounds: Vec<CrashRound>, interrupted: bool) -> CrashReport {
        let report = CrashReport {
            crash_schema: CRASH_SCHEMA,
            subject: self.subject.clone(),
            tool: self.tool.clone(),
            target: sanitize::path(&self.target).into_owned(),
            crash: self.crash.describe(),
            crashes_system: self.crash.is_of_system(),
            kills_server: matches!(self.crash, Crash::KillServer(_)),
            durability: self.durability.clone(),
            seed: self.seed,
            rounds_planned: self.rounds,
            rounds_performed: 0,
            crashes: 0,
            crashes_with_loss: 0,
            crashes_with_allowed_loss: 0,
            directories_lost: 0,
            operations: Vec::new(),
            moments: Vec::new(),
            foreign: 0,
            foreign_first: None,
            examples: Vec::new(),
            loss_share_max: None,
            loss_share: None,
            allowed_share: None,
            interrupted,
            state: sanitize::path(&self.state()).into_owned(),
            rounds: Vec::new(),
        };
        report.with_rounds(rounds)
    }
}
