//! What the machine did for a command that is not ours: what `postmark observe` tells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Accounted, Fact, Host, Target};

use crate::run::Tool;

/// The version of the schema of observations; it is apart from that of records.
pub const OBSERVATION_VERSION: u32 = 1;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandEnd {
    /// With an exit status.
    Exited {
        /// That status.
        status: i32,
    },
    /// By a signal.
    Killed {
        /// The signal's number.
        signal: i32,
    },
}

/// The sync of the target's file system after the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetSync {
    /// How long syncfs(2) took, in nanoseconds.
    pub duration_ns: Fact<u64>,
    /// What was counted meanwhile.
    pub counted: Accounted,
}

/// A command with what was counted from before its start until after its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// The version of this schema.
    #[schemars(extend("const" = OBSERVATION_VERSION))]
    pub schema: u32,
    /// The program that observed.
    pub tool: Tool,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// When it was started, by the wall clock, in nanoseconds of the epoch.
    pub began_unix_ns: u64,
    /// The machine at the start.
    pub host: Host,
    /// What is known of the target.
    pub target: Target,
    /// How the command ended.
    pub end: CommandEnd,
    /// From its start to its end, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time in user mode, of the command and of those of its descendants that were
    /// waited for, in nanoseconds.
    pub user_ns: u64,
    /// The same in the kernel.
    pub system_ns: u64,
    /// What was counted from before its start until after its end. `own` is of the same processes,
    /// wherever their files are: the kernel adds children that were waited for to their
    /// parent. Devices and servers have everybody's work.
    pub performing: Accounted,
    /// The sync after it; nothing where it was left out.
    pub sync: Option<TargetSync>,
}

/// An observation as it is written.
#[derive(Serialize)]
struct WrittenObservation<'a> {
    observation: &'a Observation,
}

impl Observation {
    /// The observation as JSON, in one line.
    pub fn to_json(&self) -> String {
        document::json_line(&WrittenObservation { observation: self })
    }

    /// Bytes that the command fetched from devices and servers. Not available where the kernel does
    /// not count what is fetched from the target.
    pub fn fetched_bytes(&self) -> Fact<u64> {
        match &self.target.mount {
            Fact::Known(mount) if !mount.counts_reads() => Fact::Unavailable(format!(
                "the kernel does not count the reads of a {} server",
                mount.file_system_type
            )),
            _ => self.performing.own.read_bytes.clone(),
        }
    }
}
