//! File systems that are made for a benchmark and go with it.

use crate::process::{command, output};
use crate::result::Result;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// How often unmounting is tried: a program that was ended by a signal may still be closing its
/// files.
const UNMOUNT_TRIES: u32 = 50;
const UNMOUNT_PAUSE: Duration = Duration::from_millis(100);

/// What mkfs.ext4 would leave to be written during the benchmark.
const NOT_LAZY: &str = "lazy_itable_init=0,lazy_journal_init=0";

/// A mounted file system.
pub struct MountedVolume {
    directory: TempDir,
    is_mounted: bool,
    /// Served by this process, in the place of a file system of the kernel's.
    served: Option<faultfs::Mounted>,
    /// What it lies on is mounted, too.
    has_memory: bool,
    /// How it lies on what is below it.
    pub how: &'static str,
}

impl MountedVolume {
    /// Makes and mounts a file system of 8 GiB: `tmpfs`, or `ext4`, `xfs` or `btrfs` in a sparse
    /// loop image.
    pub fn new(kind: &str) -> Result<Self> {
        let mut mounted = Self::nothing_yet()?;
        match kind {
            "tmpfs" => mounted.mount(&["-t", "tmpfs", "-o", "size=8g", "tmpfs"])?,
            "ext4" => mounted.mount_image(8 << 30, "mkfs.ext4", &["-q", "-F", "-E", NOT_LAZY])?,
            "xfs" => mounted.mount_image(8 << 30, "mkfs.xfs", &["-q", "-f"])?,
            "btrfs" => mounted.mount_image(8 << 30, "mkfs.btrfs", &["-q", "-f"])?,
            _ => return Err(format!("'{kind}' is none of tmpfs, ext4, xfs, btrfs").into()),
        }
        Ok(mounted)
    }

    /// Makes and mounts a file system of 2 GiB that lies in memory as a whole, so that no disk's
    /// speed shows: `tmpfs`, `ext4`, `xfs`, `btrfs`, `overlay` on a tmpfs, or `fuse`, served by
    /// this process.
    pub fn in_memory(kind: &str) -> Result<Self> {
        let (mut mounted, memory) = Self::on_memory()?;
        match kind {
            "tmpfs" => mounted.mount(&["-t", "tmpfs", "-o", "size=2g", "tmpfs"])?,
            "overlay" => {
                let directories = ["lower", "upper", "work"].map(|name| memory.join(name));
                for directory in &directories {
                    std::fs::create_dir(directory)?;
                }
                let [lower, upper, work] =
                    directories.map(|directory| directory.to_string_lossy().into_owned());
                let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
                mounted.mount(&["-t", "overlay", "-o", &options, "overlay"])?;
            }
            "fuse" => mounted.serve(&memory, faultfs::Options::default())?,
            "ext4" | "xfs" | "btrfs" => {
                let quiet = ["-q", if kind == "ext4" { "-F" } else { "-f" }];
                let image = memory.join("image");
                File::create(&image)?.set_len(2 << 30)?;
                output(Command::new(format!("mkfs.{kind}")).args(quiet).arg(&image))?;
                let device = attach(&image, false)?;
                let done = mounted.mount(&[&device]);
                // As in `mount_image`.
                detach(&device)?;
                done?;
            }
            _ => {
                return Err(
                    format!("'{kind}' is none of ext4, xfs, btrfs, tmpfs, overlay, fuse").into(),
                );
            }
        }
        Ok(mounted)
    }

    /// Mounts a FUSE file system, as [`Self::in_memory`] does, with these options.
    pub fn fuse_in_memory(options: faultfs::Options) -> Result<Self> {
        let (mut mounted, memory) = Self::on_memory()?;
        mounted.serve(&memory, options)?;
        Ok(mounted)
    }

    /// Nothing yet, and the tmpfs that it is to lie on.
    fn on_memory() -> Result<(Self, PathBuf)> {
        let mut mounted = Self::nothing_yet()?;
        let memory = mounted.directory.path().join("memory");
        std::fs::create_dir(&memory)?;
        let options = ["-t", "tmpfs", "-o", "size=3g", "postmark-bench"];
        output(Command::new("mount").args(options).arg(&memory))?;
        mounted.has_memory = true;
        Ok((mounted, memory))
    }

