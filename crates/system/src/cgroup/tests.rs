//! Tests with control groups on fixture trees: version 1, version 2, both versions, no control
//! groups, and containers.

use super::*;
use crate::sources::tests::Tree;

const V1: &str = "\
30 23 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
31 23 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
";
const V1_MEMBER: &str = "4:memory:/a/b\n3:cpu,cpuacct:/a\n1:name=systemd:/x\n";
const V2: &str = "30 23 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
const UNLIMITED: &str = "9223372036854771712\n";

fn tree(mountinfo: &str, membership: &str, files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new(files);
    tree.file("/proc/self/mountinfo", mountinfo);
    tree.file("/proc/self/cgroup", membership);
    tree
}

fn read(tree: &Tree) -> Cgroup {
    Cgroup::read(&tree.sources).into_known().unwrap()
}

#[test]
fn smallest_limit_of_group_and_ancestors_is_used_in_v1() {
    let tree = tree(
        V1,
        V1_MEMBER,
        &[
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED),
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n"),
            (
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "4194304\n",
            ),
            ("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"),
        ],
    );
    let expected = Cgroup {
        version: CgroupVersion::V1,
        path: Fact::Known("/a/b".into()),
        memory_limit_bytes: Fact::Known(1_048_576),
        cpu_quota_cpus: Fact::Known(1.5),
    };
    assert_eq!(read(&tree), expected);
}

#[test]
fn missing_limits_are_not_applicable_in_v1() {
    let tree = tree(
        V1,
        V1_MEMBER,
        &[
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED),
            (
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "9223372036854775807",
            ),
            (
                "/sys/fs/cgroup/memory/a/b/memory.stat",
                "cache 0\nhierarchical_memory_limit 9223372036854771712\n",
            ),
            ("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n"),
        ],
    );
    let cgroup = read(&tree);
    assert_eq!(cgroup.memory_limit_bytes, Fact::NotApplicable);
    assert_eq!(cgroup.cpu_quota_cpus, Fact::NotApplicable);
}

#[test]
fn limits_of_invisible_ancestors_are_included_in_v1() {
    let tree = tree(
        V1,
        V1_MEMBER,
        &[
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED),
            (
                "/sys/fs/cgroup/memory/memory.stat",
                "hierarchical_memory_limit 4096\n",
            ),
        ],
    );
    assert_eq!(read(&tree).memory_limit_bytes, Fact::Known(4096));
}

#[test]
fn root_of_the_mount_is_used_in_a_v1_container_without_the_path() {
    let mountinfo = "30 23 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
    let files = [("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n")];
    for membership in [
        "4:memory:/docker/abc\n",
        "4:memory:/docker/other\n",
        "4:memory:/\n",
    ] {
        let limit = read(&tree(mountinfo, membership, &files)).memory_limit_bytes;
        assert_eq!(limit, Fact::Known(536_870_912), "{membership}");
    }
}

#[test]
fn smallest_limit_of_group_and_ancestors_is_used_in_v2() {
    let tree = tree(
        V2,
        "0::/user.slice/run.scope\n",
        &[
            ("/sys/fs/cgroup/user.slice/memory.max", "2147483648\n"),
            ("/sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n"),
            ("/sys/fs/cgroup/user.slice/run.scope/memory.max", "max\n"),
            (
                "/sys/fs/cgroup/user.slice/run.scope/cpu.max",
                "max 100000\n",
            ),
        ],
    );
    let expected = Cgroup {
        version: CgroupVersion::V2,
        path: Fact::Known("/user.slice/run.scope".into()),
        memory_limit_bytes: Fact::Known(2_147_483_648),
        cpu_quota_cpus: Fact::Known(0.5),
    };
    assert_eq!(read(&tree), expected);
}

#[test]
fn memory_high_is_a_limit_in_v2() {
    let files = [
        ("/sys/fs/cgroup/a/memory.max", "8192\n"),
        ("/sys/fs/cgroup/a/memory.high", "max\n"),
        ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
        ("/sys/fs/cgroup/a/b/memory.high", "4096\n"),
    ];
    assert_eq!(
        read(&tree(V2, "0::/a/b\n", &files)).memory_limit_bytes,
        Fact::Known(4096)
    );
    // `memory.high` above `memory.max` has no effect.
    let tree = tree(V2, "0::/a/b\n", &files[..3]);
    tree.file("/sys/fs/cgroup/a/b/memory.high", "16384\n");
    assert_eq!(read(&tree).memory_limit_bytes, Fact::Known(8192));
}

