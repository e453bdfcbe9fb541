//! What hosts of a run do not have in common.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;

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
    let of = |fact, value: &dyn Fn(usize) -> Option<String>| {
        let mut by_value: BTreeMap<String, (u64, usize)> = BTreeMap::new();
        for place in 0..cluster.hosts.len() {
            if let Some(value) = value(place) {
                by_value.entry(value).or_insert((0, place)).0 += 1;
            }
        }
        let mut values: Vec<(String, (u64, usize))> = by_value.into_iter().collect();
        values.sort_by_key(|(_, (count, place))| (std::cmp::Reverse(*count), *place));
        let values: Vec<HostsAlike> = values
            .into_iter()
            .map(|(value, (count, place))| HostsAlike {
                value,
                count,
                first: cluster.hosts[place].host.hostname.clone(),
            })
            .collect();
        (values.len() > 1).then_some(HostsDiffer { fact, values })
    };
    let host = |place: usize| &cluster.hosts[place].host;
    let known = |fact: &Fact<String>| fact.known().cloned();
    let wall_clocks = wall_clocks(cluster);
    let all = [
        of(HostFact::Program, &|place| {
            let tool = &cluster.hosts[place].tool;
            Some(format!(
                "{} {}, generators {}",
                tool.name, tool.version, tool.generators
            ))
        }),
        of(HostFact::Kernel, &|place| {
            let kernel = &host(place).kernel;
            Some(format!(
                "{} {} {}",
                kernel.sysname, kernel.release, kernel.machine
            ))
        }),
        of(HostFact::ClockSource, &|place| {
            known(&host(place).clock_source)
        }),
        of(HostFact::Processor, &|place| {
            known(&host(place).processors.model)
        }),
        of(HostFact::Processors, &|place| {
            host(place).processors.online.known().map(u64::to_string)
        }),
        of(HostFact::WallClock, &|place| {
            let ns = *wall_clocks.get(&place)?;
            Some(match ns.unsigned_abs() > WALL_CLOCKS_APART_NS {
                true => format!("{:+.1} s", ns as f64 / 1e9),
                false => "within 1 s".to_owned(),
            })
        }),
    ];
    all.into_iter().flatten().collect()
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
