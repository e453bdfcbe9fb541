//! Tests with mount options as the kernel prints them, and with devices on fixture trees of sysfs.

use super::*;
use crate::mount::MountTable;
use crate::sources::tests::Tree;

/// A target on a mount with a device, a file system type and options. All other fields are
/// irrelevant.
fn target(tree: &Tree, device: &str, kind: &str, options: &str) -> Target {
    let line = format!("40 1 {device} / /mnt rw,noatime - {kind} /dev/sda1 {options}\n");
    let mount = MountTable::parse(&line).unwrap().mounts[0].clone();
    let number = mount.device;
    Target {
        class: Fact::Known(mount.class()),
        device: match mount.class() {
            Class::Block => Device::read(&tree.sources, &Fact::NotApplicable, number),
            _ => Fact::NotApplicable,
        },
        mount: Fact::Known(mount),
        ..Target::read(&tree.sources, tree.directory.path())
    }
}

fn facts(tree: &Tree, device: &str, kind: &str, options: &str) -> DurabilityFacts {
    DurabilityFacts::of(&tree.sources, &target(tree, device, kind, options))
}

/// Adds a disk in `/sys/devices/NAME`. `files` contains names and texts of its files.
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

const CACHED: [(&str, &str); 2] = [("queue/write_cache", "write back\n"), ("queue/fua", "1\n")];

fn disks() -> Tree {
    let tree = Tree::new(&[]);
    add(&tree, "sda", "8:0", &CACHED);
    add(&tree, "sda/sda1", "8:1", &[("partition", "1\n")]);
    add(
        &tree,
        "sdb",
        "8:16",
        &[
            ("queue/write_cache", "write through\n"),
            ("queue/fua", "0\n"),
        ],
    );
    add(&tree, "sdb/sdb1", "8:17", &[("partition", "1\n")]);
    tree
}

#[test]
fn ext4_defaults_are_read_from_its_list_of_options() {
    let tree = disks();
    // Linux 6.1 lists these options for an ext4 file system that was mounted without options.
    tree.file(
        "/proc/fs/ext4/sda1/options",
        "rw\ndelalloc\nbarrier\ndata=ordered\ncommit=5\n",
    );
    tree.file("/proc/fs/jbd2/sda1-8/info", "");
    let facts = facts(&tree, "8:1", "ext4", "rw");
    let expected = DurabilityFacts {
        synchronous: Fact::Known(false),
        synchronous_directories: Fact::Known(false),
        barriers: Fact::Known(true),
        syncs_ignored: Fact::NotApplicable,
        data_mode: Fact::Known(DataMode::Ordered),
        journal_device: Fact::NotApplicable,
        devices: Fact::Known(vec![DeviceDurability {
            name: "sda1".into(),
            write_cache: Fact::Known("write back".into()),
            force_unit_access: Fact::Known(true),
            flush_answer: FlushAnswer::Device,
        }]),
        nfs: Fact::NotApplicable,
        smb: Fact::NotApplicable,
    };
    assert_eq!(facts, expected);
    let json = serde_json::to_string(&facts).unwrap();
    assert_eq!(
        serde_json::from_str::<DurabilityFacts>(&json).unwrap(),
        facts
    );
}

#[test]
fn missing_ext4_files_are_unavailable() {
    let tree = disks();
    let facts = facts(&tree, "8:1", "ext4", "rw");
    assert!(
        facts
            .data_mode
            .why()
            .unwrap()
            .contains("/proc/fs/ext4/sda1/options")
    );
    assert!(facts.journal_device.why().unwrap().contains("journal_task"));
    // An ext4 file system without a journal has no option `data`.
    tree.file("/proc/fs/ext4/sda1/options", "rw\nbarrier\n");
    tree.file("/sys/fs/ext4/sda1/journal_task", "<none>\n");
    let facts = self::facts(&tree, "8:1", "ext4", "rw");
    assert_eq!(
        (facts.data_mode, facts.journal_device),
        (Fact::NotApplicable, Fact::NotApplicable)
    );
}

