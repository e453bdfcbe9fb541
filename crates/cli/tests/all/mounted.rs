//! Gives each test its own file system. The macro `on` runs a test on several kinds of file
//! systems.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support::{FileSystem, TestDir, Volume, tool};

/// Declares a test for each named kind of file system, or for all four.
macro_rules! on {
    ($test:ident) => {
        crate::mounted::on!($test: tmpfs, ext4, xfs, btrfs);
    };
    ($test:ident: $($kind:ident),+) => {
        mod $test {
            $(#[test]
            fn $kind() {
                if let Some(mounted) = crate::mounted::$kind() {
                    super::$test(mounted);
                }
            })+
        }
    };
}
pub(crate) use on;

/// Lock for tests that drop the page cache of the whole system. Tests that need a warm cache hold
/// the lock as well.
pub fn alone_with_the_cache() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn tmpfs() -> Option<Mounted> {
    Mounted::new(FileSystem::Tmpfs)
}

pub fn ext4() -> Option<Mounted> {
    Mounted::new(FileSystem::Ext4)
}

pub fn xfs() -> Option<Mounted> {
    Mounted::new(FileSystem::Xfs)
}

pub fn btrfs() -> Option<Mounted> {
    Mounted::new(FileSystem::Btrfs)
}

/// Size of an image in MiB. Images are sparse, so this is only the maximum of the space used.
const IMAGE_MIB: u64 = 2_048;
/// Images are stored in /dev/shm if at least this many bytes are free there, otherwise on a disk.
/// The results of the tests are the same, but the tests are slower on a disk that other programs
/// use.
const MEMORY_MIN_BYTES: u64 = 8 << 30;

fn test_dir() -> TestDir {
    let facts = rustix::fs::statvfs("/dev/shm");
    if facts.is_ok_and(|facts| facts.f_bavail * facts.f_frsize >= MEMORY_MIN_BYTES) {
        TestDir::in_memory()
    } else {
        TestDir::new()
    }
}

/// A mounted file system that only the test uses.
pub struct Mounted {
    pub kind: FileSystem,
    pub at: PathBuf,
    /// Declared before `test_dir`, which contains the image of the volume, so that the volume is
    /// dropped first.
    pub volume: Volume,
    test_dir: TestDir,
}

impl Mounted {
    /// Creates and mounts a file system. `None` if the test may not do this.
    pub fn new(kind: FileSystem) -> Option<Self> {
        let inodes: &[&str] = match kind {
            FileSystem::Ext4 => &["-N", "200000"],
            _ => &[],
        };
        Self::with_image(kind, IMAGE_MIB, inodes)
    }

    /// Creates a file system of a given size, with additional options for mkfs.
    pub fn with_image(kind: FileSystem, mib: u64, options: &[&str]) -> Option<Self> {
        if !kind.is_available() {
            return None;
        }
        let test_dir = test_dir();
        let at = test_dir.directory("mount");
        let volume = match kind {
            FileSystem::Tmpfs => Volume::in_memory(&at, &format!("size={mib}m")),
            _ => Volume::with_image(kind, &test_dir, &at, mib, options).past_the_cache(),
        };
        Some(Self {
            kind,
            at,
            volume,
            test_dir,
        })
    }

    /// A path on another file system. A file at this path is removed when this value is dropped.
    pub fn elsewhere(&self, name: &str) -> PathBuf {
        self.test_dir.path().join(name)
    }

    /// Freezes the file system: all changes wait until the returned value is dropped.
    pub fn freeze(&self) -> Frozen {
        Frozen::freeze(&self.at)
    }

    /// Shuts the file system down as in a crash: data and log entries that have not reached the
    /// device are lost. [`Self::comes_back`] mounts the file system again.
    pub fn crashes(&self) {
        self.volume.kill();
    }

    /// Mounts the file system again after a crash, which replays its log.
    pub fn comes_back(&mut self) {
        self.volume.unmount();
        // Other tests copy all mounts into namespaces of their own, where a copy would keep the
        // file system shut down. Removing the mount point ends the copies.
        fs::remove_dir(&self.at).unwrap();
        fs::create_dir(&self.at).unwrap();
        self.volume.mount();
    }
}

/// A frozen file system: changes wait in the kernel. It is unfrozen when this value is dropped, and
/// also when the test process ends for any reason.
#[derive(Debug)]
pub struct Frozen {
    /// A shell that unfreezes the file system when its input is closed.
    thaws: Child,
}

impl Frozen {
    fn freeze(at: &Path) -> Self {
        let point = at.to_str().unwrap().to_owned();
        tool("fsfreeze", &["--freeze", &point]);
        let thaws = Command::new("/bin/sh")
            .args(["-c", "read _; exec fsfreeze --unfreeze \"$0\"", &point])
            .stdin(Stdio::piped())
            .spawn();
        let thaws = thaws.unwrap_or_else(|error| {
            tool("fsfreeze", &["--unfreeze", &point]);
            panic!("cannot run a shell: {error}");
        });
        Self { thaws }
    }

    pub fn thaw(self) {
        drop(self);
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        drop(self.thaws.stdin.take());
        let thawed = self.thaws.wait().is_ok_and(|status| status.success());
        // While a test panics, a second panic would abort the test process.
        assert!(
            thawed || std::thread::panicking(),
            "the file system does not thaw"
        );
    }
}

pub fn is_below(path: &str, directory: &Path) -> bool {
    Path::new(path).starts_with(directory)
}
