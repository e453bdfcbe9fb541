//! The measured file systems: those of crate `scratch`, and bindfs (FUSE) over an ext4 of that
//! crate.

use crate::result::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

use scratch::{Made, MakeSpec, MakeStop};
use tempfile::TempDir;

use crate::mounts::Mount;
use crate::process::output;

/// All file systems that can be measured. Ratios are relative to [`BASELINE`].
pub const FILE_SYSTEMS: [&str; 6] = ["tmpfs", "ext4", "xfs", "btrfs", "overlay", BINDFS];
pub const BASELINE: &str = "ext4";
pub const BINDFS: &str = "bindfs";

/// A mounted file system that is removed when this value is dropped.
pub struct Volume {
    // The first field is dropped first: FUSE is unmounted before the ext4 below it.
    fuse: Option<Fuse>,
    made: Made,
}

struct Fuse {
    mounted: Option<Mount>,
    point: TempDir,
}

impl Volume {
    /// Makes and mounts a file system. Its image has `size` (for example `2GiB`) and is created in
    /// `images`. The loop device reads and writes the image without the page cache (direct I/O).
    pub fn new(kind: &str, size: &str, images: &Path, stop: MakeStop) -> Result<Self> {
        let images = images.canonicalize().map_err(|error| {
            let images = images.display();
            format!("cannot use {images} for images: {error} (create it, or use --images)")
        })?;
        let made_kind = if kind == BINDFS { BASELINE } else { kind };
        let direct = if kind == "tmpfs" { "" } else { "&direct" };
        let word = format!(
            "make:{made_kind}?size={size}&in={}{direct}",
            images.display()
        );
        let spec: MakeSpec = word.parse()?;
        let made = Made::make_with(&spec, "bench-realism", stop, &mut |_, _| ())?;
        let mut volume = Self { fuse: None, made };
        if kind == BINDFS {
            let point = tempfile::Builder::new()
                .prefix("postmark-bench-")
                .tempdir()?;
            open_to_all(point.path())?;
            let mounted = None;
            volume.fuse = Some(Fuse { mounted, point });
            volume.mount_fuse()?;
        }
        Ok(volume)
    }

    /// The directory for files of applications and presets. Its path does not change.
    pub fn path(&self) -> PathBuf {
        let fuse = self.fuse.as_ref();
        fuse.map_or_else(
            || self.made.directory(),
            |fuse| fuse.point.path().to_owned(),
        )
    }

    /// Formats the file system, so that each round starts from an empty one.
    pub fn remake(&mut self) -> Result<()> {
        self.unmount_fuse();
        self.made.remake()?;
        self.mount_fuse()
    }

    /// Unmounts and mounts the file system, so that its next reads are from the device. The files
    /// of a tmpfs are always in memory, so nothing is done for a tmpfs.
    pub fn remount(&mut self) -> Result<()> {
        if !self.made.spec().kind.has_image() {
            return Ok(());
        }
        self.unmount_fuse();
        self.made.remount()?;
        self.mount_fuse()
    }

    /// Removes the file system. Dropping the value does the same, but reports no error.
    pub fn remove(mut self) -> Result<()> {
        self.unmount_fuse();
        self.made.remove()?;
        Ok(())
    }

    /// Writes all data to the device, so that earlier writes do not disturb the next measurement.
    /// bindfs does not pass a sync of the file system on, so the ext4 below is synced too.
    pub fn sync(&self) -> Result<()> {
        let mut command = Command::new("sync");
        command.arg("-f").arg(self.made.directory());
        if self.fuse.is_some() {
            command.arg(self.path());
        }
        output(&mut command).map(drop)
    }

    fn mount_fuse(&mut self) -> Result<()> {
        if let Some(fuse) = &mut self.fuse {
            let point = fuse.point.path();
            output(Command::new(BINDFS).arg(self.made.directory()).arg(point))?;
            fuse.mounted = Some(Mount::existing(point));
        }
        Ok(())
    }

    fn unmount_fuse(&mut self) {
        if let Some(fuse) = &mut self.fuse {
            fuse.mounted = None;
        }
    }
}

/// Lets every user, such as those of mail and news servers, read and write in a directory.
pub fn open_to_all(directory: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(directory, permissions).map_err(|error| {
        format!("cannot change the mode of {}: {error}", directory.display()).into()
    })
}
