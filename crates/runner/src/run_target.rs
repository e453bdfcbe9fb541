//! The claimed directories of a run.

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

pub(crate) struct Taken {
    pub owned: Arc<RunDirectories>,
    pub run_directories: Vec<TakenLocation>,
    /// Positions in the streams of all workers for the reused pool of an earlier run; empty if no
    /// pool is reused.
    pub positions: Vec<Position>,
    pub devices: Fact<WatchedDevices>,
}

impl Taken {
    /// Returns the user as whom the run accesses files; `None` if that is the process's own user.
    /// Fails if directories require different users, because one thread of each worker uses all
    /// directories.
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

    /// The directories in which the run creates files, by location.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let locations = self.run_directories.iter();
        locations.map(|at| at.directory.clone()).collect()
    }

    /// Returns the data that other processes need to use these directories.
    pub(crate) fn place_of_all(&self) -> PlaceOfAll {
        let locations = self.run_directories.iter();
        PlaceOfAll {
            locations: locations.map(TakenLocation::place).collect(),
            owners: self.owned.owners(),
            positions: self.positions.clone(),
        }
    }

    /// Returns an empty set of claimed directories, for a run that creates no files.
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

#[derive(Clone, Debug)]
pub(crate) struct TakenLocation {
    /// The path of the location, for messages.
    pub shown: PathBuf,
    /// The path of the location with a trailing slash, for messages.
    pub prefix: Vec<u8>,
    /// The directory in which the run creates files.
    pub directory: PathBuf,
    /// Device and inode of the directory; `None` for a run without files.
    pub identity: Option<Identity>,
    /// Index of the directory. Two locations with the same path have the same directory and index.
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

    /// Returns the data that another process needs to use this directory.
    fn place(&self) -> (PathBuf, PathBuf, usize) {
        (self.shown.clone(), self.directory.clone(), self.number)
    }

    /// Returns the path of one worker's directory with a trailing slash, for messages.
    pub(crate) fn prefix_of(&self, worker: Option<u32>) -> Vec<u8> {
        let mut prefix = self.prefix.clone();
        if let Some(worker) = worker {
            prefix.extend_from_slice(worker_directory(worker).as_bytes());
            prefix.push(b'/');
        }
        prefix
    }

    /// Returns the location for the I/O engine: the directory of `worker`, or the whole directory
    /// if `worker` is `None`.
    pub(crate) fn location_of(&self, worker: Option<u32>) -> Location {
        Location {
            directory: self.directory.clone(),
            identity: self.identity,
            below: worker.and_then(|worker| CString::new(worker_directory(worker)).ok()),
        }
    }
}
