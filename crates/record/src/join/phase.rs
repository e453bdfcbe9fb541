//! Joins the results of several ranks in a phase.

use std::collections::{BTreeMap, HashMap};

use workload::Phase;

use super::evidence::{self, Apart};
use crate::host_phase::{HostId, HostPhase, HostWorkers};
use crate::merge;
use crate::pauses::Pauses;
use crate::run::{FirstDone, PhaseRecord, PhaseSync, Segment};

impl PhaseRecord {
    /// Converts the phase to that of one rank on a host, which can be joined with the phases of
    /// other ranks.
    #[must_use]
    pub fn of_rank(mut self, host: &HostId) -> Self {
        if self.hosts.is_empty() {
            self.hosts.push(HostPhase {
                host: host.clone(),
                ranks: 1,
                workers: workers(&self),
                evidence: self.evidence.clone(),
            });
        }
        self
    }

    /// Joins the results of ranks in the same phase; `self` has the lower ranks. Both phases come
    /// from [`of_rank`](Self::of_rank), and their moments count from the same origin. Kernel
    /// counters over time and the result of a steady-state rule are those of the lowest rank.
    #[must_use]
    pub fn join(mut self, later: Self) -> Self {
        let mut segments = later.segments.into_iter();
        for segment in &mut self.segments {
            if let Some(more) = segments.next() {
                segment.add(more);
            }
        }
        self.segments.extend(segments);
        self.complete &= later.complete;
        self.workers.extend(later.workers);
        self.first_done = merge::options(self.first_done, later.first_done, earlier);
        self.waiting = merge::options(self.waiting, later.waiting, u64::saturating_add);
        self.caught_up_ns = merge::caught_up([self.caught_up_ns, later.caught_up_ns]);
        for waits in later.claim_waits {
            merge::claim_waits(&mut self.claim_waits, waits);
        }
        self.claim_waits.sort_by_key(|waits| waits.role);
        self.slices.merge(later.slices);
        self.slices = self.slices.recorded();
        for slowest in later.slowest {
            merge::slowest(&mut self.slowest, slowest);
        }
        self.machine = self.machine.or(later.machine);
        self.pauses = merge::options(self.pauses, later.pauses, Pauses::worse);
        self.steady = self.steady.or(later.steady);
        self.sync = merge::options(self.sync, later.sync, sync);
        if !later.hosts.is_empty() {
            join_hosts(&mut self.hosts, later.hosts);
            self.evidence = evidence::of_hosts(&self.hosts);
        }
        self
    }
}

/// Returns the processor time of the workers in the measured segments; `None` if it was not
/// counted.
fn workers(phase: &PhaseRecord) -> Option<HostWorkers> {
    let began_ns = phase.measured().next()?.began_ns;
    let machine = phase.machine.as_ref()?;
    let slices = machine.slices_of(&(began_ns..began_ns + phase.measured_ns()));
    let ns = machine.ns_of(&slices);
    let threads = machine.threads.known()?.iter();
    let used: Vec<u64> = threads
        .filter(|thread| thread.is_worker())
        .filter_map(|thread| thread.cpu_ns.sum(&slices))
        .collect();
    (ns > 0 && !used.is_empty()).then(|| HostWorkers {
        count: used.len() as u64,
        cpu_ns: used.iter().sum(),
        ns: ns.saturating_mul(used.len() as u64),
    })
}

impl Segment {
    /// Adds the results of another worker or rank in the same segment, or the results of the next
    /// segment.
    pub fn add(&mut self, more: Self) {
        self.began_ns = self.began_ns.min(more.began_ns);
        self.ended_ns = self.ended_ns.max(more.ended_ns);
        self.issued += more.issued;
        self.transactions += more.transactions;
        self.skipped.merge(&more.skipped);
        self.compute.add(more.compute);
        for operation in more.operations {
            merge::operation(&mut self.operations, operation);
        }
        self.operations
            .sort_by_key(|operation| (operation.role, operation.action));
    }
}

fn earlier(one: FirstDone, other: FirstDone) -> FirstDone {
    if (other.at_ns, other.worker) < (one.at_ns, one.worker) {
        other
    } else {
        one
    }
}

fn sync(one: PhaseSync, other: PhaseSync) -> PhaseSync {
    PhaseSync {
        began_ns: one.began_ns.min(other.began_ns),
        ended_ns: one.ended_ns.max(other.ended_ns),
        space_back_ns: merge::facts(one.space_back_ns, other.space_back_ns, u64::max),
    }
}

fn join_hosts(hosts: &mut Vec<HostPhase>, more: Vec<HostPhase>) {
    // Uses a map, because each of up to ten thousand hosts is looked up.
    let known: HashMap<HostId, usize> = (0..)
        .zip(hosts.iter())
        .map(|(place, host)| (host.host.clone(), place))
        .collect();
    for more in more {
        let Some(place) = known.get(&more.host) else {
            hosts.push(more);
            continue;
        };
        let host = &mut hosts[*place];
        host.ranks += more.ranks;
        host.workers = merge::options(host.workers, more.workers, |one, other| HostWorkers {
            count: one.count + other.count,
            cpu_ns: one.cpu_ns.saturating_add(other.cpu_ns),
            ns: one.ns.saturating_add(other.ns),
        });
        host.evidence = merge::options(host.evidence.take(), more.evidence, |one, other| {
            evidence::both(one, other, Apart::Processes)
        });
    }
}

/// Joins phases of the same kind from two records, in the order in which they were performed. A
/// phase that only one of the records contains becomes incomplete, because not all ranks performed
/// it.
pub(super) fn all(phases: Vec<PhaseRecord>, later: Vec<PhaseRecord>) -> Vec<PhaseRecord> {
    let mut later: BTreeMap<Key, PhaseRecord> = keyed(later).collect();
    let mut joined: BTreeMap<Key, PhaseRecord> = BTreeMap::new();
    let alone = |phase| PhaseRecord {
        complete: false,
        ..phase
    };
    for (key, phase) in keyed(phases) {
        let both = match later.remove(&key) {
            Some(more) => phase.join(more),
            None => alone(phase),
        };
        joined.insert(key, both);
    }
    joined.extend(later.into_iter().map(|(key, phase)| (key, alone(phase))));
    joined.into_values().collect()
}

type Key = (Phase, usize);

fn keyed(phases: Vec<PhaseRecord>) -> impl Iterator<Item = (Key, PhaseRecord)> {
    let mut counts: HashMap<Phase, usize> = HashMap::new();
    phases.into_iter().map(move |phase| {
        let count = counts.entry(phase.phase).or_default();
        let key = (phase.phase, *count);
        *count += 1;
        (key, phase)
    })
}
