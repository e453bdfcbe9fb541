//! The directories of a run, held open: whether they are still at their paths, and their file
//! systems.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use engine::namespace::{Directory, Namespace};
use engine::{Errno, Identity};

use crate::advice;

/// File systems, each by a directory of it that is held open. A value that may be used from any
/// thread.
#[derive(Clone, Debug, Default)]
pub struct Volumes(Arc<Vec<Arc<dyn Directory>>>);

impl Volumes {
    /// Of each file system the first directory.
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

    /// Writes back everything: syncfs(2).
    pub fn sync(&self) -> Result<(), String> {
        self.0.iter().try_for_each(|directory| {
            directory
                .sync_file_system()
                .map_err(|errno| errno.to_string())
        })
    }

    /// The free space of all together; nothing where one does not tell.
    pub fn free_bytes(&self) -> Option<u64> {
        let mut sum = (!self.0.is_empty()).then_some(0_u64)?;
        for directory in self.0.iter() {
            sum += directory.free_bytes()?;
        }
        Some(sum)
    }
}

/// By what a place is known again: the directory at its path.
#[derive(Clone, Debug)]
pub(crate) struct Landmark {
    pub(crate) namespace: Arc<dyn Namespace>,
    /// From the root.
    pub(crate) directory: PathBuf,
    pub(crate) identity: Option<Identity>,
    /// The directory itself, held open: it stays reachable when its path does not.
    pub(crate) held: Arc<dyn Directory>,
}

/// Whether a directory that is held has no name any more.
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

/// The places of a run, to be looked at from any thread.
#[derive(Clone, Debug, Default)]
pub struct Landmarks {
    all: Vec<Landmark>,
    /// What was once found to be wrong: it stays, even where the place is well again.
    gone: Arc<OnceLock<String>>,
}

impl Landmarks {
    pub(crate) fn new(all: Vec<Landmark>) -> Self {
        Self {
            all,
            gone: Arc::default(),
        }
    }

    /// Whether the places are still the ones where the run began; if not, what became of them.
    pub fn look(&self) -> Result<(), String> {
        if let Err(why) = self.all.iter().try_for_each(Landmark::look) {
            self.gone.get_or_init(|| why);
        }
        self.gone.get().map_or(Ok(()), |why| Err(why.clone()))
    }
}
