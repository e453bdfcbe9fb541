//! Whether what was seen beside the run contradicts what the run says of itself.

use std::collections::BTreeMap;

use spec::Cache;
use system::{Class, Fact};
use workload::{Action, Phase};

use super::limits::{
    ALLOCATED_MAX, CLIENT_MAX, FILLED_MAX, INTERFACE_MAX, NOT_DROPPED_MAX, RETRANSMITTED_MAX,
};
use super::memory::pool_bytes;
use super::{Reason, all_phases, is_partial, transactions};
use crate::summary::{evidence, phase, ranks};
use record::host_phase::HostPhase;
use record::run::{PhaseRecord, Record};
use record::server::ServerCounts;
use record::share;

pub(super) fn reasons(record: &Record) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = [cache_not_dropped(record), device_wrote_nothing(record)]
        .into_iter()
        .flatten()
        .collect();
    reasons.extend(retransmissions(record));
    reasons.extend(of_servers(record));
    reasons.extend(client_saturated(record));
    reasons.extend(nearly_full(record));
    reasons.extend(allocated_during_run(record));
    reasons
}

fn cache_not_dropped(record: &Record) -> Option<Reason> {
    if !matches!(record.spec.cache, Cache::Cold | Cache::ColdData) {
        return None;
    }
    let residency = transactions(record)?
        .evidence
        .as_ref()?
        .residency
        .as_ref()?;
    let sample = residency.before.known()?;
    (share(sample.cached, sample.pages) > NOT_DROPPED_MAX).then(|| Reason::CacheNotDropped {
        cache: record.spec.cache.name().to_owned(),
        cached: sample.cached,
        pages: sample.pages,
    })
}

/// A phase that wrote, and was synced to its end, without a byte for the device. What lies in
/// memory has no device.
fn device_wrote_nothing(record: &Record) -> Option<Reason> {
    let mut phases = all_phases(record).filter(|phase| phase.complete);
    phases.find_map(|phase| {
        phase.evidence.as_ref()?.syncing.as_ref()?;
        let writes = evidence::phase_evidence(record, phase)?.writes;
        let is_nothing = writes.written_bytes > 0 && writes.device_bytes == Fact::Known(0);
        let covers = |action: Action| {
            action
                .performs()
                .is_some_and(|kind| record.spec.durability.covers(kind))
        };
        is_nothing.then(|| Reason::DeviceWroteNothing {
            phase: phase.phase,
            written_bytes: writes.written_bytes,
            is_durable: covers(Action::Create),
        })
    })
}

fn retransmissions(record: &Record) -> Option<Reason> {
    let counters = all_phases(record)
        .filter_map(|phase| Some(evidence::phase_evidence(record, phase)?.messages));
    counters.flatten().find_map(|sent| {
        let (requests, retransmissions) = (*sent.requests.known()?, sent.retransmissions?);
        (share(retransmissions, requests) > RETRANSMITTED_MAX).then_some(Reason::Retransmissions {
            of: sent.of,
            retransmissions,
            requests,
        })
    })
}

/// What a server did not answer for, and whether it was restarted meanwhile.
fn of_servers(record: &Record) -> Vec<Reason> {
    let counts = all_phases(record).filter_map(|phase| phase.evidence.as_ref()?.server.as_ref());
    let counts = counts.fold(ServerCounts::default(), ServerCounts::and);
    let not_known = (counts.not_known > 0).then_some(Reason::OutcomesNotKnown {
        operations: counts.not_known,
    });
    let restarted = (counts.verifier_changes > 0).then_some(Reason::ServerRestarted {
        times: counts.verifier_changes,
        rewritten_bytes: counts.rewritten_bytes,
    });
    let reconnected = (counts.reconnections > 0).then_some(Reason::ConnectionsLost {
        times: counts.reconnections,
    });
    [not_known, restarted, reconnected]
        .into_iter()
        .flatten()
        .collect()
}

/// Whether a target is a server, over a mount or without one.
pub(super) fn targets_a_server(record: &Record) -> bool {
    let mut targets = record
        .locations
        .iter()
        .filter_map(|location| location.target.known());
    let is_mounted = targets.any(|target| target.class == Fact::Known(Class::Network));
    is_mounted || record.spec.storage.calls_server()
}

/// A host by its name and its boot.
type Named<'a> = (&'a str, Option<&'a str>);
/// A phase, and a host in it.
type SeenOn<'a> = (&'a PhaseRecord, &'a HostPhase);

/// What a client used of what limits it, in one of the phases.
struct Used {
    host: Option<String>,
    workers: Option<f64>,
    interface: Option<(String, f64)>,
}

impl Used {
    fn is_saturated(&self) -> bool {
        self.workers.is_some() || self.interface.is_some()
    }
}

