//! File systems in memory or in an image. Each test mounts its own file system, which is removed
//! with the test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{TestDir, is_met, is_root, tool};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    Tmpfs,
    Ext4,
    Xfs,
    Btrfs,
}

impl FileSystem {
    /// Whether the test can create and mount a file system of this kind. If not, prints that the
    /// test is skipped.
    pub fn is_available(self) -> bool {
        let there = match self {
            Self::Tmpfs => true,
            Self::Ext4 => is_tool("mkfs.ext4"),
            Self::Xfs => is_tool("mkfs.xfs") && is_tool("xfs_io"),
            Self::Btrfs => is_tool("mkfs.btrfs"),
        };
        is_root() && is_met(there, &format!("the tools of {self:?}"))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Tmpfs => "tmpfs",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// The size of an image in MiB. The largest pool of the tests must fit into it.
    fn image_mib(self) -> u64 {
        match self {
            Self::Tmpfs => 0,
            Self::Ext4 => 256,
            Self::Xfs => 320,
            // In smaller images, btrfs mostly waits for space for metadata.
            Self::Btrfs => 2_048,
        }
    }
}

fn is_tool(name: &str) -> bool {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        .iter()
        .any(|directory| Path::new(directory).join(name).exists())
}

/// An image file attached to a loop device.
#[derive(Debug)]
struct Image {
    device: String,
}

impl Drop for Image {
    fn drop(&mut self) {
        let detached = Command::new("losetup")
            .args(["--detach", &self.device])
            .status();
        report(
            &format!("losetup --detach {}", self.device),
            detached.is_ok_and(|status| status.success()),
        );
    }
}

#[derive(Debug)]
pub struct Volume {
    kind: FileSystem,
    point: PathBuf,
    is_mounted: bool,
    /// The image is detached from its loop device after unmounting. `None` if the file system needs
    /// no image.
    image: Option<Image>,
}

impl Volume {
    /// Mounts a tmpfs with these mount options.
    pub fn in_memory(point: &Path, options: &str) -> Self {
        tool(
            "mount",
            &[
                "-t",
                "tmpfs",
                "-o",
                options,
                "postmark-safety",
                &text(point),
            ],
        );
        Self {
            kind: FileSystem::Tmpfs,
            point: point.to_owned(),
            is_mounted: true,
            image: None,
        }
    }

    /// Mounts a ramfs, which does not support direct I/O.
    pub fn without_direct(point: &Path) -> Self {
        tool("mount", &["-t", "ramfs", "postmark-safety", &text(point)]);
        Self {
            kind: FileSystem::Tmpfs,
            point: point.to_owned(),
            is_mounted: true,
            image: None,
        }
    }

    /// Mounts an existing directory on another one (bind mount).
    pub fn bound(directory: &Path, point: &Path) -> Self {
        tool("mount", &["--bind", &text(directory), &text(point)]);
        Self {
            kind: FileSystem::Tmpfs,
            point: point.to_owned(),
            is_mounted: true,
            image: None,
        }
    }

    /// Creates a file system of this kind in an image in the test directory, and mounts it on
    /// `point`.
    pub fn new(kind: FileSystem, test_dir: &TestDir, point: &Path) -> Self {
        if kind == FileSystem::Tmpfs {
            return Self::in_memory(point, "size=512m");
        }
        let inodes: &[&str] = if kind == FileSystem::Ext4 {
            &["-N", "80000"]
        } else {
            &[]
        };
        Self::with_image(kind, test_dir, point, kind.image_mib(), inodes)
    }

    /// Creates a file system in an image of a given size, with additional options for mkfs.
    pub fn with_image(
        kind: FileSystem,
        test_dir: &TestDir,
        point: &Path,
        mib: u64,
        options: &[&str],
    ) -> Self {
        let path = tempfile::Builder::new()
            .prefix("image-")
            .tempfile_in(test_dir.path())
            .unwrap()
            .into_temp_path()
            .keep()
            .unwrap();
        std::fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(mib << 20)
            .unwrap();
        let quiet: &[&str] = match kind {
            FileSystem::Ext4 => &["-q", "-F", "-E", "lazy_itable_init=1"],
            FileSystem::Tmpfs | FileSystem::Xfs | FileSystem::Btrfs => &["-q"],
        };
        let image = text(&path);
        let words: Vec<&str> = quiet
            .iter()
            .chain(options)
            .copied()
            .chain([image.as_str()])
            .collect();
        tool(&format!("mkfs.{}", kind.name()), &words);
        let device = tool("losetup", &["--find", "--show", &image]);
        let mut volume = Self {
            kind,
            point: point.to_owned(),
            is_mounted: false,
            image: Some(Image {
                device: device.trim().to_owned(),
            }),
        };
        volume.mount();
        volume
    }

    /// Lets the loop device read and write its image with direct I/O, if the file system of the
    /// image supports direct I/O. With buffered I/O, each page is cached twice.
    #[must_use]
    pub fn past_the_cache(self) -> Self {
        if let Some(image) = &self.image {
            let losetup = Command::new("losetup")
                .args(["--direct-io=on", &image.device])
                .output();
            losetup.unwrap_or_else(|error| panic!("cannot run losetup: {error}"));
        }
        self
    }

    /// Mounts the file system again after [`Self::unmount`].
    pub fn mount(&mut self) {
        let image = self.image.as_ref().expect("only images are mounted again");
        tool(
            "mount",
            &["-t", self.kind.name(), &image.device, &text(&self.point)],
        );
        self.is_mounted = true;
    }

    pub fn make_read_only(&self) {
        tool("mount", &["-o", "remount,ro", &text(&self.point)]);
    }

    pub fn make_writable(&self) {
        tool("mount", &["-o", "remount,rw", &text(&self.point)]);
    }

    pub fn unmount(&mut self) {
        // After a shutdown of the file system, a process that has just ended may keep it busy for a
        // moment.
        let is_unmounted = || {
            let status = Command::new("umount")
                .arg(&self.point)
                .stderr(Stdio::null())
                .status();
            status.is_ok_and(|status| status.success())
        };
        let pause = std::time::Duration::from_millis(100);
        if !(0..50).any(|_| {
            is_unmounted() || {
                std::thread::sleep(pause);
                false
            }
        }) {
            // This call panics with the message of umount.
            tool("umount", &[text(&self.point)]);
        }
        self.is_mounted = false;
    }

    /// Detaches the file system from the directory tree immediately, even if a process uses it.
    pub fn unmount_lazily(&mut self) {
        tool("umount", &["--lazy", &text(&self.point)]);
        self.is_mounted = false;
    }

    /// Shuts the file system down: all calls fail, as on a dead disk. Data and log entries that
    /// have not reached the device are lost.
    pub fn kill(&self) {
        assert!(
            matches!(self.kind, FileSystem::Ext4 | FileSystem::Xfs),
            "only ext4 and xfs can be told to die"
        );
        tool("xfs_io", &["-x", "-c", "shutdown", &text(&self.point)]);
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        if !self.is_mounted {
            return;
        }
        let unmounted = |options: &[&str]| {
            let status = Command::new("umount")
                .args(options)
                .arg(&self.point)
                .status();
            status.is_ok_and(|status| status.success())
        };
        let what = format!("umount {}", self.point.display());
        report(&what, unmounted(&[]) || unmounted(&["--lazy"]));
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Panics if cleaning up has failed, unless the test already panics.
fn report(what: &str, done: bool) {
    if !done && !std::thread::panicking() {
        panic!("cannot put away: {what}");
    }
}
