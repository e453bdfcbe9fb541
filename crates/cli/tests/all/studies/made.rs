//! Studies with scratch file systems, while a user, a program or a signal interferes with the file
//! systems.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use testkit::Shows;

use super::{LITTLE, Lab};
use crate::support::test_dir::set_mode;
use crate::support::{Ended, Running, names};

/// A study whose first run takes 60 s, so that its target stays in use.
const LONG: &str = "study --files 50 --for 60s --no-overhead --quiet-time 0s --blocks 1";

impl Lab {
    /// The directory of the scratch file system, if it exists.
    fn made_directory(&self) -> Option<PathBuf> {
        let names = names(&self.path("images")).unwrap();
        let made = names
            .iter()
            .find(|name| name.as_bytes().starts_with(b"postmark-made-"));
        made.map(|name| self.path("images").join(name))
    }

    /// Asserts that the directory `images` contains only these names, and that no file system is
    /// mounted in the test directory.
    fn has_only(&self, expected: &[&str]) {
        let mut left = names(&self.path("images")).unwrap();
        left.sort();
        assert_eq!(left, expected);
        let place = self.test_dir.path().to_str().unwrap().to_owned();
        let mounts = fs::read("/proc/self/mounts").unwrap();
        let mounts = String::from_utf8_lossy(&mounts);
        mounts.does_not_show(&place);
    }
}

/// A process whose working directory keeps a file system busy. It is killed when the test ends.
struct Busy(Child);

impl Busy {
    fn in_directory(path: &std::path::Path) -> Self {
        Self(
            Command::new("sleep")
                .arg("600")
                .current_dir(path)
                .spawn()
                .unwrap(),
        )
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn files_in_an_exchanged_scratch_directory_survive() {
    let Some(lab) = Lab::rooted() else { return };
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        let mut running = lab.start(&format!(
            "{LONG} --target {} --target b",
            lab.made("ext4", "16MiB")
        ));
        running.until("its work", |_| {
            let work = lab.made_directory().map(|made| made.join("mount/work"));
            work.is_some_and(|work| names(&work).is_ok_and(|names| !names.is_empty()))
        });
        let made = lab.made_directory().unwrap();
        let old = made.with_file_name("old");
        fs::rename(&made, &old).unwrap();
        fs::create_dir(&made).unwrap();
        let mine =
            ["image", "journal", "saved-x", ".postmark-made.json"].map(|name| made.join(name));
        for path in &mine {
            fs::write(path, "precious").unwrap();
        }
        let name = made.file_name().unwrap().to_str().unwrap().to_owned();
        match signal {
            Some(Signal::KILL) => {
                running.kill();
                let began = Instant::now();
                // A child process of the killed study may hold the lock of the directory for a
                // moment, so `clean` is repeated.
                let clean = || lab.shows(&format!("clean {}", old.display()));
                let mut ended = clean();
                while ended.output.contains("in use by its maker")
                    && began.elapsed() < Duration::from_secs(20)
                {
                    ended = clean();
                }
                ended.code(0).shows("1 mount, 1 loop device, 1 image");
                lab.shows("clean images")
                    .code(1)
                    .shows(&format!("{name}: not removed"));
            }
            Some(signal) => {
                running.send(signal);
                let ended = running.finish();
                // The run may have failed because of the exchanged directory before the signal
                // arrived.
                assert!(matches!(ended.status.code(), Some(1 | 143)), "{ended}");
            }
            // If no signal is sent, the run fails because its target is gone.
            None => {
                running.finish().code(1);
            }
        }
        for path in &mine {
            assert_eq!(fs::read_to_string(path).unwrap(), "precious", "{signal:?}");
        }
        lab.has_only(&[&name]);
        fs::remove_dir_all(&made).unwrap();
        lab.shows("clean b");
    }
}

#[test]
fn clean_leaves_and_names_user_files_in_a_scratch_directory() {
    let Some(lab) = Lab::rooted() else { return };
    let mut running = lab.start(&format!(
        "{LONG} --target {} --target b",
        lab.made("ext4", "16MiB")
    ));
    running.until("its work", |_| {
        let work = lab.made_directory().map(|made| made.join("mount/work"));
        work.is_some_and(|work| names(&work).is_ok_and(|names| !names.is_empty()))
    });
    running.kill();
    let made = lab.made_directory().unwrap();
    fs::create_dir_all(made.join("saved-holiday/photos")).unwrap();
    let mine = ["saved-holiday/photos/1", "saved-notes.txt", "journal"].map(|name| made.join(name));
    for path in &mine {
        fs::write(path, "precious").unwrap();
    }
    let ended = lab.shows("clean images");
    ended.code(1);
    for name in ["saved-holiday", "saved-notes.txt", "journal"] {
        ended.shows(&format!(
            "{}: was not made by this program",
            made.join(name).display()
        ));
    }
    for path in &mine {
        assert_eq!(fs::read_to_string(path).unwrap(), "precious");
    }
    fs::remove_dir_all(made.join("saved-holiday")).unwrap();
    fs::remove_file(&mine[1]).unwrap();
    fs::remove_file(&mine[2]).unwrap();
    lab.shows("clean images").code(0);
    lab.has_only(&[]);
}

/// A value of PATH with an mkfs.ext4 that creates the file named by POSTMARK_MKFS_RUNS and then
/// hangs.
fn hanging_mkfs(lab: &Lab) -> String {
    let bin = lab.test_dir.directory("bin");
    let program = bin.join("mkfs.ext4");
    let text =
        "#!/bin/sh\n[ \"$1\" = -V ] && exit 0\n: > \"$POSTMARK_MKFS_RUNS\"\nexec sleep 600\n";
    fs::write(&program, text).unwrap();
    set_mode(&program, 0o755);
    format!(
        "{}:{}",
        bin.display(),
        std::env::var("PATH").unwrap_or_default()
    )
}

#[test]
fn signal_ends_a_hanging_mkfs_and_the_study_cleans_up() {
    let Some(lab) = Lab::rooted() else { return };
    let path = hanging_mkfs(&lab);
    let runs = lab.path("runs");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let words = format!("{LONG} --target {} --target b", lab.made("ext4", "16MiB"));
        let mut command = lab.command(&words);
        command.env("PATH", &path).env("POSTMARK_MKFS_RUNS", &runs);
        let mut running = Running::start(command, lab.test_dir.path());
        running.until("mkfs", |_| runs.exists());
        let made = lab.made_directory().unwrap();
        running.send(signal);
        let ended = running.finish();
        ended.code(code).shows(&format!(
            "A second signal stops the removal; 'postmark clean {}' removes the rest.",
            made.display()
        ));
        lab.has_only(&[]);
        fs::remove_file(&runs).unwrap();
    }
}

