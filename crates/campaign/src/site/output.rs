//! The directory of a site. A build writes a new directory beside it and exchanges the two, so an
//! interrupted build leaves the earlier site. Only files that a build listed in its marker are
//! removed.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use document::sanitize;
use rustix::fs::{FlockOperation, RenameFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::sources::{MARKER, open_regular};
use crate::error::Error;
use crate::same_file::{FileId, id_of};

/// The file that marks the new directory while a build writes it. The build holds a lock on it.
const LOCK: &str = ".postmark-site-lock";
/// Largest size of a marker, in bytes.
const MARKER_BYTES_MAX: u64 = 256 << 20;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Marker {
    /// The version of the marker.
    schema: u32,
    /// All other files of the site, relative to it.
    files: BTreeSet<String>,
}

impl Marker {
    /// Reads the marker of a site; `None` if the directory has none.
    fn read(site: &Path) -> io::Result<Option<Self>> {
        let file = match open_regular(&site.join(MARKER)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() > MARKER_BYTES_MAX {
            return Err(io::Error::other("its marker is too long"));
        }
        let marker: Self = serde_json::from_reader(io::BufReader::new(file))?;
        Ok(Some(marker))
    }

    /// The directories of the files, the deepest first.
    fn directories(&self) -> Vec<PathBuf> {
        let parents = self.files.iter().flat_map(|file| {
            let ancestors = Path::new(file).ancestors().skip(1);
            ancestors.filter(|parent| !parent.as_os_str().is_empty())
        });
        let all: BTreeSet<&Path> = parents.collect();
        all.into_iter().rev().map(Path::to_owned).collect()
    }

    /// Removes the files of a site and its directories. Other files remain, with their directories.
    fn remove(&self, site: &Path) -> io::Result<()> {
        for file in &self.files {
            if is_inside(file) {
                ignore_missing(fs::remove_file(site.join(file)))?;
            }
        }
        for directory in self.directories() {
            let _ = fs::remove_dir(site.join(directory));
        }
        ignore_missing(fs::remove_file(site.join(MARKER)))?;
        fs::remove_dir(site)
    }
}

/// Whether a path in a marker cannot leave the site.
fn is_inside(file: &str) -> bool {
    use std::path::Component::Normal;
    Path::new(file)
        .components()
        .all(|part| matches!(part, Normal(_)))
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// The new directory of a site, before it gets the site's name.
pub struct SiteOutput {
    /// The place of the site.
    site: PathBuf,
    part: PathBuf,
    lock: File,
    files: BTreeSet<String>,
}

impl SiteOutput {
    /// Checks the place of the site, and creates the new directory beside it.
    ///
    /// # Errors
    /// Returns an error if the place has files that no build wrote, or if another build is active.
    pub fn begin(site: &Path) -> Result<Self, Error> {
        let site = std::path::absolute(site).map_err(|cause| cannot_write(site, &cause))?;
        let (Some(parent), Some(name)) = (site.parent(), site.file_name()) else {
            return Err(refused(&site, "it has no name (use another directory)"));
        };
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(".postmark-part");
        let part = parent.join(beside);
        let former = former_place(&part);
        if former.join(MARKER).exists() && !site.exists() {
            fs::rename(&former, &site).map_err(|cause| cannot_write(&site, &cause))?;
        }
        check_place(&site)?;
        remove_left(&part)?;
        fs::create_dir(&part).map_err(|cause| cannot_write(&part, &cause))?;
        let lock = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(part.join(LOCK))
            .map_err(|cause| cannot_write(&part, &cause))?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|cause| cannot_write(&part, &cause.into()))?;
        Ok(Self {
            site,
            part,
            lock,
            files: BTreeSet::new(),
        })
    }

    /// Writes a file of the site. `name` consists of names of this program and of identities.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn write(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.part.join(name);
        let write = || {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, text)
        };
        write().map_err(|cause| cannot_write(&path, &cause))?;
        self.files.insert(name.to_owned());
        Ok(())
    }

    /// Reads a file that [`write`](Self::write) has written.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn read(&self, name: &str) -> Result<String, Error> {
        let path = self.part.join(name);
        fs::read_to_string(&path).map_err(|cause| {
            Error::failed(format_args!(
                "cannot read {} again: {cause} (build the site again)",
                sanitize::path(&path)
            ))
        })
    }

    /// A path for a temporary file beside the pages, which is not part of the site.
    pub fn temporary(&self) -> PathBuf {
        self.part.join(".postmark-archive")
    }

    /// The identity of the place of the site, if it exists.
    pub fn place(&self) -> Option<FileId> {
        fs::symlink_metadata(&self.site)
            .map(|facts| id_of(&facts))
            .ok()
    }

    /// Gives the new directory the site's name, and removes the earlier site.
    ///
    /// # Errors
    /// Returns the system's error. The earlier site then remains.
    pub fn finish(mut self) -> Result<(), Error> {
        let marker = Marker {
            schema: 1,
            files: std::mem::take(&mut self.files),
        };
        let failed = |cause: io::Error| cannot_write(&self.site, &cause);
        let text = document::json(&marker);
        fs::write(self.part.join(MARKER), text).map_err(failed)?;
        // Otherwise a crash of the machine could leave a site of empty files.
        rustix::fs::syncfs(&self.lock).map_err(|cause| failed(cause.into()))?;
        // The place may have changed during the build.
        check_place(&self.site)?;
        fs::remove_file(self.part.join(LOCK)).map_err(failed)?;
        if fs::symlink_metadata(&self.site).is_err() {
            return fs::rename(&self.part, &self.site).map_err(failed);
        }
        let place = rustix::fs::CWD;
        let flags = RenameFlags::EXCHANGE;
        match rustix::fs::renameat_with(place, &self.part, place, &self.site, flags) {
            Ok(()) => remove_site(&self.part),
            // The file system cannot exchange directories.
            Err(Errno::INVAL | Errno::NOSYS) => self.replace_in_two_steps(),
            Err(cause) => Err(failed(cause.into())),
        }
    }

    /// Renames the earlier site, and then the new one. A kill between the two leaves the earlier
    /// site under the name of [`former_place`].
    fn replace_in_two_steps(&self) -> Result<(), Error> {
        let former = former_place(&self.part);
        let failed = |cause: io::Error| cannot_write(&self.site, &cause);
        fs::rename(&self.site, &former).map_err(failed)?;
        if let Err(cause) = fs::rename(&self.part, &self.site) {
            fs::rename(&former, &self.site).map_err(failed)?;
            return Err(failed(cause));
        }
        remove_site(&former)
    }
}

