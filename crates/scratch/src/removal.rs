//! Removes everything that a manifest records: mounts, loop devices, images, and the manifest last.
//! The same code runs at the end of a study and in `clean` after a killed study. Files are removed
//! through open directories, and only if their identity is the recorded one. Files that are not
//! recorded are kept and reported, and the manifest is then kept as well.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::directory::{BELOW, IMAGE, JOURNAL, MANIFEST, MOUNT, MadeDirectory, maker_of};
use crate::error::MakeError;
use crate::held_path::shown;
use crate::loops::{self, OverImage};
use crate::manifest;
use crate::mounts;
use crate::owned::{MadeLeft, NOT_OURS, Owned};
use crate::still_used::StillUsed;

/// Counts of what was removed with a scratch file system, and a list of what remains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeRemoved {
    pub directory: PathBuf,
    pub mounts: usize,
    pub loop_devices: usize,
    /// Number of images and saved states that were removed.
    pub images: usize,
    /// Loop devices over removed images that other processes still use. The kernel detaches them.
    pub still_used: Vec<StillUsed>,
    /// Paths, mounts and devices that could not be removed. If the list is not empty, the manifest
    /// still exists.
    pub left: Vec<MadeLeft>,
}

impl MadeRemoved {
    fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn left(directory: &Path, why: impl Into<String>) -> Self {
        let mut removed = Self::new(directory);
        removed.leave(directory, why);
        removed
    }

    fn leave(&mut self, path: &Path, why: impl Into<String>) {
        self.left.push(MadeLeft {
            path: shown(path),
            why: why.into(),
        });
    }

    /// Returns an error if any path, mount or device could not be removed.
    pub(crate) fn complete(self) -> Result<Self, MakeError> {
        if self.left.is_empty() {
            return Ok(self);
        }
        let lines = self
            .left
            .iter()
            .map(|left| format!("{}: {}", left.path.display(), left.why));
        let left = lines.collect::<Vec<_>>().join("; ");
        Err(MakeError::left(&self.directory, &left))
    }
}

/// Removes a file system, and the journal's directory if the journal is in a separate directory.
pub(crate) fn remove(main: Option<&mut Owned>, journal: Option<&mut Owned>) -> MadeRemoved {
    // The directory of the file system is removed last, because its manifest contains the path of
    // the journal's directory.
    let mut owned: Vec<&mut Owned> = journal.into_iter().collect();
    let journals = owned.len();
    owned.extend(main);
    let present = owned.last().map(|owned| owned.directory.present());
    let mut removed = MadeRemoved::new(&present.unwrap_or_default());
    let devices = devices(&owned, &mut removed);
    // The devices are counted before the unmount, because the kernel detaches most of them at the
    // unmount.
    removed.loop_devices = devices.len();
    let is_free = owned[journals..]
        .iter_mut()
        .all(|main| unmount(main, &devices, &mut removed))
        && removed.left.is_empty()
        && owned.iter().all(|owned| release(owned, &mut removed));
    if !is_free {
        return removed;
    }
    for device in devices.iter().filter(|device| device.is_elsewhere) {
        removed.leave(
            &device.image,
            "was moved here by another program (remove it)",
        );
    }
    for owned in owned {
        if removed.left.is_empty() {
            remove_files(owned, &mut removed);
        }
    }
    removed
}

/// Returns the loop devices over the images in these directories.
fn devices(owned: &[&mut Owned], removed: &mut MadeRemoved) -> Vec<OverImage> {
    let mut devices = Vec::new();
    for owned in owned {
        for image in [IMAGE, JOURNAL] {
            match loops::over(owned, image) {
                Ok(over) => devices.extend(over),
                Err(error) => removed.leave(&owned.directory.at(image), error.to_string()),
            }
        }
    }
    devices
}

/// Unmounts the file system, and returns whether none of its mounts remains.
fn unmount(main: &mut Owned, devices: &[OverImage], removed: &mut MadeRemoved) -> bool {
    for name in [MOUNT, BELOW] {
        match mounts::unmount(main, name) {
            Ok(count) => {
                removed.mounts += count;
                // Removing a mount point also ends the copies of the mount in other mount
                // namespaces. If this fails, `remove_files` tries again and reports the error.
                let _ = main.remove(name);
            }
            Err(error) => {
                removed.leave(&main.directory.at(name), error.to_string());
                return false;
            }
        }
    }
    match mounts::elsewhere(main, devices) {
        Ok(points) => {
            for point in &points {
                removed.leave(
                    point,
                    "another program has mounted the file system here (unmount it)",
                );
            }
            points.is_empty()
        }
        Err(error) => {
            removed.leave(main.directory.call(), error.to_string());
            false
        }
    }
}

fn release(owned: &Owned, removed: &mut MadeRemoved) -> bool {
    for image in [IMAGE, JOURNAL] {
        match loops::release(owned, image) {
            Ok(still_used) => {
                removed.loop_devices = removed.loop_devices.saturating_sub(still_used.len());
                removed.still_used.extend(still_used);
            }
            Err(error) => removed.leave(&owned.directory.at(image), error.to_string()),
        }
    }
    removed.left.is_empty()
}

/// Removes the recorded files, then the manifest and the directory.
fn remove_files(owned: &mut Owned, removed: &mut MadeRemoved) {
    if let Err(left) = mounts::none_inside(&owned.directory) {
        return removed.left.push(left);
    }
    let names: Vec<String> = owned.manifest.account.keys().cloned().collect();
    for name in names {
        match owned.remove(&name) {
            Ok(was_there) => {
                removed.images += usize::from(was_there && ![MOUNT, BELOW].contains(&name.as_str()))
            }
            Err(left) => removed.left.push(left),
        }
    }
    let directory = &owned.directory;
    match directory.names() {
        Ok(names) => {
            for name in names.iter().filter(|name| *name != MANIFEST) {
                let path = directory.call().join(name);
                if removed.left.iter().all(|left| left.path != shown(&path)) {
                    removed.leave(&path, NOT_OURS);
                }
            }
        }
        Err(errno) => removed.leave(directory.call(), format!("cannot list: {errno}")),
    }
    if !removed.left.is_empty() {
        return;
    }
    if let Err(errno) =
        manifest::remove(directory, &owned.manifest.file).and_then(|()| directory.remove())
    {
        removed.leave(directory.call(), format!("cannot remove: {errno}"));
    }
}

/// Removes a directory in which its maker made at most an incomplete manifest.
pub(crate) fn remove_unfinished(directory: &MadeDirectory, lock: Option<&File>) -> MadeRemoved {
    let path = directory.path();
    let left = |why: String| MadeRemoved::left(path, why);
    let cannot = |errno: Errno| left(format!("cannot remove: {errno}"));
    let born = path.file_name().and_then(maker_of);
    let is_of_maker = |(second, _): (i64, u32)| {
        directory
            .facts()
            .is_ok_and(|facts| facts.is_born_in(second))
    };
    if !born.is_some_and(is_of_maker) {
        return left("it was not made when its name says (look at it, and remove it)".to_owned());
    }
    let names = match directory.names() {
        Ok(names) => names,
        Err(errno) => return cannot(errno),
    };
    if names.iter().any(|name| name != MANIFEST) {
        return left("it has files, and no whole manifest (look at it, and remove it)".to_owned());
    }
    let removed = lock.map_or(Ok(()), |file| manifest::remove(directory, file));
    match removed.and_then(|()| directory.remove()) {
        Ok(()) => MadeRemoved::new(path),
        Err(errno) => cannot(errno),
    }
}
