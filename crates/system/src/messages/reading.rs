//! What counters of messages had, and what they counted between two readings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counter::{MessageCounter, WatchedCounter};
use crate::fact::{Fact, added, grown, pair};

/// What one counter had, or counted between two readings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessagesReading {
    /// Where it was counted.
    pub counter: MessageCounter,
    /// The protocol with its version, as far as that is known: `nfs3`, `nfs4.2`,
    /// `smb3.1.1`, `iscsi`.
    pub protocol: String,
    /// Of what: the mount point, the share, the disk, `this machine`, or `this
    /// machine, for other clients`.
    pub of: String,
    /// For how many seconds it had counted at the end (`age` of mountstats): less
    /// than before is another mount. Not applicable to counters that do not tell.
    pub age_s: Fact<u64>,
    /// By kind (procedure, command), those that occurred, by name.
    pub kinds: Fact<Vec<MessageKind>>,
    /// What messages carried where one carries several: the operations of NFS
    /// version 4 that were in `COMPOUND`, by name. They are no messages of their
    /// own. Not applicable to other counters.
    pub operations: Fact<Vec<CompoundOperation>>,
    /// Bytes of contents that reads got from the server. Not applicable to
    /// counters that do not tell.
    pub server_read_bytes: Fact<u64>,
    /// Bytes of contents that writes sent to the server. Not applicable to
    /// counters that do not tell.
    pub server_written_bytes: Fact<u64>,
}

/// The messages of one kind. What a counter does not tell by kind is not
/// applicable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageKind {
    /// The kernel's word for it: `CREATE`, `Reads`, `commands`.
    pub kind: String,
    /// Requests that left, without retransmissions. The NFS client counts them
    /// when they are complete.
    pub requests: u64,
    /// Transmissions beyond the first of each request.
    pub retransmissions: Fact<u64>,
    /// Bytes of the requests, with headers.
    pub sent_bytes: Fact<u64>,
    /// Bytes of the replies, with headers.
    pub received_bytes: Fact<u64>,
    /// Time that requests waited before they were sent, summed.
    pub queued_ms: Fact<u64>,
    /// Time from sending to the reply, summed.
    pub round_trip_ms: Fact<u64>,
    /// Time from the beginning of a request to its end, summed.
    pub execution_ms: Fact<u64>,
}

/// Operations of one kind within compound requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompoundOperation {
    /// Its name: `PUTFH`.
    pub operation: String,
    /// How many there were.
    pub count: u64,
}

impl MessageKind {
    /// Requests of which nothing else is told.
    pub(super) fn counted(kind: &str, requests: u64) -> MessageKind {
        MessageKind {
            kind: kind.to_owned(),
            requests,
            retransmissions: Fact::NotApplicable,
            sent_bytes: Fact::NotApplicable,
            received_bytes: Fact::NotApplicable,
            queued_ms: Fact::NotApplicable,
            round_trip_ms: Fact::NotApplicable,
            execution_ms: Fact::NotApplicable,
        }
    }

    fn and(&self, other: &MessageKind) -> MessageKind {
        MessageKind {
            kind: self.kind.clone(),
            requests: self.requests.saturating_add(other.requests),
            retransmissions: added(&self.retransmissions, &other.retransmissions),
            sent_bytes: added(&self.sent_bytes, &other.sent_bytes),
            received_bytes: added(&self.received_bytes, &other.received_bytes),
            queued_ms: added(&self.queued_ms, &other.queued_ms),
            round_trip_ms: added(&self.round_trip_ms, &other.round_trip_ms),
            execution_ms: added(&self.execution_ms, &other.execution_ms),
        }
    }

    pub(super) fn occurred(&self) -> bool {
        self.requests > 0 || self.retransmissions.known().is_some_and(|count| *count > 0)
    }

    fn since(&self, earlier: &MessageKind, requests: u64) -> MessageKind {
        let kind = &self.kind;
        let grown = |what: &str, later: &Fact<u64>, earlier: &Fact<u64>| {
            grown(format_args!("{kind}: {what}"), later, earlier)
        };
        MessageKind {
            kind: kind.clone(),
            requests,
            retransmissions: grown(
                "retransmissions",
                &self.retransmissions,
                &earlier.retransmissions,
            ),
            sent_bytes: grown("bytes sent", &self.sent_bytes, &earlier.sent_bytes),
            received_bytes: grown(
                "bytes received",
                &self.received_bytes,
                &earlier.received_bytes,
            ),
            queued_ms: grown("time in the queue", &self.queued_ms, &earlier.queued_ms),
            round_trip_ms: grown(
                "round-trip time",
                &self.round_trip_ms,
                &earlier.round_trip_ms,
            ),
            execution_ms: grown("execution time", &self.execution_ms, &earlier.execution_ms),
        }
    }
}

