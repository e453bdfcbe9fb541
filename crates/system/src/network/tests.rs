//! Tests with routing tables as Linux 6.1 prints them, and with interfaces on fixture trees.

use proptest::prelude::*;

use super::*;
use crate::mount::MountTable;
use crate::sources::tests::Tree;

/// A routing table with the gateway 203.0.113.1. It rejects packets to 192.0.2.0/24.
const ROUTES: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t017100CB\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth9\t00000000\t017100CB\t0003\t0\t0\t50\t00000000\t0\t0\t0
eth1\t007100CB\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
down\t077100CB\t00000000\t0000\t0\t0\t0\tFFFFFFFF\t0\t0\t0
*\t000200C0\t00000000\t0201\t0\t0\t0\t00FFFFFF\t0\t0\t0
";

const ROUTES_V6: &str = "\
fd000000000000000000000000000000 40 00000000000000000000000000000000 00 \
     00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
     fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth1
fd000000000000000000000000000009 80 00000000000000000000000000000000 00 \
     00000000000000000000000000000000 00000000 00000002 00000000 80200001       lo
00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
     00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
";

fn tree() -> Tree {
    Tree::new(&[
        ("/proc/net/route", ROUTES),
        ("/proc/net/ipv6_route", ROUTES_V6),
        ("/sys/class/net/eth1/speed", "10000\n"),
        ("/sys/class/net/eth1/statistics/rx_bytes", "1000\n"),
        ("/sys/class/net/eth1/statistics/tx_bytes", "500\n"),
    ])
}

fn interface(tree: &Tree, address: &str) -> Fact<String> {
    route::interface_to(&tree.sources, address.parse().unwrap())
}

#[test]
fn route_with_longest_prefix_then_lowest_metric_is_used() {
    let tree = tree();
    let is = |name: &str| Fact::Known(name.to_owned());
    assert_eq!(interface(&tree, "203.0.113.7"), is("eth1"));
    assert_eq!(interface(&tree, "198.51.100.5"), is("eth9"));
    assert_eq!(
        interface(&tree, "192.0.2.5"),
        is("eth9"),
        "the route that refuses is no way"
    );
    assert_eq!(interface(&tree, "fd00::7"), is("eth0"));
    assert_eq!(interface(&tree, "fd00::9"), is("lo"));
    assert_eq!(interface(&tree, "2001:db8::1"), is("eth1"));
    let tree = Tree::new(&[("/proc/net/route", "Iface\tDestination\n")]);
    assert!(
        interface(&tree, "203.0.113.7")
            .why()
            .unwrap()
            .contains("no route to 203.0.113.7")
    );
    assert!(
        interface(&tree, "fd00::7")
            .why()
            .unwrap()
            .contains("ipv6_route")
    );
}

/// A target on the mount that a line of mountinfo describes. The tests use no other field of the
/// target.
fn target(tree: &Tree, line: &str) -> Target {
    let mount = MountTable::parse(line).unwrap().mounts[0].clone();
    Target {
        device: match mount.class() {
            Class::Block => Device::read(&tree.sources, &Fact::NotApplicable, mount.device),
            _ => Fact::NotApplicable,
        },
        mount: Fact::Known(mount),
        ..Target::read(&tree.sources, tree.directory.path())
    }
}

fn watched(tree: &Tree, lines: &[&str]) -> Fact<WatchedInterfaces> {
    let targets: Vec<Target> = lines.iter().map(|line| target(tree, line)).collect();
    WatchedInterfaces::of(&tree.sources, &targets)
}

#[test]
fn interfaces_to_servers_of_targets_are_found() {
    let tree = tree();
    let nfs = "40 1 0:45 / /mnt rw - nfs4 server:/x rw,addr=203.0.113.7\n";
    let again = "41 1 0:46 / /smb rw - cifs //203.0.113.8/share rw\n";
    let here = "42 1 0:47 / /here rw - nfs4 localhost:/x rw,addr=127.0.0.1\n";
    let memory = "43 1 0:48 / /tmp rw - tmpfs t rw\n";
    let found = watched(&tree, &[nfs, again, here, memory])
        .into_known()
        .unwrap();
    let names: Vec<&str> = found
        .list
        .iter()
        .map(|interface| interface.name.as_str())
        .collect();
    assert_eq!(names, ["eth1", "lo"]);
    assert_eq!(found.list[0].server, "203.0.113.7");
    let readings = found.read(&tree.sources);
    assert_eq!(readings[0].speed_bits_per_s, Fact::Known(10_000_000_000));
    assert!(
        readings[1]
            .speed_bits_per_s
            .why()
            .unwrap()
            .contains("lo/speed")
    );
    assert_eq!(watched(&tree, &[memory]), Fact::NotApplicable);
    let unknown = watched(&tree, &["44 1 0:49 / /nine rw - 9p share rw\n"]);
    assert!(
        unknown
            .why()
            .unwrap()
            .contains("/nine: the address of its server is not known")
    );
}

