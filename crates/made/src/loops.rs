//! Loop devices over images.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::MakeError;
use crate::tool::{self, Around, arguments};

/// A device is given back a moment after its last user has gone: so long it is waited for. A mkfs that was left behind by a
/// killed maker has to end before, and so do programs in mount namespaces of their own, which have copies of all mounts; then
/// the device is told.
const RELEASE_LIMIT: Duration = Duration::from_secs(120);

/// A loop device over an image, held open: while it is, nobody can give it to another image.
pub(crate) struct Attached {
    /// `/dev/loop0`.
    pub(crate) device: String,
    /// What it is over.
    pub(crate) image: PathBuf,
    _held: File,
}

/// Somebody else can give a device back before it is held: it is tried again so many times.
const ATTEMPTS: u32 = 10;

/// Sets up a loop device over an image.
pub(crate) fn attach(image: &Path, is_direct: bool, around: Around) -> Result<Attached, MakeError> {
    let mut attempt = 1;
    loop {
        let device = set_up(image, is_direct, around)?;
        let held = File::open(&device).map_err(|error| MakeError::io("open", Path::new(&device), error))?;
        // Looked at after it is held: from here on it stays.
        let backing = backing_file(OsStr::new(device.trim_start_matches("/dev/")));
        if backing.is_some_and(|backing| backing == image) {
            return Ok(Attached {
                device,
                image: image.to_owned(),
                _held: held,
            });
        }
        if attempt == ATTEMPTS {
            let answer = std::io::Error::other("another process gives the device back");
            return Err(MakeError::io("set up", Path::new(&device), answer));
        }
        attempt += 1;
    }
}

fn set_up(image: &Path, is_direct: bool, around: Around) -> Result<String, MakeError> {
    let direct = if is_direct { "--direct-io=on" } else { "--direct-io=off" };
    let words = arguments(["--find".as_ref(), "--show".as_ref(), direct.as_ref(), image.as_os_str()]);
    let answer = tool::run("losetup", words.clone(), Some(around), tool::SHORT)?;
    let device = answer.trim();
    let is_loop = device
        .strip_prefix("/dev/loop")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_loop {
        return Err(MakeError::Answer {
            command: tool::command_line("losetup", &words),
            answer: device.to_owned(),
        });
    }
    Ok(device.to_owned())
}

/// Gives a device back: at once, or as soon as what is mounted from it is unmounted.
pub(crate) fn clear_at_last_close(device: &str, around: Around) -> Result<(), MakeError> {
    tool::run("losetup", ["--detach", device], Some(around), tool::SHORT).map(drop)
}

/// The loop devices over an image, whether or not its name is still there.
pub(crate) fn over(image: &Path) -> Result<Vec<String>, MakeError> {
    let error = |answer| MakeError::io("list", Path::new("/sys/block"), answer);
    let mut devices = Vec::new();
    for entry in std::fs::read_dir("/sys/block").map_err(error)? {
        let name = entry.map_err(error)?.file_name();
        if !name.as_bytes().starts_with(b"loop") {
            continue;
        }
        // Devices without an image have no such file.
        let Some(backing) = backing_file(&name) else { continue };
        if backing == image {
            devices.push(format!("/dev/{}", name.to_string_lossy()));
        }
    }
    Ok(devices)
}

/// The image of a loop device, by its name without `/dev/`.
pub(crate) fn backing_file(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new("/sys/block").join(name).join("loop/backing_file");
    let mut bytes = std::fs::read(path).ok()?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    // As the kernel shows a file whose name was removed.
    let plain = bytes.strip_suffix(b" (deleted)").map(<[u8]>::to_vec);
    Some(OsString::from_vec(plain.unwrap_or(bytes)).into())
}

/// Whether a device goes by itself when nobody uses it any more. One that is gone does.
fn goes_by_itself(device: &str) -> bool {
    let name = device.trim_start_matches("/dev/");
    std::fs::read_to_string(format!("/sys/block/{name}/loop/autoclear")).map_or(true, |text| text.trim() == "1")
}

/// Gives all devices over an image back, and waits until they are.
pub(crate) fn release(image: &Path, around: Around) -> Result<(), MakeError> {
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let devices = over(image)?;
        let Some(device) = devices.first().cloned() else {
            return Ok(());
        };
        let mut cleared = Ok(());
        for device in devices {
            // One that goes by itself is never touched: by the time of the call its number may be somebody else's.
            if !goes_by_itself(&device) {
                cleared = clear_at_last_close(&device, around);
            }
        }
        if began.elapsed() > RELEASE_LIMIT {
            cleared?;
            return Err(MakeError::LoopBusy {
                device,
                image: image.to_owned(),
            });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}
