//! Loop devices over images. The image of a device is identified by the device number and inode
//! that the driver reports, because its path may have changed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::MakeError;
use crate::held_path::shown;
use crate::owned::Owned;
use crate::still_used::StillUsed;
use crate::stop::MakeStop;
use crate::tool::{self, Around};

/// Maximum wait until a device is released, which usually happens shortly after the unmount. Some
/// users end late, for example programs in another mount namespace, which has its own copies of the
/// mounts. After this time, [`release`] leaves the device to the kernel.
const RELEASE_LIMIT: Duration = Duration::from_secs(5);

/// A loop device over an image, held open so that no other process can attach it to another image.
pub(crate) struct Attached {
    /// Path of the device, such as `/dev/loop0`.
    pub(crate) device: String,
    pub(crate) image: PathBuf,
    _held: File,
}

/// An existing loop device over an image of this program.
pub(crate) struct OverImage {
    pub(crate) device: String,
    /// Current path of the image.
    pub(crate) image: PathBuf,
    /// Whether the image was moved from its original path.
    pub(crate) is_elsewhere: bool,
}

/// Maximum number of attempts to set up a device. An attempt fails if another process detaches the
/// device before this process has opened it.
const ATTEMPTS: u32 = 10;

/// Sets up a loop device over an image that the manifest records, and keeps the device open.
pub(crate) fn attach(
    owned: &Owned,
    image: &str,
    is_direct: bool,
    stop: &MakeStop,
) -> Result<Attached, MakeError> {
    let path = owned.directory.at(image);
    let mut attempt = 1;
    loop {
        // This file will be formatted, so it must be the one that this program made.
        let file = owned.open_image(image)?.file;
        let device = set_up(image, is_direct, owned.around(Some(stop)))?;
        let held = File::open(&device)
            .map_err(|error| MakeError::io("open", Path::new(&device), error))?;
        // Asks the driver for the device's image. The device is already open, so no process can
        // attach it to another image.
        let backing = system::loops::backing_file(&held).ok();
        let of = |facts: std::fs::Metadata| (facts.dev(), facts.ino());
        if backing.is_some() && backing == file.metadata().ok().map(of) {
            return Ok(Attached {
                device,
                image: shown(&path),
                _held: held,
            });
        }
        if backing.is_some() && backing == std::fs::symlink_metadata(&path).ok().map(of) {
            // Another file took the image's name before losetup opened the image. This function set
            // up the device over that file, so it also detaches the device.
            clear_at_last_close(&device, owned.around(None))?;
            return Err(MakeError::exchanged(&path));
        }
        if attempt == ATTEMPTS {
            let answer = std::io::Error::other("another process gives the device back");
            return Err(MakeError::io("set up", Path::new(&device), answer));
        }
        attempt += 1;
    }
}

/// Runs losetup in the image's directory, with the image's name as a relative path.
fn set_up(image: &str, is_direct: bool, around: Around) -> Result<String, MakeError> {
    let direct = if is_direct {
        "--direct-io=on"
    } else {
        "--direct-io=off"
    };
    let words = ["--find", "--show", direct, image].map(OsString::from);
    let answer = tool::run("losetup", words.clone(), Some(around), tool::SHORT)?;
    let device = answer.trim();
    let is_loop = device.strip_prefix("/dev/loop").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    if !is_loop {
        let command = tool::command_line("losetup", &words);
        return Err(MakeError::answer(&command, device));
    }
    Ok(device.to_owned())
}

/// Detaches a device. If the device is mounted, the kernel detaches it after the unmount.
pub(crate) fn clear_at_last_close(device: &str, around: Around) -> Result<(), MakeError> {
    tool::run("losetup", ["--detach", device], Some(around), tool::SHORT).map(drop)
}

/// Returns all loop devices over an image, even if the image was renamed or removed.
pub(crate) fn over(owned: &Owned, image: &str) -> Result<Vec<OverImage>, MakeError> {
    let Some(wanted) = owned.device_and_inode(image) else {
        return Ok(Vec::new());
    };
    let error = |answer| MakeError::io("list", Path::new("/sys/block"), answer);
    let mut devices = Vec::new();
    for entry in std::fs::read_dir("/sys/block").map_err(error)? {
        let name = entry.map_err(error)?.file_name();
        if !name.as_bytes().starts_with(b"loop") {
            continue;
        }
        // This sysfs file does not exist for devices without an image.
        let Some(shown_image) = backing_path(&name) else {
            continue;
        };
        // Opens only devices that may be over this image. While a device is open here, its user
        // cannot detach it.
        let is_other =
            std::fs::metadata(&shown_image).is_ok_and(|there| (there.dev(), there.ino()) != wanted);
        let device = format!("/dev/{}", name.to_string_lossy());
        if !is_other && is_over(&device, wanted) {
            devices.push(OverImage {
                device,
                // A removed image has no path, so it is not elsewhere.
                is_elsewhere: shown_image.exists()
                    && shown_image != shown(&owned.directory.at(image)),
                image: shown_image,
            });
        }
    }
    Ok(devices)
}

/// Whether the loop device uses the image with this name in the directory.
pub(crate) fn is_over_image(device: &str, owned: &Owned, image: &str) -> bool {
    owned
        .device_and_inode(image)
        .is_some_and(|wanted| is_over(device, wanted))
}

fn is_over(device: &str, wanted: (u64, u64)) -> bool {
    let device = File::open(device);
    device.is_ok_and(|device| {
        system::loops::backing_file(&device).is_ok_and(|backing| backing == wanted)
    })
}

/// Returns the path of a loop device's image. `name` is the device's name without `/dev/`.
fn backing_path(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new("/sys/block").join(name).join("loop/backing_file");
    let mut bytes = std::fs::read(path).ok()?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Some(OsString::from_vec(bytes).into())
}

/// Whether the kernel detaches the device after its last use. Also true if the device is already
/// detached.
fn goes_by_itself(device: &str) -> bool {
    let name = device.trim_start_matches("/dev/");
    std::fs::read_to_string(format!("/sys/block/{name}/loop/autoclear"))
        .map_or(true, |text| text.trim() == "1")
}

/// Detaches all devices over an image, and waits until they are detached. Returns the devices that
/// other processes still use: their image must not be written, but it can be removed, because the
/// kernel detaches the devices after their last use.
pub(crate) fn release(owned: &Owned, image: &str) -> Result<Vec<StillUsed>, MakeError> {
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let devices = over(owned, image)?;
        if devices.is_empty() {
            return Ok(Vec::new());
        }
        let mut cleared = Ok(());
        for OverImage { device, .. } in &devices {
            // A device that the kernel detaches by itself is not detached here: its number may
            // already belong to another program's device.
            if !goes_by_itself(device) {
                cleared = clear_at_last_close(device, owned.around(None));
            }
        }
        if began.elapsed() > RELEASE_LIMIT {
            cleared?;
            let still_used = devices.into_iter().map(|over| {
                let bytes = std::fs::metadata(&over.image).map_or(0, |facts| facts.len());
                StillUsed::of(over.device, over.image, bytes)
            });
            return Ok(still_used.collect());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}