#[test]
fn files_left_by_a_second_signal_are_named() {
    let Some(lab) = Lab::rooted() else { return };
    let path = hanging_mkfs(&lab);
    // This mkfs ignores the first signal, so the second signal arrives while the study still waits
    // for mkfs.
    let program = lab.path("bin/mkfs.ext4");
    let text = fs::read_to_string(&program).unwrap();
    fs::write(
        &program,
        text.replace("exec sleep", "trap '' INT TERM\nsleep"),
    )
    .unwrap();
    let runs = lab.path("runs");
    let words = format!("{LONG} --target {} --target b", lab.made("ext4", "16MiB"));
    let mut command = lab.command(&words);
    command.env("PATH", &path).env("POSTMARK_MKFS_RUNS", &runs);
    let mut running = Running::start(command, lab.test_dir.path());
    running.until("mkfs", |_| runs.exists());
    running.send(Signal::TERM);
    let is_told = running.meets("that it names what is left", |running| {
        running
            .errors()
            .contains("A second signal stops the removal")
    });
    assert!(is_told, "{}", running.finish());
    let Some(made) = lab.made_directory() else {
        // On a slow machine, the study may have removed everything after the first signal and
        // before the second signal.
        running.finish().code(143);
        return;
    };
    running.send(Signal::INT);
    let ended = running.finish();
    ended.shows(&format!(
        "'postmark clean {}' removes the rest",
        made.display()
    ));
    // The mkfs process still runs, and holds the lock until it ends.
    let process = fs::read_dir("/proc").unwrap().flatten().find(|process| {
        let held = fs::read_link(process.path().join("fd/0"));
        held.is_ok_and(|held| held == made.join(".postmark-made.json"))
    });
    if let Some(process) = process {
        let group: i32 = process.file_name().to_str().unwrap().parse().unwrap();
        let stat = fs::read_to_string(process.path().join("stat")).unwrap();
        let group = stat.rsplit_once(") ").map_or(group, |(_, rest)| {
            rest.split(' ').nth(2).unwrap().parse().unwrap()
        });
        rustix::process::kill_process_group(
            rustix::process::Pid::from_raw(group).unwrap(),
            Signal::KILL,
        )
        .unwrap();
    }
    let began = Instant::now();
    let mut cleaned = lab.shows(&format!("clean {}", made.display()));
    while cleaned.output.contains("in use by its maker")
        && began.elapsed() < Duration::from_secs(20)
    {
        cleaned = lab.shows(&format!("clean {}", made.display()));
    }
    lab.has_only(&[]);
}