#[test]
fn missing_limits_are_not_applicable_and_0_is_a_limit_in_v2() {
    let root = [("/sys/fs/cgroup/cgroup.procs", "1\n")];
    let cgroup = read(&tree(V2, "0::/\n", &root));
    assert_eq!(cgroup.memory_limit_bytes, Fact::NotApplicable);
    assert_eq!(cgroup.cpu_quota_cpus, Fact::NotApplicable);
    let zero = [("/sys/fs/cgroup/memory.max", "0\n")];
    let cgroup = read(&tree(V2, "0::/\n", &zero));
    assert_eq!(cgroup.memory_limit_bytes, Fact::Known(0));
}

#[test]
fn root_of_the_mount_is_used_for_a_v2_path_outside_of_the_namespace() {
    let files = [
        ("/sys/fs/cgroup/memory.max", "1000\n"),
        // The group to which `..` would lead, outside of the mount.
        ("/sys/fs/sibling/memory.max", "7\n"),
    ];
    for membership in ["0::/../sibling\n", "0::/not/there\n"] {
        let limit = read(&tree(V2, membership, &files)).memory_limit_bytes;
        assert_eq!(limit, Fact::Known(1000), "{membership}");
    }
}

#[test]
fn limits_are_read_from_the_hierarchy_that_contains_the_controller() {
    let mountinfo = "\
30 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
31 23 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
";
    let tree = tree(
        mountinfo,
        "3:cpu:/c\n0::/m\n",
        &[
            ("/sys/fs/cgroup/unified/m/memory.max", "8192\n"),
            ("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "25000\n"),
            ("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n"),
        ],
    );
    let expected = Cgroup {
        version: CgroupVersion::Hybrid,
        path: Fact::Known("/m".into()),
        memory_limit_bytes: Fact::Known(8192),
        cpu_quota_cpus: Fact::Known(0.25),
    };
    assert_eq!(read(&tree), expected);
}

#[test]
fn memory_limit_is_read_from_v1_if_v1_contains_the_memory_controller() {
    let mountinfo = "\
30 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
31 23 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
";
    let tree = tree(
        mountinfo,
        "4:memory:/outer/inner\n0::/elsewhere\n",
        &[
            ("/sys/fs/cgroup/unified/elsewhere/memory.max", "1\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED),
            (
                "/sys/fs/cgroup/memory/outer/memory.limit_in_bytes",
                "268435456\n",
            ),
            (
                "/sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes",
                UNLIMITED,
            ),
        ],
    );
    let cgroup = read(&tree);
    assert_eq!(cgroup.version, CgroupVersion::Hybrid);
    assert_eq!(cgroup.memory_limit_bytes, Fact::Known(268_435_456));
}

#[test]
fn missing_cgroup_is_not_applicable_and_hidden_cgroup_is_unavailable() {
    let proc = "22 27 0:21 / /proc rw - proc proc rw\n";
    let none = Tree::new(&[("/proc/self/mountinfo", proc)]);
    assert_eq!(Cgroup::read(&none.sources), Fact::NotApplicable);
    let hidden = tree(proc, "0::/x\n", &[]);
    assert!(Cgroup::read(&hidden.sources).why().is_some());
    assert!(Cgroup::read(&Tree::new(&[]).sources).why().is_some());
    let invisible = read(&tree(V2, "0::/\n", &[]));
    assert!(invisible.memory_limit_bytes.why().is_some());
}

#[test]
fn invalid_limit_is_unavailable() {
    let cgroup = read(&tree(
        V2,
        "0::/a\n",
        &[
            ("/sys/fs/cgroup/memory.max", "4096"),
            ("/sys/fs/cgroup/a/memory.max", "many"),
            ("/sys/fs/cgroup/a/cpu.max", "1000 0"),
        ],
    ));
    assert!(cgroup.memory_limit_bytes.why().unwrap().contains("many"));
    assert!(cgroup.cpu_quota_cpus.why().is_some());
}
