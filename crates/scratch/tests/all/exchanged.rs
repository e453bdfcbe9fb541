//! Files of a scratch file system that a user has moved away are still removed. Files that the user
//! has put at the original paths are kept.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use scratch::{Made, MadeState, MakeSpec, MakeStage, MakeStop};
use testkit::{Assert, Shows};

use crate::killed::started;
use crate::support::{Scene, can_make, free_in, is_root};

/// Names of this program's files, which the tests give to a user's files.
const NAMES: [&str; 6] = [
    "image",
    "journal",
    "saved-state-image",
    "saved-holiday",
    "mount",
    ".postmark-made.json",
];

/// Makes a file system, and returns it with its directory. Returns `None` if it cannot be made on
/// this machine.
fn made(scene: &Scene, word: &str) -> Option<(Made, PathBuf)> {
    let spec = scene.spec(word);
    if !is_root() || !can_make(&spec) {
        return None;
    }
    let made = Made::make(&spec, "exchanged").unwrap();
    let directory = made.directory().ancestors().nth(2).unwrap().to_owned();
    Some((made, directory))
}

/// Moves a directory away, and creates a user's directory at its path, with files of the same
/// names. Returns the new path of the moved directory.
fn exchange(directory: &Path) -> PathBuf {
    let old = directory.with_file_name("old");
    fs::rename(directory, &old).unwrap();
    fs::create_dir(directory).unwrap();
    for name in NAMES {
        fs::write(directory.join(name), "precious").unwrap();
    }
    old
}

