//! File systems that are made for a benchmark and go with it.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::process::output;

/// A mounted file system.
pub struct Mounted {
    directory: TempDir,
}

impl Mounted {
    /// Makes and mounts a file system of 8 GiB: `tmpfs`, or `ext4` or `xfs` in a loop image.
    pub fn new(kind: &str) -> Result<Self, Box<dyn Error>> {
        let directory = tempfile::Builder::new().prefix("postmark-bench-").tempdir()?;
        let mounted = Self { directory };
        std::fs::create_dir(mounted.path())?;
        match kind {
            "tmpfs" => mounted.mount(&["-t", "tmpfs", "-o", "size=8g", "tmpfs"])?,
            "ext4" | "xfs" => {
                let image = mounted.directory.path().join("image");
                File::create(&image)?.set_len(8 << 30)?;
                let quiet = if kind == "ext4" { ["-q", "-F"] } else { ["-q", "-f"] };
                output(Command::new(format!("mkfs.{kind}")).args(quiet).arg(&image))?;
                let image = image.to_string_lossy().into_owned();
                mounted.mount(&["-o", "loop", &image])?;
            }
            _ => return Err(format!("'{kind}' is none of tmpfs, ext4, xfs").into()),
        }
        Ok(mounted)
    }

    fn mount(&self, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
        output(Command::new("mount").args(arguments).arg(self.path())).map(drop)
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Err(error) = output(Command::new("umount").arg(self.path())) {
            eprintln!("bench: {} stays mounted: {error}", self.path().display());
        }
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
