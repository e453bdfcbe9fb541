//! Readings of message counters, and their differences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::{Fact, Watched, added, both, grown, pair};

/// A client, a server or a disk that counts messages: RPC calls, SMB requests or SCSI commands.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MessageCounter {
    /// This machine's NFS client, for one file system (`/proc/self/mountstats`).
    NfsClient,
    /// This machine's NFS server, for all of its clients (`/proc/net/rpc/nfsd`).
    NfsServer,
    /// NFS-Ganesha, a server in user space, on this machine, for all of its clients (D-Bus:
    /// `GetFULLV3Stats`, and `GetFastOPS` for the operations of version 4).
    NfsGanesha,
    /// This machine's SMB client, for one share (`/proc/fs/cifs/Stats`).
    SmbClient,
    /// A disk of this machine that an iSCSI session provides
    /// (`/sys/class/block/DISK/device/iorequest_cnt`).
    IscsiSession,
    /// The client built into this program (`--engine nfs` or `s3`), all of its sessions together.
    #[serde(rename = "engine", alias = "nfs-storage")]
    Engine,
}

/// Identifies a message counter: the counting component, the protocol and the counted object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WatchedCounter {
    pub counter: MessageCounter,
    /// The protocol with its version, as in [`MessagesReading::protocol`].
    pub protocol: String,
    /// The counted object, as in [`MessagesReading::of`].
    pub of: String,
}

/// The counters of messages that belong to targets.
pub type WatchedMessages = Watched<WatchedCounter>;

/// Counts of one counter, since it began or between two readings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessagesReading {
    /// The component that counted, such as this machine's NFS client.
    pub counter: MessageCounter,
    /// The protocol with its version, if the version is known: `nfs3`, `nfs4.2`, `smb3.1.1`,
    /// `iscsi`.
    pub protocol: String,
    /// The counted object: the mount point, the share, the disk, `this machine`, `this machine, for
    /// other clients`, `all clients`, or the URLs of the targets.
    pub of: String,
    /// Age of the counter at the later reading, in seconds (`age` of mountstats). A value smaller
    /// than that of an earlier reading indicates another mount. Not applicable to counters that do
    /// not report their age.
    pub age_s: Fact<u64>,
    /// Messages by kind (procedure or command), sorted by name. Kinds that did not occur are
    /// omitted.
    pub kinds: Fact<Vec<MessageKind>>,
    /// Operations of NFS version 4 inside `COMPOUND` messages, sorted by name. Each message carries
    /// several operations, which are not counted as messages. Not applicable to counters of other
    /// protocols.
    pub operations: Fact<Vec<CompoundOperation>>,
    /// Bytes of file contents that reads received from the server. Not applicable to counters that
    /// do not report bytes.
    pub server_read_bytes: Fact<u64>,
    /// Bytes of file contents that writes sent to the server. Not applicable to counters that do
    /// not report bytes.
    pub server_written_bytes: Fact<u64>,
}

/// Messages of one kind. A value that the counter does not report by kind is not applicable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageKind {
    /// Name of the kind, as the counter's source writes it: `CREATE`, `Reads`, `commands`.
    pub kind: String,
    /// Number of requests that were sent, without retransmissions. The NFS client counts a request
    /// on completion.
    pub requests: u64,
    /// Number of transmissions beyond the first of each request.
    pub retransmissions: Fact<u64>,
    /// Bytes of the requests, with headers.
    pub sent_bytes: Fact<u64>,
    /// Bytes of the replies, with headers.
    pub received_bytes: Fact<u64>,
    /// Sum of the times that requests waited before they were sent, in milliseconds.
    pub queued_ms: Fact<u64>,
    /// Sum of the times from sending a request to its reply, in milliseconds.
    pub round_trip_ms: Fact<u64>,
    /// Sum of the times from the beginning of a request to its end, in milliseconds.
    pub execution_ms: Fact<u64>,
}

/// Operations of one kind inside compound requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompoundOperation {
    /// Name of the operation: `PUTFH`.
    pub operation: String,
    /// Number of these operations, summed over all compound requests.
    pub count: u64,
}

