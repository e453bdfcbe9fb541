//! A directory for images, and checks that a test leaves no files, mounts or loop devices.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use scratch::{FileSystemKind, FoundMade, MadeState, MakeSpec, find};
use system::{MountTable, Sources};
use tempfile::TempDir;

#[path = "../../../cli/tests/all/support/needs.rs"]
mod needs;

pub use needs::{is_met, is_root};

/// Kinds of file systems that most kernels support. If such a kind is missing, a test fails when
/// all tests are required; otherwise the test is skipped.
const COMMON: [FileSystemKind; 7] = [
    FileSystemKind::Tmpfs,
    FileSystemKind::Ext2,
    FileSystemKind::Ext3,
    FileSystemKind::Ext4,
    FileSystemKind::Xfs,
    FileSystemKind::Btrfs,
    FileSystemKind::Overlay,
];

pub fn can_make(spec: &MakeSpec) -> bool {
    match spec.check() {
        Ok(_) => true,
        Err(why) if COMMON.contains(&spec.kind) => is_met(false, &why.to_string()),
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "skipped: {}: {why}", spec.kind);
            false
        }
    }
}

/// A directory for images. Dropping it asserts that nothing remains in it: no entries, no mounts,
/// and no images of loop devices.
pub struct Scene {
    directory: TempDir,
}

impl Scene {
    /// Creates the directory in memory, because the tests would be slow on a shared disk.
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("made-")
            .tempdir_in("/dev/shm")
            .unwrap();
        Self { directory }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the spec of a file system whose image is in this directory.
    pub fn spec(&self, kind_and_keys: &str) -> MakeSpec {
        let question = if kind_and_keys.contains('?') {
            '&'
        } else {
            '?'
        };
        let word = format!("make:{kind_and_keys}{question}in={}", self.path().display());
        word.parse()
            .unwrap_or_else(|error| panic!("{word}: {error}"))
    }

    /// Returns all remaining entries, mounts and loop devices.
    pub fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut left: Vec<String> = entries
            .map(|entry| format!("{:?}", entry.unwrap().path()))
            .collect();
        let table = MountTable::read(&Sources::default()).into_known().unwrap();
        let mounts = table.mounts.iter().map(|mount| &mount.mount_point);
        left.extend(
            mounts
                .filter(|at| Path::new(at).starts_with(self.path()))
                .map(|at| format!("mount {}", at.display())),
        );
        left.extend(
            images()
                .filter(|(_, image)| image.starts_with(self.path()))
                .map(|(device, _)| device),
        );
        left
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.left(), [] as [String; 0]);
        }
    }
}

/// Unmounts a file system as another program would. Retries while it is busy, because programs that
/// other tests start inherit the open files of this process for a moment.
pub fn unmount(at: &Path) {
    let began = Instant::now();
    while let Err(errno) = rustix::mount::unmount(at, UnmountFlags::empty()) {
        assert!(
            errno == Errno::BUSY && began.elapsed() < Duration::from_secs(10),
            "{}: {errno}",
            at.display()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for at most 20 s until no scratch file system in the directory is in use, and returns all
/// of them. Programs that a killed maker started may take a moment to end. Programs that other
/// tests start inherit the open files of this process for a moment.
pub fn free_in(directory: &Path) -> Vec<FoundMade> {
    let began = Instant::now();
    loop {
        let found = find(directory).unwrap();
        let is_active = found
            .iter()
            .any(|found| matches!(found.state, MadeState::Active { .. }));
        if !is_active || began.elapsed() > Duration::from_secs(20) {
            return found;
        }
        drop(found);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns all loop devices, each with the path of its image.
pub fn images() -> impl Iterator<Item = (String, PathBuf)> {
    let devices = std::fs::read_dir("/sys/block")
        .unwrap()
        .map(|entry| entry.unwrap());
    devices.filter_map(|entry| {
        let image = std::fs::read(entry.path().join("loop/backing_file")).ok()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Some((name, OsString::from_vec(image).into()))
    })
}