/// The name of the earlier site while the new one is renamed.
fn former_place(part: &Path) -> PathBuf {
    part.with_extension("postmark-former")
}

/// Removes the new directory of a build that failed.
impl Drop for SiteOutput {
    fn drop(&mut self) {
        // A successful build has renamed this directory, or removed its lock.
        if self.part.join(LOCK).exists() {
            let _ = fs::remove_dir_all(&self.part);
        }
    }
}

/// Removes an earlier site. Its place had no other files when it was checked.
fn remove_site(site: &Path) -> Result<(), Error> {
    let marker = Marker::read(site).map_err(|cause| cannot_write(site, &cause))?;
    let removed = match marker {
        Some(marker) => marker.remove(site),
        None => fs::remove_dir(site),
    };
    removed.map_err(|cause| {
        Error::failed(format_args!(
            "the new site is complete, but the earlier one remains in {}: {cause} (remove it)",
            sanitize::path(site)
        ))
    })
}

/// Removes what a killed build left: a directory with its lock, which no process holds, or an
/// earlier site.
fn remove_left(part: &Path) -> Result<(), Error> {
    let facts = match fs::symlink_metadata(part) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        facts => facts.map_err(|cause| cannot_write(part, &cause))?,
    };
    let foreign = || refused(part, "no build wrote it (rename or remove it)");
    if !facts.is_dir() {
        return Err(foreign());
    }
    match open_regular(&part.join(LOCK)) {
        Ok(lock) => {
            rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)
                .map_err(|_| refused(part, "another build writes it (wait for its end)"))?;
            fs::remove_dir_all(part).map_err(|cause| cannot_write(part, &cause))
        }
        Err(_) if part.join(MARKER).exists() => remove_site(part),
        Err(_) => fs::remove_dir(part).map_err(|_| foreign()),
    }
}

/// Checks that the place of the site is free, an empty directory, or an earlier site without other
/// files.
fn check_place(site: &Path) -> Result<(), Error> {
    let facts = match fs::symlink_metadata(site) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        facts => facts.map_err(|cause| cannot_write(site, &cause))?,
    };
    if !facts.is_dir() {
        return Err(refused(site, "it is not a directory (use another path)"));
    }
    let marker = Marker::read(site)
        .map_err(|cause| refused(site, &format!("{cause} (use another directory)")))?;
    let mut known = marker.unwrap_or_default();
    let directories: BTreeSet<PathBuf> = known.directories().into_iter().collect();
    known.files.insert(MARKER.to_owned());
    match foreign(site, Path::new(""), &known.files, &directories) {
        Ok(None) => Ok(()),
        Ok(Some(name)) => Err(refused(
            site,
            &format!("it has {name}, which no build wrote (use another directory, or move it)"),
        )),
        Err(cause) => Err(cannot_write(site, &cause)),
    }
}

/// Returns a file or directory that the marker of a site does not list.
fn foreign(
    site: &Path,
    inside: &Path,
    files: &BTreeSet<String>,
    directories: &BTreeSet<PathBuf>,
) -> io::Result<Option<String>> {
    for entry in fs::read_dir(site.join(inside))? {
        let entry = entry?;
        let below = inside.join(entry.file_name());
        let kind = entry.file_type()?;
        let is_known = match kind.is_dir() {
            true => directories.contains(&below),
            false => kind.is_file() && below.to_str().is_some_and(|name| files.contains(name)),
        };
        if !is_known {
            return Ok(Some(sanitize::path(&below).into_owned()));
        }
        if kind.is_dir()
            && let Some(name) = foreign(site, &below, files, directories)?
        {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn refused(path: &Path, why: &str) -> Error {
    Error::refused(format_args!(
        "cannot write the site {}: {why}",
        sanitize::path(path)
    ))
}

fn cannot_write(path: &Path, cause: &io::Error) -> Error {
    let path = sanitize::path(path);
    Error::failed(format_args!(
        "cannot write {path}: {cause} (use another directory with -o)"
    ))
}

/// Writes bytes to a new file; used for copies of archives.
pub(super) fn copy(from: &mut File, to: &Path) -> io::Result<()> {
    let mut to = OpenOptions::new().write(true).create_new(true).open(to)?;
    io::copy(from, &mut to)?;
    to.flush()
}
