//! Finds and locks a pool that an earlier run kept.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::namespace::Namespace;
use workload::Workload;

use crate::clean::Abandoned;
use crate::found_manifest::FoundManifest;
use crate::heartbeat::Life;
use crate::manifest::{Kind, Makes, Manifest, OtherRank, Position};
use crate::names;
use crate::prepare::PrepareError;
use crate::run_directory::RunDirectories;

/// Opens and locks the kept pool of a workload; each location contains a part of the pool. Changes
/// nothing yet: see [`RunDirectories::begin_use`]. Also returns the position of each worker's
/// stream.
pub fn take_kept(
    namespace: &Arc<dyn Namespace>,
    locations: &[PathBuf],
    workload: &Workload,
    makes: &Makes,
    (life, ranks): (Life, &[OtherRank]),
) -> Result<(RunDirectories, Vec<Position>), PrepareError> {
    let mut run_directories = Vec::new();
    let mut positions = Vec::new();
    for location in locations {
        let mut candidate = one(namespace, location, workload)?;
        let kept = candidate.manifest.kept.clone().unwrap_or_default();
        let behind = kept
            .positions
            .iter()
            .map(|position| position.transactions)
            .max();
        candidate.manifest.numbers_max = candidate
            .manifest
            .numbers_max
            .max(workload.numbers_max().saturating_add(behind.unwrap_or(0)));
        candidate.manifest.makes.add(makes);
        candidate.manifest.ranks = ranks.to_vec();
        positions = kept.positions;
        let path = candidate.path.clone();
        let run_directory = candidate.into_run_directory();
        run_directories
            .push(run_directory.map_err(|errno| PrepareError::system("examine", &path, errno))?);
    }
    let run_directories = RunDirectories::new(run_directories, Vec::new(), life);
    Ok((run_directories, positions))
}

/// Returns the kept pool of the workload in a location. Fails if there is none, or more than one.
fn one(
    namespace: &Arc<dyn Namespace>,
    location: &Path,
    workload: &Workload,
) -> Result<Abandoned, PrepareError> {
    let (mut all, in_the_way) = candidates(namespace, location)?;
    let mut other = None;
    all.retain(|candidate| match mismatch(&candidate.manifest, workload) {
        None => true,
        Some(found) => {
            other = Some(found);
            false
        }
    });
    let path = location.display();
    if all.len() > 1 {
        let names: Vec<String> = all
            .iter()
            .map(|one| one.path.display().to_string())
            .collect();
        return Err(PrepareError::new(format!(
            "{path} has several kept pools of this workload: {} (choose one with --target)",
            names.join(", ")
        )));
    }
    all.pop().ok_or_else(|| match (other, in_the_way) {
        (Some((found, wanted)), _) => PrepareError::new(format!(
            "{path} has no kept pool of this workload, but one with '{found}' instead of \
             '{wanted}' (use the options of the run that kept it, or remove --reuse)"
        )),
        (None, Some(in_the_way)) => in_the_way,
        (None, None) => PrepareError::new(format!(
            "{path} has no kept pool (create one with --keep, or remove --reuse)"
        )),
    })
}

/// Returns descriptions of the kept and of the requested workload if they do not match.
fn mismatch(manifest: &Manifest, workload: &Workload) -> Option<(String, String)> {
    let kept = manifest.kept.as_ref()?;
    let untouched = kept.positions.iter().all(|position| position.intents == 0);
    // A pool on which no transaction was performed is suitable for any workload with the same
    // files.
    let (found, wanted) = if untouched {
        (&kept.pool, workload.pool_canonical())
    } else {
        (&kept.workload, workload.endless_canonical())
    };
    (*found != wanted).then(|| differing(found, &wanted))
}

/// Returns, for each of the two texts, the words that the other text lacks. In canonical texts,
/// blanks separate the words.
fn differing(found: &str, wanted: &str) -> (String, String) {
    let without = |text: &str, other: &str| {
        let others: Vec<&str> = other.split(' ').collect();
        let own: Vec<&str> = text
            .split(' ')
            .filter(|word| !others.contains(word))
            .collect();
        own.join(" ")
    };
    (without(found, wanted), without(wanted, found))
}

/// Returns all kept pools in a location, and in directories inside it. Also returns the error for
/// the last pool that cannot be used.
fn candidates(
    namespace: &Arc<dyn Namespace>,
    location: &Path,
) -> Result<(Vec<Abandoned>, Option<PrepareError>), PrepareError> {
    let directory = namespace
        .open(location)
        .map_err(|errno| PrepareError::system("open the directory", location, errno))?;
    let names = names::listed(&*directory, names::is_own_directory)
        .map_err(|errno| PrepareError::system("list the directory", location, errno))?;
    // Skips files, links, and directories of other users that are named like a run's own directory.
    let inner = names.iter().filter_map(|name| {
        let inner = directory.open(name).ok()?;
        Some((location.join(OsStr::from_bytes(name)), inner))
    });
    let itself = (location.to_owned(), Arc::clone(&directory));
    let (mut found, mut in_the_way) = (Vec::new(), None);
    for (path, directory) in inner.chain([itself]) {
        let manifest = match Manifest::find(&**namespace, &*directory) {
            Ok(manifest) => manifest,
            Err(errno) => {
                in_the_way = Some(PrepareError::system("read the manifest in", &path, errno));
                continue;
            }
        };
        match manifest {
            Some(FoundManifest::Abandoned(manifest, lock))
                if manifest.kept.is_some() && manifest.kind == Kind::OwnDirectory =>
            {
                found.push(Abandoned {
                    namespace: Arc::clone(namespace),
                    path,
                    directory,
                    manifest,
                    lock,
                });
            }
            None | Some(FoundManifest::Foreign(_)) => {}
            Some(other) => in_the_way = Some(PrepareError::of_manifest(&path, &other)),
        }
    }
    Ok((found, in_the_way))
}
