//! A device of the device mapper below the target, whose writes can be lost: dm-flakey loses those
//! after the crash, dm-log-writes those that were not flushed before it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use document::sanitize;
use serde::{Deserialize, Serialize};
use system::{MountTable, Sources};

use super::write_log::{WriteLog, copy};
use crate::Error;

/// Commands for `sh -c`, with the variables of [`Device::variables`]. The first one lets a
/// dm-flakey device lose all writes from now on, as if its power were cut.
pub(super) const LOSE_WRITES: &str = r#"
set -e
table=$(dmsetup table "$POSTMARK_DEVICE")
read -r _ size _ disk _ <<END
$table
END
# Without a freeze and without a flush: otherwise the file system would write its dirty data first.
dmsetup suspend --nolockfs --noflush "$POSTMARK_DEVICE"
dmsetup load "$POSTMARK_DEVICE" --table "0 $size flakey $disk 0 0 600 1 drop_writes"
dmsetup resume "$POSTMARK_DEVICE"
"#;

/// Notes the crash in the log of a dm-log-writes device.
pub(super) const MARK: &str = r#"
dmsetup message "$POSTMARK_DEVICE" 0 mark "$POSTMARK_MARK"
"#;

/// Lets the log of an unmounted dm-log-writes device contain all writes: it lacks those that were
/// not flushed.
pub(super) const MARK_UNMOUNTED: &str = r#"
set -e
sync "/dev/mapper/$POSTMARK_DEVICE"
dmsetup message "$POSTMARK_DEVICE" 0 mark "$POSTMARK_MARK-unmounted"
"#;

pub(super) const UNMOUNT: &str = r#"
set -e
# A killed run may take a moment to close its files.
until umount "$POSTMARK_TARGET" 2>/dev/null || ! mountpoint -q "$POSTMARK_TARGET"; do
    sleep 0.1
done
"#;

/// Lets a dm-flakey device perform writes again.
pub(super) const KEEP_WRITES: &str = r#"
set -e
table=$(dmsetup table "$POSTMARK_DEVICE")
read -r _ size _ disk _ <<END
$table
END
dmsetup suspend --nolockfs --noflush "$POSTMARK_DEVICE"
dmsetup load "$POSTMARK_DEVICE" --table "0 $size flakey $disk 0 600 0"
dmsetup resume "$POSTMARK_DEVICE"
"#;

pub(super) const MOUNT: &str = r#"
mount -t "$POSTMARK_TYPE" -o "$POSTMARK_OPTIONS" "/dev/mapper/$POSTMARK_DEVICE" "$POSTMARK_TARGET"
"#;

/// How long the kernel may take to write a mark to the log.
const MARK_MAX: Duration = Duration::from_secs(10);

/// A device, and how it is mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its name in `/dev/mapper`.
    pub name: String,
    file_system: String,
    options: String,
    /// The device to which dm-log-writes logs; `None` for dm-flakey.
    #[serde(default)]
    log: Option<PathBuf>,
}

/// A target of the device mapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    Flakey,
    LogWrites,
}

impl DeviceKind {
    /// The name of the target in tables, and of the way to crash.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flakey => "flakey",
            Self::LogWrites => "log-writes",
        }
    }
}