/// Checks that the user's directory is unchanged, and removes it.
fn is_untouched(directory: &Path) {
    for name in NAMES {
        assert_eq!(
            fs::read_to_string(directory.join(name)).unwrap(),
            "precious",
            "{name}"
        );
    }
    assert_eq!(fs::read_dir(directory).unwrap().count(), NAMES.len());
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn moved_directory_of_a_running_maker_is_removed_and_its_replacement_kept() {
    for word in ["ext4?size=16MiB", "overlay?size=16MiB", "tmpfs?size=8MiB"] {
        let scene = Scene::new();
        let Some((mut made, directory)) = made(&scene, word) else {
            return;
        };
        let old = exchange(&directory);
        let error = made.remake().unwrap_err();
        let moved = format!("moved {} to {},", directory.display(), old.display());
        error.assert(error.to_string().contains(&moved));
        assert!(made.check().is_err());
        let removed = made.remove().unwrap();
        assert_eq!(removed.directory, old);
        is_untouched(&directory);
        assert_eq!(scene.left(), [] as [&str; 0], "{word}");
    }
}

#[test]
fn moved_directory_of_a_killed_maker_is_cleaned_and_its_replacement_kept() {
    let scene = Scene::new();
    let spec = scene.spec("ext4?size=16MiB&journal=8MiB");
    if !is_root() || !can_make(&spec) {
        return;
    }
    let mut maker = started(&spec, "Ready");
    let directory = fs::read_dir(scene.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let old = exchange(&directory);
    maker.kill().unwrap();
    maker.wait().unwrap();
    // The original path now leads to the user's directory, which is not trusted.
    let found = free_in(scene.path()).remove(0);
    found.assert(matches!(found.state, MadeState::Untrusted { .. }));
    assert_eq!(found.remove().left.len(), 1);
    let found = free_in(&old).remove(0);
    assert_eq!(found.state, MadeState::Abandoned);
    let removed = found.remove();
    assert_eq!(
        (removed.left, removed.mounts, removed.loop_devices),
        (vec![], 1, 2)
    );
    is_untouched(&directory);
}

#[test]
fn user_files_in_the_directory_and_the_manifest_are_kept() {
    let scene = Scene::new();
    let Some((mut made, directory)) = made(&scene, "ext4?size=16MiB") else {
        return;
    };
    made.save("state").unwrap();
    fs::create_dir_all(directory.join("saved-holiday/photos")).unwrap();
    let mine = [
        "saved-holiday/photos/1",
        "saved-notes.txt",
        "journal",
        "saved-",
    ]
    .map(|name| directory.join(name));
    for path in &mine {
        fs::write(path, "precious").unwrap();
    }
    let error = made.remove().unwrap_err().to_string();
    let advice = format!("(then run 'postmark clean {}')", directory.display());
    assert!(error.ends_with(&advice), "{error}");
    for name in ["journal", "saved-", "saved-holiday", "saved-notes.txt"] {
        let named = format!(
            "{}: was not made by this program",
            directory.join(name).display()
        );
        assert!(error.contains(&named), "{name}: {error}");
    }
    assert_eq!(
        fs::read_dir(&directory).unwrap().count(),
        5,
        "all else is gone but the manifest"
    );
    let removed = free_in(scene.path()).remove(0).remove();
    assert_eq!(removed.left.len(), 4, "{removed:?}");
    for path in &mine {
        assert_eq!(fs::read_to_string(path).unwrap(), "precious");
    }
    for path in &mine[1..] {
        fs::remove_file(path).unwrap();
    }
    fs::remove_dir_all(directory.join("saved-holiday")).unwrap();
    assert_eq!(free_in(scene.path()).remove(0).remove().left, []);
}

#[test]
fn user_files_that_replace_those_of_the_program_are_kept() {
    let scene = Scene::new();
    let Some((mut made, directory)) = made(&scene, "ext4?size=16MiB") else {
        return;
    };
    made.save("state").unwrap();
    let moved = scene.path().join("moved");
    fs::rename(directory.join("image"), &moved).unwrap();
    fs::write(directory.join("image"), "precious").unwrap();
    fs::remove_file(directory.join("saved-state-image")).unwrap();
    fs::write(directory.join("saved-state-image"), "precious").unwrap();
    let error = made.remake().unwrap_err().to_string();
    error.shows("has moved or exchanged ");
    assert!(error.ends_with("/image"), "{error}");
    let error = made.restore("state").unwrap_err().to_string();
    assert!(error.ends_with("/saved-state-image"), "{error}");
    assert!(made.save("state").is_err());
    let error = made.remove().unwrap_err().to_string();
    for name in ["image", "saved-state-image"] {
        let named = format!(
            "{}: was not made by this program",
            directory.join(name).display()
        );
        error.shows(&named);
        assert_eq!(
            fs::read_to_string(directory.join(name)).unwrap(),
            "precious"
        );
        fs::remove_file(directory.join(name)).unwrap();
    }
    fs::remove_file(moved).unwrap();
    assert_eq!(free_in(scene.path()).remove(0).remove().left, []);
}

#[test]
fn error_contains_the_new_path_of_a_moved_image() {
    let scene = Scene::new();
    let Some((made, directory)) = made(&scene, "ext4?size=16MiB") else {
        return;
    };
    let moved = scene.path().join("moved");
    fs::rename(directory.join("image"), &moved).unwrap();
    let error = made.remove().unwrap_err().to_string();
    let named = format!(
        "{}: was moved here by another program (remove it)",
        moved.display()
    );
    error.shows(&named);
    fs::remove_file(&moved).unwrap();
    assert_eq!(free_in(scene.path()).remove(0).remove().left, []);
}

#[test]
fn bind_mount_by_another_program_is_reported_at_once() {
    let scene = Scene::new();
    let Some((made, directory)) = made(&scene, "ext4?size=16MiB") else {
        return;
    };
    let elsewhere = scene.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let bound = Command::new("mount")
        .arg("--bind")
        .args([&directory.join("mount"), &elsewhere])
        .status();
    assert!(bound.unwrap().success());
    let began = Instant::now();
    let error = made.remove().unwrap_err().to_string();
    assert!(began.elapsed() < Duration::from_secs(60));
    let named = format!(
        "{}: another program has mounted the file system here",
        elsewhere.display()
    );
    error.shows(&named);
    crate::support::unmount(&elsewhere);
    fs::remove_dir(&elsewhere).unwrap();
    assert_eq!(free_in(scene.path()).remove(0).remove().left, []);
}

const ODD: &str = "POSTMARK_MADE_ODD";

#[test]
fn file_system_in_a_directory_with_a_non_utf8_path_is_made_and_removed() {
    if !is_root() {
        return;
    }
    // Runs in a separate mount namespace, because programs of other tests read the mount table as
    // UTF-8 text.
    let status = Command::new("unshare")
        .arg("--mount")
        .arg(std::env::current_exe().unwrap())
        .args(["exchanged::odd_path", "--exact", "--nocapture"])
        .env(ODD, "1")
        .status();
    assert!(status.unwrap().success());
}

/// Helper process of the test above, not a test.
#[test]
fn odd_path() {
    if std::env::var_os(ODD).is_none() {
        return;
    }
    let scene = Scene::new();
    let real = scene.path().join(OsStr::from_bytes(b"\xff,: \\"));
    fs::create_dir(&real).unwrap();
    let link = scene.path().join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    for word in [
        "ext4?size=16MiB&journal=8MiB",
        "overlay?size=16MiB",
        "tmpfs?size=8MiB",
    ] {
        let spec: MakeSpec = format!("make:{word}&in={}", link.display())
            .parse()
            .unwrap();
        if !is_root() || !can_make(&spec) {
            break;
        }
        let began = Instant::now();
        let mut made = Made::make(&spec, "odd").unwrap();
        fs::write(made.directory().join("file"), "text").unwrap();
        made.remake().unwrap();
        made.check().unwrap();
        made.remove().unwrap();
        // If the process that made the file system is killed, its files are found and removed.
        let mut maker = started(&spec, "Ready");
        maker.kill().unwrap();
        maker.wait().unwrap();
        assert_eq!(free_in(&link).remove(0).remove().left, []);
        assert_eq!(fs::read_dir(&real).unwrap().count(), 0, "{word}");
        assert!(began.elapsed() < Duration::from_secs(90), "{word}");
    }
    fs::remove_file(link).unwrap();
    fs::remove_dir(real).unwrap();
}

#[test]
fn signal_interrupts_the_writing_of_an_image() {
    let scene = Scene::new();
    let spec = scene.spec("ext4?size=16MiB");
    if !is_root() || !can_make(&spec) {
        return;
    }
    let caught = Arc::<AtomicUsize>::default();
    let mut stages = Vec::new();
    let error = Made::make_with(
        &spec,
        "ended",
        MakeStop::from(Arc::clone(&caught)),
        &mut |stage, directory| {
            assert!(directory.starts_with(scene.path()) && directory.is_dir());
            stages.push(stage);
            caught.store(15, Ordering::SeqCst);
        },
    )
    .unwrap_err();
    assert_eq!(stages, [MakeStage::Manifest]);
    assert!(error.is_interrupted(), "{error}");
    let told = error.to_string();
    told.begins_with("writing /").shows("because of a signal");
}

#[test]
fn error_lists_a_directory_that_cannot_be_removed() {
    let scene = Scene::new();
    let Some((made, directory)) = made(&scene, "tmpfs?size=8MiB") else {
        return;
    };
    let other = directory.join("mount/other");
    fs::create_dir(&other).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o700)).unwrap();
    let bound = Command::new("mount")
        .args(["-t", "tmpfs", "of-somebody"])
        .arg(&other)
        .status();
    assert!(bound.unwrap().success());
    let error = made.remove().unwrap_err().to_string();
    error.shows("cannot unmount ").shows("/mount: ");
    crate::support::unmount(&other);
    assert_eq!(free_in(scene.path()).remove(0).remove().left, []);
}
