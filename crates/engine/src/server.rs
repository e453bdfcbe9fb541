//! What is known of servers that an engine calls by itself, and what it has counted of that. The
//! names of facts, calls and counters are the engine's.

use std::collections::BTreeMap;

use serde::Serialize;

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FactValue {
    /// A number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Text(String),
}

/// How a server is called, and what was agreed with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerFacts {
    /// The protocol with its version.
    pub protocol: &'static str,
    /// The target's URL.
    pub url: String,
    /// All else, by the names that records have for it.
    #[serde(flatten)]
    pub facts: BTreeMap<&'static str, FactValue>,
}

/// Calls of one procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCount {
    /// The procedure's name in its protocol.
    pub procedure: &'static str,
    /// Requests, each counted once, when it leaves for the first time.
    pub calls: u64,
    /// Transmissions of requests beyond the first.
    pub repetitions: u64,
    /// Bytes of the requests with their headers, of all transmissions.
    pub sent_bytes: u64,
    /// Bytes of the replies with their headers.
    pub received_bytes: u64,
}

/// What went between an engine and its servers since it was made, of all sessions and the
/// namespace together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTraffic {
    /// The procedures that were called, a line each.
    pub calls: Vec<CallCount>,
    /// All else that was counted, by the names that records have for it.
    pub counts: Vec<(&'static str, u64)>,
}

impl ServerTraffic {
    /// The count of this name; 0 where the engine has none.
    pub fn count(&self, name: &str) -> u64 {
        let found = self.counts.iter().find(|(known, _)| *known == name);
        found.map_or(0, |(_, count)| *count)
    }
}

/// A server that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {doing} {of}: {why}")]
pub struct Unreachable {
    /// What was being done, in words that `of` can follow: `connect to`, `open`.
    pub doing: &'static str,
    /// The server or the directory.
    pub of: String,
    /// What the server or the system answered, and what to do about it.
    pub why: String,
}
