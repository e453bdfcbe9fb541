//! Facts about servers that an engine itself calls, and counters of the calls that the engine made.
//! The engine chooses the names of facts, calls and counters.

use std::collections::BTreeMap;

use serde::Serialize;

/// The value of a fact about a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FactValue {
    /// A number, such as the maximum size of a read in bytes.
    Number(u64),
    /// Yes or no, such as whether connections use a privileged port.
    Flag(bool),
    /// A text, such as the server's address or the path of the export.
    Text(String),
}

/// The parameters of a connection to a server, and the values negotiated with the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerFacts {
    /// The protocol and its version, such as `nfs3`.
    pub protocol: &'static str,
    /// The target's URL, including its parameters.
    pub url: String,
    /// All other facts, such as the server's address and the transfer sizes; each key is the name
    /// of the fact in records.
    #[serde(flatten)]
    pub facts: BTreeMap<&'static str, FactValue>,
}

/// The requests of one procedure of the protocol, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCount {
    /// The procedure's name in the protocol, such as `COMMIT`.
    pub procedure: &'static str,
    /// Number of requests; each is counted once, when it is sent for the first time.
    pub calls: u64,
    /// Number of repeated transmissions of requests.
    pub repetitions: u64,
    /// Number of bytes of all transmitted requests, including headers and repetitions.
    pub sent_bytes: u64,
    /// Number of bytes of all received replies, including headers.
    pub received_bytes: u64,
}

/// The traffic between an engine and its servers since the engine was created, including all
/// sessions and the namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTraffic {
    /// The counters of each procedure that was called.
    pub calls: Vec<CallCount>,
    /// Counters that do not belong to one procedure, such as the number of connections, each with
    /// its name in records.
    pub counts: Vec<(&'static str, u64)>,
}

impl ServerTraffic {
    /// Returns the counter with this name; 0 if the engine has no such counter.
    pub fn count(&self, name: &str) -> u64 {
        let found = self.counts.iter().find(|(known, _)| *known == name);
        found.map_or(0, |(_, count)| *count)
    }
}

/// The error if a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {doing} {of}: {why}")]
pub struct Unreachable {
    /// The failed action, as a verb that `of` can follow, such as `connect to` or `open`.
    pub doing: &'static str,
    /// The server or directory that the action concerned.
    pub of: String,
    /// The error of the server or the system, and what to do about it.
    pub why: String,
    /// `true` if the server did not answer; `false` if the server answered and refused the action.
    pub is_silent: bool,
}
