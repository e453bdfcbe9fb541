//! Where the contents that were read came from, and whether that is what the run asked of the cache.

use observe::{Accounted, Class, Fact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{Cache, RunSpec};

use crate::run::{PhaseRecord, Record};

/// Of what the reads of a cold cache return, at least this share comes from the device.
pub const COLD_MIN: f64 = 0.5;
/// Of what the reads of a warm cache return, at most this share comes from the device.
pub const WARM_MAX: f64 = 0.1;

/// A cache that was not as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Surprise {
    /// A cold cache, and less than half of what was read came from the device.
    LittleThoughCold,
    /// A warm cache, and more than a tenth of what was read came from the device.
    MuchThoughWarm,
}

/// What lies behind the page cache of the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Behind {
    /// A device of this machine.
    Device,
    /// Another machine, or a program that serves files.
    Server,
    /// Nothing: the file system is memory.
    Memory,
    /// Targets of several kinds.
    Several,
}

impl Behind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Server => "server",
            Self::Memory => "memory",
            Self::Several => "device or server",
        }
    }

    /// Of a record's targets. Unavailable where the kernel does not count what a process fetches from one of them.
    pub(crate) fn of(record: &Record) -> Fact<Self> {
        if record.spec.storage.speaks_to_servers() {
            return Fact::Known(Self::Server);
        }
        let mut classes = Vec::new();
        for location in &record.locations {
            let target = match &location.target {
                Fact::Known(target) => target,
                Fact::NotApplicable => continue,
                Fact::Unavailable(why) => return Fact::Unavailable(why.clone()),
            };
            match (&target.mount, &target.class) {
                (Fact::Known(mount), _) if !mount.counts_reads() => {
                    let kind = &mount.file_system_type;
                    return Fact::Unavailable(format!("the kernel does not count the reads of a {kind} server"));
                }
                (Fact::Unavailable(why), _) | (_, Fact::Unavailable(why)) => return Fact::Unavailable(why.clone()),
                (_, class) => classes.extend(class.known()),
            }
        }
        let mut classes = classes.into_iter();
        let kind = |class: &Class| match class {
            Class::Memory => Self::Memory,
            Class::Network => Self::Server,
            Class::Block | Class::Overlay | Class::Other => Self::Device,
        };
        let first = classes.next().map_or(Self::Device, kind);
        Fact::Known(if classes.all(|class| kind(class) == first) {
            first
        } else {
            Self::Several
        })
    }
}

/// Where what operations read came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadsServed {
    /// Bytes that operations read.
    pub read_bytes: u64,
    /// Bytes that the kernel fetched for this process from behind the page cache, or that the program itself got from servers. Not
    /// available where the kernel does not count them.
    pub fetched_bytes: Fact<u64>,
    /// What lies behind the page cache.
    pub fetched_from: Fact<Behind>,
    /// Fetched bytes over read bytes: 0 where the page cache served everything, above 1 where more was fetched than read;
    /// nothing where one is not known, or nothing was read.
    pub fraction: Option<f64>,
    /// In what that is not what was asked of the cache; nothing where it is.
    pub surprise: Option<Surprise>,
}

/// Of these phases together, which all have evidence.
pub(crate) fn of<'phase>(record: &Record, phases: impl Iterator<Item = &'phase PhaseRecord>) -> Option<ReadsServed> {
    let fetched_from = Behind::of(record);
    let mut read_bytes = 0;
    let mut fetched: Option<Fact<u64>> = None;
    for phase in phases {
        let performing = &phase.evidence.as_ref()?.performing;
        let of_phase = match record.spec.storage.speaks_to_servers() {
            true => from_servers(performing),
            false => performing.own.read_bytes.clone(),
        };
        read_bytes += bytes_read(phase);
        fetched = Some(match fetched {
            Some(sum) => sum.and_then(|sum| of_phase.map(|bytes| sum.saturating_add(bytes))),
            None => of_phase,
        });
    }
    let fetched_bytes = fetched_from
        .clone()
        .and_then(|_| fetched.unwrap_or(Fact::NotApplicable));
    let known = fetched_bytes.known().filter(|_| read_bytes > 0);
    let fraction = known.map(|bytes| *bytes as f64 / read_bytes as f64);
    Some(ReadsServed {
        read_bytes,
        fraction,
        fetched_bytes,
        fetched_from,
        surprise: fraction.and_then(|fraction| surprise(fraction, &record.spec)),
    })
}

/// What the program itself got from servers: the kernel knows nothing of it.
fn from_servers(counted: &Accounted) -> Fact<u64> {
    counted.messages.as_ref().and_then(|messages| {
        let bytes = messages.iter().map(|reading| reading.server_read_bytes.clone());
        bytes.fold(Fact::Known(0), |sum: Fact<u64>, more| {
            sum.and_then(|sum| more.map(|more| sum.saturating_add(more)))
        })
    })
}

/// Of the transactions; nothing where there are none, or one of them has no evidence.
pub(crate) fn of_transactions(record: &Record) -> Option<ReadsServed> {
    record.actual.transactions().next()?;
    of(record, record.actual.transactions())
}

/// What the operations of all segments read.
fn bytes_read(phase: &PhaseRecord) -> u64 {
    let operations = phase.segments.iter().flat_map(|segment| &segment.operations);
    let reads = operations.filter(|operation| operation.action.moves_bytes_in());
    reads.map(|operation| operation.meter.bytes).sum()
}

fn surprise(fraction: f64, spec: &RunSpec) -> Option<Surprise> {
    match spec.cache {
        // Past the cache everything comes from the device; a server's client without a cache has what it reads from the server.
        _ if spec.direct || spec.storage.speaks_to_servers() => None,
        Cache::Cold | Cache::ColdData if fraction < COLD_MIN => Some(Surprise::LittleThoughCold),
        Cache::Warm if fraction > WARM_MAX => Some(Surprise::MuchThoughWarm),
        _ => None,
    }
}
