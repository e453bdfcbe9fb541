//! Facts about the machine at one moment: kernel, processors, memory, clock and load.
//!
//! [`crate::target`] describes a directory, and [`crate::counters`] reads values that change during
//! a run.

use std::ffi::CStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cgroup::Cgroup;
use crate::cpu::SystemTimes;
use crate::fact::Fact;
use crate::processors::Processors;
use crate::sources::Sources;

pub(crate) const MEMINFO: &str = "/proc/meminfo";
const LOADAVG: &str = "/proc/loadavg";
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0";
const VENDOR: &str = "/sys/class/dmi/id/sys_vendor";
const HUGEPAGE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// The running kernel (uname(2)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// Name of the kernel: `Linux`.
    pub sysname: String,
    /// Release: `6.1.0-18-amd64`.
    pub release: String,
    /// Build of the release (`#1 SMP …`).
    pub version: String,
    /// Architecture: `x86_64`.
    pub machine: String,
}

/// Load averages: mean numbers of tasks that run or wait uninterruptibly (proc_loadavg(5)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadAverage {
    /// Average over the last minute: the first number of `/proc/loadavg`.
    pub one_minute: f64,
    /// Average over the last five minutes: the second number.
    pub five_minutes: f64,
    /// Average over the last fifteen minutes: the third number.
    pub fifteen_minutes: f64,
}

/// The resource that limits the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheBound {
    Memory,
    ControlGroup,
}

/// Upper limit of the page cache for this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimit {
    pub bytes: u64,
    /// The resource with the smaller limit.
    pub bound: CacheBound,
}

/// The machine at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Network name of the machine (uname(2), `nodename`).
    pub hostname: String,
    /// Name, release and architecture of the running kernel.
    pub kernel: Kernel,
    /// The distribution: `PRETTY_NAME` of os-release(5).
    pub operating_system: Fact<String>,
    /// Random identifier of this boot (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: Fact<String>,
    /// Time since boot, in seconds (`/proc/uptime`).
    pub uptime_seconds: Fact<f64>,
    /// Model, number and frequency policy of the processors.
    pub processors: Processors,
    /// Whether the processors are emulated in software, by QEMU without hardware virtualization
    /// (TCG). Counts are then correct, but times are meaningless. True if the vendor is `QEMU`
    /// (`/sys/class/dmi/id/sys_vendor`) and the processor is named TCG; false if the processor
    /// reports no hypervisor. Absent in records that are older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<Fact<bool>>,
    /// Usable memory, in bytes (`MemTotal` of `/proc/meminfo`).
    pub memory_total_bytes: Fact<u64>,
    /// Memory available without swapping, in bytes (`MemAvailable`).
    pub memory_available_bytes: Fact<u64>,
    /// Swap space, in bytes (`SwapTotal`); 0 if the machine has none.
    pub swap_total_bytes: Fact<u64>,
    /// Control group of this process. Not applicable if the kernel has no control groups.
    pub cgroup: Fact<Cgroup>,
    /// The active clock source (`current_clocksource`).
    pub clock_source: Fact<String>,
    /// Clock sources that the kernel could use (`available_clocksource`).
    pub clock_sources_available: Fact<Vec<String>>,
    /// Load averages (`/proc/loadavg`).
    pub load_average: Fact<LoadAverage>,
    /// Share of all processor time since boot that the hypervisor took (CPU steal), from 0 to 1
    /// (`/proc/stat`).
    pub steal_fraction_since_boot: Fact<f64>,
    /// Mode of transparent huge pages: `always`, `madvise` or `never`. Not applicable if the kernel
    /// is built without huge pages.
    pub transparent_hugepage: Fact<String>,
    /// Size of a page of memory, in bytes (getauxval(3), `AT_PAGESZ`).
    pub page_size_bytes: u64,
}

/// Reads the random identifier of this boot.
pub fn boot_id(sources: &Sources) -> Fact<String> {
    sources.text("/proc/sys/kernel/random/boot_id")
}

