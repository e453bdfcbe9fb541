//! A loop device that another process keeps in use after the file system was unmounted. The kernel
//! detaches the device, and frees the removed image, when its last user ends.

use std::path::{Path, PathBuf};

use system::device_users::{self, DeviceUse, DeviceUser};

/// A loop device that remains until its last user ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StillUsed {
    /// Path of the device, such as `/dev/loop0`.
    pub device: String,
    /// Path of the image, which is removed.
    pub image: PathBuf,
    pub image_bytes: u64,
    users: Vec<DeviceUser>,
}

impl StillUsed {
    /// Finds the users of a device over an image.
    pub(crate) fn of(device: String, image: PathBuf, image_bytes: u64) -> Self {
        Self {
            users: device_users::of(Path::new(&device)),
            device,
            image,
            image_bytes,
        }
    }

    /// The users of the device in words: `sleep (process 42) in its own mount namespace, which has
    /// a copy of the mount`.
    pub fn users(&self) -> String {
        if self.users.is_empty() {
            return "a process that cannot be named, for example in another mount namespace with \
                    an open file"
                .to_owned();
        }
        let words = self.users.iter().map(|user| {
            let how = match user.uses {
                DeviceUse::Open => "",
                DeviceUse::OtherNamespace => {
                    " in its own mount namespace, which has a copy of the mount"
                }
            };
            format!("{} (process {}){how}", user.name, user.process)
        });
        words.collect::<Vec<_>>().join(", and ")
    }
}
