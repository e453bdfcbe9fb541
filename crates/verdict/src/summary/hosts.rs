//! What hosts of a run do not have in common.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use record::ranks::ClusterRecord;

/// Wall clocks that are less apart, in nanoseconds, are those of machines that are set by the
/// network: NTP keeps them within some milliseconds, and timestamps of files have whole seconds in
/// many tools.
pub const WALL_CLOCKS_APART_NS: u64 = 1_000_000_000;

/// Something that hosts should have in common.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum HostFact {
    /// The program, with the version of its generators.
    Program,
    /// The release and the architecture of the kernel.
    Kernel,
    /// The kernel's source of time.
    ClockSource,
    /// The model of the processors.
    Processor,
    /// How many processors are online.
    Processors,
    /// The wall clock, where it is more than a second from that of the first rank's host.
    WallClock,
}

/// Something that hosts do not have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostsDiffer {
    /// What.
    pub fact: HostFact,
    /// Each value once, the one of most hosts first. Hosts of which it is not known are in none.
    pub values: Vec<HostsAlike>,
}

/// Hosts that have a value in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostsAlike {
    /// The value.
    pub value: String,
    /// How many have it.
    pub count: u64,
    /// The name of the first.
    pub first: String,
}

/// Whatever hosts do not have in common; empty for hosts that are alike.
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

/// Hosts by their values, where these are not all the same.
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

/// By host, how far its wall clock was from that of rank 0: as its first rank found it.
fn wall_clocks(cluster: &ClusterRecord) -> BTreeMap<usize, i64> {
    let mut of_hosts = BTreeMap::new();
    for rank in &cluster.ranks {
        of_hosts
            .entry(rank.host as usize)
            .or_insert(rank.clock.wall_offset_ns);
    }
    of_hosts
}
