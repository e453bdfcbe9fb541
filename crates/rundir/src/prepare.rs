//! Prepares directories on the target for a run: checks them and writes manifests.

use std::path::Path;
use std::sync::Arc;

use engine::Errno;
use engine::namespace::{DIRECTORY_MODE, Directory};

use crate::clean::Abandoned;
use crate::dir_snapshot::Before;
use crate::found_manifest::FoundManifest;
use crate::landmark::Landmark;
use crate::manifest::{Kind, Manifest};
use crate::names::{is_of_classic_pool, worker_directory};
use crate::ownership::Evidence;
use crate::run_directory::{RunDirectories, RunDirectory};

mod acting_user;
mod error;
mod layout_request;
mod own_directory;

pub use acting_user::{OtherUser, other_user};
pub use error::PrepareError;
pub use layout_request::LayoutRequest;

/// Maximum number of conflicting names that a message lists.
const NAMED_MAX: usize = 5;

/// Prepares all directories of a run, or none of them. A directory that is listed twice is prepared
/// once. Also returns, for each location, the index of its run directory.
pub fn prepare(wish: &LayoutRequest) -> Result<(RunDirectories, Vec<usize>), PrepareError> {
    let mut run_directories = RunDirectories::none(wish.life.clone());
    let mut run_directory_of = Vec::new();
    // Reserves file descriptors, and closes them on failure. The cleanup then has enough
    // descriptors, even if the process has reached its limit.
    let spare = wish
        .locations
        .first()
        .map(|first| [(); 4].map(|()| wish.namespace.open(first)));
    for location in &wish.locations {
        match take(wish, location, &mut run_directories.all) {
            Ok(number) => run_directory_of.push(number),
            Err(error) => {
                drop(spare);
                // The run made no file yet, so only directories and manifests are removed.
                let cleaned = run_directories.leave(&Evidence::default(), &mut |_| ());
                return Err(error.with_left(cleaned.left));
            }
        }
    }
    run_directories.life.lies_in(run_directories.all.len());
    Ok((run_directories, run_directory_of))
}

/// Prepares a location, unless `taken` already contains it. Returns the index of the location in
/// `taken`.
fn take(
    wish: &LayoutRequest,
    location: &Path,
    taken: &mut Vec<RunDirectory>,
) -> Result<usize, PrepareError> {
    let users = wish
        .namespace
        .open(location)
        .map_err(|errno| PrepareError::system("open the directory", location, errno))?;
    let run_directory = if wish.in_own_directories {
        let before = Before::read(&*users, |_| ()).map_err(|errno| unlisted(location, errno))?;
        let manifest = manifest(wish, location, before);
        own_directory::make(wish, location, users, manifest)?
    } else {
        wish.refuse_long_paths(location)?;
        let facts = users
            .facts()
            .map_err(|errno| PrepareError::system("examine", location, errno))?;
        let again = |earlier: &RunDirectory| match earlier.identity() {
            Some(identity) => facts.identity == Some(identity),
            None => earlier.directory() == location,
        };
        if let Some(number) = taken.iter().position(again) {
            return Ok(number);
        }
        refuse_other_runs(wish, location, &users)?;
        mark_location(wish, location, users)?
    };
    taken.push(run_directory);
    Ok(taken.len() - 1)
}

/// Returns the manifest of a run in a location, with `before` as the state of the user's directory.
fn manifest(wish: &LayoutRequest, location: &Path, before: Before) -> Manifest {
    let mut manifest = Manifest {
        postmark_manifest: Manifest::version(),
        tool: wish.tool.clone(),
        kind: if wish.in_own_directories {
            Kind::OwnDirectory
        } else {
            Kind::Location
        },
        process: std::process::id(),
        host: wish.host.clone(),
        began_unix_ns: wish.began_unix_ns,
        numbers_max: wish.numbers_max,
        subdirectories: wish.subdirectories,
        workers: wish.workers,
        mix: wish.mix.clone(),
        makes: wish.makes.clone(),
        directory_inode: 0,
        born: None,
        life: wish.life.name().map(str::to_owned),
        ranks: wish.ranks.clone(),
        kept: None,
        before,
        others: Vec::new(),
        others_more: 0,
    };
    let others = wish.locations.iter().filter(|other| *other != location);
    manifest.list_others(others.map(|other| other.to_string_lossy().into_owned()));
    manifest
}

fn unlisted(location: &Path, errno: Errno) -> PrepareError {
    PrepareError::system("list the directory", location, errno)
}

