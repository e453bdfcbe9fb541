//! Tests that read the facts of the host from a fixture tree, from an empty tree, and from this
//! machine.

use super::*;
use crate::sources::tests::Tree;

fn fixture() -> Tree {
    Tree::new(&[
        (
            "/etc/os-release",
            "ID=x\nPRETTY_NAME=\"Some \\\"Linux\\\" 1\"\n",
        ),
        ("/proc/sys/kernel/random/boot_id", "9a7eafc8\n"),
        ("/proc/uptime", "1234.56 99.00\n"),
        (
            MEMINFO,
            "MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:    8192 kB\nSwapTotal: 0 kB\n",
        ),
        (LOADAVG, "0.50 1.25 2.00 1/345 6789\n"),
        ("/proc/stat", "cpu 50 0 0 40 0 0 0 10\n"),
        (&format!("{CLOCK_SOURCE}/current_clocksource"), "tsc\n"),
        (
            &format!("{CLOCK_SOURCE}/available_clocksource"),
            "tsc kvm-clock \n",
        ),
        (HUGEPAGE, "always [madvise] never\n"),
        (
            "/proc/self/mountinfo",
            "30 23 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        ),
        ("/proc/self/cgroup", "0::/\n"),
        ("/sys/fs/cgroup/memory.max", "4096\n"),
    ])
}

#[test]
fn facts_of_a_host_are_read_from_a_fixture_tree() {
    let host = Host::read(&fixture().sources);
    assert_eq!(
        host.operating_system,
        Fact::Known("Some \"Linux\" 1".into())
    );
    assert_eq!(host.boot_id, Fact::Known("9a7eafc8".into()));
    assert_eq!(host.uptime_seconds, Fact::Known(1234.56));
    assert_eq!(host.memory_total_bytes, Fact::Known(16_777_216));
    assert_eq!(host.memory_available_bytes, Fact::Known(8_388_608));
    assert_eq!(
        host.swap_total_bytes,
        Fact::Known(0),
        "none is known to be none"
    );
    assert_eq!(host.clock_source, Fact::Known("tsc".into()));
    let clocks = vec!["tsc".to_owned(), "kvm-clock".to_owned()];
    assert_eq!(host.clock_sources_available, Fact::Known(clocks));
    let load = LoadAverage {
        one_minute: 0.5,
        five_minutes: 1.25,
        fifteen_minutes: 2.0,
    };
    assert_eq!(host.load_average, Fact::Known(load));
    assert_eq!(host.steal_fraction_since_boot, Fact::Known(0.1));
    assert_eq!(host.transparent_hugepage, Fact::Known("madvise".into()));
}

#[test]
fn emulation_is_reported_only_if_certain() {
    let emulated = |files: &[(&str, &str)]| Host::read(&Tree::new(files).sources).emulated.unwrap();
    let tcg = "model name : QEMU TCG CPU version 2.5+\nflags : fpu hypervisor\n";
    let guest = "model name : Some Processor\nflags : fpu hypervisor\n";
    let real = "model name : Some Processor\nflags : fpu\n";
    assert_eq!(
        emulated(&[("/proc/cpuinfo", tcg), (VENDOR, "QEMU\n")]),
        Fact::Known(true)
    );
    assert_eq!(emulated(&[("/proc/cpuinfo", real)]), Fact::Known(false));
    // The processor's name alone does not prove emulation, and neither does the vendor alone.
    assert!(emulated(&[("/proc/cpuinfo", tcg)]).why().is_some());
    assert!(
        emulated(&[("/proc/cpuinfo", guest), (VENDOR, "QEMU\n")])
            .why()
            .is_some()
    );
    let other = emulated(&[(
        "/proc/cpuinfo",
        "CPU implementer : 0x41\nCPU part : 0xd0c\n",
    )]);
    assert!(other.why().is_some());
    assert!(emulated(&[]).why().is_some());
}

#[test]
fn cache_limit_is_the_smaller_of_memory_and_cgroup() {
    let limit = |bytes, bound| Fact::Known(CacheLimit { bytes, bound });
    let mut host = Host::read(&fixture().sources);
    assert_eq!(host.cache_limit(), limit(4096, CacheBound::ControlGroup));
    assert_eq!(host.cache_limit_bytes(), Fact::Known(4096));
    host.memory_total_bytes = Fact::Known(1024);
    assert_eq!(host.cache_limit(), limit(1024, CacheBound::Memory));
    host.cgroup = Fact::NotApplicable;
    assert_eq!(host.cache_limit(), limit(1024, CacheBound::Memory));
    host.cgroup = Fact::Unavailable("hidden".into());
    assert_eq!(host.cache_limit_bytes().why(), Some("hidden"));
    host.memory_total_bytes = Fact::Unavailable("no meminfo".into());
    assert_eq!(host.cache_limit_bytes().why(), Some("no meminfo"));
}

#[test]
fn facts_without_files_are_unavailable() {
    let host = Host::read(&Tree::new(&[]).sources);
    let missing = [
        host.operating_system.why(),
        host.boot_id.why(),
        host.uptime_seconds.why(),
        host.memory_total_bytes.why(),
        host.memory_available_bytes.why(),
        host.swap_total_bytes.why(),
        host.cgroup.why(),
        host.clock_source.why(),
        host.clock_sources_available.why(),
        host.load_average.why(),
        host.steal_fraction_since_boot.why(),
        host.transparent_hugepage.why(),
    ];
    for (index, why) in missing.iter().enumerate() {
        assert!(why.is_some_and(|why| why.contains('/')), "{index}: {why:?}");
    }
}

#[test]
fn facts_from_malformed_files_are_unavailable() {
    let tree = fixture();
    tree.file(MEMINFO, "MemTotal: many kB\nSwapTotal: 5\n");
    tree.file(LOADAVG, "0.50 x 2.00\n");
    tree.file(HUGEPAGE, "always madvise\n");
    let host = Host::read(&tree.sources);
    assert!(host.memory_total_bytes.why().unwrap().contains("MemTotal"));
    assert!(host.swap_total_bytes.why().is_some(), "without a unit");
    assert!(host.load_average.why().is_some());
    assert!(host.transparent_hugepage.why().is_some());
}

#[test]
fn quotes_of_the_operating_systems_name_are_removed() {
    let name = |text: &str| pretty_name(text);
    assert_eq!(name("PRETTY_NAME=Plain\n").as_deref(), Some("Plain"));
    assert_eq!(name("PRETTY_NAME='a b\\c'\n").as_deref(), Some("a b\\c"));
    assert_eq!(name("PRETTY_NAME=\"open\n"), None);
    assert_eq!(name("NAME=x\nPRETTY_NAME=\n"), None);
}

#[test]
fn facts_of_a_host_survive_json() {
    let host = Host::read(&fixture().sources);
    let json = serde_json::to_string(&host).unwrap();
    assert_eq!(serde_json::from_str::<Host>(&json).unwrap(), host);
}

#[test]
fn facts_of_this_machine_are_plausible() {
    let host = Host::read(&Sources::default());
    assert_eq!(host.kernel.sysname, "Linux");
    assert!(!host.kernel.release.is_empty() && !host.kernel.machine.is_empty());
    let total = *host.memory_total_bytes.known().unwrap();
    assert!(total > 1 << 20, "{total}");
    assert!(host.memory_available_bytes.known().unwrap() <= &total);
    assert!(host.uptime_seconds.known().unwrap() > &0.0);
    assert!(host.page_size_bytes.is_power_of_two() && host.page_size_bytes >= 4096);
    assert!(host.load_average.is_known());
}
