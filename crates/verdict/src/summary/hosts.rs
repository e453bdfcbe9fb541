//! The facts in which the hosts of a run differ.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use record::ranks::ClusterRecord;

/// Wall clocks that differ by at most this number of nanoseconds count as equal. NTP keeps clocks
/// within some milliseconds, and many tools show timestamps of files in whole seconds.
pub const WALL_CLOCKS_APART_NS: u64 = 1_000_000_000;

/// A fact that should be equal on all hosts.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum HostFact {
    /// Name and version of the program, with the version of its generators.
    Program,
    /// Name, release and architecture of the kernel.
    Kernel,
    /// The kernel's clock source, such as `tsc`.
    ClockSource,
    /// Model of the processors, as in `processors.model` of the host.
    Processor,
    /// Number of processors that are online.
    Processors,
    /// The wall clock. Only a difference of more than 1 s from the clock of rank 0's host counts.
    WallClock,
}

/// A fact that is not equal on all hosts, with its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostsDiffer {
    /// The fact, such as `clock-source`.
    pub fact: HostFact,
    /// The different values, the most frequent first. Hosts whose value is not known are excluded.
    pub values: Vec<HostsAlike>,
}

/// The hosts that have the same value of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostsAlike {
    /// The fact's value as text.
    pub value: String,
    /// Number of hosts with this value.
    pub count: u64,
    /// Name of the first of these hosts.
    pub first: String,
}

/// Returns the facts in which hosts differ; empty if the hosts are alike.
pub fn differences(cluster: &ClusterRecord) -> Vec<HostsDiffer> {
    let wall_clocks = wall_clocks(cluster);
    let of_host = |fact, place: usize| {
        let (tool, host) = (&cluster.hosts[place].tool, &cluster.hosts[place].host);
        let (name, version, kernel) = (&tool.name, &tool.version, &host.kernel);
        match fact {
            HostFact::Program => Some(format!("{name} {version}, generators {}", tool.generators)),
            HostFact::Kernel => {
                let (release, machine) = (&kernel.release, &kernel.machine);
                Some(format!("{} {release} {machine}", kernel.sysname))
            }
            HostFact::ClockSource => host.clock_source.known().cloned(),
            HostFact::Processor => host.processors.model.known().cloned(),
            HostFact::Processors => host.processors.online.known().map(u64::to_string),
            HostFact::WallClock => {
                let ns = *wall_clocks.get(&place)?;
                Some(match ns.unsigned_abs() > WALL_CLOCKS_APART_NS {
                    true => format!("{:+.1} s", ns as f64 / 1e9),
                    false => "within 1 s".to_owned(),
                })
            }
        }
    };
    let all = [
        HostFact::Program,
        HostFact::Kernel,
        HostFact::ClockSource,
        HostFact::Processor,
        HostFact::Processors,
        HostFact::WallClock,
    ];
    all.into_iter()
        .filter_map(|fact| differ(cluster, fact, &|place| of_host(fact, place)))
        .collect()
}

/// Groups the hosts by their value of a fact; `None` if fewer than two values occur.
fn differ(
    cluster: &ClusterRecord,
    fact: HostFact,
    value: &dyn Fn(usize) -> Option<String>,
) -> Option<HostsDiffer> {
    let mut by_value: BTreeMap<String, (u64, usize)> = BTreeMap::new();
    for place in 0..cluster.hosts.len() {
        if let Some(value) = value(place) {
            by_value.entry(value).or_insert((0, place)).0 += 1;
        }
    }
    let mut values: Vec<(String, (u64, usize))> = by_value.into_iter().collect();
    values.sort_by_key(|(_, (count, place))| (std::cmp::Reverse(*count), *place));
    let alike = |(value, (count, place)): (String, (u64, usize))| HostsAlike {
        value,
        count,
        first: cluster.hosts[place].host.hostname.clone(),
    };
    let values: Vec<HostsAlike> = values.into_iter().map(alike).collect();
    (values.len() > 1).then_some(HostsDiffer { fact, values })
}

/// Wall-clock offset of each host from rank 0, in nanoseconds, as measured by the host's first
/// rank.
fn wall_clocks(cluster: &ClusterRecord) -> BTreeMap<usize, i64> {
    let mut of_hosts = BTreeMap::new();
    for rank in &cluster.ranks {
        of_hosts
            .entry(rank.host as usize)
            .or_insert(rank.clock.wall_offset_ns);
    }
    of_hosts
}