/// Writes the manifest into the user's own directory, if no name in it conflicts with a name of the
/// run.
fn mark_location(
    wish: &LayoutRequest,
    location: &Path,
    users: Arc<dyn Directory>,
) -> Result<RunDirectory, PrepareError> {
    let mut in_the_way = Vec::new();
    let before = Before::read(&*users, |name| {
        let is_used = is_of_classic_pool(name, wish.subdirectories, wish.numbers_max);
        if is_used && in_the_way.len() <= NAMED_MAX {
            in_the_way.push(name.to_owned());
        }
    })
    .map_err(|errno| unlisted(location, errno))?;
    let mut manifest = manifest(wish, location, before);
    if !in_the_way.is_empty() {
        return Err(occupied(location, &*users, &in_the_way));
    }
    let lock = match manifest.write(&*users) {
        Ok(lock) => lock,
        // Another run wrote its manifest after this directory was checked.
        Err(Errno::EXIST) => {
            refuse_other_runs(wish, location, &users)?;
            return Err(PrepareError::system("mark", location, Errno::EXIST));
        }
        Err(errno) => {
            // The draft of the manifest existed for a moment and changed the directory's times.
            // This call restores the times.
            let _ = manifest.before.restore(&*users);
            let left = own_directory::marks_left(&*users, location, location);
            let error = PrepareError::system("write a manifest in", location, errno);
            return Err(error.with_left(left));
        }
    };
    Landmark::new(&wish.namespace, location.to_owned(), Arc::clone(&users))
        .and_then(|landmark| RunDirectory::new(landmark, users, manifest, lock))
        .map_err(|errno| PrepareError::system("examine", location, errno))
}

fn refuse_other_runs(
    wish: &LayoutRequest,
    location: &Path,
    directory: &Arc<dyn Directory>,
) -> Result<(), PrepareError> {
    let error = |errno| PrepareError::system("read the manifest in", location, errno);
    let find = || Manifest::find(&*wish.namespace, &**directory).map_err(error);
    let found = match find()? {
        Some(FoundManifest::Abandoned(manifest, lock))
            if manifest.names_nothing_in(&**directory).map_err(error)? =>
        {
            // A killed run left its manifest, but all of its files were removed by hand.
            let abandoned = Abandoned {
                namespace: Arc::clone(&wish.namespace),
                path: location.to_owned(),
                directory: Arc::clone(directory),
                manifest,
                lock,
            };
            abandoned.remove().map_err(error)?;
            find()?
        }
        found => found,
    };
    found.map_or(Ok(()), |found| {
        Err(PrepareError::of_manifest(location, &found))
    })
}

/// Returns the error for conflicting names. The message names up to [`NAMED_MAX`] files and
/// directories, and one entry of each directory.
fn occupied(location: &Path, directory: &dyn Directory, in_the_way: &[Vec<u8>]) -> PrepareError {
    let mut names: Vec<String> = Vec::new();
    for name in in_the_way.iter().take(NAMED_MAX) {
        let shown = String::from_utf8_lossy(name).into_owned();
        let mut inner = None;
        if let Ok(opened) = directory.open(name) {
            // A directory that cannot be listed is reported without the name of an entry in it.
            let _ = opened.list(&mut |entry| {
                inner.get_or_insert_with(|| String::from_utf8_lossy(entry.name).into_owned());
                Ok(())
            });
        }
        names.push(match inner {
            Some(inner) => format!("'{shown}' (with '{shown}/{inner}' in it)"),
            None => format!("'{shown}'"),
        });
    }
    if in_the_way.len() > NAMED_MAX {
        names.push("others".to_owned());
    }
    PrepareError::new(format!(
        "{} already contains {}, and a run would use these names (use an empty directory, or \
         move these away)",
        location.display(),
        names.join(", ")
    ))
}

impl RunDirectories {
    /// Makes a directory for each worker in every run directory. On failure, also removes the run
    /// directories.
    pub fn make_worker_directories(&self, workers: u32) -> Result<(), PrepareError> {
        let make = |run_directory: &RunDirectory| {
            let (directory, held) = (run_directory.directory(), &run_directory.landmark.held);
            for worker in 0..workers {
                let name = worker_directory(worker);
                held.make(name.as_bytes(), DIRECTORY_MODE)
                    .map_err(|errno| {
                        PrepareError::system("make the directory", &directory.join(&name), errno)
                    })?;
            }
            held.sync()
                .map_err(|errno| PrepareError::system("sync", directory, errno))
        };
        self.all
            .iter()
            .try_for_each(make)
            .map_err(|error| error.with_left(self.leave(&Evidence::default(), &mut |_| ()).left))
    }
}
