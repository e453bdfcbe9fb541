//! The directories of a run, held open. Checks whether they still exist at their paths, and reports
//! the state of their file systems.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use engine::namespace::{Directory, Namespace};
use engine::{Errno, Identity};

use crate::advice;

/// The file systems of a run, each represented by a directory that is held open. Usable from any
/// thread.
#[derive(Clone, Debug, Default)]
pub struct Volumes(Arc<Vec<Arc<dyn Directory>>>);

impl Volumes {
    /// Selects the first directory of each file system.
    pub(crate) fn of<'a>(directories: impl Iterator<Item = &'a Landmark>) -> Self {
        let mut devices = Vec::new();
        let mut held = Vec::new();
        for landmark in directories {
            let device = landmark.identity.map(|identity| identity.device);
            if device.is_none() || !devices.contains(&device) {
                devices.push(device);
                held.push(Arc::clone(&landmark.held));
            }
        }
        Self(Arc::new(held))
    }

    /// Writes all dirty data of the file systems to their devices with syncfs(2).
    pub fn sync(&self) -> Result<(), String> {
        self.0.iter().try_for_each(|directory| {
            directory
                .sync_file_system()
                .map_err(|errno| errno.to_string())
        })
    }

    /// Returns the total free space in bytes; `None` if one of the file systems does not report it.
    pub fn free_bytes(&self) -> Option<u64> {
        let mut sum = (!self.0.is_empty()).then_some(0_u64)?;
        for directory in self.0.iter() {
            sum += directory.free_bytes()?;
        }
        Some(sum)
    }
}

/// A directory with its path and identity, to detect that the path now leads to another directory.
#[derive(Clone, Debug)]
pub(crate) struct Landmark {
    pub(crate) namespace: Arc<dyn Namespace>,
    pub(crate) directory: PathBuf,
    pub(crate) identity: Option<Identity>,
    /// The directory itself, held open: it stays reachable if its path later leads elsewhere.
    pub(crate) held: Arc<dyn Directory>,
}

pub(crate) fn is_removed(held: &dyn Directory) -> bool {
    held.facts().is_ok_and(|facts| facts.names == Some(0))
}

impl Landmark {
    pub(crate) fn new(
        namespace: &Arc<dyn Namespace>,
        directory: PathBuf,
        held: Arc<dyn Directory>,
    ) -> Result<Self, Errno> {
        Ok(Self {
            namespace: Arc::clone(namespace),
            directory,
            identity: held.facts()?.identity,
            held,
        })
    }

    fn look(&self) -> Result<(), String> {
        let path = self.directory.display();
        let device = |identity: Option<Identity>| identity.map(|identity| identity.device);
        match self.namespace.facts(&self.directory) {
            Ok(now) if now.identity == self.identity => Ok(()),
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) if is_removed(&*self.held) => {
                Err(format!("{path} was removed during the run"))
            }
            Ok(now) if device(now.identity) != device(self.identity) => Err(format!(
                "{path} is not on the file system with which the run began: it was unmounted, or \
                 another was mounted over it"
            )),
            Ok(_) => Err(format!(
                "{path} is not the directory with which the run began: it was moved or replaced"
            )),
            Err(errno @ (Errno::NOENT | Errno::NOTDIR)) => Err(format!(
                "{path} no longer exists ({errno}): its file system was unmounted, or it was \
                 moved or removed"
            )),
            Err(errno) => {
                let answer = advice::told(errno);
                Err(format!("{path} can no longer be examined: {answer}"))
            }
        }
    }
}

/// The directories of a run, whose paths can be checked from any thread.
#[derive(Clone, Debug, Default)]
pub struct Landmarks {
    all: Vec<Landmark>,
    /// The first error that a check returned. The error remains even if the directory becomes
    /// reachable later.
    gone: Arc<OnceLock<String>>,
}

impl Landmarks {
    pub(crate) fn new(all: Vec<Landmark>) -> Self {
        Self {
            all,
            gone: Arc::default(),
        }
    }

    /// Checks that each path still leads to the directory with which the run began. Otherwise
    /// returns a sentence about the directory that was moved, replaced or removed.
    pub fn look(&self) -> Result<(), String> {
        if let Err(why) = self.all.iter().try_for_each(Landmark::look) {
            self.gone.get_or_init(|| why);
        }
        self.gone.get().map_or(Ok(()), |why| Err(why.clone()))
    }
}
