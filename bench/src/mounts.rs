//! File systems that are created for a benchmark and removed when the benchmark ends.

use crate::process::{command, output};
use crate::result::Result;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Number of attempts to unmount. A program that a signal has ended may still be closing its files.
const UNMOUNT_TRIES: u32 = 50;
const UNMOUNT_PAUSE: Duration = Duration::from_millis(100);

/// Options of mkfs.ext4 that prevent lazy initialization, which would happen during the benchmark.
const NOT_LAZY: &str = "lazy_itable_init=0,lazy_journal_init=0";

/// A mount that is unmounted when this value is dropped, even after a signal.
pub struct Mount {
    point: PathBuf,
    /// Whether the mount is detached even if a process still uses it.
    is_lazy: bool,
}

impl Mount {
    pub fn new(words: &[&str], point: &Path, is_lazy: bool) -> Result<Self> {
        output(Command::new("mount").args(words).arg(point))?;
        Ok(Self {
            point: point.to_owned(),
            is_lazy,
        })
    }

    /// A mount that another program has made, such as a FUSE server.
    pub fn existing(point: &Path) -> Self {
        Self {
            point: point.to_owned(),
            is_lazy: false,
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let lazy = self.is_lazy.then_some("--lazy");
        for _ in 0..UNMOUNT_TRIES {
            let mut command = Command::new("umount");
            command.args(lazy).arg(&self.point).stderr(Stdio::null());
            let unmounted = command.status().is_ok_and(|status| status.success());
            if unmounted || self.is_lazy {
                return;
            }
            std::thread::sleep(UNMOUNT_PAUSE);
        }
        eprintln!(
            "bench: {} stays mounted: it is in use",
            self.point.display()
        );
    }
}

pub struct MountedVolume {
    // Fields are dropped in this order, so each mount is unmounted before the mount that contains
    // its data.
    /// A FUSE file system whose server is this process; `None` for a file system of the kernel.
    served: Option<faultfs::Mounted>,
    mounted: Option<Mount>,
    /// The tmpfs that contains the image or the directories of the file system.
    memory: Option<Mount>,
    directory: TempDir,
    /// How the file system is stored, for example as a loop image with direct I/O.
    pub how: &'static str,
}

impl MountedVolume {
    /// Makes and mounts a file system of 8 GiB: `tmpfs`, or `ext4`, `xfs` or `btrfs` in a sparse
    /// loop image.
    pub fn new(kind: &str) -> Result<Self> {
        let mut volume = Self::nothing_yet()?;
        match kind {
            "tmpfs" => volume.mount(&["-t", "tmpfs", "-o", "size=8g", "tmpfs"])?,
            "ext4" => volume.mount_image(8 << 30, kind, &["-E", NOT_LAZY])?,
            "xfs" | "btrfs" => volume.mount_image(8 << 30, kind, &[])?,
            _ => return Err(format!("'{kind}' is none of tmpfs, ext4, xfs, btrfs").into()),
        }
        Ok(volume)
    }

    /// Makes and mounts a file system of 2 GiB entirely in memory, so that the result does not
    /// depend on a disk. `kind` is `tmpfs`, `ext4`, `xfs`, `btrfs`, `overlay` (on a tmpfs), or
    /// `fuse`, whose server is this process.
    pub fn in_memory(kind: &str) -> Result<Self> {
        if kind == "fuse" {
            return Self::fuse_in_memory(faultfs::Options::default());
        }
        let mut volume = Self::on_memory()?;
        match kind {
            "tmpfs" => volume.mount(&["-t", "tmpfs", "-o", "size=2g", "tmpfs"])?,
            "overlay" => {
                let directories = ["lower", "upper", "work"].map(|name| volume.below().join(name));
                for directory in &directories {
                    std::fs::create_dir(directory)?;
                }
                let [lower, upper, work] =
                    directories.map(|directory| directory.display().to_string());
                let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
                volume.mount(&["-t", "overlay", "-o", &options, "overlay"])?;
            }
            "ext4" | "xfs" | "btrfs" => volume.mount_image(2 << 30, kind, &[])?,
            _ => {
                return Err(
                    format!("'{kind}' is none of ext4, xfs, btrfs, tmpfs, overlay, fuse").into(),
                );
            }
        }
        Ok(volume)
    }

