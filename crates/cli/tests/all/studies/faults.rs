//! Disks that become full, and mounts that disappear, during a study.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{LITTLE, Lab, until_measured};
use crate::support::{Volume, is_root, names};

/// Fills the file system with files, so that no block is free.
fn fill(directory: &Path) {
    for (name, bytes) in [("fill-large", 1 << 20), ("fill-small", 4096)] {
        use std::io::Write as _;
        let mut file = fs::File::create(directory.join(name)).unwrap();
        let part = vec![1; bytes];
        while file.write_all(&part).is_ok() {}
    }
}

fn make_room(directory: &Path) {
    for name in ["fill-large", "fill-small"] {
        fs::remove_file(directory.join(name)).unwrap();
    }
}

#[test]
fn full_target_stops_a_study_that_later_continues() {
    let Some(lab) = Lab::rooted() else { return };
    let volume = Volume::in_memory(&lab.path("b"), "size=24m");
    let mut running = lab.start(&format!("study {LITTLE} --blocks 4 --target a --target b"));
    until_measured(&mut running, "block 1 of 4, run 2");
    fill(&lab.path("b"));
    let ended = running.finish();
    ended.ends("1 | the study stopped | space | continues this study");
    let left = names(&lab.path("b")).unwrap();
    assert_eq!(left, ["fill-large", "fill-small"], "{ended}");
    // The disk is still full, so the study is refused before its next run, and loses no run.
    let before = lab.complete().len();
    lab.row("study --resume | 2 | not enough space");
    make_room(&lab.path("b"));
    let ended = lab.shows("study --resume");
    ended.code(0);
    assert!(lab.complete().len() > before);
    lab.is_complete(4, 3);
    lab.is_clean(&[&volume], &ended);
}

#[test]
fn full_archive_stops_a_study_that_later_continues() {
    if !is_root() {
        return;
    }
    let mut lab = Lab::new();
    let directory = lab.test_dir.directory("archived");
    let volume = Volume::in_memory(&directory, "size=24m");
    lab.archive = directory.join("archive.db");
    let mut running = lab.start(&format!("study {LITTLE} --blocks 6 --target a --target b"));
    until_measured(&mut running, "block 1 of 6, run 1");
    fill(&directory);
    let ended = running.finish();
    ended.ends("1 | the study stopped | full | --archive");
    lab.is_clean(&[&volume], &ended);
    make_room(&directory);
    let ended = lab.shows("study --resume");
    ended.code(0);
    lab.is_complete(6, 3);
    lab.is_clean(&[&volume], &ended);
}

#[test]
fn full_image_directory_stops_a_study_that_later_continues() {
    let Some(lab) = Lab::rooted() else { return };
    let images = lab.path("images");
    let volume = Volume::in_memory(&images, "size=80m");
    // The study stores copies of aged pools in the directory of the image. After `fill`, there is
    // no space for these copies.
    let words = format!(
        "study {LITTLE} --blocks 2 --no-twin --axis age=1,2,3 --target {}",
        lab.made("ext4", "32MiB")
    );
    let mut running = lab.start(&words);
    until_measured(&mut running, "block 1 of 2, run 1");
    fill(&images);
    let ended = running.finish();
    ended.ends("1 | the study stopped | No space left on device");
    ended.shows("continues this study");
    let left = names(&images).unwrap();
    assert_eq!(left, ["fill-large", "fill-small"], "{ended}");
    make_room(&images);
    let ended = lab.shows("study --resume");
    ended.code(0);
    lab.is_complete(2, 3);
    lab.is_clean(&[&volume], &ended);
}

/// The free space suffices for each of the two images, but not for both.
#[test]
fn images_without_space_for_all_are_refused_in_advance() {
    let Some(lab) = Lab::rooted() else { return };
    let volume = Volume::in_memory(&lab.path("images"), "size=48m");
    let (one, other) = (lab.made("ext4", "32MiB"), lab.made("ext3", "32MiB"));
    let ended = lab.shows(&format!(
        "study {LITTLE} --blocks 1 --target {one} --target {other}"
    ));
    ended.code(2).shows("no room").does_not_show("run 1 of");
    lab.is_clean(&[&volume], &ended);
    assert!(!lab.archive.exists());
    lab.shows(&format!(
        "study {LITTLE} --blocks 1 --target {one} --target a"
    ))
    .code(0);
}

/// After the unmount, the path leads to a directory on another file system, which must not be
/// measured.
#[test]
fn unmounted_target_stops_a_study_that_later_continues() {
    let Some(lab) = Lab::rooted() else { return };
    // The wait for a quiet machine (600 ms) takes longer than a run (50 ms), so the file system is
    // unmounted during such a wait.
    let words = format!("study {LITTLE} --blocks 3 --target a --target b").replace("0s", "600ms");
    let mut volume = Volume::in_memory(&lab.path("b"), "size=24m");
    let mut running = lab.start(&words);
    until_measured(&mut running, "block 1 of 3, run 3");
    std::thread::sleep(Duration::from_millis(100));
    volume.unmount_lazily();
    let ended = running.finish();
    ended.ends("1 | the study stopped | mount | continues this study");
    lab.is_clean(&[], &ended);
    let ended = lab.shows("study --resume");
    ended.ends("1 | mount that again | continues this study");
    lab.is_clean(&[], &ended);
    let volume = Volume::in_memory(&lab.path("b"), "size=24m");
    let ended = lab.shows("study --resume");
    ended.code(0);
    lab.is_complete(3, 3);
    lab.is_clean(&[&volume], &ended);
    for (part, record) in lab.complete() {
        let is_b = part.cell.ends_with("/b");
        let mount = record.locations[0]
            .target
            .known()
            .unwrap()
            .mount
            .known()
            .unwrap();
        assert_eq!(mount.mount_point.ends_with("b"), is_b, "{part:?}");
    }
}
