//! Tests that a mounted directory works as a file system, and that its server can be stalled.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use faultfs::forget::Forgetting;
use faultfs::{Delay, Delayed, Mounted, Options, Passthrough, RequestKind};
use rustix::fs::{CWD, FlockOperation, RenameFlags, XattrFlags};
use tempfile::TempDir;

struct Scene {
    // Fields are dropped in this order: the file system is unmounted before its directories are
    // removed.
    mounted: Mounted,
    backing: TempDir,
    point: TempDir,
}

/// Whether this machine can mount a FUSE file system. If not, the test is skipped.
fn is_possible() -> bool {
    let Err(why) = faultfs::is_possible() else {
        return true;
    };
    assert!(
        std::env::var_os("POSTMARK_TEST_ALL").is_none(),
        "skipped: {why}"
    );
    eprintln!("skipped: {why}");
    false
}

impl Scene {
    fn new(options: Options) -> Option<Self> {
        if !is_possible() {
            return None;
        }
        let (backing, point) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mounted = Passthrough::mount(backing.path(), point.path(), options).unwrap();
        Some(Self {
            mounted,
            backing,
            point,
        })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.point.path().join(name)
    }

    fn behind(&self, name: &str) -> PathBuf {
        self.backing.path().join(name)
    }
}

fn mounts() -> String {
    fs::read_to_string("/proc/self/mounts").unwrap()
}

fn errno(result: io::Result<()>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn files_are_stored_in_the_backing_directory() {
    let Some(scene) = Scene::new(Options::default()) else {
        return;
    };
    let path = scene.at("1");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .unwrap();
    file.write_all(b"one and two").unwrap();
    let exists = OpenOptions::new().write(true).create_new(true).open(&path);
    assert_eq!(exists.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(b", three")
        .unwrap();
    file.rewind().unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one and two, three");
    file.set_len(3).unwrap();
    file.sync_all().unwrap();
    assert_eq!(fs::read(scene.behind("1")).unwrap(), b"one");
    assert_eq!(
        fs::metadata(&path).unwrap().ino(),
        fs::metadata(scene.behind("1")).unwrap().ino()
    );
    assert_eq!(
        fs::metadata(scene.point.path()).unwrap().ino(),
        fs::metadata(scene.backing.path()).unwrap().ino()
    );
    // An open file can still be written after its name is removed.
    fs::remove_file(&path).unwrap();
    assert!(!scene.behind("1").exists());
    file.write_all_at(b"still", 0).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 5);
    file.set_len(2).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 2);
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
}

#[test]
fn directories_links_and_attributes_work_on_the_mount() {
    let Some(scene) = Scene::new(Options::default()) else {
        return;
    };
    fs::create_dir(scene.at("a")).unwrap();
    fs::create_dir(scene.at("a/b")).unwrap();
    for number in 0..1_000 {
        fs::write(scene.at(&format!("a/b/{number}")), b"x").unwrap();
    }
    fs::rename(scene.at("a"), scene.at("c")).unwrap();
    let mut names: Vec<u32> = fs::read_dir(scene.at("c/b"))
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .file_name()
                .into_string()
                .unwrap()
                .parse()
                .unwrap()
        })
        .collect();
    names.sort_unstable();
    assert_eq!(names, (0..1_000).collect::<Vec<_>>());
    File::open(scene.at("c/b")).unwrap().sync_all().unwrap();

    let refused = rustix::fs::renameat_with(
        CWD,
        scene.at("c/b/1"),
        CWD,
        scene.at("c/b/2"),
        RenameFlags::NOREPLACE,
    );
    assert_eq!(refused, Err(rustix::io::Errno::EXIST));
    fs::hard_link(scene.at("c/b/1"), scene.at("link")).unwrap();
    fs::remove_file(scene.at("c/b/1")).unwrap();
    assert_eq!(fs::metadata(scene.at("link")).unwrap().nlink(), 1);
    assert_eq!(fs::read(scene.at("link")).unwrap(), b"x");
    symlink("link", scene.at("soft")).unwrap();
    assert_eq!(
        fs::read_link(scene.at("soft")).unwrap(),
        PathBuf::from("link")
    );
    assert_eq!(fs::read(scene.at("soft")).unwrap(), b"x");

    fs::set_permissions(scene.at("link"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        fs::metadata(scene.behind("link")).unwrap().mode() & 0o7777,
        0o640
    );
    std::os::unix::fs::chown(scene.at("link"), Some(12), Some(34)).unwrap();
    let facts = fs::metadata(scene.behind("link")).unwrap();
    assert_eq!((facts.uid(), facts.gid()), (12, 34));
    let file = File::open(scene.at("link")).unwrap();
    let then = std::time::UNIX_EPOCH + Duration::new(1_000_000_000, 123);
    file.set_times(fs::FileTimes::new().set_modified(then))
        .unwrap();
    assert_eq!(
        fs::metadata(scene.behind("link"))
            .unwrap()
            .modified()
            .unwrap(),
        then
    );
    rustix::fs::setxattr(scene.at("link"), "user.a", b"value", XattrFlags::CREATE).unwrap();
    let mut value = [0; 16];
    assert_eq!(
        rustix::fs::getxattr(scene.at("link"), "user.a", &mut value[..]),
        Ok(5)
    );

    let here = rustix::fs::statvfs(scene.point.path()).unwrap();
    let there = rustix::fs::statvfs(scene.backing.path()).unwrap();
    assert_eq!(
        (here.f_blocks, here.f_files),
        (there.f_blocks, there.f_files)
    );
    assert_eq!(
        errno(fs::remove_dir(scene.at("c"))),
        Some(39),
        "it is not empty"
    );
    let held = File::open(scene.at("c")).unwrap();
    fs::remove_dir_all(scene.at("c")).unwrap();
    assert!(
        held.metadata().unwrap().is_dir(),
        "an open directory lives on"
    );
    assert!(!scene.behind("c").exists());
}

