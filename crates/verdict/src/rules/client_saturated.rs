//! **`client-saturated`** (DOUBTFUL). The target is on a network server, and this machine is the
//! limit: a faster server would not change the result. *Threshold*: the workers used more than 90 %
//! of the processors that they can use (a processor each, and together at most all of the machine),
//! or the interface that leads to the server used more than 80 % of its speed in one direction.
//! *Evidence*: the processor time of the workers; the bytes and the speed of the interface. If
//! there are several hosts, each is judged by its own counters, with a processor for each worker,
//! and the most saturated one is named. *What to do*: use more workers or more client machines.

use std::collections::BTreeMap;

use record::host_phase::HostPhase;

use super::rule::*;
use super::servers::targets_a_server;
use crate::summary::{evidence, phase, ranks};

/// Maximum processor time of the workers, as a share of the processors that they can use. Above
/// this share, the client is the limit of a run on a server.
const WORKERS_MAX: f64 = 0.90;

/// Maximum used share of an interface's speed. Above this share, the interface is the limit of a
/// run on a server. Headers, acknowledgements and gaps take the rest of the speed.
const INTERFACE_MAX: f64 = 0.80;

/// The target is on a server, and the client's processors or its interface were saturated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClientSaturated {
    /// Used share of the processors that the workers can use, from 0 to 1; null if processor time
    /// is not the reason.
    pub workers: Option<f64>,
    /// The interface that leads to the server, and the used share of its speed; null if the
    /// interface is not the reason.
    pub interface: Option<(String, f64)>,
    /// The most saturated host; absent if one process performed the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Number of other saturated hosts; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<u64>,
}

impl Rule for ClientSaturated {
    const ADVICE: &str = "use more workers or client machines";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        if !targets_a_server(record) {
            return None;
        }
        let mut saturated: Vec<Self> = clients(record)
            .into_iter()
            .filter(|client| client.workers.is_some() || client.interface.is_some())
            .collect();
        // The reason names the host with the highest use of its processors or of its interface.
        saturated.sort_by(|one, other| other.most().total_cmp(&one.most()));
        let others = saturated.len().saturating_sub(1) as u64;
        let first = saturated.into_iter().next()?;
        Some(Self {
            others: (others > 0).then_some(others),
            ..first
        })
    }

    fn sentence(&self) -> String {
        let workers = self.workers.map(|fraction| {
            let (fraction, limit) = (percent(fraction), percent(WORKERS_MAX));
            format!("workers used {fraction} of the processors they can use, limit {limit}")
        });
        let interface = self.interface.as_ref().map(|(name, fraction)| {
            let (name, limit) = (sanitize(name), percent(INTERFACE_MAX));
            let fraction = percent(*fraction);
            format!("the interface {name} passed {fraction} of its speed, limit {limit}")
        });
        let found: Vec<String> = workers.into_iter().chain(interface).collect();
        let found = found.join(", and ");
        let Some(host) = &self.host else {
            return found;
        };
        let others = self.others.map(grouped);
        let others = others.map_or(String::new(), |others| {
            format!(" (and {others} other hosts)")
        });
        format!("on {}{others}, {found}", sanitize(host))
    }
}

impl ClientSaturated {
    /// Keeps the maximum use of each resource, if this maximum exceeds the limit.
    fn of_client(
        host: Option<String>,
        workers: impl Iterator<Item = f64>,
        interfaces: impl Iterator<Item = (String, f64)>,
    ) -> Self {
        let workers = workers.reduce(f64::max);
        let interface = interfaces.max_by(|a, b| a.1.total_cmp(&b.1));
        Self {
            workers: workers.filter(|fraction| *fraction > WORKERS_MAX),
            interface: interface.filter(|(_, fraction)| *fraction > INTERFACE_MAX),
            host,
            others: None,
        }
    }

    fn most(&self) -> f64 {
        let interface = self.interface.as_ref();
        let interface = interface.map_or(0.0, |(_, fraction)| *fraction);
        self.workers.unwrap_or(0.0).max(interface)
    }
}

/// Returns, for each client, which of its resources are saturated. The clients are the hosts of the
/// run, or this machine alone.
fn clients(record: &Record) -> Vec<ClientSaturated> {
    let phases = || record.actual.transactions();
    if phases().all(|phase| phase.hosts.is_empty()) {
        let workers = phases().filter_map(|phase| {
            let workers = phase::summary(record, phase).machine?.workers;
            let workers = workers.filter(|workers| workers.count > 0)?;
            let each = workers.count as f64;
            let processors = record.host.processors.usable.known();
            let usable = processors.map_or(each, |all| each.min(*all as f64));
            Some(workers.sum / usable)
        });
        let interfaces = phases()
            .filter_map(|phase| evidence::busiest_interface(phase, phase.evidence.as_ref()?));
        return vec![ClientSaturated::of_client(None, workers, interfaces)];
    }
    // A host is identified by its name and its boot ID.
    type InPhases<'a> = Vec<(&'a PhaseRecord, &'a HostPhase)>;
    let mut hosts: BTreeMap<(&str, Option<&String>), InPhases<'_>> = BTreeMap::new();
    for phase in phases() {
        for host in &phase.hosts {
            let id = (&*host.host.hostname, host.host.boot_id.known());
            hosts.entry(id).or_default().push((phase, host));
        }
    }
    let of_host = |((name, _), seen): ((&str, _), InPhases<'_>)| {
        let workers = seen.iter().filter_map(|(_, host)| ranks::worker_cpu(host));
        let interfaces = seen
            .iter()
            .filter_map(|(phase, host)| ranks::busiest_interface(phase, host));
        ClientSaturated::of_client(Some(name.to_owned()), workers, interfaces)
    };
    hosts.into_iter().map(of_host).collect()
}