#[test]
fn barriers_are_derived_from_mount_options() {
    let tree = disks();
    let barriers = |kind: &str, options: &str| facts(&tree, "8:1", kind, options).barriers;
    for (kind, options, expected) in [
        ("ext4", "rw,nobarrier", false),
        ("ext3", "rw,barrier=0,data=journal", false),
        ("ext3", "rw,barrier=1", true),
        ("xfs", "rw,attr2,nobarrier", false),
        ("xfs", "rw,attr2", true),
        ("btrfs", "rw,nobarrier,ssd", false),
        ("f2fs", "rw,fsync_mode=nobarrier", false),
        ("f2fs", "rw,fsync_mode=posix", true),
        ("nilfs2", "rw,nobarrier", false),
        ("nilfs2", "rw", true),
        ("hfsplus", "rw,nobarrier", false),
    ] {
        assert_eq!(
            barriers(kind, options),
            Fact::Known(expected),
            "{kind} {options}"
        );
    }
    assert!(barriers("vfat", "rw").why().unwrap().contains("vfat"));
    assert_eq!(
        facts(&tree, "0:45", "tmpfs", "rw").barriers,
        Fact::NotApplicable
    );
}

#[test]
fn synchronous_and_volatile_options_are_read() {
    let tree = disks();
    let of = |kind: &str, options: &str| facts(&tree, "8:1", kind, options);
    assert_eq!(
        of("ext3", "rw,sync,data=journal").synchronous,
        Fact::Known(true)
    );
    assert_eq!(
        of("ext3", "rw,data=journal").data_mode,
        Fact::Known(DataMode::Journal)
    );
    assert_eq!(
        of("ext4", "rw,data=writeback").data_mode,
        Fact::Known(DataMode::Writeback)
    );
    assert!(
        of("ext4", "rw,data=odd")
            .data_mode
            .why()
            .unwrap()
            .contains("data=odd")
    );
    let directories = of("ext4", "rw,dirsync");
    assert_eq!(
        (directories.synchronous, directories.synchronous_directories),
        (Fact::Known(false), Fact::Known(true))
    );
    assert_eq!(
        of("xfs", "rw,wsync").synchronous_directories,
        Fact::Known(true)
    );
    let overlay = |options: &str| facts(&tree, "0:45", "overlay", options).syncs_ignored;
    assert_eq!(
        overlay("rw,lowerdir=/l,upperdir=/u,workdir=/w,volatile"),
        Fact::Known(true)
    );
    assert_eq!(
        overlay("rw,lowerdir=/l,upperdir=/u,workdir=/w"),
        Fact::Known(false)
    );
}

#[test]
fn options_of_nfs_and_smb_are_read() {
    let tree = Tree::new(&[]);
    let nfs = |options: &str| {
        facts(&tree, "0:45", "nfs4", options)
            .nfs
            .into_known()
            .unwrap()
    };
    let usual = nfs(
        "rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,\
         sec=sys,addr=203.0.113.7",
    );
    let expected = NfsOptions {
        version: Fact::Known("4.2".into()),
        server_loss: Fact::Known(ServerLoss::Hard),
        attributes_cached: Fact::Known(true),
        close_to_open: Fact::Known(true),
        connections: Fact::Known(1),
    };
    assert_eq!(usual, expected);
    let other = nfs("rw,sync,vers=3,softerr,noac,nocto,nconnect=16");
    assert_eq!(other.server_loss, Fact::Known(ServerLoss::SoftError));
    assert_eq!(
        (other.attributes_cached, other.close_to_open),
        (Fact::Known(false), Fact::Known(false))
    );
    assert_eq!(other.connections, Fact::Known(16));
    let bare = nfs("rw,nconnect=many");
    assert!(bare.server_loss.why().unwrap().contains("hard or soft"));
    assert!(bare.version.why().is_some() && bare.connections.why().is_some());
    let smb = |options: &str| {
        facts(&tree, "0:45", "cifs", options)
            .smb
            .into_known()
            .unwrap()
    };
    let loose = smb("rw,vers=3.1.1,cache=loose,soft,nostrictsync");
    assert_eq!(loose.fsync_reaches_server, Fact::Known(false));
    assert_eq!(loose.server_loss, Fact::Known(ServerLoss::Soft));
    assert_eq!(loose.cache, Fact::Known("loose".into()));
    assert_eq!(
        smb("rw,vers=3.1.1,cache=strict").fsync_reaches_server,
        Fact::Known(true)
    );
}

