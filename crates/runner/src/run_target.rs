//! The place of a run.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::namespace::ActingUser;
use engine::{Identity, Location};
use rundir::Life;
use rundir::manifest::Position;
use rundir::names::worker_directory;
use rundir::run_directory::RunDirectories;
use spec::RunSpec;
use system::{Fact, WatchedDevices};

use crate::error::Refused;
use crate::processes::PlaceOfAll;

/// A run's place, once it is its own.
pub(crate) struct Taken {
    pub owned: Arc<RunDirectories>,
    /// One for each location.
    pub run_directories: Vec<TakenLocation>,
    /// By worker, how far a pool of an earlier run is; empty where there is none.
    pub positions: Vec<Position>,
    /// The devices under the locations.
    pub devices: Fact<WatchedDevices>,
}

impl Taken {
    /// The user with whose rights alone the place is used: a worker has one thread for all
    /// directories of it.
    pub(crate) fn acts_as(&self) -> Result<Option<ActingUser>, Refused> {
        let users: Vec<_> = self
            .owned
            .held()
            .iter()
            .map(|held| held.acts_as())
            .collect();
        match users.windows(2).all(|pair| pair[0] == pair[1]) {
            true => Ok(users.first().copied().flatten()),
            false => Err(Refused::Unable(
                "the targets have been given to different users meanwhile (use targets of one \
                 user)"
                    .to_owned(),
            )),
        }
    }

    /// The directories of the files, by location.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let locations = self.run_directories.iter();
        locations.map(|at| at.directory.clone()).collect()
    }

    /// What other processes need to work there.
    pub(crate) fn place_of_all(&self) -> PlaceOfAll {
        let locations = self.run_directories.iter();
        PlaceOfAll {
            locations: locations.map(TakenLocation::place).collect(),
            owners: self.owned.owners(),
            positions: self.positions.clone(),
        }
    }

    /// A place that touches no file system.
    pub(crate) fn nowhere(request: &RunSpec, life: Life) -> Self {
        let locations = request.targets.iter().enumerate();
        Self {
            owned: Arc::new(RunDirectories::none(life)),
            run_directories: locations
                .map(|(number, target)| TakenLocation::new(target, target, None, number))
                .collect(),
            positions: Vec::new(),
            devices: Fact::NotApplicable,
        }
    }
}

/// Where a location's files lie.
#[derive(Clone, Debug)]
pub(crate) struct TakenLocation {
    /// As messages give it.
    pub shown: PathBuf,
    /// As messages give it, with a separator behind it.
    pub prefix: Vec<u8>,
    /// The directory of the files.
    pub directory: PathBuf,
    /// Which directory that is; nothing where the storage touches no file system.
    pub identity: Option<Identity>,
    /// Locations that were said twice have the same number.
    pub number: usize,
}

impl TakenLocation {
    pub(crate) fn new(
        path: &Path,
        directory: &Path,
        identity: Option<Identity>,
        number: usize,
    ) -> Self {
        let mut prefix = path.as_os_str().as_encoded_bytes().to_owned();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        Self {
            shown: path.to_owned(),
            prefix,
            directory: directory.to_owned(),
            identity,
            number,
        }
    }

    /// What another process needs to work there.
    fn place(&self) -> (PathBuf, PathBuf, usize) {
        (self.shown.clone(), self.directory.clone(), self.number)
    }

    /// As messages give the part of it that is one worker's own.
    pub(crate) fn prefix_of(&self, worker: Option<u32>) -> Vec<u8> {
        let mut prefix = self.prefix.clone();
        if let Some(worker) = worker {
            prefix.extend_from_slice(worker_directory(worker).as_bytes());
            prefix.push(b'/');
        }
        prefix
    }

    /// As the storage gets that part.
    pub(crate) fn location_of(&self, worker: Option<u32>) -> Location {
        Location {
            directory: self.directory.clone(),
            identity: self.identity,
            below: worker.and_then(|worker| CString::new(worker_directory(worker)).ok()),
        }
    }
}
