//! Counters of messages: where they are, what they had, and what they counted between two readings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::{Fact, Watched, added, both, grown, pair};

/// Where messages are counted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MessageCounter {
    /// This machine's NFS client, for one file system (`/proc/self/mountstats`).
    NfsClient,
    /// This machine's NFS server, for all of its clients
    /// (`/proc/net/rpc/nfsd`).
    NfsServer,
    /// NFS-Ganesha, a server in user space, on this machine, for all of its clients (D-Bus:
    /// `GetFULLV3Stats`, and `GetFastOPS` for the operations of version 4).
    NfsGanesha,
    /// This machine's SMB client, for one share (`/proc/fs/cifs/Stats`).
    SmbClient,
    /// A disk of this machine that an iSCSI session provides
    /// (`/sys/class/block/DISK/device/iorequest_cnt`).
    IscsiSession,
    /// The client of NFS that is a part of this program (`--storage nfs`), all of its sessions
    /// together.
    #[serde(rename = "nfs-storage")]
    NfsEngine,
}

/// One counter that is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WatchedCounter {
    /// Where it is.
    pub counter: MessageCounter,
    /// [`MessagesReading::protocol`](MessagesReading::protocol).
    pub protocol: String,
    /// [`MessagesReading::of`](MessagesReading::of).
    pub of: String,
}

/// The counters of messages that belong to targets.
pub type WatchedMessages = Watched<WatchedCounter>;

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

    /// Requests, and what `each` makes of everything else that two counts tell, by what it is.
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

/// Counts by name.
pub(super) trait Named: Clone {
    fn name(&self) -> &str;
    fn count(&self) -> u64;
    /// What two counters of the same kind counted, added up.
    fn and(&self, other: &Self) -> Self;
    /// What was counted since an earlier reading, which did not count more.
    fn since(&self, earlier: &Self) -> Self;
    /// Only the count, which is this.
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

/// In the order of their names.
pub(super) fn sorted<T: Named>(mut all: Vec<T>) -> Vec<T> {
    all.sort_by(|one, other| one.name().cmp(other.name()));
    all
}

fn of_name<'a, T: Named>(all: &'a [T], name: &str) -> Option<&'a T> {
    all.iter().find(|one| one.name() == name)
}

/// What there was at a moment between two readings.
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

/// Those that did not occur before are missing from the earlier ones. One whose count went back
/// says that the counter was reset, or is another's by now.
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
        MessagesReading {
            kinds: between(&self.kinds, &later.kinds, fraction),
            operations: between(&self.operations, &later.operations, fraction),
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
                let why = format!("{}: was mounted again between two readings", self.of);
                return self.unavailable(&why);
            }
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

    /// What two counters of the same kind counted, added up; `age_s` is that of the first.
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