impl Device {
    /// Examines the device with this name, which must be mounted at the target.
    ///
    /// # Errors
    /// Returns an error if the system has no such device, or if the target is not its mount.
    pub fn find(kind: DeviceKind, name: &str, target: &Path) -> Result<Self, Error> {
        let kind_name = kind.name();
        let refused = |why: &dyn std::fmt::Display| {
            Error::refused(format_args!(
                "cannot use --crash {kind_name}:{}: {why} (create a dm-{kind_name} device, mount \
                 it, and use its mount point as --target; the machine of lab/lab has the device \
                 mapper)",
                sanitize::sanitize(name)
            ))
        };
        let table = table_of(name).map_err(|why| refused(&why))?;
        let words: Vec<&str> = table.split_ascii_whitespace().collect();
        if words.get(2) != Some(&kind_name) {
            return Err(refused(&format_args!(
                "the device is not of the kind {kind_name}"
            )));
        }
        let log = match (kind, words.get(4)) {
            (DeviceKind::Flakey, _) => None,
            (DeviceKind::LogWrites, Some(number)) => {
                Some(path_of(number).map_err(|why| refused(&why))?)
            }
            (DeviceKind::LogWrites, None) => return Err(refused(&"its table names no log")),
        };
        let table = MountTable::read(&Sources::default()).into_known();
        let mount = table.and_then(|table| table.mount_of(target).into_known());
        let mount = mount.filter(|mount| {
            mount.mount_point == target && mount.source == format!("/dev/mapper/{name}")
        });
        let mount = mount.ok_or_else(|| {
            refused(&format_args!(
                "{} is not the mount point of /dev/mapper/{name}",
                sanitize::path(target)
            ))
        })?;
        Ok(Self {
            name: name.to_owned(),
            file_system: mount.file_system_type,
            options: [mount.super_options, mount.mount_options]
                .concat()
                .join(","),
            log,
        })
    }

    /// The environment of the commands.
    pub(super) fn variables(&self) -> [(&'static str, String); 3] {
        [
            ("POSTMARK_DEVICE", self.name.clone()),
            ("POSTMARK_TYPE", self.file_system.clone()),
            ("POSTMARK_OPTIONS", self.options.clone()),
        ]
    }

    /// Returns the numbers of the marks with this text in the log.
    pub(super) fn marks(&self, text: &str) -> io::Result<Vec<u64>> {
        WriteLog::open(&self.open_log()?)?.marks(text)
    }

    /// Waits until the log contains more than `before` marks with this text. The kernel writes a
    /// mark some time after the command.
    pub(super) fn wait_for_mark(&self, text: &str, before: usize) -> io::Result<()> {
        let begin = Instant::now();
        while self.marks(text)?.len() <= before {
            if begin.elapsed() > MARK_MAX {
                let why = "the log contains no mark of the crash after 10 s: it may be full (use a \
                           larger one)";
                return Err(io::Error::other(why));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn open_log(&self) -> io::Result<File> {
        File::open(self.log.as_deref().unwrap_or(Path::new("")))
    }

    /// Gives the unmounted device the contents that its disk had certainly kept at the last mark
    /// with this text. They are first written to an image, which is removed. Only ranges that were
    /// ever written are compared, because the log contains all writes since the disk was blank.
    pub(super) fn cut_power(&self, text: &str, image: &Path) -> io::Result<()> {
        let log = self.open_log()?;
        let log = WriteLog::open(&log)?;
        let marks = log.marks(text)?;
        let mark = marks.last().ok_or(io::ErrorKind::NotFound)?;
        let path = Path::new("/dev/mapper").join(&self.name);
        let device = OpenOptions::new().read(true).write(true).open(path)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true);
        let file = file.open(image)?;
        file.set_len(io::Seek::seek(&mut &device, io::SeekFrom::End(0))?)?;
        log.replay(*mark, &file)?;
        copy(&file, &device, &log.written()?)?;
        std::fs::remove_file(image)
    }
}

/// Returns the table of a device.
fn table_of(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_plain) {
        return Err("this is no name of a device".to_owned());
    }
    let asked = Command::new("dmsetup")
        .args(["table", name])
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| format!("dmsetup cannot be started: {cause}"))?;
    if !asked.status.success() {
        let told = String::from_utf8_lossy(&asked.stderr);
        let told = told.lines().next().unwrap_or("no reason").to_owned();
        return Err(format!("dmsetup failed: {}", sanitize::sanitize(&told)));
    }
    Ok(String::from_utf8_lossy(&asked.stdout).into_owned())
}

/// Returns the path of the device with a number, such as `254:16`.
fn path_of(number: &str) -> Result<PathBuf, String> {
    let path = format!("/sys/dev/block/{number}/uevent");
    let text = std::fs::read_to_string(&path).map_err(|cause| format!("{path}: {cause}"))?;
    let mut names = text
        .lines()
        .filter_map(|line| line.strip_prefix("DEVNAME="));
    let name = names.next();
    let name = name.ok_or_else(|| format!("{path} names no device"))?;
    Ok(Path::new("/dev").join(name))
}
