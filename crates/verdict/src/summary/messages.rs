//! Requests to servers and commands to devices, as counters report them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::counters::{DeviceReading, DeviceRole};
use system::{Accounted, Fact, MessageCounter, MessageKind, MessagesReading};

/// Requests that one counter reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessagesSent {
    /// The component that counted, such as this machine's NFS client.
    pub counter: MessageCounter,
    /// The protocol with its version, such as `nfs4.2`.
    pub protocol: String,
    /// The mount point, share, disk or machine whose requests the counter reports.
    pub of: String,
    /// Requests sent, without retransmissions and replies.
    pub requests: Fact<u64>,
    /// Requests for each transaction, or for each file in `prepare` and `delete`; null if the
    /// requests are not known, or no work was completed.
    pub per_done: Option<f64>,
    /// Transmissions beyond the first of a request. Null if the counter does not report
    /// retransmissions, or if the retransmissions of one kind of request are not known.
    pub retransmissions: Option<u64>,
    /// Requests by kind (procedure or command), the most frequent first.
    pub kinds: Vec<MessageKindSent>,
}

impl MessagesSent {
    /// Returns the requests of all counters. `done` is the number of transactions or files
    /// completed in the same time.
    pub fn of(counted: &Accounted, done: u64) -> Vec<Self> {
        let sent = |reading: &MessagesReading| {
            let requests = reading.requests();
            let kinds = reading.kinds.known().map_or(&[][..], Vec::as_slice);
            let by_kind = kinds.iter().map(|kind| MessageKindSent {
                kind: kind.kind.clone(),
                requests: kind.requests,
                per_done: over(&Fact::Known(kind.requests), done),
                mean_round_trip_ms: over(&kind.round_trip_ms, kind.requests),
            });
            let mut by_kind: Vec<MessageKindSent> = by_kind.collect();
            by_kind.sort_by(|a, b| (b.requests, &a.kind).cmp(&(a.requests, &b.kind)));
            Self {
                counter: reading.counter,
                protocol: reading.protocol.clone(),
                of: reading.of.clone(),
                per_done: over(&requests, done),
                requests,
                retransmissions: retransmissions(kinds),
                kinds: by_kind,
            }
        };
        let readings = counted.messages.known().into_iter().flatten();
        readings.map(sent).collect()
    }
}

/// Requests or commands of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageKindSent {
    /// Name of the procedure or command, such as `LOOKUP`.
    pub kind: String,
    /// Requests of this kind, without retransmissions.
    pub requests: u64,
    /// Requests for each transaction, or for each file in `prepare` and `delete`; null if no work
    /// was completed.
    pub per_done: Option<f64>,
    /// Mean time from sending a request to its reply, in milliseconds; null if the counter does not
    /// report this time.
    pub mean_round_trip_ms: Option<f64>,
}

/// Commands that one device completed for all programs on the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandsSent {
    /// The kernel's name of the device, such as `sda`.
    pub device: String,
    /// Relation of the device to the target, such as the device of its file system or of its
    /// journal.
    pub role: DeviceRole,
    /// Reads, writes, flushes and discards. Kinds that the kernel does not count for the device are
    /// missing.
    pub kinds: Vec<MessageKindSent>,
}

/// Returns the retransmissions of all kinds of requests together. `None` if the counter does not
/// report retransmissions, or if the retransmissions of one kind are not known.
fn retransmissions(kinds: &[MessageKind]) -> Option<u64> {
    let told = kinds
        .iter()
        .filter(|kind| kind.retransmissions != Fact::NotApplicable);
    let known = told.map(|kind| kind.retransmissions.known().copied());
    known
        .reduce(|sum, more| Some(sum?.saturating_add(more?)))
        .flatten()
}

pub(super) fn commands(counted: &Accounted, done: u64) -> Vec<CommandsSent> {
    let sent = |reading: &DeviceReading| {
        let counters = reading.counters.known()?;
        let kinds = [
            ("reads", &counters.reads, &counters.reading_ms),
            ("writes", &counters.writes, &counters.writing_ms),
            ("flushes", &counters.flushes, &counters.flushing_ms),
            ("discards", &counters.discards, &counters.discarding_ms),
        ];
        let known = kinds.into_iter().filter_map(|(kind, count, ms)| {
            let requests = *count.known()?;
            Some(MessageKindSent {
                kind: kind.to_owned(),
                requests,
                per_done: over(count, done),
                mean_round_trip_ms: over(ms, requests),
            })
        });
        Some(CommandsSent {
            device: reading.name.clone(),
            role: reading.role,
            kinds: known.collect(),
        })
    };
    let devices = counted.devices.known().into_iter().flatten();
    devices.filter_map(sent).collect()
}

pub(super) fn over(count: &Fact<u64>, of: u64) -> Option<f64> {
    let count = count.known().filter(|_| of > 0)?;
    Some(*count as f64 / of as f64)
}
