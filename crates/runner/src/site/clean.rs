//! `clean`: removing what killed runs have left in a directory.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use record::CleanUp;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;

use super::before::for_each_name;
use super::manifest::{self, Found, Kind, Manifest};
use super::prepare::OWN_DIRECTORY_PREFIX;
use super::removal::open_directory;
use super::Ground;

/// What became of one run's leavings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// They were removed, as far as said.
    Removed {
        /// Where they were.
        directory: PathBuf,
        /// What was removed and what was not.
        clean_up: CleanUp,
        /// Other directories that the same run used.
        others: Vec<String>,
    },
    /// The run goes on: nothing was touched.
    Active {
        /// Where.
        directory: PathBuf,
        /// Its process, where the manifest says it.
        process: Option<u32>,
    },
    /// The manifest is not one that this program understands: nothing was touched.
    NotUnderstood {
        /// Where.
        directory: PathBuf,
        /// Why not.
        why: String,
    },
}

/// The directory cannot be cleaned.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {}: {answer}", .path.display())]
pub struct CleanError {
    what: &'static str,
    path: PathBuf,
    answer: std::io::Error,
}

/// Removes what killed runs have left in a directory: in itself, and in directories that such runs made in it.
/// A run's own directory can be given, too.
///
/// # Errors
/// Where the directory or a manifest in it cannot be read.
pub fn clean(path: &Path) -> Result<Vec<Cleaned>, CleanError> {
    let error = |what, path: &Path, errno: Errno| CleanError {
        what,
        path: path.to_owned(),
        answer: errno.into(),
    };
    let path = std::path::absolute(path).map_err(|answer| CleanError {
        what: "find",
        path: path.to_owned(),
        answer,
    })?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, &path, flags, Mode::empty()).map_err(|errno| error("open the directory", &path, errno))?;
    let mut names: Vec<OsString> = Vec::new();
    for_each_name(&directory, |name| {
        if name.starts_with(OWN_DIRECTORY_PREFIX.as_bytes()) {
            names.push(OsStr::from_bytes(name).to_owned());
        }
        Ok(())
    })
    .map_err(|errno| error("list", &path, errno))?;
    let mut cleaned = Vec::new();
    cleaned.extend(clean_one(&path, &directory).map_err(|errno| error("read the manifest in", &path, errno))?);
    names.sort();
    for name in names {
        let inner_path = path.join(&name);
        // Files, links and other people's directories of such a name are passed by.
        let Ok(inner) = open_directory(&directory, &name) else {
            continue;
        };
        match clean_one(&inner_path, &inner).map_err(|errno| error("read the manifest in", &inner_path, errno))? {
            Some(done) => cleaned.push(done),
            None => cleaned.extend(remove_unmarked(&directory, &name, &inner, inner_path)),
        }
    }
    Ok(cleaned)
}

fn clean_one(path: &Path, directory: &OwnedFd) -> Result<Option<Cleaned>, Errno> {
    let path = path.to_owned();
    Ok(match Manifest::find(directory)? {
        None => None,
        Some(Found::Active(manifest)) => Some(Cleaned::Active {
            directory: path,
            process: manifest.map(|manifest| manifest.process),
        }),
        Some(Found::Foreign(why)) => Some(Cleaned::NotUnderstood { directory: path, why }),
        Some(Found::Unfinished(_lock)) => {
            unlinkat(directory, manifest::NAME, AtFlags::empty())?;
            Some(Cleaned::Removed {
                directory: path,
                clean_up: CleanUp::default(),
                others: Vec::new(),
            })
        }
        Some(Found::Abandoned(manifest, lock)) => {
            let others = manifest.others.clone();
            let held = rustix::io::dup(directory)?;
            let users = match manifest.kind {
                Kind::Location => rustix::io::dup(directory)?,
                Kind::OwnDirectory => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                    openat(directory, "..", flags, Mode::empty())?
                }
            };
            let ground = Ground::new(path.clone(), held, users, manifest, lock)?;
            Some(Cleaned::Removed {
                directory: path,
                clean_up: ground.leave(&mut |_| ()),
                others,
            })
        }
    })
}

/// A run that was killed between making its directory and marking it leaves the directory empty.
fn remove_unmarked(parent: &OwnedFd, name: &OsStr, inner: &OwnedFd, path: PathBuf) -> Option<Cleaned> {
    let mut digits_and_dashes = name.as_bytes()[OWN_DIRECTORY_PREFIX.len()..].iter();
    if !digits_and_dashes.all(|byte| byte.is_ascii_digit() || *byte == b'-') {
        return None;
    }
    let owner = fstat(inner).ok()?.st_uid;
    if owner != rustix::process::geteuid().as_raw() {
        return None;
    }
    // Removes it only where it is empty.
    unlinkat(parent, name, AtFlags::REMOVEDIR).ok()?;
    Some(Cleaned::Removed {
        directory: path,
        clean_up: CleanUp {
            directories: 1,
            ..CleanUp::default()
        },
        others: Vec::new(),
    })
}

