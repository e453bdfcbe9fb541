//! Tests that find and read the message counters of targets on fixture trees.

use super::*;
use crate::device_number::DeviceNumber;
use crate::mount::MountTable;
use crate::sources::tests::Tree;

/// A target on the mount that a line of mountinfo describes. The tests use no other field of the
/// target.
fn target(tree: &Tree, line: &str) -> Target {
    let table = MountTable::parse(line).unwrap();
    let mount = table.mounts[0].clone();
    Target {
        class: Fact::Known(mount.class()),
        device: match mount.class() {
            Class::Block => Device::read(&tree.sources, &Fact::NotApplicable, mount.device),
            _ => Fact::NotApplicable,
        },
        canonical_path: Fact::Known(mount.mount_point.to_string_lossy().into_owned()),
        mount: Fact::Known(mount),
        ..Target::read(&tree.sources, tree.directory.path())
    }
}

fn nfs_line(mount_point: &str, device: &str, options: &str) -> String {
    format!("40 1 {device} / {mount_point} rw - nfs4 server:/export rw,{options}\n")
}

fn watched(tree: &Tree, lines: &[&str]) -> Fact<WatchedMessages> {
    let targets: Vec<Target> = lines.iter().map(|line| target(tree, line)).collect();
    WatchedMessages::of(&tree.sources, &targets)
}

fn list(fact: &Fact<WatchedMessages>) -> Vec<WatchedCounter> {
    fact.known()
        .unwrap_or_else(|| panic!("{fact:?}"))
        .list
        .clone()
}

#[test]
fn counters_of_nfs_and_smb_mounts_are_watched_once() {
    let tree = Tree::new(&[]);
    let lines = [
        &nfs_line("/D", "0:45", "vers=4.2,addr=203.0.113.7"),
        // A second mount of the same file system shares its counters.
        &nfs_line("/again", "0:45", "vers=4.2,addr=203.0.113.7"),
        "41 1 0:46 / /C rw - nfs server:/other rw,vers=3\n",
        "42 1 0:47 / /smb rw - cifs //server2/share2/deep/er rw,vers=3.1.1\n",
    ];
    let expected = [
        nfs("/D"),
        counter(MessageCounter::NfsClient, "nfs3", "/C"),
        smb("//server2/share2"),
    ];
    let found = watched(
        &tree,
        &lines.map(String::from).each_ref().map(String::as_str),
    );
    assert_eq!(list(&found), expected);
    assert!(found.known().unwrap().unseen.is_empty());
    // Each counter is read from its file. If the file is missing, the counter is unavailable, and
    // the reason names the file.
    tree.file("/proc/self/mountstats", NFS_TELEGRAF);
    let readings = found.known().unwrap().read(&tree.sources);
    assert_eq!(readings[0].requests(), Fact::Known(19));
    assert_eq!(readings[0].of, "/D");
    assert!(readings[1].kinds.is_known());
    let why = readings[2].kinds.why().unwrap();
    assert!(
        why.contains("/proc/fs/cifs/Stats") && why.contains("No such file"),
        "{why}"
    );
    assert_eq!(readings[2].server_read_bytes.why(), Some(why));
}

#[test]
fn targets_without_a_known_message_counter_are_reported() {
    let tree = Tree::new(&[]);
    assert_eq!(
        watched(&tree, &["40 1 0:45 / /t rw - tmpfs t rw\n"]),
        Fact::NotApplicable
    );
    let foreign = watched(&tree, &["40 1 0:45 / /t rw - 9p share rw\n"]);
    assert!(
        foreign
            .why()
            .unwrap()
            .contains("messages of 9p are not counted")
    );
    let mut lost = target(&tree, "40 1 0:45 / /t rw - tmpfs t rw\n");
    lost.mount = Fact::Unavailable("masked".into());
    assert_eq!(
        WatchedMessages::of(&tree.sources, [&lost]).why(),
        Some("masked")
    );
    // Two targets: the mount of one is known, the mount of the other is not.
    let known = target(&tree, &nfs_line("/D", "0:45", "vers=4.2"));
    let found = WatchedMessages::of(&tree.sources, [&lost, &known]);
    assert_eq!(found.known().unwrap().unseen, ["masked"]);
    assert_eq!(list(&found), [nfs("/D")]);
}

#[test]
fn counters_of_a_local_nfs_server_are_watched() {
    let of = |nfsd: &str, line: &str, exports: &str| {
        let tree = Tree::new(&[("/proc/net/rpc/nfsd", nfsd), ("/var/lib/nfs/etab", exports)]);
        let found = watched(&tree, &[line]);
        let counters = found
            .known()
            .map(|found| found.list.clone())
            .unwrap_or_default();
        let of_server = |watched: &WatchedCounter| {
            (watched.counter == MessageCounter::NfsServer)
                .then(|| format!("{} {}", watched.protocol, watched.of))
        };
        counters
            .iter()
            .filter_map(of_server)
            .collect::<Vec<String>>()
    };
    let here = ["nfs3 this machine", "nfs4 this machine"];
    for options in ["addr=127.0.0.1", "addr=::1", "addr=127.0.0.1,vers=3"] {
        assert_eq!(
            of(NFSD[2], &nfs_line("/mnt", "0:45", options), ""),
            here,
            "{options}"
        );
    }
    // The address of the server is reserved for documentation (RFC 5737), so it does not belong to
    // this machine.
    assert_eq!(
        of(NFSD[2], &nfs_line("/mnt", "0:45", "addr=203.0.113.7"), ""),
        [""; 0]
    );
    let without_threads = NFSD[2].replace("th 8", "th 0");
    assert_eq!(
        of(
            &without_threads,
            &nfs_line("/mnt", "0:45", "addr=127.0.0.1"),
            ""
        ),
        [""; 0]
    );
    let others = [
        "nfs3 this machine, for other clients",
        "nfs4 this machine, for other clients",
    ];
    let local = "40 1 0:45 / /srv/data/deep rw - tmpfs t rw\n";
    assert_eq!(of(NFSD[2], local, "/srv/data\t*(rw,sync)\n"), others);
    assert_eq!(of(NFSD[2], local, "/srv/dat\t*(rw,sync)\n"), [""; 0]);
    assert_eq!(of(NFSD[2], local, "#/srv/data\t*(rw,sync)\n"), [""; 0]);
}