#[test]
fn interface_to_the_server_of_an_iscsi_disk_is_found() {
    let tree = tree();
    tree.file("/sys/class/iscsi_session/session3/state", "LOGGED_IN\n");
    tree.file(
        "/sys/class/iscsi_connection/connection3:0/address",
        "203.0.113.9\n",
    );
    tree.file(
        "/sys/class/iscsi_connection/connection30:0/address",
        "198.51.100.5\n",
    );
    tree.file("/sys/devices/session3/target/model", "disk\n");
    tree.file("/sys/devices/session3/block/sda/dev", "8:0\n");
    tree.link(
        "/sys/devices/session3/block/sda/device",
        "/sys/devices/session3/target",
    );
    tree.link("/sys/class/block/sda", "/sys/devices/session3/block/sda");
    tree.link("/sys/dev/block/8:0", "/sys/devices/session3/block/sda");
    let found = watched(&tree, &["40 1 8:0 / /mnt rw - ext4 /dev/sda rw\n"]);
    let expected = WatchedInterface {
        name: "eth1".into(),
        server: "203.0.113.9".into(),
    };
    assert_eq!(found.into_known().unwrap().list, [expected]);
}

#[test]
fn traffic_and_utilization_of_an_interface_are_computed() {
    let tree = tree();
    let read = || InterfaceReading::read(&tree.sources, "eth1");
    let before = read();
    tree.file("/sys/class/net/eth1/statistics/rx_bytes", "1000001000\n");
    tree.file("/sys/class/net/eth1/statistics/tx_bytes", "2000000500\n");
    let difference = read().since(std::slice::from_ref(&before));
    assert_eq!(difference.received_bytes, Fact::Known(1_000_000_000));
    assert_eq!(difference.sent_bytes, Fact::Known(2_000_000_000));
    assert_eq!(difference.utilization(2.0), Fact::Known(0.8));
    assert_eq!(difference.utilization(0.0), Fact::NotApplicable);
    assert!(
        before
            .since(&[read()])
            .sent_bytes
            .why()
            .unwrap()
            .contains("went backwards")
    );
    assert!(
        before
            .since(&[])
            .sent_bytes
            .why()
            .unwrap()
            .contains("not read before")
    );
    for speed in ["-1\n", "4294967295\n", "0\n"] {
        tree.file("/sys/class/net/eth1/speed", speed);
        assert!(
            read()
                .speed_bits_per_s
                .why()
                .unwrap()
                .contains("does not tell"),
            "{speed}"
        );
        assert!(read().utilization(1.0).why().is_some());
    }
}

#[test]
fn addresses_of_this_machine_are_reached_through_loopback() {
    let sources = Sources::default();
    assert_eq!(
        interface_to(&sources, "127.0.0.1".parse().unwrap()),
        Fact::Known("lo".into())
    );
    // An address for documentation (RFC 5737), which belongs to no machine.
    assert!(!is_own("203.0.113.254".parse().unwrap()));
    let reading = InterfaceReading::read(&sources, "lo");
    assert!(reading.received_bytes.is_known() || reading.received_bytes.why().is_some());
}

proptest! {
    #[test]
    fn random_routing_tables_cause_no_panic(text in "[ -~\\n\\t]{0,300}", v4 in any::<u32>(),
        v6 in any::<u128>()) {
        let table = format!("{ROUTES}{text}\n{ROUTES_V6}");
        let tree = Tree::new(&[("/proc/net/route", &table), ("/proc/net/ipv6_route", &table)]);
        let _ = route::interface_to(&tree.sources, IpAddr::V4(v4.into()));
        let _ = route::interface_to(&tree.sources, IpAddr::V6(v6.into()));
    }
}
