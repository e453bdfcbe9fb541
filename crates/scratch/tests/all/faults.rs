//! Missing requirements and failures are reported, and leave no files, mounts or loop devices.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rustix::mount::MountFlags;
use scratch::{Made, MakeSpec};
use testkit::{Assert, Shows};

use crate::support::{Scene, can_make, free_in, is_met, is_root, unmount};

const SPEC: &str = "POSTMARK_MADE_CHECK";

/// Helper process of the tests below, not a test. The tests start it as another user, or without a
/// required program.
#[test]
fn checker() {
    let Ok(spec) = std::env::var(SPEC) else {
        return;
    };
    let spec: MakeSpec = spec.parse().unwrap();
    let error = Made::make(&spec, "checked").unwrap_err();
    print!("<{error}>");
}

/// Starts the helper process with `command`, and returns the error that it printed.
fn answer(command: &mut Command, spec: &MakeSpec) -> String {
    let output = command
        .args(["faults::checker", "--exact", "--nocapture"])
        .env(SPEC, spec.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, text) = text
        .split_once('<')
        .unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    text.rsplit_once('>').unwrap().0.to_owned()
}

#[test]
fn making_fails_without_root() {
    let scene = Scene::new();
    if !is_root() || !is_met(Path::new("/usr/bin/setpriv").exists(), "setpriv") {
        return;
    }
    for (word, expected) in [
        (
            "ext4",
            "cannot make ext4: setting up loop devices and mounting needs root (run as root, or \
             use a directory of a mounted file system)",
        ),
        (
            "tmpfs",
            "cannot make tmpfs: mounting needs root (run as root, or use a directory of a mounted \
             file system)",
        ),
    ] {
        let mut command = Command::new("setpriv");
        // The test program may be in a directory that only root can enter. The program is therefore
        // started through an open file.
        command
            .args([
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "/proc/self/fd/0",
            ])
            .stdin(File::open(std::env::current_exe().unwrap()).unwrap());
        assert_eq!(answer(&mut command, &scene.spec(word)), expected);
    }
}

#[test]
fn making_fails_if_mkfs_is_not_installed() {
    let scene = Scene::new();
    let spec = scene.spec("xfs?size=300MiB");
    if !is_root() || !can_make(&spec) {
        return;
    }
    let mut command = Command::new("unshare");
    let hide = "for at in /usr/sbin /sbin /usr/bin /usr/local/sbin; do if [ -e $at/mkfs.xfs ]; \
                then mount --bind /dev/null $at/mkfs.xfs; fi; done; exec \"$0\" \"$@\"";
    command
        .args(["--mount", "sh", "-c", hide])
        .arg(std::env::current_exe().unwrap());
    let expected = "cannot make xfs: mkfs.xfs is not installed (install the package xfsprogs)";
    assert_eq!(answer(&mut command, &spec), expected);
}