impl MessagesReading {
    /// All messages of all kinds, without retransmissions.
    pub fn requests(&self) -> Fact<u64> {
        self.kinds.as_ref().map(|kinds| {
            kinds
                .iter()
                .fold(0, |sum: u64, kind| sum.saturating_add(kind.requests))
        })
    }

    /// What it had at a moment between this reading and a later one, so far on the way: requests
    /// and operations by name. What is summed beside them is not told.
    #[must_use]
    pub(crate) fn between(&self, later: &MessagesReading, fraction: f64) -> MessagesReading {
        let grown = |earlier: Option<u64>, later: u64| {
            let earlier = earlier.unwrap_or_default();
            let grown = later.saturating_sub(earlier) as f64 * fraction;
            earlier.saturating_add(grown.round() as u64)
        };
        MessagesReading {
            kinds: pair(&later.kinds, &self.kinds, |later, earlier| {
                let before =
                    |kind: &MessageKind| earlier.iter().find(|before| before.kind == kind.kind);
                let between = |kind: &MessageKind| {
                    let requests = grown(before(kind).map(|before| before.requests), kind.requests);
                    MessageKind::counted(&kind.kind, requests)
                };
                Fact::Known(
                    later
                        .iter()
                        .map(between)
                        .filter(MessageKind::occurred)
                        .collect(),
                )
            }),
            operations: pair(&later.operations, &self.operations, |later, earlier| {
                let between = |one: &CompoundOperation| {
                    let before = earlier
                        .iter()
                        .find(|before| before.operation == one.operation);
                    CompoundOperation {
                        count: grown(before.map(|before| before.count), one.count),
                        ..one.clone()
                    }
                };
                Fact::Known(
                    later
                        .iter()
                        .map(between)
                        .filter(|one| one.count > 0)
                        .collect(),
                )
            }),
            ..self.clone()
        }
    }

    /// What was counted between earlier readings and this. Where a counter went
    /// back, or another mount counts since, that is the reason why nothing is
    /// known.
    #[must_use]
    pub fn since(&self, earlier: &[MessagesReading]) -> MessagesReading {
        let same = |before: &&MessagesReading| {
            (before.counter, &before.protocol, &before.of)
                == (self.counter, &self.protocol, &self.of)
        };
        let Some(before) = earlier.iter().find(same) else {
            return self.unavailable(&format!("{}: the messages were not read before", self.of));
        };
        if let (Fact::Known(later), Fact::Known(earlier)) = (&self.age_s, &before.age_s) {
            if later < earlier {
                return self.unavailable(&format!(
                    "{}: was mounted again between two readings",
                    self.of
                ));
            }
        }
        let bytes =
            |what: &str, later, earlier| grown(format_args!("{}: {what}", self.of), later, earlier);
        MessagesReading {
            kinds: pair(&self.kinds, &before.kinds, |later, earlier| {
                kinds_since(&self.of, later, earlier)
            }),
            operations: pair(&self.operations, &before.operations, |later, earlier| {
                operations_since(&self.of, later, earlier)
            }),
            server_read_bytes: bytes(
                "bytes read",
                &self.server_read_bytes,
                &before.server_read_bytes,
            ),
            server_written_bytes: bytes(
                "bytes written",
                &self.server_written_bytes,
                &before.server_written_bytes,
            ),
            ..self.clone()
        }
    }

