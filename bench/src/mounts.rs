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

/// A mounted file system.
pub struct Mounted {
    directory: TempDir,
    is_mounted: bool,
    /// How it lies on what is below it.
    pub how: &'static str,
}

impl Mounted {
    /// Makes and mounts a file system of 8 GiB: `tmpfs`, or `ext4` or `xfs` in a loop image.
    pub fn new(kind: &str) -> Result<Self, Box<dyn Error>> {
        let directory = tempfile::Builder::new().prefix("postmark-bench-").tempdir()?;
        let mut mounted = Self {
            directory,
            is_mounted: false,
            how: "in memory",
        };
        std::fs::create_dir(mounted.path())?;
        match kind {
            "tmpfs" => mounted.mount(&["-t", "tmpfs", "-o", "size=8g", "tmpfs"])?,
            "ext4" => mounted.mount_image(
                "mkfs.ext4",
                &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            )?,
            "xfs" => mounted.mount_image("mkfs.xfs", &["-q", "-f"])?,
            _ => return Err(format!("'{kind}' is none of tmpfs, ext4, xfs").into()),
        }
        Ok(mounted)
    }

    fn mount_image(&mut self, make: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
        let image = self.directory.path().join("image");
        File::create(&image)?.set_len(8 << 30)?;
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