impl MessageKind {
    /// Returns a kind of which only the number of requests is known.
    pub fn counted(kind: &str, requests: u64) -> MessageKind {
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

    /// Returns a copy of `self` with `requests` requests. For every other value, `each` combines
    /// the values of `self` and `other`; the first argument of `each` describes the value.
    fn with(
        &self,
        other: &MessageKind,
        requests: u64,
        each: impl Fn(&str, &Fact<u64>, &Fact<u64>) -> Fact<u64>,
    ) -> MessageKind {
        let each = |what: &str, of: fn(&MessageKind) -> &Fact<u64>| each(what, of(self), of(other));
        MessageKind {
            kind: self.kind.clone(),
            requests,
            retransmissions: each("retransmissions", |kind| &kind.retransmissions),
            sent_bytes: each("bytes sent", |kind| &kind.sent_bytes),
            received_bytes: each("bytes received", |kind| &kind.received_bytes),
            queued_ms: each("time in the queue", |kind| &kind.queued_ms),
            round_trip_ms: each("round-trip time", |kind| &kind.round_trip_ms),
            execution_ms: each("execution time", |kind| &kind.execution_ms),
        }
    }
}

pub(super) trait Named: Clone {
    fn name(&self) -> &str;
    fn count(&self) -> u64;
    /// Adds two counts with the same name.
    fn and(&self, other: &Self) -> Self;
    /// Returns the growth since an earlier reading, whose count must not be larger.
    fn since(&self, earlier: &Self) -> Self;
    /// Returns a copy with the count `count`, in which all other values are not applicable.
    fn only(&self, count: u64) -> Self;

    fn occurred(&self) -> bool {
        self.count() > 0
    }
}

impl Named for MessageKind {
    fn name(&self) -> &str {
        &self.kind
    }

    fn count(&self) -> u64 {
        self.requests
    }

    fn and(&self, other: &Self) -> Self {
        let requests = self.requests.saturating_add(other.requests);
        self.with(other, requests, |_, one, other| added(one, other))
    }

    fn since(&self, earlier: &Self) -> Self {
        let requests = self.requests.saturating_sub(earlier.requests);
        self.with(earlier, requests, |what, later, earlier| {
            grown(format_args!("{}: {what}", self.kind), later, earlier)
        })
    }

    fn only(&self, count: u64) -> Self {
        MessageKind::counted(&self.kind, count)
    }

    fn occurred(&self) -> bool {
        self.requests > 0 || self.retransmissions.known().is_some_and(|count| *count > 0)
    }
}

impl Named for CompoundOperation {
    fn name(&self) -> &str {
        &self.operation
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn and(&self, other: &Self) -> Self {
        self.only(self.count.saturating_add(other.count))
    }

    fn since(&self, earlier: &Self) -> Self {
        self.only(self.count.saturating_sub(earlier.count))
    }

    fn only(&self, count: u64) -> Self {
        CompoundOperation {
            operation: self.operation.clone(),
            count,
        }
    }
}

pub(super) fn sorted<T: Named>(mut all: Vec<T>) -> Vec<T> {
    all.sort_by(|one, other| one.name().cmp(other.name()));
    all
}

fn of_name<'a, T: Named>(all: &'a [T], name: &str) -> Option<&'a T> {
    all.iter().find(|one| one.name() == name)
}

fn between<T: Named>(earlier: &Fact<Vec<T>>, later: &Fact<Vec<T>>, fraction: f64) -> Fact<Vec<T>> {
    both(later, earlier, |later, earlier| {
        let between = |one: &T| {
            let before = of_name(earlier, one.name()).map_or(0, T::count);
            let grown = one.count().saturating_sub(before) as f64 * fraction;
            one.only(before.saturating_add(grown.round() as u64))
        };
        later.iter().map(between).filter(T::occurred).collect()
    })
}

fn added_up<T: Named>(one: &Fact<Vec<T>>, other: &Fact<Vec<T>>) -> Fact<Vec<T>> {
    match (one, other) {
        (Fact::NotApplicable, fact) | (fact, Fact::NotApplicable) => fact.clone(),
        _ => both(one, other, |one, other| {
            let mut all = one.clone();
            for more in other {
                match all.iter_mut().find(|known| known.name() == more.name()) {
                    Some(known) => *known = known.and(more),
                    None => all.push(more.clone()),
                }
            }
            sorted(all)
        }),
    }
}

