//! Stops a file system: unmounts it, detaches its loop devices, and replaces images that other
//! processes still use.

use super::Made;
use crate::directory::{BELOW, IMAGE, JOURNAL, MOUNT};
use crate::error::MakeError;
use crate::loops;
use crate::mounts;
use crate::still_used::StillUsed;

impl Made {
    /// Unmounts the file system and detaches its loop devices. Returns the devices that other
    /// processes still use.
    fn stop(&mut self) -> Result<Vec<StillUsed>, MakeError> {
        for name in [MOUNT, BELOW] {
            mounts::unmount(&self.main, name)?;
            if self.main.has(name) {
                // Removing a mount point also ends the copies of the mount in other mount
                // namespaces, which would keep the devices in use.
                self.main.discard(name)?;
                self.main.create_directory(name)?;
            }
        }
        for (owned, image) in self.images() {
            let elsewhere = mounts::elsewhere(&self.main, &loops::over(owned, image)?)?;
            if let Some(point) = elsewhere.first() {
                return Err(MakeError::mounted_elsewhere(point));
            }
        }
        let released = self.images().into_iter();
        let released = released.map(|(owned, image)| loops::release(owned, image));
        Ok(released.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Stops the file system, whose images keep their contents.
    pub(super) fn stop_with_contents(&mut self) -> Result<(), MakeError> {
        match self.stop()?.first() {
            None => Ok(()),
            Some(used) => Err(MakeError::still_used(used)),
        }
    }

    /// Stops the file system, whose images get new contents. Images that other processes still use
    /// are replaced. The new file system has new UUIDs, because some kernels refuse to mount two
    /// file systems with one UUID.
    pub(super) fn stop_for_new_contents(&mut self) -> Result<(), MakeError> {
        let still_used = self.stop()?;
        if still_used.is_empty() {
            return Ok(());
        }
        self.still_used.extend(still_used);
        self.main.discard(IMAGE)?;
        let journal = self.journal.as_mut().unwrap_or(&mut self.main);
        journal.discard(JOURNAL)?;
        self.create_images()
    }

    /// Returns the loop devices over replaced images that other processes still use, each only
    /// once.
    pub fn take_still_used(&mut self) -> Vec<StillUsed> {
        std::mem::take(&mut self.still_used)
    }
}