#[test]
fn only_requests_of_one_kind_are_delayed() {
    let delay = Delay {
        at: RequestKind::Create,
        by: Duration::from_millis(50),
    };
    let Some(scene) = Scene::new(Options {
        delay: Some(delay),
        ..Options::default()
    }) else {
        return;
    };
    fs::create_dir(scene.at("a")).unwrap();
    assert_eq!(scene.mounted.delayed(), Delayed::default());
    let began = Instant::now();
    for name in ["1", "2", "3"] {
        fs::write(scene.at(name), b"x").unwrap();
    }
    let took = began.elapsed();
    assert_eq!(fs::read(scene.at("1")).unwrap(), b"x");
    let delayed = scene.mounted.delayed();
    assert_eq!(delayed.requests, 3);
    assert!(
        delayed.slept >= 3 * delay.by && took >= delayed.slept,
        "{took:?}, {delayed:?}"
    );
}

#[test]
fn requests_of_disabled_features_are_rejected() {
    let Some(scene) = Scene::new(Options {
        rename_noreplace: false,
        hard_links: false,
        ..Options::default()
    }) else {
        return;
    };
    fs::write(scene.at("1"), b"x").unwrap();
    let refused = rustix::fs::renameat_with(
        CWD,
        scene.at("1"),
        CWD,
        scene.at("2"),
        RenameFlags::NOREPLACE,
    );
    assert_eq!(refused, Err(rustix::io::Errno::INVAL));
    assert_eq!(errno(fs::hard_link(scene.at("1"), scene.at("2"))), Some(1));
    fs::rename(scene.at("1"), scene.at("2")).unwrap();
    assert_eq!(fs::read(scene.behind("2")).unwrap(), b"x");
}

#[test]
fn files_belong_to_their_creator() {
    let Some(scene) = Scene::new(Options::default()) else {
        return;
    };
    fs::set_permissions(scene.point.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    fs::write(scene.at("root"), b"x").unwrap();
    let shell = "umask 0; cd \"$0\" && mkdir d && : > d/f && ! rm -f root 2>/dev/null";
    let status = Command::new("setpriv")
        .args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            "sh",
            "-c",
            shell,
        ])
        .arg(scene.point.path())
        .status()
        .unwrap();
    assert!(status.success());
    let facts = fs::metadata(scene.behind("d/f")).unwrap();
    assert_eq!(
        (facts.uid(), facts.gid(), facts.mode() & 0o7777),
        (65_534, 65_534, 0o666)
    );
}

fn reader(path: PathBuf) -> Child {
    Command::new("cat")
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn ended_within(child: &mut Child, limit: Duration) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn stalled_server_blocks_calls_until_resumed_or_unmounted() {
    let Some(scene) = Scene::new(Options::default()) else {
        return;
    };
    fs::write(scene.at("1"), b"x").unwrap();
    scene.mounted.stall_at(RequestKind::Read);
    assert!(!scene.mounted.wait_for_request(Duration::ZERO));
    let mut child = reader(scene.at("1"));
    assert!(scene.mounted.wait_for_request(Duration::from_secs(10)));
    assert!(!ended_within(&mut child, Duration::from_millis(300)));
    scene.mounted.resume();
    assert!(ended_within(&mut child, Duration::from_secs(10)));
    assert_eq!(child.wait_with_output().unwrap().stdout, b"x");

    scene.mounted.stall();
    let mut child = reader(scene.at("1"));
    assert!(!ended_within(&mut child, Duration::from_millis(300)));
    // A process whose request the server has not accepted can be killed.
    child.kill().unwrap();
    assert!(ended_within(&mut child, Duration::from_secs(10)));
    scene.mounted.resume();
    scene.mounted.stall_at(RequestKind::Open);
    let mut child = reader(scene.at("1"));
    assert!(scene.mounted.wait_for_request(Duration::from_secs(10)));
    child.kill().unwrap();
    assert!(!ended_within(&mut child, Duration::from_millis(300)));

    let point = scene.point.path().to_str().unwrap().to_owned();
    assert!(mounts().contains(&point));
    let begin = Instant::now();
    let Scene { mounted, .. } = scene;
    drop(mounted);
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert!(ended_within(&mut child, Duration::from_secs(10)));
    assert!(!mounts().contains(&point));
}

/// A process that was killed at the crash may have begun a request that arrives only later.
#[test]
fn requests_of_killed_processes_change_nothing_after_a_crash() {
    if !is_possible() {
        return;
    }
    let point = tempfile::tempdir().unwrap();
    let files = Forgetting::mount(point.path(), 1, None).unwrap();
    let path = point.path().join("file");
    let file = File::create(&path).unwrap();
    (&file).write_all(b"synced").unwrap();
    file.sync_all().unwrap();
    files.crash();
    files.fail_requests();
    assert!(files.has_crashed());
    assert_eq!(
        errno((&file).write_all(b" and more")),
        Some(rustix::io::Errno::IO.raw_os_error())
    );
    files.revive();
    assert!(!files.has_crashed());
    assert_eq!(fs::read(&path).unwrap(), b"synced");
}
