//! Tests of targets whose table of mounts and devices are fixtures, and of targets on this machine.
//! Mount ids of fixtures are larger than the ids that a kernel assigns, so that they match no real
//! mount.

use super::*;
use crate::DeviceKind;
use crate::sources::tests::Tree;

fn mount_line(id: u32, device: &str, at: &Path, kind: &str, source: &str) -> String {
    let at = at.display();
    format!("4000000{id:03} 1 {device} / {at} rw,noatime - {kind} {source} rw\n")
}

/// Creates a tree with two mounts: the directory `data`, on `device` with file system type `kind`,
/// and the directory `images`, with ext4 on `/dev/vda`.
fn tree(device: &str, kind: &str, source: &str) -> Tree {
    let tree = Tree::new(&[
        ("/data/keep", ""),
        ("/images/disk.img", ""),
        ("/sys/devices/vda/dev", "254:0"),
        ("/sys/devices/vda/size", "8"),
    ]);
    tree.link("/sys/dev/block/254:0", "/sys/devices/vda");
    tree.link("/sys/class/block/vda", "/sys/devices/vda");
    let root = tree.directory.path().canonicalize().unwrap();
    let data = mount_line(1, device, &root.join("data"), kind, source);
    let images = mount_line(2, "254:0", &root.join("images"), "ext4", "/dev/vda");
    tree.file("/proc/self/mountinfo", &(data + &images));
    tree
}

fn read(tree: &Tree) -> Target {
    Target::read(&tree.sources, &tree.sources.path("/data"))
}

fn line_without_fill(mut target: Target) -> String {
    target.fill_fraction = Fact::NotApplicable;
    target.one_line()
}

#[test]
fn devices_of_a_target_include_the_disk_below_a_loop_device() {
    let tree = tree("7:0", "xfs", "/dev/loop0");
    let image = tree
        .directory
        .path()
        .canonicalize()
        .unwrap()
        .join("images/disk.img");
    let image = image.to_str().unwrap();
    tree.file(
        "/sys/devices/loop0/loop/backing_file",
        &format!("{image}\n"),
    );
    tree.file("/sys/devices/loop0/loop/dio", "1\n");
    tree.file("/sys/devices/loop0/loop/offset", "0\n");
    tree.link("/sys/dev/block/7:0", "/sys/devices/loop0");
    let target = read(&tree);
    assert_eq!(target.class, Fact::Known(Class::Block));
    let device = target.device.known().unwrap();
    assert_eq!(device.kind, DeviceKind::Loop);
    let backing = device.loop_backing.known().unwrap();
    assert_eq!(backing.direct_io, Fact::Known(true));
    assert_eq!(backing.offset_bytes, Fact::Known(0));
    assert_eq!(backing.mount.known().unwrap().file_system_type, "ext4");
    assert_eq!(device.physical()[0].name, "vda");
    assert_eq!(
        line_without_fill(target.clone()),
        format!("xfs on /dev/loop0 (loop over {image} on ext4 /dev/vda)")
    );
    // A fraction with few digits is used, because serde_json reads long fractions inexactly without
    // its feature `float_roundtrip`.
    let target = Target {
        fill_fraction: Fact::Known(0.25),
        ..target
    };
    let json = serde_json::to_string(&target).unwrap();
    assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), target);
}

#[test]
fn device_of_btrfs_is_found_by_the_source_of_the_mount() {
    let target = read(&tree("0:45", "btrfs", "/dev/vda"));
    assert_eq!(target.class, Fact::Known(Class::Block));
    assert_eq!(target.device.known().unwrap().name, "vda");
    assert_eq!(line_without_fill(target), "btrfs on /dev/vda");
}

#[test]
fn file_systems_in_memory_and_on_the_network_have_no_device() {
    let memory = read(&tree("0:45", "tmpfs", "tmpfs"));
    assert_eq!(memory.class, Fact::Known(Class::Memory));
    assert_eq!(memory.device, Fact::NotApplicable);
    assert_eq!(line_without_fill(memory), "tmpfs (memory)");
    let network = read(&tree("0:45", "nfs4", "server:/export"));
    assert_eq!(network.class, Fact::Known(Class::Network));
    assert_eq!(network.device, Fact::NotApplicable);
    assert_eq!(line_without_fill(network), "nfs4 from server:/export");
}

