//! Removing what a manifest stands for: mounts, loop devices, images, and the manifest last.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::directory::{MANIFEST, MadeDirectory, SAVED_PREFIX};
use crate::error::MakeError;
use crate::loops;
use crate::mounts;
use crate::tool::Around;

/// Something that is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeLeft {
    /// What.
    pub path: PathBuf,
    /// Why, in one line.
    pub why: String,
}

/// What was removed of a made file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeRemoved {
    /// Its directory.
    pub directory: PathBuf,
    /// Mounts that were unmounted.
    pub mounts: usize,
    /// Loop devices that were given back.
    pub loop_devices: usize,
    /// Images and saved states that were removed.
    pub images: usize,
    /// What is still there. Where there is something, the manifest is, too.
    pub left: Vec<MadeLeft>,
}

impl MadeRemoved {
    pub(crate) fn left(directory: &Path, why: impl Into<String>) -> Self {
        let mut removed = Self {
            directory: directory.to_owned(),
            ..Self::default()
        };
        removed.leave(directory, why);
        removed
    }

    fn leave(&mut self, path: &Path, why: impl Into<String>) {
        self.left.push(MadeLeft {
            path: path.to_owned(),
            why: why.into(),
        });
    }

    /// All that is left in one line.
    pub(crate) fn left_line(&self) -> String {
        let lines = self
            .left
            .iter()
            .map(|left| format!("{}: {}", left.path.display(), left.why));
        lines.collect::<Vec<_>>().join("; ")
    }
}

/// A directory with its locked manifest.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    pub(crate) directory: &'a MadeDirectory,
    pub(crate) lock: &'a File,
}

impl Held<'_> {
    fn around(&self) -> Around<'_> {
        Around {
            lock: self.lock,
            directory: self.directory.path(),
        }
    }
}

/// Removes all that was made: of the file system, and of its journal where that has a directory of its own.
pub(crate) fn remove(main: Option<Held>, journal: Option<Held>) -> MadeRemoved {
    let mut removed = MadeRemoved::default();
    if let Some(held) = main.or(journal) {
        removed.directory = held.directory.path().to_owned();
    }
    // Counted before: most go by themselves when the file system is unmounted.
    let of_main = main.map(|held| (held, [held.directory.image(), held.directory.journal()]));
    let of_journal = journal.map(|held| (held, [held.directory.image(), held.directory.journal()]));
    let images: Vec<(Held, PathBuf)> = [of_main, of_journal]
        .into_iter()
        .flatten()
        .flat_map(|(held, images)| images.map(|image| (held, image)))
        .collect();
    for (_, image) in &images {
        match loops::over(image) {
            Ok(devices) => removed.loop_devices += devices.len(),
            Err(error) => removed.leave(image, error.to_string()),
        }
    }
    let is_free = main.is_none_or(|held| unmount(held, &mut removed))
        && images.iter().all(|(held, image)| release(*held, image, &mut removed));
    if !is_free {
        return removed;
    }
    // The main manifest names the journal's directory: it goes last.
    for held in [journal, main].into_iter().flatten() {
        if removed.left.is_empty() {
            remove_files(held.directory, &mut removed);
        }
    }
    removed
}

fn unmount(held: Held, removed: &mut MadeRemoved) -> bool {
    for at in [held.directory.mount(), held.directory.below()] {
        match mounts::unmount(&at, held.directory, held.around()) {
            Ok(count) => removed.mounts += count,
            Err(error) => {
                removed.leave(&at, error.to_string());
                return false;
            }
        }
    }
    true
}

fn release(held: Held, image: &Path, removed: &mut MadeRemoved) -> bool {
    if let Err(error) = loops::release(image, held.around()) {
        removed.leave(image, error.to_string());
    }
    removed.left.is_empty()
}

/// Removes the files by their names, then the manifest and the directory. What has another name stays.
fn remove_files(directory: &MadeDirectory, removed: &mut MadeRemoved) {
    if let Err((path, why)) = removed_files(directory, removed) {
        removed.leave(&path, why);
    }
}

fn removed_files(directory: &MadeDirectory, removed: &mut MadeRemoved) -> Result<(), (PathBuf, String)> {
    let told = |path: &Path, what: &str, error: std::io::Error| (path.to_owned(), format!("cannot {what}: {error}"));
    let path = directory.path();
    // A mount of others in the directory would be emptied with it.
    let mounts = mounts::all().map_err(|error| (path.to_owned(), error.to_string()))?;
    let inside = mounts
        .iter()
        .find(|mount| Path::new(&mount.mount_point).starts_with(path));
    if let Some(mount) = inside {
        return Err((
            mount.mount_point.clone().into(),
            "is mounted here by another program (unmount it)".into(),
        ));
    }
    let mut others = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| told(path, "list", error))? {
        let entry = entry.map_err(|error| told(path, "list", error))?;
        let (name, inside) = (entry.file_name(), entry.path());
        let kind = entry.file_type().map_err(|error| told(&inside, "look at", error))?;
        let name = name.to_string_lossy();
        let done = match &*name {
            MANIFEST => continue,
            "image" | "journal" if kind.is_file() => {
                removed.images += 1;
                std::fs::remove_file(&inside)
            }
            "mount" | "below" if kind.is_dir() => std::fs::remove_dir(&inside),
            saved if saved.starts_with(SAVED_PREFIX) => {
                removed.images += 1;
                if kind.is_dir() {
                    std::fs::remove_dir_all(&inside)
                } else {
                    std::fs::remove_file(&inside)
                }
            }
            _ => {
                others.push(inside);
                continue;
            }
        };
        done.map_err(|error| told(&inside, "remove", error))?;
    }
    if let Some(other) = others.into_iter().next() {
        return Err((other, "was not made by this program (remove it)".into()));
    }
    gone(std::fs::remove_file(directory.manifest())).map_err(|error| told(path, "remove the manifest of", error))?;
    std::fs::remove_dir(path).map_err(|error| told(path, "remove", error))
}

fn gone(done: std::io::Result<()>) -> std::io::Result<()> {
    match done {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// What is left, as an error.
pub(crate) fn complete(removed: MadeRemoved) -> Result<MadeRemoved, MakeError> {
    if removed.left.is_empty() {
        return Ok(removed);
    }
    Err(MakeError::Left {
        left: removed.left_line(),
        directory: removed.directory,
    })
}

/// Removes a directory whose manifest was not written to its end: nothing else can have been made in it.
pub(crate) fn remove_unfinished(directory: &MadeDirectory) -> MadeRemoved {
    let path = directory.path();
    let mut removed = MadeRemoved {
        directory: path.to_owned(),
        ..MadeRemoved::default()
    };
    let has_others = std::fs::read_dir(path).map(|entries| {
        let mut names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        names.any(|name| name.map_or(true, |name| name != MANIFEST))
    });
    let done = match has_others {
        Ok(true) => {
            return MadeRemoved::left(
                path,
                "it has files, and a manifest that is not whole (look at it, and remove it)",
            );
        }
        Ok(false) => gone(std::fs::remove_file(directory.manifest())).and_then(|()| std::fs::remove_dir(path)),
        Err(error) => Err(error),
    };
    if let Err(error) = done {
        removed.leave(path, format!("cannot remove: {error}"));
    }
    removed
}
