//! Scratch file systems of every kind are made, used, remade, saved, restored and removed.

use std::fs;

use scratch::{FileSystemKind, Made, MakeSpec};
use system::Space;
use testkit::{Assert, Shows};

use crate::support::{Scene, can_make, images, is_root};

/// Returns the names of the entries in the target directory.
fn names(made: &Made) -> Vec<String> {
    let entries = fs::read_dir(made.directory()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Returns the spec of a file system of this kind with its minimum size.
fn smallest(scene: &Scene, kind: FileSystemKind) -> MakeSpec {
    scene.spec(&format!("{kind}?size={}", kind.size_bytes_min()))
}

fn make_use_and_remove(spec: &MakeSpec) {
    if !is_root() || !can_make(spec) {
        return;
    }
    let mut made = Made::make(spec, "a name").unwrap();
    let write =
        |made: &Made, name: &str, text: &str| fs::write(made.directory().join(name), text).unwrap();
    assert_eq!(names(&made), [] as [&str; 0]);
    assert_eq!(made.facts().spec, spec.to_string());
    write(&made, "one", "of the first state");

    made.remake().unwrap();
    assert_eq!(names(&made), [] as [&str; 0], "remade");

    write(&made, "kept", "the state");
    fs::create_dir(made.directory().join("d")).unwrap();
    fs::write(made.directory().join("d/large"), vec![7; 3 << 20]).unwrap();
    if spec.kind == FileSystemKind::Tmpfs {
        let error = made.save("aged").unwrap_err().to_string();
        error.begins_with("a tmpfs has no states");
    } else {
        made.save("aged").unwrap();
        assert_eq!(names(&made), ["d", "kept"], "it is there again");
        write(&made, "kept", "another state");
        write(&made, "later", "");
        for _ in 0..2 {
            made.restore("aged").unwrap();
            assert_eq!(names(&made), ["d", "kept"]);
            assert_eq!(
                fs::read_to_string(made.directory().join("kept")).unwrap(),
                "the state"
            );
            assert!(fs::read(made.directory().join("d/large")).unwrap() == vec![7; 3 << 20]);
            made.remake().unwrap();
            assert_eq!(names(&made), [] as [&str; 0]);
        }
        assert!(made.has_state("aged"));
    }
    made.check().unwrap();
    assert_eq!(
        made.restore("young").unwrap_err().to_string(),
        "no saved state 'young' (save it first)"
    );
    assert!(
        made.save("../up")
            .unwrap_err()
            .to_string()
            .starts_with("invalid name of a state '../up'")
    );

    let facts = made.facts().clone();
    let has_image = spec.kind.has_image();
    let loops: Vec<String> = images()
        .filter(|(_, image)| {
            let of_journal = spec.journal_directory();
            image.starts_with(&spec.directory)
                || of_journal.is_some_and(|directory| image.starts_with(directory))
        })
        .map(|(device, _)| device)
        .collect();
    for device in &loops {
        let shown = |file: &str| {
            let path = format!("/sys/block/{device}/loop/{file}");
            fs::read_to_string(path).unwrap().trim() == "1"
        };
        assert!(shown("autoclear"), "{device}");
        assert_eq!(shown("dio"), spec.direct, "{device}");
    }
    assert_eq!(
        facts.image_file_system.known().map(String::as_str),
        has_image.then_some("tmpfs")
    );
    assert_eq!(
        loops.len(),
        usize::from(has_image) + usize::from(spec.journal.is_some())
    );
    let driver = match spec.kind {
        FileSystemKind::Ext2 | FileSystemKind::Ext3 => "ext4",
        kind => kind.name(),
    };
    assert_eq!(facts.driver.known().map(String::as_str), Some(driver));
    assert_eq!(facts.mkfs_commands.is_empty(), !has_image);
    facts.assert(facts.mount_commands[0].starts_with("mount -t "));
    facts.assert(facts.tools.iter().all(|tool| tool.version.is_known()));
    let space = Space::read(&made.directory()).into_known().unwrap();
    let [used, available] = [
        space.total_bytes.into_known().unwrap() - space.free_bytes.into_known().unwrap(),
        space.available_bytes.into_known().unwrap(),
    ];
    let usable = used + available;
    facts.assert(usable > spec.size_bytes / 4 && usable <= spec.size_bytes);
    let mount = facts.mount.known().unwrap();
    assert_eq!(mount.file_system_type, spec.kind.name());
    for option in &spec.mount_options {
        let options = mount.mount_options.iter().chain(&mount.super_options);
        assert!(
            options.into_iter().any(|in_force| in_force == option),
            "{option}: {mount:?}"
        );
    }
    let removed = made.remove().unwrap();
    // The removal counts one loop device, its image, and the copy in the saved state. An external
    // journal has the same three.
    assert_eq!(
        removed.loop_devices + removed.images,
        if has_image {
            3 + 3 * usize::from(spec.journal.is_some())
        } else {
            0
        },
        "{removed:?}"
    );
    assert_eq!(
        removed.mounts,
        if spec.kind == FileSystemKind::Overlay {
            2
        } else {
            1
        }
    );
}

macro_rules! kinds {
    ($($test:ident: $kind:ident),+) => {
        $(#[test]
        fn $test() {
            let scene = Scene::new();
            make_use_and_remove(&smallest(&scene, FileSystemKind::$kind));
        })+
    };
}

kinds!(ext2: Ext2, ext3: Ext3, ext4: Ext4, xfs: Xfs, btrfs: Btrfs, overlay: Overlay, f2fs: F2fs,
    nilfs2: Nilfs2);

#[test]
fn tmpfs_is_made_used_and_removed() {
    let scene = Scene::new();
    make_use_and_remove(&scene.spec("tmpfs?size=32MiB"));
}

#[test]
fn ext4_with_options_of_mkfs_and_mount_is_made_and_removed() {
    let scene = Scene::new();
    make_use_and_remove(
        &scene.spec("ext4?size=64MiB&mkfs=-I 512 -E stride=4&mount=noatime&direct&discard"),
    );
}

#[test]
fn ext4_with_a_journal_in_another_directory_is_made_and_removed() {
    let (scene, elsewhere) = (Scene::new(), Scene::new());
    make_use_and_remove(&scene.spec(&format!(
        "ext4?size=64MiB&journal=16MiB&journal-in={}",
        elsewhere.path().display()
    )));
}

#[test]
fn xfs_with_a_journal_in_the_same_directory_is_made_and_removed() {
    let scene = Scene::new();
    make_use_and_remove(&scene.spec("xfs?size=300MiB&journal=64MiB"));
}

#[test]
fn ext4_is_remade_with_the_same_identity() {
    let scene = Scene::new();
    let spec = scene.spec("ext4?size=32MiB");
    if !is_root() || !can_make(&spec) {
        return;
    }
    let mut made = Made::make(&spec, "alike").unwrap();
    let commands = |made: &Made| {
        let line = made.facts().mkfs_commands[0].clone();
        line.rsplit_once(' ').unwrap().0.to_owned()
    };
    let first = commands(&made);
    for part in ["lazy_itable_init=0,lazy_journal_init=0,hash_seed=", "-U "] {
        first.shows(part);
    }
    made.remake().unwrap();
    assert_eq!(commands(&made), first, "the same identity and seed");
    made.remove().unwrap();
}

#[test]
fn remounted_ext4_keeps_its_files_and_a_tmpfs_is_not_remounted() {
    let scene = Scene::new();
    let specs = ["ext4?size=32MiB", "tmpfs?size=4MiB"].map(|word| scene.spec(word));
    if !is_root() || !specs.iter().all(can_make) {
        return;
    }
    let [mut ext4, mut tmpfs] = specs.map(|spec| Made::make(&spec, "remounted").unwrap());
    for made in [&ext4, &tmpfs] {
        std::fs::write(made.directory().join("file"), "text").unwrap();
    }
    ext4.remount().unwrap();
    let error = tmpfs.remount().unwrap_err().to_string();
    assert!(error.starts_with("a tmpfs cannot be remounted"), "{error}");
    for made in [ext4, tmpfs] {
        let file = made.directory().join("file");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "text");
        made.remove().unwrap();
    }
}

#[test]
fn new_image_is_fully_allocated() {
    use std::os::unix::fs::MetadataExt;

    let scene = Scene::new();
    let spec = scene.spec("ext4?size=32MiB");
    if !is_root() || !can_make(&spec) {
        return;
    }
    let made = Made::make(&spec, "full").unwrap();
    let (_, path) = images()
        .find(|(_, image)| image.starts_with(scene.path()))
        .unwrap();
    let path = path.into_os_string().into_string().unwrap();
    let image = fs::metadata(path.trim_end()).unwrap();
    assert_eq!(image.len(), 32 << 20);
    assert_eq!(image.blocks() * 512, 32 << 20, "no hole, also after mkfs");
    drop(made);
}
