//! Tests with chains of devices on fixture trees of sysfs, and with targets without devices.

use super::*;
use crate::device_number::DeviceNumber;
use crate::mount::MountTable;
use crate::sources::tests::Tree;

/// Adds a disk in `/sys/devices/NAME`, with the symbolic links that the kernel creates for it.
fn add(tree: &Tree, name: &str, number: &str, files: &[(&str, &str)]) {
    let directory = format!("/sys/devices/{name}");
    let last = name.rsplit('/').next().unwrap();
    tree.file(&format!("{directory}/dev"), number);
    for (file, text) in files {
        tree.file(&format!("{directory}/{file}"), text);
    }
    tree.link(&format!("/sys/dev/block/{number}"), &directory);
    tree.link(&format!("/sys/class/block/{last}"), &directory);
}

fn device(tree: &Tree, number: &str, table: &Fact<MountTable>) -> Fact<Device> {
    Device::read(&tree.sources, table, DeviceNumber::parse(number).unwrap())
}

/// Returns a target on `device`. All other fields describe the directory of the tree.
fn target(tree: &Tree, device: Fact<Device>) -> Target {
    let mut target = Target::read(&tree.sources, tree.directory.path());
    target.device = device;
    target
}

fn watched(name: &str, role: DeviceRole, flushes: FlushCount) -> WatchedDevice {
    WatchedDevice {
        name: name.to_owned(),
        role,
        flushes,
    }
}

/// A tree with the disk `/dev/vda`, its partition `vda2`, and a loop device over a file on this
/// partition.
fn tree() -> (Tree, Fact<MountTable>) {
    let tree = Tree::new(&[("/images/disk.img", "")]);
    add(&tree, "vda", "254:0", &[("mq/0/cpu_list", "0")]);
    add(&tree, "vda/vda2", "254:2", &[("partition", "2\n")]);
    let root = tree.directory.path().canonicalize().unwrap();
    let image = root.join("images/disk.img");
    let backing = format!("{}\n", image.display());
    add(
        &tree,
        "loop0",
        "7:0",
        &[("mq/0/cpu_list", "0"), ("loop/backing_file", &backing)],
    );
    let images = root.join("images");
    let line = format!(
        "4000000001 1 254:2 / {} rw - ext4 /dev/vda2 rw\n",
        images.display()
    );
    tree.file("/proc/self/mountinfo", &line);
    let table = MountTable::read(&tree.sources);
    (tree, table)
}

#[test]
fn partition_and_disk_below_a_loop_device_are_watched() {
    let (tree, table) = tree();
    let target = target(&tree, device(&tree, "7:0", &table));
    let found = WatchedDevices::of(&tree.sources, [&target, &target])
        .into_known()
        .unwrap();
    let expected = [
        watched("loop0", DeviceRole::Target, FlushCount::Counted),
        watched("vda2", DeviceRole::Beneath, FlushCount::OfTheDisk),
        watched("vda", DeviceRole::WholeDisk, FlushCount::Counted),
    ];
    assert_eq!(
        found.list, expected,
        "each once, though there are two targets"
    );
    assert_eq!(found.unseen, [""; 0]);
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(
        serde_json::from_str::<WatchedDevices>(&json).unwrap(),
        found
    );
}

#[test]
fn members_of_a_stacked_device_are_watched_once() {
    let (tree, table) = tree();
    add(&tree, "md0", "9:0", &[]);
    tree.link("/sys/devices/md0/slaves/loop0", "/sys/devices/loop0");
    tree.link("/sys/devices/md0/slaves/vda2", "/sys/devices/vda/vda2");
    let target = target(&tree, device(&tree, "9:0", &table));
    let found = WatchedDevices::of(&tree.sources, [&target])
        .into_known()
        .unwrap();
    let names: Vec<(&str, DeviceRole)> = found
        .list
        .iter()
        .map(|device| (device.name.as_str(), device.role))
        .collect();
    let expected = [
        ("md0", DeviceRole::Target),
        ("loop0", DeviceRole::Beneath),
        ("vda2", DeviceRole::Beneath),
        ("vda", DeviceRole::WholeDisk),
    ];
    assert_eq!(names, expected);
    assert_eq!(found.list[0].flushes, FlushCount::NotOfThisDriver);
}

#[test]
fn unknown_devices_below_a_target_are_listed_as_unseen() {
    let (tree, table) = tree();
    add(&tree, "loop1", "7:1", &[]);
    add(&tree, "md1", "9:1", &[("slaves/sdz/dev", "8:99\n")]);
    let unknown = Fact::Unavailable("no table".to_owned());
    let targets = [
        target(&tree, device(&tree, "7:0", &unknown)),
        target(&tree, device(&tree, "7:1", &table)),
        target(&tree, device(&tree, "9:1", &table)),
        target(&tree, Fact::NotApplicable),
        target(&tree, Fact::Unavailable("layers".into())),
    ];
    let found = WatchedDevices::of(&tree.sources, &targets)
        .into_known()
        .unwrap();
    let names: Vec<&str> = found
        .list
        .iter()
        .map(|device| device.name.as_str())
        .collect();
    assert_eq!(names, ["loop0", "loop1", "md1"]);
    let expected = ["no table", "backing_file", "8:99", "layers"];
    assert_eq!(found.unseen.len(), expected.len(), "{:?}", found.unseen);
    for (why, part) in found.unseen.iter().zip(expected) {
        assert!(why.contains(part), "{why}");
    }
}

#[test]
fn loop_device_over_a_network_file_system_is_listed_as_unseen() {
    for (kind, unseen) in [("tmpfs", 0), ("nfs4", 1)] {
        let (tree, _) = tree();
        let images = tree.directory.path().canonicalize().unwrap().join("images");
        let line = format!(
            "4000000001 1 0:44 / {} rw - {kind} server:/x rw\n",
            images.display()
        );
        tree.file("/proc/self/mountinfo", &line);
        let table = MountTable::read(&tree.sources);
        let target = target(&tree, device(&tree, "7:0", &table));
        let found = WatchedDevices::of(&tree.sources, [&target])
            .into_known()
            .unwrap();
        assert_eq!(found.list.len(), 1, "{kind}");
        assert_eq!(found.unseen.len(), unseen, "{kind}");
    }
}

#[test]
fn targets_without_a_device_have_no_watched_devices() {
    let tree = Tree::new(&[]);
    let memory = target(&tree, Fact::NotApplicable);
    let layers = target(&tree, Fact::Unavailable("layers".into()));
    let of = |targets: &[&Target]| WatchedDevices::of(&tree.sources, targets.iter().copied());
    assert_eq!(of(&[]), Fact::NotApplicable);
    assert_eq!(of(&[&memory, &memory]), Fact::NotApplicable);
    assert_eq!(of(&[&memory, &layers]).why(), Some("layers"));
}

#[test]
fn number_of_watched_devices_is_limited() {
    let tree = Tree::new(&[]);
    add(&tree, "md0", "9:0", &[]);
    for index in 0..DEVICES_MAX + 5 {
        let name = format!("sd{index}");
        add(&tree, &name, &format!("8:{index}"), &[]);
        tree.link(
            &format!("/sys/devices/md0/slaves/{name}"),
            &format!("/sys/devices/{name}"),
        );
    }
    let target = target(&tree, device(&tree, "9:0", &Fact::NotApplicable));
    let found = WatchedDevices::of(&tree.sources, [&target])
        .into_known()
        .unwrap();
    assert_eq!(found.list.len(), DEVICES_MAX);
    assert_eq!(found.unseen, ["more than 64 devices"]);
}