/// Returns the growth of each count. The growth of a name that the earlier reading does not contain
/// is its whole count. If a count went backwards, the result is unavailable, because the counter
/// was reset or now belongs to another object.
fn since<T: Named>(of: &str, later: &Fact<Vec<T>>, earlier: &Fact<Vec<T>>) -> Fact<Vec<T>> {
    pair(later, earlier, |later, earlier| {
        let went_back = earlier.iter().find_map(|before| {
            let now = of_name(later, before.name()).map_or(0, T::count);
            (now < before.count()).then(|| {
                let (name, before) = (before.name(), before.count());
                format!("{of}: {name} went backwards, from {before} to {now}")
            })
        });
        if let Some(why) = went_back {
            return Fact::Unavailable(why);
        }
        let since = |one: &T| match of_name(earlier, one.name()) {
            Some(before) => one.since(before),
            None => one.clone(),
        };
        Fact::Known(later.iter().map(since).filter(T::occurred).collect())
    })
}

impl MessagesReading {
    /// Returns the number of messages of all kinds, without retransmissions.
    pub fn requests(&self) -> Fact<u64> {
        self.kinds.as_ref().map(|kinds| {
            kinds
                .iter()
                .fold(0, |sum: u64, kind| sum.saturating_add(kind.requests))
        })
    }

    /// Interpolates requests and operations by name: `fraction` of the way from this reading to a
    /// later one. Other values of a kind become not applicable.
    #[must_use]
    pub(crate) fn between(&self, later: &MessagesReading, fraction: f64) -> MessagesReading {
        MessagesReading {
            kinds: between(&self.kinds, &later.kinds, fraction),
            operations: between(&self.operations, &later.operations, fraction),
            ..self.clone()
        }
    }

    /// Returns the growth since the earlier reading of the same counter. If a counter went
    /// backwards or now belongs to another mount, the result is unavailable with this reason.
    #[must_use]
    pub fn since(&self, earlier: &[MessagesReading]) -> MessagesReading {
        let same = |before: &&MessagesReading| {
            (before.counter, &before.protocol, &before.of)
                == (self.counter, &self.protocol, &self.of)
        };
        let Some(before) = earlier.iter().find(same) else {
            return self.unavailable(&format!("{}: the messages were not read before", self.of));
        };
        if let (Fact::Known(later), Fact::Known(earlier)) = (&self.age_s, &before.age_s)
            && later < earlier
        {
            let why = format!("{}: was mounted again between two readings", self.of);
            return self.unavailable(&why);
        }
        let bytes = |what: &str, of: fn(&MessagesReading) -> &Fact<u64>| {
            grown(format_args!("{}: {what}", self.of), of(self), of(before))
        };
        MessagesReading {
            kinds: since(&self.of, &self.kinds, &before.kinds),
            operations: since(&self.of, &self.operations, &before.operations),
            server_read_bytes: bytes("bytes read", |reading| &reading.server_read_bytes),
            server_written_bytes: bytes("bytes written", |reading| &reading.server_written_bytes),
            ..self.clone()
        }
    }

    /// Adds the counts of two readings of the same type of counter; `age_s` is that of `self`.
    #[must_use]
    pub fn and(&self, other: &MessagesReading) -> MessagesReading {
        MessagesReading {
            kinds: added_up(&self.kinds, &other.kinds),
            operations: added_up(&self.operations, &other.operations),
            server_read_bytes: added(&self.server_read_bytes, &other.server_read_bytes),
            server_written_bytes: added(&self.server_written_bytes, &other.server_written_bytes),
            ..self.clone()
        }
    }

    /// Returns a reading of the same counter whose values are unavailable with the reason `why`.
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

impl WatchedCounter {
    /// Returns a reading of this counter in which all values except `kinds` are not applicable.
    pub fn reading(&self, kinds: Fact<Vec<MessageKind>>) -> MessagesReading {
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
