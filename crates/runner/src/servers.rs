//! Records the servers of a run and the calls to these servers, for engines with their own network
//! client.

use std::sync::Arc;

use engine::Durability;
use engine::namespace::Namespace;
use engine::server::{CallCount, ServerFacts, ServerTraffic};
use record::{ServerCounts, ServerRecord, ServerTotals};
use system::{Fact, MessageCounter, MessageKind, MessagesReading};

pub(crate) fn record_of(facts: &ServerFacts) -> ServerRecord {
    let record = serde_json::to_value(facts).and_then(ServerRecord::from_facts);
    record.expect("an engine that calls servers has all facts of the record")
}

/// The servers of a run, whose messages and bytes are counted.
#[derive(Clone, Debug)]
pub(crate) struct WatchedServers {
    namespace: Arc<dyn Namespace>,
    protocol: String,
    /// URLs of the targets, joined to one text.
    of: String,
}

impl WatchedServers {
    /// Returns `None` if the engine has no network client.
    pub(crate) fn of(namespace: &Arc<dyn Namespace>) -> Option<Self> {
        let servers = namespace.servers(Durability::None);
        let protocol = servers.first()?.protocol.to_owned();
        let mut urls: Vec<String> = servers.into_iter().map(|server| server.url).collect();
        urls.dedup();
        Some(Self {
            namespace: Arc::clone(namespace),
            protocol,
            of: urls.join(", "),
        })
    }

    /// Messages and bytes since the engine was created.
    pub(crate) fn read(&self) -> ServerTraffic {
        self.namespace.traffic().unwrap_or_default()
    }

    /// Messages and bytes from the reading `earlier` to the reading `later`.
    pub(crate) fn since(
        &self,
        later: &ServerTraffic,
        earlier: &ServerTraffic,
    ) -> (MessagesReading, ServerCounts) {
        let messages = self.reading(later).since(&[self.reading(earlier)]);
        let counts =
            ServerCounts::from_named(|name| later.count(name).saturating_sub(earlier.count(name)));
        (messages, counts)
    }

    /// Messages and bytes since the engine was created, in the form of the record.
    pub(crate) fn totals(&self) -> ServerTotals {
        let (messages, counts) = self.since(&self.read(), &ServerTraffic::default());
        ServerTotals { messages, counts }
    }

    /// Converts counts of messages and bytes to the form in which kernel counters are recorded.
    fn reading(&self, traffic: &ServerTraffic) -> MessagesReading {
        MessagesReading {
            counter: MessageCounter::Engine,
            protocol: self.protocol.clone(),
            of: self.of.clone(),
            age_s: Fact::NotApplicable,
            kinds: Fact::Known(traffic.calls.iter().map(kind).collect()),
            operations: Fact::NotApplicable,
            server_read_bytes: Fact::Known(traffic.count("read_bytes")),
            server_written_bytes: Fact::Known(traffic.count("written_bytes")),
        }
    }
}

fn kind(count: &CallCount) -> MessageKind {
    MessageKind {
        kind: count.procedure.to_owned(),
        requests: count.calls,
        retransmissions: Fact::Known(count.repetitions),
        sent_bytes: Fact::Known(count.sent_bytes),
        received_bytes: Fact::Known(count.received_bytes),
        queued_ms: Fact::NotApplicable,
        round_trip_ms: Fact::NotApplicable,
        execution_ms: Fact::NotApplicable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(calls: &[(&'static str, u64, u64)], reconnections: u64) -> ServerTraffic {
        let count = |&(procedure, calls, repetitions): &(&'static str, u64, u64)| CallCount {
            procedure,
            calls,
            repetitions,
            sent_bytes: 100 * calls,
            received_bytes: 200 * calls,
        };
        ServerTraffic {
            calls: calls.iter().map(count).collect(),
            counts: vec![("reconnections", reconnections)],
        }
    }

    #[test]
    fn traffic_between_two_readings_is_counted_by_procedure() {
        let watched = WatchedServers {
            namespace: Arc::new(engines::kernel_namespace::KernelNamespace::default()),
            protocol: "nfs3".to_owned(),
            of: "nfs://server/export".to_owned(),
        };
        let earlier = traffic(&[("LOOKUP", 5, 0), ("MKDIR", 1, 0)], 0);
        let later = traffic(&[("LOOKUP", 9, 1), ("MKDIR", 1, 0), ("READ", 3, 0)], 2);
        let (messages, counts) = watched.since(&later, &earlier);
        assert_eq!(messages.requests(), Fact::Known(7));
        let kinds = messages.kinds.into_known().unwrap();
        let told: Vec<_> = kinds
            .iter()
            .map(|kind| {
                (
                    kind.kind.as_str(),
                    kind.requests,
                    kind.retransmissions.clone(),
                )
            })
            .collect();
        // Procedures without a call between the readings are omitted.
        assert_eq!(
            told,
            [("LOOKUP", 4, Fact::Known(1)), ("READ", 3, Fact::Known(0))]
        );
        assert_eq!(kinds[0].sent_bytes, Fact::Known(400));
        assert_eq!(counts.reconnections, 2);
        assert!(
            WatchedServers::of(
                &(Arc::new(engines::kernel_namespace::KernelNamespace::default())
                    as Arc<dyn Namespace>)
            )
            .is_none()
        );
    }
}
