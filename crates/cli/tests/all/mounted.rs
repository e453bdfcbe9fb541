//! A file system of a test's own, and a test on each of them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support::{FileSystem, TestDir, Volume, tool};

/// Declares a test for a function of a file system, on each of those named; on all four where none
/// is.
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

/// Held while caches are dropped: that would be felt by a run that wants a warm one, which holds
/// it, too.
pub fn alone_with_the_cache() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file system in memory.
pub fn tmpfs() -> Option<Mounted> {
    Mounted::new(FileSystem::Tmpfs)
}

/// An ext4.
pub fn ext4() -> Option<Mounted> {
    Mounted::new(FileSystem::Ext4)
}

/// An xfs.
pub fn xfs() -> Option<Mounted> {
    Mounted::new(FileSystem::Xfs)
}

/// A btrfs.
pub fn btrfs() -> Option<Mounted> {
    Mounted::new(FileSystem::Btrfs)
}

/// Images are sparse: this is what may be used, not what is.
const IMAGE_MIB: u64 = 2_048;
/// Images lie in memory where a file system there has room for a few whole ones: a disk that others
/// use makes tests slow, and what they look at is the same.
const MEMORY_MIN_BYTES: u64 = 8 << 30;

fn test_dir() -> TestDir {
    let facts = rustix::fs::statvfs("/dev/shm");
    if facts.is_ok_and(|facts| facts.f_bavail * facts.f_frsize >= MEMORY_MIN_BYTES) {
        TestDir::in_memory()
    } else {
        TestDir::new()
    }
}

/// A mounted file system that nobody else uses.
pub struct Mounted {
    pub kind: FileSystem,
    /// Where it is mounted.
    pub at: PathBuf,
    /// Goes before the directory that it lies in.
    pub volume: Volume,
    test_dir: TestDir,
}

impl Mounted {
    /// Nothing where the test may not make one.
    pub fn new(kind: FileSystem) -> Option<Self> {
        let inodes: &[&str] = match kind {
            FileSystem::Ext4 => &["-N", "200000"],
            _ => &[],
        };
        Self::with_image(kind, IMAGE_MIB, inodes)
    }

    /// The same with a size and options for mkfs.
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

    /// A path on another file system that goes with this one.
    pub fn elsewhere(&self, name: &str) -> PathBuf {
        self.test_dir.path().join(name)
    }

    /// Lets nobody change anything for a while.
    pub fn freeze(&self) -> Frozen {
        Frozen::freeze(&self.at)
    }

    /// Takes it away as a crash does: what is not in its log is lost. It comes back with
    /// [`Self::comes_back`].
    pub fn crashes(&self) {
        self.volume.kill();
    }

    /// Mounts it again: it recovers what its log has.
    pub fn comes_back(&mut self) {
        self.volume.unmount();
        self.volume.mount();
    }
}

/// A file system that takes no changes: whoever makes one waits in the kernel. It thaws with this
/// value, and when the test's process ends, however that happens.
#[derive(Debug)]
pub struct Frozen {
    /// A shell that waits for the end of its input.
    thaws: Child,
}

impl Frozen {
    /// Freezes a file system.
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

    /// Lets it be changed again.
    pub fn thaw(self) {
        drop(self);
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        drop(self.thaws.stdin.take());
        let thawed = self.thaws.wait().is_ok_and(|status| status.success());
        // Where there is a failure already, it is that one that is told.
        assert!(
            thawed || std::thread::panicking(),
            "the file system does not thaw"
        );
    }
}

/// Whether a path lies below a directory.
pub fn is_below(path: &str, directory: &Path) -> bool {
    Path::new(path).starts_with(directory)
}