impl Host {
    pub fn read(sources: &Sources) -> Host {
        let name = rustix::system::uname();
        let text = |name: &CStr| name.to_string_lossy().into_owned();
        let memory = sources.text(MEMINFO);
        let processors = Processors::read(sources);
        Host {
            hostname: text(name.nodename()),
            kernel: Kernel {
                sysname: text(name.sysname()),
                release: text(name.release()),
                version: text(name.version()),
                machine: text(name.machine()),
            },
            operating_system: operating_system(sources),
            boot_id: boot_id(sources),
            uptime_seconds: uptime_seconds(sources),
            emulated: Some(emulated(sources, &processors)),
            processors,
            memory_total_bytes: sources.kibibytes(MEMINFO, &memory, "MemTotal"),
            memory_available_bytes: sources.kibibytes(MEMINFO, &memory, "MemAvailable"),
            swap_total_bytes: sources.kibibytes(MEMINFO, &memory, "SwapTotal"),
            cgroup: Cgroup::read(sources),
            clock_source: clock_source(sources),
            clock_sources_available: sources
                .text(&format!("{CLOCK_SOURCE}/available_clocksource"))
                .map(|names| names.split_whitespace().map(str::to_owned).collect()),
            load_average: load_average(sources),
            steal_fraction_since_boot: SystemTimes::read(sources).and_then(|times| {
                let spent = times.since_boot();
                spent.fraction_of(&spent.steal_ns)
            }),
            transparent_hugepage: sources.choice(HUGEPAGE, "/sys/kernel/mm", "has no choice"),
            page_size_bytes: rustix::param::page_size() as u64,
        }
    }

    /// Upper limit of the page cache for this process: the smaller of the machine's memory and the
    /// control group's limit. Unavailable if one of these limits is unavailable, because the
    /// unknown limit might be the smaller one.
    pub fn cache_limit(&self) -> Fact<CacheLimit> {
        let limit = self
            .cgroup
            .as_ref()
            .and_then(|cgroup| cgroup.memory_limit_bytes.clone());
        let memory = self.memory_total_bytes.clone().map(|bytes| CacheLimit {
            bytes,
            bound: CacheBound::Memory,
        });
        match (memory, limit) {
            (Fact::Known(memory), Fact::Known(limit)) if limit < memory.bytes => {
                Fact::Known(CacheLimit {
                    bytes: limit,
                    bound: CacheBound::ControlGroup,
                })
            }
            (Fact::Known(_), Fact::Unavailable(why)) => Fact::Unavailable(why),
            (memory, _) => memory,
        }
    }

    /// Returns the bytes of [`Host::cache_limit`], without the limiting resource.
    pub fn cache_limit_bytes(&self) -> Fact<u64> {
        self.cache_limit().map(|limit| limit.bytes)
    }
}

pub(crate) fn clock_source(sources: &Sources) -> Fact<String> {
    sources.text(&format!("{CLOCK_SOURCE}/current_clocksource"))
}

/// Returns whether the processors are emulated. Only two cases are certain: a processor named after
/// the emulator, and a processor that reports no hypervisor. In all other cases the fact is
/// unavailable, because QEMU can name an emulated processor after a real one.
fn emulated(sources: &Sources, processors: &Processors) -> Fact<bool> {
    let model = processors.model.known();
    let is_named = model.is_some_and(|model| model.contains("TCG"));
    if is_named && sources.text(VENDOR) == Fact::Known("QEMU".to_owned()) {
        return Fact::Known(true);
    }
    match &processors.hypervisor {
        Fact::Known(true) => {
            sources.unavailable("/proc/cpuinfo", "does not tell what the hypervisor does")
        }
        Fact::NotApplicable => sources.unavailable(
            "/proc/cpuinfo",
            "does not tell whether there is a hypervisor",
        ),
        answer => answer.clone(),
    }
}

fn operating_system(sources: &Sources) -> Fact<String> {
    const PATHS: [&str; 2] = ["/etc/os-release", "/usr/lib/os-release"];
    sources
        .text(PATHS[0])
        .or_else(|| sources.text(PATHS[1]))
        .and_then(|text| sources.found(PATHS[0], pretty_name(&text), || "has no PRETTY_NAME"))
}

/// Returns the value of `PRETTY_NAME`, which may be quoted as in a shell (os-release(5)).
fn pretty_name(text: &str) -> Option<String> {
    let value = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    if let Some(plain) = value.strip_prefix('\'') {
        return Some(plain.strip_suffix('\'')?.to_owned());
    }
    let inner = match value.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => value,
    };
    let mut name = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        name.extend(match character {
            '\\' => characters.next(),
            other => Some(other),
        });
    }
    (!name.is_empty()).then_some(name)
}

fn uptime_seconds(sources: &Sources) -> Fact<f64> {
    const UPTIME: &str = "/proc/uptime";
    sources.text(UPTIME).and_then(|text| {
        let first = text.split_whitespace().next().unwrap_or_default();
        sources.parse(UPTIME, first)
    })
}

fn load_average(sources: &Sources) -> Fact<LoadAverage> {
    sources.text(LOADAVG).and_then(|text| {
        let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
        let mut next = || numbers.next();
        match (next(), next(), next()) {
            (Some(one_minute), Some(five_minutes), Some(fifteen_minutes)) => {
                Fact::Known(LoadAverage {
                    one_minute,
                    five_minutes,
                    fifteen_minutes,
                })
            }
            _ => sources.unavailable(LOADAVG, format!("`{text}` has no three averages")),
        }
    })
}

#[cfg(test)]
mod tests;
