//! The processors of the machine, and those that this process may use.
//!
//! [`crate::cpu`] reads the processors' time, and [`crate::cgroup`] the quota of a control group.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::{Fact, both};
use crate::sources::Sources;

const ONLINE: &str = "/sys/devices/system/cpu/online";
const STATUS: &str = "/proc/self/status";

/// The processors: model, number, frequency policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Processors {
    /// Name of the model: `model name` of `/proc/cpuinfo`. On an architecture without such a name
    /// (aarch64), the numbers of implementer and part.
    pub model: Fact<String>,
    /// Number of logical processors that are online (`/sys/devices/system/cpu/online`).
    pub online: Fact<u64>,
    /// Number of online processors that this process may run on (`Cpus_allowed_list` of
    /// `/proc/self/status`).
    pub usable: Fact<u64>,
    /// Number of physical packages of the online processors (`topology/physical_package_id`).
    pub sockets: Fact<u64>,
    /// Number of physical cores of the online processors: distinct sets of siblings
    /// (`topology/thread_siblings_list`).
    pub cores: Fact<u64>,
    /// Frequency governors of the online processors, each named once, joined with commas
    /// (`cpufreq/scaling_governor`). Not applicable if the kernel does not control the frequency,
    /// as in most virtual machines.
    pub frequency_governor: Fact<String>,
    /// Whether the processor reports a hypervisor (the flag `hypervisor` of `/proc/cpuinfo`). Not
    /// applicable on architectures other than x86, which have no such flag.
    pub hypervisor: Fact<bool>,
}

impl Processors {
    pub fn read(sources: &Sources) -> Processors {
        let information = sources.text("/proc/cpuinfo");
        let online = list(sources, ONLINE, sources.text(ONLINE));
        Processors {
            model: information
                .clone()
                .and_then(|text| sources.found("/proc/cpuinfo", model(&text), || "names no model")),
            usable: allowed_of(sources, &online).map(|numbers| numbers.len() as u64),
            sockets: distinct(sources, &online, "topology/physical_package_id")
                .and_then(|ids| count_packages(sources, &ids)),
            cores: distinct(sources, &online, "topology/thread_siblings_list")
                .map(|siblings| siblings.len() as u64),
            frequency_governor: distinct(sources, &online, "cpufreq/scaling_governor")
                .map(|governors| governors.into_iter().collect::<Vec<_>>().join(",")),
            hypervisor: information.and_then(|text| hypervisor(&text)),
            online: online.map(|numbers| numbers.len() as u64),
        }
    }
}

/// Returns the value of the first line `key : value` in `/proc/cpuinfo` or a similar file.
fn field<'a>(information: &'a str, key: &str) -> Option<&'a str> {
    information.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
    })
}

/// Returns the name of the processor's model as x86, MIPS, POWER and RISC-V report it, or ARM's
/// numbers of implementer and part.
fn model(information: &str) -> Option<String> {
    ["model name", "cpu model", "cpu", "uarch"]
        .iter()
        .find_map(|key| field(information, key))
        .map(str::to_owned)
        .or_else(|| {
            let implementer = field(information, "CPU implementer")?;
            let part = field(information, "CPU part")?;
            Some(format!("implementer {implementer} part {part}"))
        })
}

fn hypervisor(information: &str) -> Fact<bool> {
    match field(information, "flags") {
        Some(flags) => Fact::Known(flags.split_whitespace().any(|flag| flag == "hypervisor")),
        None => Fact::NotApplicable,
    }
}

/// Parses a kernel list such as `0-3,8` (`cpuset(7)`, List format).
fn parse_list(text: &str) -> Option<BTreeSet<u64>> {
    /// Maximum length of a range of processors; a longer range is invalid.
    const RANGE_MAX: u64 = 1 << 20;
    let mut numbers = BTreeSet::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first > RANGE_MAX {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

fn list(sources: &Sources, path: &str, text: Fact<String>) -> Fact<BTreeSet<u64>> {
    text.and_then(|text| {
        let why = || format!("`{text}` is not a list of processors");
        sources.found(path, parse_list(&text), why)
    })
}

/// Returns the numbers of the online processors that this process may run on (`Cpus_allowed_list`
/// of `/proc/self/status`).
pub fn allowed_online(sources: &Sources) -> Fact<BTreeSet<u64>> {
    allowed_of(sources, &list(sources, ONLINE, sources.text(ONLINE)))
}

fn allowed_of(sources: &Sources, online: &Fact<BTreeSet<u64>>) -> Fact<BTreeSet<u64>> {
    let allowed = sources.text(STATUS).and_then(|status| {
        let list = field(&status, "Cpus_allowed_list").map(str::to_owned);
        sources.found(STATUS, list, || "has no Cpus_allowed_list")
    });
    let allowed = list(sources, STATUS, allowed);
    both(&allowed, online, |allowed, online| {
        allowed.intersection(online).copied().collect()
    })
}

/// Returns the distinct values that an attribute has on the online processors.
fn distinct(
    sources: &Sources,
    online: &Fact<BTreeSet<u64>>,
    attribute: &str,
) -> Fact<BTreeSet<String>> {
    online.as_ref().and_then(|numbers| {
        let mut texts = BTreeSet::new();
        for number in numbers {
            let directory = format!("/sys/devices/system/cpu/cpu{number}");
            match sources.feature(&format!("{directory}/{attribute}"), &directory) {
                Fact::Known(text) => texts.insert(text),
                missing => return missing.map(|_| texts),
            };
        }
        Fact::Known(texts)
    })
}

/// Counts packages. The number is unavailable if an identifier is -1, which the kernel writes for a
/// package that the firmware does not name.
fn count_packages(sources: &Sources, ids: &BTreeSet<String>) -> Fact<u64> {
    if ids.contains("-1") {
        return sources.unavailable(
            "/sys/devices/system/cpu",
            "physical_package_id is -1: not named by the firmware",
        );
    }
    Fact::Known(ids.len() as u64)
}

/// Sets the timer slack of the calling thread to 1 ns, so that the thread wakes up on time
/// (PR_SET_TIMERSLACK, prctl(2)). The default is 50 microseconds.
///
/// # Errors
/// Returns the error of prctl(2).
pub fn wake_exactly() -> std::io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(
        std::num::NonZeroU64::new(1),
    )?)
}