/// Adds a SCSI disk, with its device below its host as in sysfs.
fn add_disk(tree: &Tree, host: &str, name: &str, number: &str, count: &str) {
    let device = format!("/sys/devices/platform/{host}/target2:0:0/2:0:0:1");
    tree.file(&format!("{device}/iorequest_cnt"), count);
    let block = format!("{device}/block/{name}");
    tree.file(&format!("{block}/stat"), "1 0 16 0 2 0 24 0 0 0 0\n");
    tree.file(&format!("{block}/{name}1/partition"), "1\n");
    tree.link(&format!("{block}/device"), &device);
    tree.link(&format!("/sys/class/block/{name}"), &block);
    tree.link(
        &format!("/sys/class/block/{name}1"),
        &format!("{block}/{name}1"),
    );
    tree.link(
        &format!("/sys/dev/block/{number}"),
        &format!("{block}/{name}1"),
    );
}

#[test]
fn nfs_mount_below_a_loop_device_is_watched() {
    let tree = Tree::new(&[
        ("/mnt/disk.img", ""),
        ("/sys/devices/loop0/loop/offset", "0\n"),
    ]);
    let image = tree.sources.path("/mnt/disk.img").canonicalize().unwrap();
    tree.file(
        "/sys/devices/loop0/loop/backing_file",
        &format!("{}\n", image.display()),
    );
    tree.link("/sys/dev/block/7:0", "/sys/devices/loop0");
    let at = image.parent().unwrap().display().to_string();
    let line = nfs_line(&at, "0:45", "vers=4.2,addr=203.0.113.7").replacen("40", "4000000001", 1);
    let table = Fact::Known(MountTable::parse(&line).unwrap());
    let mut target = target(&tree, "41 1 7:0 / /loop rw - ext4 /dev/loop0 rw\n");
    target.device = Device::read(&tree.sources, &table, DeviceNumber::parse("7:0").unwrap());
    let found = WatchedMessages::of(&tree.sources, [&target]);
    assert_eq!(list(&found), [nfs(&at)]);
    tree.file(
        "/proc/net/route",
        "eth1 007100CB 00000000 0001 0 0 0 00FFFFFF 0 0 0\n",
    );
    let interfaces = crate::WatchedInterfaces::of(&tree.sources, [&target]);
    assert_eq!(interfaces.known().unwrap().list[0].name, "eth1");
}

#[test]
fn iscsi_disk_of_a_partition_is_watched() {
    let tree = Tree::new(&[("/sys/class/iscsi_session/session3/state", "LOGGED_IN\n")]);
    add_disk(&tree, "host2/session3", "sda", "8:1", "0x1a2b\n");
    add_disk(&tree, "host4/port-0:0", "sdb", "8:17", "0x3\n");
    let line = "40 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n";
    let found = watched(
        &tree,
        &[line, line, "41 1 8:17 / /b rw - ext4 /dev/sdb1 rw\n"],
    );
    assert_eq!(list(&found), [disk("sda")]);
    let readings = found.known().unwrap().read(&tree.sources);
    assert_eq!(readings[0].requests(), Fact::Known(0x1a2b));
    assert_eq!(readings[0].server_read_bytes, Fact::Known(16 * 512));
    assert_eq!(readings[0].server_written_bytes, Fact::Known(24 * 512));
    // The disk disappears after it was found: its counter becomes unavailable.
    std::fs::remove_file(tree.sources.path("/sys/class/block/sda")).unwrap();
    let gone = found.known().unwrap().read(&tree.sources);
    assert!(
        gone[0]
            .kinds
            .why()
            .unwrap()
            .contains("sda/device/iorequest_cnt")
    );
    assert!(
        gone[0]
            .since(&readings)
            .kinds
            .why()
            .unwrap()
            .contains("No such file")
    );
}

#[test]
fn network_disk_without_message_counter_is_unavailable() {
    let tree = Tree::new(&[("/sys/devices/nbd0/size", "8\n")]);
    tree.link("/sys/dev/block/43:0", "/sys/devices/nbd0");
    let found = watched(&tree, &["40 1 43:0 / /mnt rw - ext4 /dev/nbd0 rw\n"]);
    assert!(
        found
            .why()
            .unwrap()
            .contains("/dev/nbd0: its messages are not counted")
    );
    assert_eq!(DeviceNumber::parse("43:0").unwrap().to_string(), "43:0");
}

#[test]
fn reading_message_counters_of_this_machine_causes_no_panic() {
    let sources = Sources::default();
    let target = Target::read(&sources, std::path::Path::new("/"));
    let found = WatchedMessages::of(&sources, [&target]);
    for watched in [
        nfs("/"),
        nfsd("nfs3"),
        nfsd("nfs4"),
        smb("//no/such"),
        disk("no-such"),
    ] {
        let watched = WatchedMessages {
            list: vec![watched],
            unseen: vec![],
        };
        let readings = watched.read(&sources);
        assert!(
            readings[0].kinds.is_known() || readings[0].kinds.why().is_some(),
            "{readings:?}"
        );
        assert!(
            !readings[0].kinds.is_known() || found.is_known(),
            "{readings:?}"
        );
    }
}