#[test]
fn unusable_directories_are_refused() {
    let scene = Scene::new();
    if !is_root() {
        return;
    }
    let check = |name: &str| {
        let word = format!(
            "make:ext4?size=16MiB&in={}",
            scene.path().join(name).display()
        );
        word.parse::<MakeSpec>().unwrap().check()
    };
    let error = check("missing").unwrap_err();
    assert!(
        error.to_string().contains("No such file or directory")
            && error.to_string().ends_with("(use in=DIRECTORY)")
    );
    fs::write(scene.path().join("file"), "").unwrap();
    assert!(
        check("file")
            .unwrap_err()
            .to_string()
            .contains("not a directory")
    );
    fs::create_dir(scene.path().join("open")).unwrap();
    fs::set_permissions(scene.path().join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let error = check("open").unwrap_err();
    error.assert(error.to_string().contains("another user can rename"));
    fs::set_permissions(
        scene.path().join("open"),
        fs::Permissions::from_mode(0o1777),
    )
    .unwrap();
    let needs = check("open").unwrap();
    assert_eq!(needs.room.len(), 1);
    needs.assert(needs.room[0].bytes >= 16 << 20 && needs.room[0].bytes < 20 << 20);
    fs::remove_dir(scene.path().join("open")).unwrap();
    fs::remove_file(scene.path().join("file")).unwrap();
}

/// A small tmpfs mounted on a directory for images, to test a lack of space.
struct Small {
    scene: Scene,
}

impl Small {
    fn new(mib: u64) -> Self {
        let scene = Scene::new();
        let at = scene.path().join("small");
        fs::create_dir(&at).unwrap();
        let size = std::ffi::CString::new(format!("size={mib}m,mode=0700")).unwrap();
        rustix::mount::mount(
            "small",
            &at,
            "tmpfs",
            MountFlags::empty(),
            Some(size.as_c_str()),
        )
        .unwrap();
        Self { scene }
    }

    fn spec(&self, kind_and_keys: &str) -> MakeSpec {
        let at = self.scene.path().join("small");
        format!("make:{kind_and_keys}&in={}", at.display())
            .parse()
            .unwrap()
    }

    fn names(&self) -> usize {
        fs::read_dir(self.scene.path().join("small"))
            .unwrap()
            .count()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let at = self.scene.path().join("small");
        unmount(&at);
        fs::remove_dir(at).unwrap();
    }
}

#[test]
fn making_fails_without_space_for_the_image() {
    if !is_root() {
        return;
    }
    let small = Small::new(20);
    let error = Made::make(&small.spec("ext4?size=64MiB"), "large").unwrap_err();
    error.assert(error.is_no_room());
    let text = error.to_string();
    let bytes = |before: &str| -> u64 {
        let words: Vec<&str> = text.split(' ').collect();
        let at = words.iter().position(|word| *word == before).unwrap();
        words[at - 1].parse().unwrap()
    };
    assert!(bytes("bytes") > 64 << 20 && bytes("available") <= 20 << 20);
    // The image and the journal are on the same file system, so the sum of their sizes must fit.
    let both = small
        .spec("ext4?size=16MiB&journal=8MiB")
        .check()
        .unwrap_err();
    both.assert(both.to_string().starts_with("no room for ext4 in "));
    assert_eq!(small.names(), 0);
}

#[test]
fn failed_save_leaves_the_file_system_mounted() {
    if !is_root() {
        return;
    }
    let small = Small::new(100);
    let spec = small.spec("ext4?size=64MiB");
    if !can_make(&spec) {
        return;
    }
    let mut made = Made::make(&spec, "no state").unwrap();
    fs::write(made.directory().join("large"), vec![1; 44 << 20]).unwrap();
    let error = made.save("state").unwrap_err();
    assert!(error.is_no_room(), "{error}");
    assert!(!made.has_state("state"));
    made.check().unwrap();
    assert_eq!(
        fs::metadata(made.directory().join("large")).unwrap().len(),
        44 << 20,
        "it is mounted as it was"
    );
    made.remove().unwrap();
    assert_eq!(small.names(), 0);
}

#[test]
fn failure_of_mkfs_or_mount_leaves_no_files() {
    let scene = Scene::new();
    if !is_root() || !can_make(&scene.spec("ext4?size=16MiB")) {
        return;
    }
    for (word, expected) in [
        ("ext4?size=16MiB&mkfs=-I 300", "'mkfs.ext4 -F -q "),
        (
            "ext4?size=16MiB&mount=no-such-option",
            "'mount -t ext4 -o no-such-option ",
        ),
        (
            "tmpfs?size=16MiB&mount=no-such-option",
            "'mount -t tmpfs -o no-such-option,size=16777216 ",
        ),
    ] {
        let error = Made::make(&scene.spec(word), "fails")
            .unwrap_err()
            .to_string();
        error
            .begins_with(expected)
            .shows("failed with exit status ");
        assert_eq!(scene.left(), [] as [&str; 0], "{word}");
    }
}

#[test]
fn unmounted_file_system_can_be_remade_and_removed() {
    let scene = Scene::new();
    let spec = scene.spec("ext4?size=16MiB");
    if !is_root() || !can_make(&spec) {
        return;
    }
    let mut made = Made::make(&spec, "goes").unwrap();
    let mount = made.directory().parent().unwrap().to_owned();
    let unmount = || unmount(&mount);
    unmount();
    assert_eq!(
        made.check().unwrap_err().to_string(),
        format!("another process has unmounted {}", mount.display())
    );
    assert!(made.save("state").is_err());
    made.remake().unwrap();
    made.check().unwrap();
    unmount();
    made.remove().unwrap();
}

#[test]
fn mounts_that_are_in_use_or_covered_are_kept() {
    let scene = Scene::new();
    let spec = scene.spec("ext4?size=16MiB");
    if !is_root() || !can_make(&spec) {
        return;
    }
    let mut made = Made::make(&spec, "busy").unwrap();
    let mount = made.directory().parent().unwrap().to_owned();
    let open = File::create(made.directory().join("open")).unwrap();
    let error = made.remake().unwrap_err().to_string();
    error.begins_with("cannot unmount ").shows("busy");
    made.check().unwrap();
    drop(open);
    made.remake().unwrap();

    // A file system that another program has mounted over the scratch file system must not be
    // removed.
    rustix::mount::mount("of-somebody", &mount, "tmpfs", MountFlags::empty(), None).unwrap();
    fs::write(mount.join("file"), "of somebody").unwrap();
    let error = made.check().unwrap_err().to_string();
    error.shows("has a mount that was not made here: tmpfs from of-somebody");
    let error = made.remove().unwrap_err();
    error.assert(error.to_string().starts_with("cannot remove all of"));
    assert_eq!(
        fs::read_to_string(mount.join("file")).unwrap(),
        "of somebody"
    );
    let removed = free_in(scene.path()).remove(0).remove();
    assert_eq!(removed.left.len(), 1, "{removed:?}");
    assert!(mount.join("file").exists());
    unmount(&mount);
    let removed = free_in(scene.path()).remove(0).remove();
    assert_eq!(
        (removed.left, removed.mounts, removed.images),
        (vec![], 1, 1)
    );
}