/// On a target that is a server: whether the workers' processors or the interface were what limited
/// them, on this machine or on one of several hosts.
pub(super) fn client_saturated(record: &Record) -> Option<Reason> {
    if !targets_a_server(record) {
        return None;
    }
    let phases = || all_phases(record).filter(|phase| phase.phase == Phase::Transactions);
    let clients: Vec<Used> = if phases().any(|phase| !phase.hosts.is_empty()) {
        let mut hosts: BTreeMap<Named<'_>, Vec<SeenOn<'_>>> = BTreeMap::new();
        for (phase, host) in
            phases().flat_map(|phase| phase.hosts.iter().map(move |host| (phase, host)))
        {
            let id = (
                &*host.host.hostname,
                host.host.boot_id.known().map(String::as_str),
            );
            hosts.entry(id).or_default().push((phase, host));
        }
        let of_host = |(id, seen): (Named<'_>, Vec<SeenOn<'_>>)| {
            let workers = seen.iter().filter_map(|(_, host)| ranks::worker_cpu(host));
            let interfaces = seen
                .iter()
                .filter_map(|(phase, host)| ranks::busiest_interface(phase, host));
            used(Some(id.0.to_owned()), workers, interfaces)
        };
        hosts.into_iter().map(of_host).collect()
    } else {
        let workers = phases().filter_map(|phase| {
            let workers = phase::summary(record, phase).machine?.workers?;
            (workers.count > 0).then(|| workers.sum / workers.count as f64)
        });
        let interfaces = phases()
            .filter_map(|phase| evidence::busiest_interface(phase, phase.evidence.as_ref()?));
        vec![used(None, workers, interfaces)]
    };
    let mut saturated: Vec<Used> = clients.into_iter().filter(Used::is_saturated).collect();
    // The one that used most of either.
    let most = |client: &Used| {
        let interface = client
            .interface
            .as_ref()
            .map_or(0.0, |(_, fraction)| *fraction);
        client.workers.unwrap_or(0.0).max(interface)
    };
    saturated.sort_by(|one, other| most(other).total_cmp(&most(one)));
    let others = saturated.len().saturating_sub(1) as u64;
    let Used {
        host,
        workers,
        interface,
    } = saturated.into_iter().next()?;
    Some(Reason::ClientSaturated {
        workers,
        interface,
        host,
        others: (others > 0).then_some(others),
    })
}

/// The most of each that is past its limit.
fn used(
    host: Option<String>,
    workers: impl Iterator<Item = f64>,
    interfaces: impl Iterator<Item = (String, f64)>,
) -> Used {
    let interface = interfaces.max_by(|a, b| a.1.total_cmp(&b.1));
    Used {
        host,
        workers: workers
            .reduce(f64::max)
            .filter(|fraction| *fraction > CLIENT_MAX),
        interface: interface.filter(|(_, fraction)| *fraction > INTERFACE_MAX),
    }
}

/// With the pool on it. Memory has no allocator that searches.
fn nearly_full(record: &Record) -> Option<Reason> {
    let weights: u64 = record
        .locations
        .iter()
        .map(|location| u64::from(location.weight))
        .sum();
    let is_prepared = record
        .actual
        .phases
        .iter()
        .any(|phase| phase.phase == Phase::Prepare);
    record.locations.iter().find_map(|location| {
        let target = location.target.known()?;
        let (filled, space) = (target.fill_fraction.known()?, target.space.known()?);
        // A pool that was kept is on the file system already.
        let added = if is_prepared { pool_bytes(record) } else { 0 };
        let pool = added as f64 * f64::from(location.weight) / weights.max(1) as f64;
        let taken = pool / (*space.total_bytes.known()?).max(1) as f64;
        let fraction = (filled + taken).min(1.0);
        let is_judged = target.class != Fact::Known(Class::Memory) && fraction > FILLED_MAX;
        is_judged.then(|| Reason::NearlyFull {
            path: location.directory.clone(),
            fraction,
        })
    })
}

fn allocated_during_run(record: &Record) -> Option<Reason> {
    if is_partial(record) {
        return None;
    }
    let mut of_transactions = all_phases(record).filter(|phase| phase.phase == Phase::Transactions);
    of_transactions.find_map(|phase| {
        let seen = phase.evidence.as_ref()?;
        let mut allocated_bytes = *seen.performing.allocated_bytes.known()?;
        if let Some(syncing) = &seen.syncing {
            allocated_bytes = allocated_bytes.saturating_add(*syncing.allocated_bytes.known()?);
        }
        let written_bytes = *evidence::phase_evidence(record, phase)?
            .writes
            .device_bytes
            .known()?;
        (share(allocated_bytes, written_bytes) > ALLOCATED_MAX).then_some(
            Reason::AllocatedDuringRun {
                allocated_bytes,
                written_bytes,
            },
        )
    })
}