    fn serve(&mut self, memory: &Path, options: faultfs::Options) -> Result<()> {
        let backing = memory.join("backing");
        std::fs::create_dir(&backing)?;
        self.served = Some(faultfs::Passthrough::mount(
            &backing,
            &self.path(),
            options,
        )?);
        Ok(())
    }

    /// What the delay of a FUSE file system came to; nothing of any other.
    pub fn delayed(&self) -> faultfs::Delayed {
        self.served
            .as_ref()
            .map(faultfs::Mounted::delayed)
            .unwrap_or_default()
    }

    /// Makes and mounts an ext4 for many small files in a sparse loop image: blocks of 1 KiB and so
    /// many inodes.
    pub fn for_many_files(image_bytes: u64, inodes: u64) -> Result<Self> {
        let mut mounted = Self::nothing_yet()?;
        let inodes = inodes.to_string();
        let arguments = ["-q", "-F", "-b", "1024", "-N", &inodes, "-E", NOT_LAZY];
        mounted.mount_image(image_bytes, "mkfs.ext4", &arguments)?;
        Ok(mounted)
    }

    fn nothing_yet() -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("postmark-bench-")
            .tempdir()?;
        let mounted = Self {
            directory,
            is_mounted: false,
            served: None,
            has_memory: false,
            how: "in memory",
        };
        std::fs::create_dir(mounted.path())?;
        Ok(mounted)
    }

    fn mount_image(&mut self, bytes: u64, make: &str, arguments: &[&str]) -> Result<()> {
        let image = self.directory.path().join("image");
        File::create(&image)?.set_len(bytes)?;
        output(Command::new(make).args(arguments).arg(&image))?;
        let (device, how) = match attach(&image, true) {
            Ok(device) => (device, "loop image, direct I/O"),
            Err(_) => (
                attach(&image, false)?,
                "loop image, buffered: its backing has no direct I/O",
            ),
        };
        self.how = how;
        let mounted = self.mount(&[&device]);
        // While it is mounted this asks the kernel to detach it when it no longer is. Also when a
        // signal has come.
        detach(&device)?;
        mounted
    }

    fn mount(&mut self, arguments: &[&str]) -> Result<()> {
        output(Command::new("mount").args(arguments).arg(self.path()))?;
        self.is_mounted = true;
        Ok(())
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }
}

/// Attaches an image to a free loop device and gives its name.
fn attach(image: &Path, direct: bool) -> Result<String> {
    let mode = if direct { "on" } else { "off" };
    let words = format!("--find --show --direct-io={mode}");
    let device = output(command("losetup", &words).arg(image))?;
    Ok(device.trim().to_owned())
}

fn detach(device: &str) -> std::io::Result<()> {
    Command::new("losetup")
        .args(["--detach", device])
        .status()
        .map(drop)
}

impl Drop for MountedVolume {
    /// In a way that also works when a signal has come.
    fn drop(&mut self) {
        drop(self.served.take());
        if self.is_mounted {
            unmount(&self.path());
        }
        if self.has_memory {
            unmount(&self.directory.path().join("memory"));
        }
    }
}

/// Unmounts what may be in use for a moment still.
fn unmount(path: &Path) {
    for _ in 0..UNMOUNT_TRIES {
        let unmounted = Command::new("umount")
            .arg(path)
            .stderr(Stdio::null())
            .status();
        if unmounted.is_ok_and(|status| status.success()) {
            return;
        }
        std::thread::sleep(UNMOUNT_PAUSE);
    }
    eprintln!("bench: {} stays mounted: it is in use", path.display());
}

/// Touches half a GiB: memory that a virtual machine had given back costs more the first time.
pub fn touch_memory() {
    let memory = vec![1_u8; 512 << 20];
    std::hint::black_box(&memory);
}

/// Syncs what was written before, so that it does not disturb what follows.
pub fn sync(path: &Path) -> Result<()> {
    output(Command::new("sync").arg("-f").arg(path)).map(drop)
}
