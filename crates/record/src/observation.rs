//! The output of `postmark observe`: counters of the machine while another program runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Accounted, Fact, Host, Target};

use crate::run::Tool;

/// Version of the schema of observations. The schema of records has a separate version.
pub const OBSERVATION_VERSION: u32 = 1;

/// How an observed command ended: by its exit or by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandEnd {
    /// The command ended by its own exit.
    Exited {
        /// Exit status of the command, from 0 to 255.
        status: i32,
    },
    /// A signal ended the command.
    Killed {
        /// Number of the signal, as in signal(7).
        signal: i32,
    },
}

/// The sync of the target's file system after the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetSync {
    /// Duration of syncfs(2), in nanoseconds.
    pub duration_ns: Fact<u64>,
    /// Growth of the counters during the sync.
    pub counted: Accounted,
}

/// A command that PostMark observed, with counters from before its start until after its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Version of this JSON format. The format of records has a separate version.
    #[schemars(extend("const" = OBSERVATION_VERSION))]
    pub schema: u32,
    /// The PostMark program that observed the command.
    pub tool: Tool,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Wall clock at the start of the command, in nanoseconds since 1970.
    pub began_unix_ns: u64,
    /// Facts about the machine, read at the start.
    pub host: Host,
    /// Facts about the target, whose file system and devices are observed.
    pub target: Target,
    /// Exit status of the command, or the signal that ended it.
    pub end: CommandEnd,
    /// Time from the start of the command to its end, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time in user mode, in nanoseconds, of the command and its descendants. A
    /// descendant is included if its parent waited for it.
    pub user_ns: u64,
    /// Processor time in the kernel, in nanoseconds, of the processes that `user_ns` includes.
    pub system_ns: u64,
    /// Counters from before the start of the command until after its end. `own` contains the I/O of
    /// the processes that `user_ns` includes, on all file systems. When a parent waits for a child,
    /// the kernel adds the child's counts to those of the parent. Counters of devices and of
    /// messages to servers include the activity of all programs.
    pub performing: Accounted,
    /// The sync after the command; null if no sync was performed.
    pub sync: Option<TargetSync>,
}

#[derive(Serialize)]
struct WrittenObservation<'a> {
    observation: &'a Observation,
}

impl Observation {
    /// Returns the observation as JSON, in one line.
    pub fn to_json(&self) -> String {
        document::json_line(&WrittenObservation { observation: self })
    }

    /// Returns the bytes that the command read from devices and servers. Unavailable if the kernel
    /// does not count reads from the target's file system.
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
