//! A device of the device mapper below the target, whose writes can be lost (dm-flakey).

use std::path::Path;
use std::process::{Command, Stdio};

use document::sanitize;
use serde::{Deserialize, Serialize};
use system::{MountTable, Sources};

use crate::Error;

/// Commands for `sh -c`, with the variables of [`Device::variables`].
pub(super) const CRASH: &str = r#"
# Lets the device lose all writes from now on, as if its power were cut.
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
pub(super) const RESTORE: &str = r#"
# Mounts the device again, with the data that it had before its writes were lost.
set -e
# A killed run may take a moment to close its files.
until umount "$POSTMARK_TARGET" 2>/dev/null || ! mountpoint -q "$POSTMARK_TARGET"; do
    sleep 0.1
done
table=$(dmsetup table "$POSTMARK_DEVICE")
read -r _ size _ disk _ <<END
$table
END
dmsetup suspend --nolockfs --noflush "$POSTMARK_DEVICE"
dmsetup load "$POSTMARK_DEVICE" --table "0 $size flakey $disk 0 600 0"
dmsetup resume "$POSTMARK_DEVICE"
mount -t "$POSTMARK_TYPE" -o "$POSTMARK_OPTIONS" "/dev/mapper/$POSTMARK_DEVICE" "$POSTMARK_TARGET"
"#;

/// A device, and how it is mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its name in `/dev/mapper`.
    pub name: String,
    file_system: String,
    options: String,
}

impl Device {
    /// Examines the device with this name, which must be mounted at the target.
    ///
    /// # Errors
    /// Returns an error if the system has no such device, or if the target is not its mount.
    pub fn find(name: &str, target: &Path) -> Result<Self, Error> {
        let refused = |why: &dyn std::fmt::Display| {
            Error::refused(format_args!(
                "cannot use --crash flakey:{}: {why} (create a dm-flakey device, mount it, and use \
                 its mount point as --target; the machine of lab/lab has the device mapper)",
                sanitize::sanitize(name)
            ))
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.starts_with('-') || !name.chars().all(is_plain) {
            return Err(refused(&"this is no name of a device"));
        }
        let asked = Command::new("dmsetup")
            .args(["table", name])
            .stdin(Stdio::null())
            .output()
            .map_err(|cause| refused(&format_args!("dmsetup cannot be started: {cause}")))?;
        if !asked.status.success() {
            let told = String::from_utf8_lossy(&asked.stderr);
            let told = told.lines().next().unwrap_or("no reason").to_owned();
            return Err(refused(&format_args!(
                "dmsetup failed: {}",
                sanitize::sanitize(&told)
            )));
        }
        let table = String::from_utf8_lossy(&asked.stdout);
        if table.split_ascii_whitespace().nth(2) != Some("flakey") {
            return Err(refused(&"the device is not of the kind flakey"));
        }
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
        })
    }

    /// The environment of the commands.
    pub(super) fn variables(&self) -> [(&'static str, &str); 3] {
        [
            ("POSTMARK_DEVICE", &self.name),
            ("POSTMARK_TYPE", &self.file_system),
            ("POSTMARK_OPTIONS", &self.options),
        ]
    }
}