#[test]
fn reads_are_counted_except_for_fuse_and_some_network_file_systems() {
    for (kind, source, is_counted) in [
        ("ext4", "/dev/vda", true),
        ("tmpfs", "tmpfs", true),
        ("overlay", "overlay", true),
        ("zfs", "tank/data", true),
        ("nfs4", "server:/export", true),
        ("cifs", "//server/share", true),
        ("9p", "share", false),
        ("virtiofs", "share", false),
        ("fuse", "/tmp/x", false),
        ("fuseblk", "/dev/vda", false),
        ("fuse.sshfs", "server:", false),
        ("fuse.fuse-overlayfs", "overlay", false),
    ] {
        let target = read(&tree("0:45", kind, source));
        assert_eq!(
            target.mount.known().unwrap().counts_reads(),
            is_counted,
            "{kind}"
        );
    }
}

#[test]
fn device_that_the_file_system_hides_is_unavailable() {
    let overlay = read(&tree("0:45", "overlay", "overlay"));
    assert_eq!(overlay.class, Fact::Known(Class::Overlay));
    assert!(overlay.device.why().unwrap().contains("upperdir"));
    let zfs = read(&tree("0:45", "zfs", "tank/data"));
    assert_eq!(zfs.class, Fact::Known(Class::Other));
    assert!(zfs.device.why().unwrap().contains("tank/data"));
    assert_eq!(line_without_fill(zfs), "zfs on tank/data");
    let fuse = read(&tree("0:45", "fuse.thing", "/dev/fuse"));
    assert_eq!(fuse.class, Fact::Known(Class::Other));
    assert!(!fuse.device.is_known());
}

#[test]
fn facts_of_a_missing_target_are_unavailable() {
    let target = Target::read(&Sources::default(), Path::new("/no/such/place"));
    assert!(target.canonical_path.why().is_some());
    assert!(target.mount.why().unwrap().contains("/no/such/place"));
    assert!(target.space.why().is_some());
    assert!(target.fill_fraction.why().is_some());
    assert!(target.class.why().is_some());
    assert!(target.device.why().is_some());
    assert_eq!(target.one_line(), "an unknown file system");
}

#[test]
fn space_is_known_without_a_table_of_mounts() {
    let tree = Tree::new(&[("/data/keep", "")]);
    let target = read(&tree);
    assert!(target.mount.why().unwrap().contains("mountinfo"));
    assert!(target.space.is_known() && target.read_only.is_known());
}

#[test]
fn one_line_description_states_that_a_target_is_read_only() {
    let mut target = read(&tree("0:45", "tmpfs", "tmpfs"));
    target.read_only = Fact::Known(true);
    target.fill_fraction = Fact::Known(0.204);
    assert_eq!(target.one_line(), "tmpfs (memory), 20 % full, read-only");
}

#[test]
fn target_facts_of_the_real_root_are_known() {
    let target = Target::read(&Sources::default(), Path::new("/"));
    assert_eq!(target.canonical_path, Fact::Known("/".into()));
    assert_eq!(
        target.mount.known().unwrap().mount_point,
        std::path::Path::new("/")
    );
    assert!(target.name_length_bytes_max.known().unwrap() >= &14);
    assert!(!target.one_line().contains("unknown"));
}

#[test]
fn procfs_has_no_space_and_no_device() {
    let target = Target::read(&Sources::default(), Path::new("/proc"));
    assert_eq!(target.class, Fact::Known(Class::Other));
    assert!(!target.device.is_known());
    let space = target.space.known().unwrap();
    assert_eq!(space.available_bytes, Fact::NotApplicable);
    assert_eq!(space.inodes_available, Fact::NotApplicable);
}
