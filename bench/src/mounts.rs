//! File systems that are made for a benchmark and go with it.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::process::output;

/// How often unmounting is tried: a program that was ended by a signal may still be closing its files.
const UNMOUNT_TRIES: u32 = 50;
const UNMOUNT_PAUSE: Duration = Duration::from_millis(100);

/// What mkfs.ext4 would leave to be written during the benchmark.
const NOT_LAZY: &str = "lazy_itable_init=0,lazy_journal_init=0";

/// A mounted file system.
pub struct Mounted {
    directory: TempDir,
    is_mounted: bool,
    /// How it lies on what is below it.
    pub how: &'static str,
}

impl Mounted {
    /// Makes and mounts a file system of 8 GiB: `tmpfs`, or `ext4`, `xfs` or `btrfs` in a sparse loop image.
    pub fn new(kind: &str) -> Result<Self, Box<dyn Error>> {
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

    /// Makes and mounts an ext4 for many small files in a sparse loop image: blocks of 1 KiB and so many inodes.
    pub fn for_many_files(image_bytes: u64, inodes: u64) -> Result<Self, Box<dyn Error>> {
        let mut mounted = Self::nothing_yet()?;
        let inodes = inodes.to_string();
        let arguments = ["-q", "-F", "-b", "1024", "-N", &inodes, "-E", NOT_LAZY];
        mounted.mount_image(image_bytes, "mkfs.ext4", &arguments)?;
        Ok(mounted)
    }

    fn nothing_yet() -> Result<Self, Box<dyn Error>> {
        let directory = tempfile::Builder::new().prefix("postmark-bench-").tempdir()?;
        let mounted = Self {
            directory,
            is_mounted: false,
            how: "in memory",
        };
        std::fs::create_dir(mounted.path())?;
        Ok(mounted)
    }

    fn mount_image(&mut self, bytes: u64, make: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
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
        // While it is mounted this asks the kernel to detach it when it no longer is. Also when a signal has come.
        Command::new("losetup").args(["--detach", &device]).status()?;
        mounted
    }

    fn mount(&mut self, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
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
fn attach(image: &Path, direct: bool) -> Result<String, Box<dyn Error>> {
    let mode = if direct { "--direct-io=on" } else { "--direct-io=off" };
    let device = output(Command::new("losetup").args(["--find", "--show", mode]).arg(image))?;
    Ok(device.trim().to_owned())
}

impl Drop for Mounted {
    /// In a way that also works when a signal has come.
    fn drop(&mut self) {
        if !self.is_mounted {
            return;
        }
        for _ in 0..UNMOUNT_TRIES {
            let unmounted = Command::new("umount").arg(self.path()).stderr(Stdio::null()).status();
            if unmounted.is_ok_and(|status| status.success()) {
                return;
            }
            std::thread::sleep(UNMOUNT_PAUSE);
        }
        eprintln!("bench: {} stays mounted: it is in use", self.path().display());
    }
}

/// Touches half a GiB: memory that a virtual machine had given back costs more the first time.
pub fn touch_memory() {
    let memory = vec![1_u8; 512 << 20];
    std::hint::black_box(&memory);
}

/// Lets what was written before settle, so that it does not disturb what follows.
pub fn settle(path: &Path) -> Result<(), Box<dyn Error>> {
    output(Command::new("sync").arg("-f").arg(path)).map(drop)
}