#[test]
fn external_journal_is_found() {
    let tree = disks();
    let on_sdb1 = Fact::Known("sdb1".to_owned());
    let journal = |kind: &str, options: &str| {
        facts(&tree, "8:1", kind, options)
            .journal_device
            .map(|device| device.name)
    };
    assert_eq!(journal("xfs", "rw,attr2,logdev=/dev/sdb1"), on_sdb1);
    assert_eq!(journal("xfs", "rw,attr2"), Fact::NotApplicable);
    assert_eq!(journal("ext4", "rw,journal_path=/dev/sdb1"), on_sdb1);
    tree.file("/sys/fs/ext4/sda1/journal_task", "77\n");
    tree.file("/proc/77/comm", "jbd2/sdb1\n");
    tree.file("/proc/fs/jbd2/sdb1/info", "");
    assert_eq!(journal("ext4", "rw"), on_sdb1);
    let device = facts(&tree, "8:1", "ext4", "rw")
        .journal_device
        .into_known()
        .unwrap();
    assert_eq!(device.write_cache, Fact::Known("write through".into()));
    assert_eq!(device.force_unit_access, Fact::Known(false));
    for (task, expected) in [
        ("jbd2/sda1-8", Fact::NotApplicable),
        ("jbd2/sda1-", Fact::NotApplicable),
    ] {
        tree.file("/proc/77/comm", task);
        assert_eq!(journal("ext4", "rw"), expected, "{task}");
    }
    tree.file("/proc/77/comm", "bash");
    assert!(
        journal("ext4", "rw")
            .why()
            .unwrap()
            .contains("not a journal")
    );
    assert!(
        journal("xfs", "rw,logdev=/dev/gone")
            .why()
            .unwrap()
            .contains("/dev/gone")
    );
    assert_eq!(journal("btrfs", "rw"), Fact::NotApplicable);
}

#[test]
fn flush_answer_is_derived_from_the_kind_of_device() {
    let tree = Tree::new(&[("/sys/class/iscsi_session/session1/state", "LOGGED_IN\n")]);
    let answers = |name: &str, number: &str, files: &[(&str, &str)]| {
        add(&tree, name, number, files);
        let devices = facts(&tree, number, "ext4", "rw")
            .devices
            .into_known()
            .unwrap();
        devices
            .into_iter()
            .map(|device| device.flush_answer)
            .collect::<Vec<FlushAnswer>>()
    };
    assert_eq!(answers("vda", "254:0", &CACHED), [FlushAnswer::Hypervisor]);
    assert_eq!(answers("ram0", "1:0", &[]), [FlushAnswer::Memory]);
    assert_eq!(answers("nbd0", "43:0", &[]), [FlushAnswer::OtherMachine]);
    assert_eq!(
        answers("sdc", "8:32", &[("device/model", "Fast Disk")]),
        [FlushAnswer::Device]
    );
    assert_eq!(
        answers("sdd", "8:48", &[("device/model", "QEMU HARDDISK")]),
        [FlushAnswer::Hypervisor]
    );
    assert_eq!(
        answers(
            "nvme0n1",
            "259:0",
            &[("device/model", "Amazon Elastic Block Store")]
        ),
        [FlushAnswer::Hypervisor]
    );
    tree.file("/sys/devices/session1/target/device/iorequest_cnt", "0x1\n");
    tree.link(
        "/sys/devices/sde/device",
        "/sys/devices/session1/target/device",
    );
    assert_eq!(answers("sde", "8:64", &[]), [FlushAnswer::OtherMachine]);
    tree.link("/sys/devices/dm-0/slaves/vda", "/sys/devices/vda");
    assert_eq!(
        answers("dm-0", "253:0", &[]),
        [FlushAnswer::DevicesBelow, FlushAnswer::Hypervisor]
    );
    assert_eq!(answers("loop0", "7:0", &[]), [FlushAnswer::File]);
}

#[test]
fn missing_device_attributes_are_unavailable() {
    let tree = Tree::new(&[]);
    add(&tree, "sda", "8:0", &[("size", "8\n")]);
    let devices = facts(&tree, "8:0", "xfs", "rw")
        .devices
        .into_known()
        .unwrap();
    assert!(
        devices[0]
            .force_unit_access
            .why()
            .unwrap()
            .contains("queue/fua")
    );
    let mut target = target(&tree, "8:0", "xfs", "rw");
    target.mount = Fact::Unavailable("masked".into());
    let facts = DurabilityFacts::of(&tree.sources, &target);
    assert_eq!(
        (facts.synchronous.why(), facts.nfs.why()),
        (Some("masked"), Some("masked"))
    );
    assert!(facts.devices.is_known());
}

#[test]
fn durability_facts_of_the_real_root_are_known() {
    let sources = Sources::default();
    let facts = DurabilityFacts::of(&sources, &Target::read(&sources, std::path::Path::new("/")));
    assert!(facts.synchronous.is_known());
    assert!(
        facts.barriers.is_known() || facts.devices.known().is_none_or(Vec::is_empty),
        "{facts:?}"
    );
}
