//! Taking a pool that an earlier run has kept.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use workload::Workload;

use super::before::for_each_name;
use super::life::Life;
use super::manifest::{Found, Kind, Manifest, Position};
use super::ownership::Makes;
use super::prepare::{OWN_DIRECTORY_PREFIX, not_ours, system};
use super::removal::open_directory;
use super::{Ground, Grounds, PrepareError};

/// A pool of an earlier run.
#[derive(Debug)]
pub(crate) struct TakenPool {
    pub grounds: Grounds,
    /// By worker.
    pub positions: Vec<Position>,
}

/// A directory with a kept pool.
struct Candidate {
    path: PathBuf,
    directory: OwnedFd,
    manifest: Box<Manifest>,
    lock: File,
}

/// Takes the pool of a workload that an earlier run has kept in these directories, in each a part of it. Nothing is
/// changed yet: see [`super::Site::begin_use`].
pub(crate) fn take_kept(
    locations: &[PathBuf],
    workload: &Workload,
    makes: &Makes,
    life: Life,
) -> Result<TakenPool, PrepareError> {
    let mut grounds = Vec::new();
    let mut positions = Vec::new();
    for location in locations {
        let mut candidate = one(location, workload)?;
        let kept = candidate.manifest.kept.clone().unwrap_or_default();
        let behind = kept.positions.iter().map(|position| position.transactions).max();
        candidate.manifest.numbers_max = candidate
            .manifest
            .numbers_max
            .max(workload.numbers_max().saturating_add(behind.unwrap_or(0)));
        candidate.manifest.makes.add(makes);
        positions = kept.positions;
        grounds.push(ground(candidate)?);
    }
    Ok(TakenPool {
        grounds: Grounds { all: grounds, life },
        positions,
    })
}

fn ground(candidate: Candidate) -> Result<Ground, PrepareError> {
    let Candidate {
        path,
        directory,
        manifest,
        lock,
    } = candidate;
    let manifest = *manifest;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let users = openat(&directory, "..", flags, Mode::empty())
        .map_err(|errno| system("open the directory above", &path, errno))?;
    Ground::new(path.clone(), directory, users, manifest, lock).map_err(|errno| system("examine", &path, errno))
}

/// The one pool of the workload in a directory.
fn one(location: &Path, workload: &Workload) -> Result<Candidate, PrepareError> {
    let (mut all, in_the_way) = candidates(location)?;
    let mut other = None;
    all.retain(|candidate| match mismatch(&candidate.manifest, workload) {
        None => true,
        Some(found) => {
            other = Some(found);
            false
        }
    });
    if all.len() > 1 {
        let names: Vec<String> = all.iter().map(|one| one.path.display().to_string()).collect();
        return Err(PrepareError::SeveralKept {
            path: location.to_owned(),
            names: names.join(", "),
        });
    }
    all.pop().ok_or_else(|| match (other, in_the_way) {
        (Some((found, wanted)), _) => PrepareError::OtherKept {
            path: location.to_owned(),
            found,
            wanted,
        },
        (None, Some(in_the_way)) => in_the_way,
        (None, None) => PrepareError::NoKept {
            path: location.to_owned(),
        },
    })
}

/// The workload of a kept pool and the one that was asked for, where they do not fit.
fn mismatch(manifest: &Manifest, workload: &Workload) -> Option<(String, String)> {
    let kept = manifest.kept.as_ref()?;
    let untouched = kept.positions.iter().all(|position| position.intents == 0);
    // A pool that has only been prepared takes any work.
    let (found, wanted) = if untouched {
        (&kept.pool, workload.pool_canonical())
    } else {
        (&kept.workload, workload.endless_canonical())
    };
    (*found != wanted).then(|| differing(found, &wanted))
}

/// What two canonical texts, words with blanks between them, do not have in common.
fn differing(found: &str, wanted: &str) -> (String, String) {
    let without = |text: &str, other: &str| {
        let others: Vec<&str> = other.split(' ').collect();
        let own: Vec<&str> = text.split(' ').filter(|word| !others.contains(word)).collect();
        own.join(" ")
    };
    (without(found, wanted), without(wanted, found))
}

/// Every kept pool in a directory, or the directory itself, and why one that is there cannot be taken.
fn candidates(location: &Path) -> Result<(Vec<Candidate>, Option<PrepareError>), PrepareError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory =
        openat(CWD, location, flags, Mode::empty()).map_err(|errno| system("open the directory", location, errno))?;
    let mut names: Vec<OsString> = Vec::new();
    for_each_name(&directory, |name| {
        if name.starts_with(OWN_DIRECTORY_PREFIX.as_bytes()) {
            names.push(OsStr::from_bytes(name).to_owned());
        }
        Ok(())
    })
    .map_err(|errno| system("list the directory", location, errno))?;
    names.sort();
    let mut all = Vec::new();
    for name in names {
        // Files, links and other people's directories of such a name are passed by.
        if let Ok(inner) = open_directory(&directory, &name) {
            all.extend(candidate(location.join(&name), inner)?);
        }
    }
    all.extend(candidate(location.to_owned(), directory)?);
    let mut found = Vec::new();
    let mut in_the_way = None;
    for one in all {
        match one {
            Ok(candidate) => found.push(candidate),
            Err(why) => in_the_way = Some(why),
        }
    }
    Ok((found, in_the_way))
}

/// The kept pool that a directory is, or why what is in it cannot be taken.
fn candidate(path: PathBuf, directory: OwnedFd) -> Result<Option<Result<Candidate, PrepareError>>, PrepareError> {
    Ok(
        match Manifest::find(&directory).map_err(|errno| system("read the manifest in", &path, errno))? {
            Some(Found::Abandoned(manifest, lock))
                if manifest.kept.is_some() && manifest.kind == Kind::OwnDirectory =>
            {
                Some(Ok(Candidate {
                    path,
                    directory,
                    manifest,
                    lock,
                }))
            }
            None | Some(Found::Foreign(_)) => None,
            Some(other) => Some(Err(not_ours(&path, &other))),
        },
    )
}
