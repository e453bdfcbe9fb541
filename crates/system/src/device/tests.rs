//! Tests that read devices from fixture trees of sysfs.

use super::*;
use crate::sources::tests::Tree;

const NO_TABLE: Fact<MountTable> = Fact::NotApplicable;

fn number(major: u32, minor: u32) -> DeviceNumber {
    DeviceNumber { major, minor }
}

/// Adds a disk in `/sys/devices/NAME`, with the symbolic links that the kernel creates for it.
fn add(tree: &Tree, name: &str, device: &str, attributes: &[(&str, &str)]) {
    let directory = format!("/sys/devices/{name}");
    let last = name.rsplit('/').next().unwrap();
    tree.file(&format!("{directory}/dev"), device);
    for (attribute, text) in attributes {
        tree.file(&format!("{directory}/{attribute}"), text);
    }
    tree.link(&format!("/sys/dev/block/{device}"), &directory);
    tree.link(&format!("/sys/class/block/{last}"), &directory);
}

fn add_nvme(tree: &Tree) {
    let queue = [
        ("size", "2048\n"),
        ("device/model", "Fast Disk 3000    \n"),
        ("queue/rotational", "0\n"),
        ("queue/logical_block_size", "512\n"),
        ("queue/physical_block_size", "4096\n"),
        ("queue/scheduler", "[none] mq-deadline\n"),
        ("queue/write_cache", "write back\n"),
        ("queue/discard_max_bytes", "2199023255040\n"),
    ];
    add(tree, "nvme0n1", "259:0", &queue);
    let partition = [("size", "1024\n"), ("partition", "2\n")];
    add(tree, "nvme0n1/nvme0n1p2", "259:2", &partition);
}

fn read(tree: &Tree, device: DeviceNumber) -> Device {
    Device::read(&tree.sources, &NO_TABLE, device)
        .into_known()
        .unwrap()
}

#[test]
fn partition_has_the_properties_of_its_disk() {
    let tree = Tree::new(&[]);
    add_nvme(&tree);
    let expected = Device {
        number: number(259, 2),
        name: "nvme0n1p2".into(),
        kind: DeviceKind::Nvme,
        size_bytes: Fact::Known(524_288),
        model: Fact::Known("Fast Disk 3000".into()),
        rotational: Fact::Known(false),
        logical_block_size_bytes: Fact::Known(512),
        physical_block_size_bytes: Fact::Known(4096),
        io_scheduler: Fact::Known("none".into()),
        write_cache: Fact::Known("write back".into()),
        discard_supported: Fact::Known(true),
        partition_of: Fact::Known("nvme0n1".into()),
        mapper_name: Fact::NotApplicable,
        loop_backing: Fact::NotApplicable,
        members: Fact::NotApplicable,
    };
    assert_eq!(read(&tree, number(259, 2)), expected);
    let disk = read(&tree, number(259, 0));
    assert_eq!(disk.partition_of, Fact::NotApplicable);
    assert_eq!(disk.size_bytes, Fact::Known(1_048_576));
}

#[test]
fn device_mapper_device_lists_its_members() {
    let tree = Tree::new(&[]);
    add_nvme(&tree);
    let mapped = [("dm/name", "vault\n"), ("queue/discard_max_bytes", "0\n")];
    add(&tree, "dm-0", "253:0", &mapped);
    tree.link(
        "/sys/devices/dm-0/slaves/nvme0n1p2",
        "/sys/devices/nvme0n1/nvme0n1p2",
    );
    let device = read(&tree, number(253, 0));
    assert_eq!(device.kind, DeviceKind::DeviceMapper);
    assert_eq!(device.discard_supported, Fact::Known(false));
    assert_eq!(device.one_line(), "/dev/dm-0 (vault over /dev/nvme0n1p2)");
    let physical: Vec<&str> = device.physical().iter().map(|d| d.name.as_str()).collect();
    assert_eq!(physical, ["nvme0n1p2"]);
    assert!(device.size_bytes.why().unwrap().contains("size"));
}

#[test]
fn unreadable_member_makes_members_unavailable() {
    let tree = Tree::new(&[]);
    add(&tree, "md0", "9:0", &[("slaves/sda/dev", "8:0\n")]);
    let device = read(&tree, number(9, 0));
    assert!(device.members.why().unwrap().contains("8:0"));
}

#[test]
fn cycle_of_devices_causes_no_endless_loop() {
    let tree = Tree::new(&[]);
    add(&tree, "dm-0", "253:0", &[("size", "8\n")]);
    tree.link("/sys/devices/dm-0/slaves/dm-0", "/sys/devices/dm-0");
    assert_eq!(read(&tree, number(253, 0)).kind, DeviceKind::DeviceMapper);
}

#[test]
fn device_of_a_source_is_found_by_name_mapper_name_and_link() {
    let tree = Tree::new(&[("/dev/nvme0n1p2", "")]);
    add_nvme(&tree);
    add(&tree, "dm-3", "253:3", &[("dm/name", "vg-home\n")]);
    tree.link("/dev/disk/by-label/home", "/dev/nvme0n1p2");
    let found = |source| number_of_source(&tree.sources, source);
    assert_eq!(found("/dev/nvme0n1p2"), Fact::Known(number(259, 2)));
    assert_eq!(found("/dev/mapper/vg-home"), Fact::Known(number(253, 3)));
    assert_eq!(
        found("/dev/disk/by-label/home"),
        Fact::Known(number(259, 2))
    );
    assert!(found("/dev/gone").why().is_some());
    assert!(found("tank/data").why().unwrap().contains("tank/data"));
}

#[test]
fn kind_of_a_device_is_derived_from_its_name() {
    let kinds = [
        ("loop7", DeviceKind::Loop),
        ("vda1", DeviceKind::Virtio),
        ("sdb2", DeviceKind::Scsi),
        ("md127", DeviceKind::Raid),
        ("dm-1", DeviceKind::DeviceMapper),
        ("ram0", DeviceKind::Ram),
        ("zram0", DeviceKind::Zram),
        ("rbd0", DeviceKind::Network),
        ("cciss/c0d0", DeviceKind::Other),
    ];
    for (name, kind) in kinds {
        assert_eq!(DeviceKind::of(name), kind, "{name}");
    }
}

#[test]
fn device_missing_in_sysfs_is_unavailable() {
    let tree = Tree::new(&[]);
    let fact = Device::read(&tree.sources, &NO_TABLE, number(8, 0));
    assert!(fact.why().unwrap().contains("/sys/dev/block/8:0"));
}

#[test]
fn device_numbers_are_parsed() {
    assert_eq!(DeviceNumber::parse("254:16\n"), Some(number(254, 16)));
    assert_eq!(DeviceNumber::parse("254"), None);
    assert_eq!(number(254, 16).to_string(), "254:16");
    assert!(number(0, 45).is_anonymous() && !number(8, 0).is_anonymous());
}