/// Binds the calling thread to one processor: of the n processors that it may use, the one with
/// index `number` modulo n.
///
/// # Errors
/// Returns an error if the affinity cannot be read or set.
pub fn pin_to(number: u32) -> std::io::Result<()> {
    let allowed = rustix::thread::sched_getaffinity(None)?;
    let usable: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|cpu| allowed.is_set(*cpu))
        .collect();
    let Some(cpu) = usable.get(number as usize % usable.len().max(1)) else {
        return Err(std::io::Error::other("the thread may use no processor"));
    };
    let mut one = rustix::thread::CpuSet::new();
    one.set(*cpu);
    Ok(rustix::thread::sched_setaffinity(None, &one)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::tests::Tree;

    const X86: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 167\nmodel name\t: \
                       Intel(R) Xeon(R) Processor\nflags\t\t: fpu vme hypervisor sse\n";
    const ARM: &str =
        "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";

    fn two_cores_of_two_threads() -> Tree {
        let tree = Tree::new(&[
            ("/proc/cpuinfo", X86),
            (ONLINE, "0-3\n"),
            (STATUS, "Name:\tx\nCpus_allowed_list:\t1-2,7\n"),
        ]);
        for number in 0..4 {
            let cpu = format!("/sys/devices/system/cpu/cpu{number}");
            tree.file(&format!("{cpu}/topology/physical_package_id"), "0\n");
            let siblings = format!("{},{}\n", number % 2, number % 2 + 2);
            tree.file(&format!("{cpu}/topology/thread_siblings_list"), &siblings);
        }
        tree
    }

    #[test]
    fn processors_of_a_fixture_tree_are_read() {
        let tree = two_cores_of_two_threads();
        assert_eq!(
            Processors::read(&tree.sources),
            Processors {
                model: Fact::Known("Intel(R) Xeon(R) Processor".into()),
                online: Fact::Known(4),
                usable: Fact::Known(2),
                sockets: Fact::Known(1),
                cores: Fact::Known(2),
                frequency_governor: Fact::NotApplicable,
                hypervisor: Fact::Known(true),
            }
        );
        for (number, governor) in ["powersave", "performance", "powersave", "powersave"]
            .iter()
            .enumerate()
        {
            let cpu = format!("/sys/devices/system/cpu/cpu{number}");
            tree.file(&format!("{cpu}/cpufreq/scaling_governor"), governor);
        }
        let governors = Processors::read(&tree.sources).frequency_governor;
        assert_eq!(governors, Fact::Known("performance,powersave".into()));
    }

    #[test]
    fn unnamed_package_is_unavailable() {
        let tree = two_cores_of_two_threads();
        tree.file(
            "/sys/devices/system/cpu/cpu1/topology/physical_package_id",
            "-1",
        );
        assert!(Processors::read(&tree.sources).sockets.why().is_some());
    }

    #[test]
    fn arm_processor_has_a_numeric_model_and_no_hypervisor_flag() {
        assert_eq!(model(ARM).unwrap(), "implementer 0x41 part 0xd0c");
        assert_eq!(hypervisor(ARM), Fact::NotApplicable);
        assert_eq!(hypervisor("flags : fpu hypervisor2"), Fact::Known(false));
    }

    #[test]
    fn lists_of_processors_are_parsed() {
        let numbers = |text| parse_list(text).map(|set| set.into_iter().collect::<Vec<_>>());
        assert_eq!(numbers("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(numbers("5"), Some(vec![5]));
        assert_eq!(numbers("3-1"), None);
        assert_eq!(numbers(""), None);
        assert_eq!(numbers("0-99999999999"), None);
    }

    #[test]
    fn missing_files_make_all_facts_unavailable() {
        let processors = Processors::read(&Tree::new(&[]).sources);
        assert!(processors.model.why().is_some());
        assert!(processors.online.why().is_some());
        assert!(processors.usable.why().is_some());
        assert!(processors.hypervisor.why().is_some());
    }

    #[test]
    fn this_machine_has_a_usable_processor() {
        let processors = Processors::read(&Sources::default());
        let (online, usable) = (processors.online, processors.usable);
        assert!(usable.known() >= Some(&1), "{usable:?}");
        assert!(usable.known() <= online.known(), "{usable:?} of {online:?}");
    }
}
