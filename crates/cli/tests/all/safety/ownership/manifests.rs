//! Manifests that are not trusted, and the creation of a manifest.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::process::CommandExt as _;

use super::{MANIFEST, visited};
use crate::support::Engine::Raw;
use crate::support::Interface::Prompt;
use crate::support::interface::clean;
use crate::support::test_dir::{set_mode, write};
use crate::support::{INTERFACES, Phase, Snapshot, TestDir, Work, is_met, is_root};

/// Another user writes a false manifest into a directory that all users may write to. `clean` must
/// not trust this manifest, and must remove no file.
#[test]
fn manifest_of_another_user_is_not_trusted() {
    if !is_root() {
        return;
    }
    let visited = visited(Prompt(Raw), |_| ());
    let manifest = std::fs::read_to_string(visited.at(MANIFEST)).unwrap();
    let contents = std::fs::read(visited.at("1")).unwrap();
    clean(&visited.location).code(0);
    let shared = visited.test_dir.directory("shared");
    set_mode(&shared, 0o1777);
    // A file of root with a name of the run. As the worst case, it has the contents of a file of
    // the run.
    std::fs::write(shared.join("17"), &contents).unwrap();
    let inode = shared.metadata().unwrap().ino();
    let manifest = with_number(&manifest, "directory_inode", inode);
    let mut writer = std::process::Command::new("tee");
    writer.arg(shared.join(MANIFEST)).uid(65_534).gid(65_534);
    writer
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null());
    let mut writing = writer.spawn().unwrap();
    writing
        .stdin
        .take()
        .unwrap()
        .write_all(manifest.as_bytes())
        .unwrap();
    assert!(writing.wait().unwrap().success());
    let before = Snapshot::of(&shared);
    let cleaned = clean(&shared);
    cleaned.ends("1 | it belongs to user 65534, not to the current user 0 | nothing was changed");
    before.assert_kept(&shared, &cleaned);
    // A run in the directory with the false manifest is refused as well.
    let refused = Prompt(Raw).perform(
        &Work {
            files: 10,
            ..Work::small(&shared)
        },
        &visited.test_dir,
    );
    refused.code(1).shows("it belongs to user 65534");
    before.assert_kept(&shared, &refused);
}

fn with_number(manifest: &str, key: &str, value: u64) -> String {
    let key = format!("\"{key}\": ");
    let (before, rest) = manifest.split_once(&key).unwrap();
    let (_, behind) = rest.split_once(',').unwrap();
    format!("{before}{key}{value},{behind}")
}

/// `clean` does not trust a manifest of the current user that was created for another directory, or
/// that other users may have written.
#[test]
fn manifest_from_another_directory_is_not_trusted() {
    let visited = visited(Prompt(Raw), |_| ());
    for (name, why) in [
        ("copy", "it is a copy of the manifest of another directory"),
        ("link", "it has other hard links"),
        ("symbolic", "it is a symbolic link"),
        ("writable", "its mode 0666 lets other users write it"),
    ] {
        let place = visited.test_dir.directory(name);
        let manifest = place.join(MANIFEST);
        let contents = std::fs::read(visited.at("1")).unwrap();
        match name {
            "link" => std::fs::hard_link(visited.at(MANIFEST), &manifest).unwrap(),
            "symbolic" => symlink(visited.at(MANIFEST), &manifest).unwrap(),
            _ => {
                std::fs::copy(visited.at(MANIFEST), &manifest).unwrap();
            }
        }
        if name == "writable" {
            set_mode(&manifest, 0o666);
        }
        std::fs::write(place.join("17"), contents).unwrap();
        let before = Snapshot::of(&place);
        let cleaned = clean(&place);
        cleaned.code(1).shows(why).shows("nothing was changed");
        before.assert_kept(&place, &cleaned);
        if name == "link" {
            std::fs::remove_file(manifest).unwrap();
        }
    }
    clean(&visited.location).code(0);
}

/// FUSE servers often support neither RENAME_NOREPLACE nor hard links. Even there, only one of two
/// runs may create the manifest.
#[test]
fn only_one_run_creates_the_manifest_even_without_exclusive_rename() {
    let possible = faultfs::is_possible();
    if !is_met(
        possible.is_ok(),
        &format!("FUSE ({})", possible.err().unwrap_or_default()),
    ) {
        return;
    }
    for interface in INTERFACES {
        let test_dir = TestDir::in_memory();
        let (backing, location) = (
            test_dir.directory("backing"),
            test_dir.directory("location"),
        );
        let options = faultfs::Options {
            rename_noreplace: false,
            hard_links: false,
            ..faultfs::Options::default()
        };
        let _mounted = faultfs::Passthrough::mount(&backing, &location, options).unwrap();
        write(&location.join("own"), "mine\n", 0o600);
        interface
            .perform(&Work::small(&location), &test_dir)
            .code(0);
        let work = Work {
            files: 5_000,
            ..Work::long(&location, Phase::Prepare)
        };
        let running = interface.begin(&work, &test_dir, Phase::Prepare);
        if interface.is_prompt() {
            interface
                .perform(&Work::small(&location), &test_dir)
                .code(1)
                .shows("in use");
        }
        running.kill();
        clean(&location).code(0);
        assert_eq!(std::fs::read_dir(&location).unwrap().count(), 1);
    }
}