#[test]
fn study_that_cannot_unmount_exits_with_1_and_names_remains() {
    let Some(lab) = Lab::rooted() else { return };
    let small = LITTLE.replace("--for 50ms", "--for 2s");
    let words = format!(
        "study {small} --no-twin --blocks 1 --target {} --target b",
        lab.made("tmpfs", "8MiB")
    );
    let mut running = lab.start(&words);
    let mut busy = None;
    let is_busy = running.meets("its mount", |_| {
        let mount = lab.made_directory().map(|made| made.join("mount/work"));
        busy = mount
            .filter(|mount| mount.is_dir())
            .map(|mount| Busy::in_directory(&mount));
        busy.is_some()
    });
    assert!(is_busy, "{}", running.finish());
    let made = lab.made_directory().unwrap();
    let ended = running.finish();
    ended
        .code(1)
        .shows(&format!("cannot unmount {}", made.join("mount").display()))
        .shows(&format!("(then run 'postmark clean {}')", made.display()));
    drop(busy);
    lab.shows("clean images").code(0);
    lab.has_only(&[]);
}

/// Paths of the loop devices whose image is, or was, in this directory.
fn loop_devices(images: &std::path::Path) -> Vec<PathBuf> {
    let devices = fs::read_dir("/sys/block").unwrap().flatten();
    let devices = devices.map(|device| device.path());
    let is_here = |device: &PathBuf| {
        let image = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
        image.starts_with(images.to_str().unwrap())
    };
    devices.filter(is_here).collect()
}

/// Runs a study on a scratch file system and, while it works, starts `sleep` in a mount namespace
/// of its own, after the words of `first`. Returns the ended study and the process.
fn study_beside(lab: &Lab, first: &str) -> (Ended, Busy) {
    let target = lab.made("ext4", "16MiB");
    let mut running = lab.start(&format!(
        "study --files 50 --for 2s --no-overhead --quiet-time 0s --no-twin --blocks 2 --target \
         {target} --target b"
    ));
    let mut at = None;
    running.until("its work", |_| {
        at = lab.made_directory().map(|made| made.join("mount/work"));
        at.as_ref()
            .is_some_and(|work| names(work).is_ok_and(|names| !names.is_empty()))
    });
    let mut command = Command::new("unshare");
    let script = format!("{first}; exec sleep 600");
    command
        .args(["--mount", "sh", "-c", &script, "sh"])
        .arg(at.unwrap());
    let stranger = Busy(command.spawn().unwrap());
    (running.finish(), stranger)
}

#[test]
fn copied_mount_of_another_namespace_does_not_keep_a_device() {
    let Some(lab) = Lab::rooted() else { return };
    let (ended, _stranger) = study_beside(&lab, "true");
    ended.code(0).shows("2 blocks");
    assert!(!ended.errors.contains("still used"), "{ended}");
    lab.has_only(&[]);
    assert!(loop_devices(&lab.path("images")).is_empty());
}

#[test]
fn study_continues_although_another_mount_namespace_uses_its_file_system() {
    let Some(lab) = Lab::rooted() else { return };
    let (ended, stranger) = study_beside(&lab, "cd \"$1\"");
    ended.code(0).shows("2 blocks");
    let used = "still used by a process that cannot be named";
    ended.shows(used);
    ended.shows("The study continues on a new image.");
    assert_eq!(ended.errors.matches(used).count(), 1, "{ended}");
    lab.has_only(&[]);
    // The kernel detaches the device when its last user ends.
    let images = lab.path("images");
    assert_eq!(loop_devices(&images).len(), 1);
    drop(stranger);
    let began = Instant::now();
    while !loop_devices(&images).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn images_may_be_in_a_directory_whose_path_is_not_utf_8() {
    let Some(lab) = Lab::rooted() else { return };
    let real = lab
        .path("images")
        .join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, lab.path("link")).unwrap();
    let target = lab.made("ext4", "16MiB").replace("/images", "/link");
    let study = lab.command(&format!(
        "study {LITTLE} --no-twin --blocks 1 --target {target} --target b"
    ));
    // The study runs in its own mount namespace, because its mount points are not UTF-8. Programs
    // of other tests read the mount table as UTF-8.
    let mut command = Running::command(std::path::Path::new("unshare"));
    command
        .arg("--mount")
        .arg(study.get_program())
        .args(study.get_args());
    command.current_dir(lab.test_dir.path());
    let ended = Running::run_to_end(command, lab.test_dir.path());
    ended.code(0);
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0, "{ended}");
    fs::remove_dir(real).unwrap();
    lab.has_only(&[]);
}

#[test]
fn mkfs_option_cannot_copy_files_into_the_file_system() {
    let lab = Lab::new();
    File::create(lab.path("images/private")).unwrap();
    let mut command = lab.command(&format!("study {LITTLE} --target b"));
    command.args([
        "--target",
        &format!("{}&mkfs=-d ..", lab.made("ext4", "64MiB")),
    ]);
    let ended = Running::run_to_end(command, lab.test_dir.path());
    ended.code(2).shows("mkfs word '-d' cannot be used");
    assert_eq!(names(&lab.path("images")).unwrap(), ["private"]);
}