    /// What two counters of the same kind counted, added up; `age_s` is that of the first.
    #[must_use]
    pub fn and(&self, other: &MessagesReading) -> MessagesReading {
        fn listed<T: Clone>(
            one: &Fact<Vec<T>>,
            other: &Fact<Vec<T>>,
            name: fn(&T) -> &str,
            and: impl Fn(&T, &T) -> T,
        ) -> Fact<Vec<T>> {
            match (one, other) {
                (Fact::NotApplicable, fact) | (fact, Fact::NotApplicable) => fact.clone(),
                _ => pair(one, other, |one, other| {
                    let mut all = one.clone();
                    for more in other {
                        match all.iter_mut().find(|known| name(known) == name(more)) {
                            Some(known) => *known = and(known, more),
                            None => all.push(more.clone()),
                        }
                    }
                    all.sort_by(|a, b| name(a).cmp(name(b)));
                    Fact::Known(all)
                }),
            }
        }
        MessagesReading {
            kinds: listed(
                &self.kinds,
                &other.kinds,
                |kind| &kind.kind,
                MessageKind::and,
            ),
            operations: listed(
                &self.operations,
                &other.operations,
                |operation| &operation.operation,
                |one, other| CompoundOperation {
                    count: one.count.saturating_add(other.count),
                    ..one.clone()
                },
            ),
            server_read_bytes: added(&self.server_read_bytes, &other.server_read_bytes),
            server_written_bytes: added(&self.server_written_bytes, &other.server_written_bytes),
            ..self.clone()
        }
    }

    /// The same counter, of which nothing is known for a reason.
    pub(super) fn unavailable(&self, why: &str) -> MessagesReading {
        fn unless_not_applicable<T>(fact: &Fact<T>, why: &str) -> Fact<T> {
            match fact {
                Fact::NotApplicable => Fact::NotApplicable,
                Fact::Known(_) | Fact::Unavailable(_) => Fact::Unavailable(why.to_owned()),
            }
        }
        MessagesReading {
            kinds: Fact::Unavailable(why.to_owned()),
            operations: unless_not_applicable(&self.operations, why),
            server_read_bytes: unless_not_applicable(&self.server_read_bytes, why),
            server_written_bytes: unless_not_applicable(&self.server_written_bytes, why),
            ..self.clone()
        }
    }
}

/// Kinds that did not occur before are missing from the earlier ones. One whose
/// count went back says that the counter was reset, or is another's by now.
fn kinds_since(of: &str, later: &[MessageKind], earlier: &[MessageKind]) -> Fact<Vec<MessageKind>> {
    let count = |kind: &MessageKind| (kind.kind.clone(), kind.requests);
    if let Some(why) = went_back(of, later.iter().map(count), earlier.iter().map(count)) {
        return Fact::Unavailable(why);
    }
    let since = |kind: &MessageKind| match earlier.iter().find(|before| before.kind == kind.kind) {
        Some(before) => kind.since(before, kind.requests.saturating_sub(before.requests)),
        None => kind.clone(),
    };
    Fact::Known(
        later
            .iter()
            .map(since)
            .filter(MessageKind::occurred)
            .collect(),
    )
}

fn operations_since(
    of: &str,
    later: &[CompoundOperation],
    earlier: &[CompoundOperation],
) -> Fact<Vec<CompoundOperation>> {
    let count = |operation: &CompoundOperation| (operation.operation.clone(), operation.count);
    if let Some(why) = went_back(of, later.iter().map(count), earlier.iter().map(count)) {
        return Fact::Unavailable(why);
    }
    let since = |operation: &CompoundOperation| {
        let before = earlier
            .iter()
            .find(|before| before.operation == operation.operation);
        CompoundOperation {
            count: operation
                .count
                .saturating_sub(before.map_or(0, |before| before.count)),
            ..operation.clone()
        }
    };
    let grown = later
        .iter()
        .map(since)
        .filter(|operation| operation.count > 0);
    Fact::Known(grown.collect())
}

/// Why two lists of counts by name are not of one counter, if one of them went back.
fn went_back(
    of: &str,
    later: impl Iterator<Item = (String, u64)>,
    earlier: impl Iterator<Item = (String, u64)>,
) -> Option<String> {
    let later: std::collections::HashMap<String, u64> = later.collect();
    earlier.into_iter().find_map(|(name, before)| {
        let now = later.get(&name).copied().unwrap_or_default();
        (now < before).then(|| format!("{of}: {name} went backwards, from {before} to {now}"))
    })
}

impl WatchedCounter {
    /// A reading of kinds alone.
    pub(super) fn reading(&self, kinds: Fact<Vec<MessageKind>>) -> MessagesReading {
        MessagesReading {
            counter: self.counter,
            protocol: self.protocol.clone(),
            of: self.of.clone(),
            age_s: Fact::NotApplicable,
            kinds,
            operations: Fact::NotApplicable,
            server_read_bytes: Fact::NotApplicable,
            server_written_bytes: Fact::NotApplicable,
        }
    }
}