    /// Mounts a FUSE file system with these options. Its files are stored on a new tmpfs.
    pub fn fuse_in_memory(options: faultfs::Options) -> Result<Self> {
        let mut volume = Self::on_memory()?;
        let backing = volume.below().join("backing");
        std::fs::create_dir(&backing)?;
        let served = faultfs::Passthrough::mount(&backing, &volume.path(), options)?;
        volume.served = Some(served);
        Ok(volume)
    }

    /// Makes and mounts an ext4 for many small files in a sparse loop image, with blocks of 1 KiB
    /// and this number of inodes.
    pub fn for_many_files(image_bytes: u64, inodes: u64) -> Result<Self> {
        let mut volume = Self::nothing_yet()?;
        let inodes = inodes.to_string();
        let arguments = ["-b", "1024", "-N", &inodes, "-E", NOT_LAZY];
        volume.mount_image(image_bytes, "ext4", &arguments)?;
        Ok(volume)
    }

    /// The operations that the FUSE file system has delayed; empty for other file systems.
    pub fn delayed(&self) -> faultfs::Delayed {
        let served = self.served.as_ref();
        served.map(faultfs::Mounted::delayed).unwrap_or_default()
    }

    fn nothing_yet() -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("postmark-bench-")
            .tempdir()?;
        std::fs::create_dir(directory.path().join("mounted"))?;
        Ok(Self {
            served: None,
            mounted: None,
            memory: None,
            directory,
            how: "in memory",
        })
    }

    /// Mounts a tmpfs for the image or the directories of a volume. The volume itself is not
    /// mounted yet.
    fn on_memory() -> Result<Self> {
        let mut volume = Self::nothing_yet()?;
        let memory = volume.directory.path().join("memory");
        std::fs::create_dir(&memory)?;
        let words = ["-t", "tmpfs", "-o", "size=3g", "postmark-bench"];
        volume.memory = Some(Mount::new(&words, &memory, false)?);
        Ok(volume)
    }

    /// The directory for the image, or for the directories that an overlay or FUSE file system
    /// uses. For a volume in memory, this is the tmpfs.
    fn below(&self) -> &Path {
        let memory = self.memory.as_ref();
        memory.map_or_else(|| self.directory.path(), |memory| &memory.point)
    }

    fn mount_image(&mut self, bytes: u64, kind: &str, arguments: &[&str]) -> Result<()> {
        let image = self.below().join("image");
        File::create(&image)?.set_len(bytes)?;
        let force = if kind == "ext4" { "-F" } else { "-f" };
        let mut make = Command::new(format!("mkfs.{kind}"));
        output(make.args(["-q", force]).args(arguments).arg(&image))?;
        let device = if self.memory.is_some() {
            attach(&image, false)?
        } else if let Ok(device) = attach(&image, true) {
            self.how = "loop image, direct I/O";
            device
        } else {
            self.how = "loop image, buffered: its backing has no direct I/O";
            attach(&image, false)?
        };
        let mounted = self.mount(&[&device]);
        // While the device is mounted, `losetup --detach` only asks the kernel to detach the device
        // after the unmount. The call is made even if mounting failed or a signal has arrived.
        Command::new("losetup")
            .args(["--detach", &device])
            .status()?;
        mounted
    }

    fn mount(&mut self, words: &[&str]) -> Result<()> {
        self.mounted = Some(Mount::new(words, &self.path(), false)?);
        Ok(())
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }
}

/// Attaches an image to a free loop device; returns the device's name.
fn attach(image: &Path, direct: bool) -> Result<String> {
    let mode = if direct { "on" } else { "off" };
    let words = format!("--find --show --direct-io={mode}");
    let device = output(command("losetup", &words).arg(image))?;
    Ok(device.trim().to_owned())
}

/// Touches half a GiB of memory. Memory that a virtual machine has returned to its host is slower
/// at the first access.
pub fn touch_memory() {
    let memory = vec![1_u8; 512 << 20];
    std::hint::black_box(&memory);
}

/// Syncs earlier writes, so that they do not disturb the next measurement.
pub fn sync(path: &Path) -> Result<()> {
    output(Command::new("sync").arg("-f").arg(path)).map(drop)
}
