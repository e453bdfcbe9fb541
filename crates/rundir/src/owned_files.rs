//! Where a run lives on the target, as whoever performs it sees it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use engine::namespace::{Directory, Namespace};
use engine::{Errno, Identity};
use record::CleanUp;

use crate::advice;
use crate::heartbeat::Life;
use crate::manifest::{FirstRank, KeptPool};
use crate::ownership::Evidence;

/// A run's place.
pub trait OwnedDirectories: Send + Sync {
    /// To look whether the place is still the one that the run began in.
    fn landmarks(&self) -> Landmarks;

    /// Removes what the run has made and left, and its mark.
    fn leave(&self, evidence: &Evidence, progress: &mut dyn FnMut(u64)) -> CleanUp;

    /// A pool that was kept is in use from now on.
    fn begin_use(&self) -> Result<(), String>;

    /// The run's signs of life.
    fn life(&self) -> &Life;

    /// Leaves everything as it is, for a later run.
    fn keep(&self, kept: KeptPool) -> Result<(), String>;

    /// The file systems of the place.
    fn volumes(&self) -> Volumes;

    /// The directory of each location's files, held open.
    fn held(&self) -> Vec<Arc<dyn Directory>>;

    /// By directory, whose it is: by that other processes of the run know it; none where this
    /// process has not taken them.
    fn owners(&self) -> Vec<FirstRank>;

    /// Bytes that the run's own directories take: directories stay as large as they once were.
    fn own_bytes(&self) -> u64;

    /// The place in words.
    fn describe(&self) -> String;
}

/// File systems, each by a directory of it that is held open. A value that may be used from any
/// thread.
#[derive(Clone, Debug, Default)]
pub struct Volumes(pub(crate) Arc<Vec<Arc<dyn Directory>>>);

impl Volumes {
    /// Those of directories with what these are known by: of each file system the first.
    pub(crate) fn of<'a>(
        directories: impl Iterator<Item = (Option<Identity>, &'a Arc<dyn Directory>)>,
    ) -> Self {
        let mut devices = Vec::new();
        let mut held = Vec::new();
        for (identity, directory) in directories {
            let device = identity.map(|identity| identity.device);
            if device.is_none() || !devices.contains(&device) {
                devices.push(device);
                held.push(Arc::clone(directory));
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

/// Storages that touch no file system have no place.
pub struct NoOwnedDirectories(pub Life);

impl OwnedDirectories for NoOwnedDirectories {
    fn landmarks(&self) -> Landmarks {
        Landmarks::default()
    }

    fn leave(&self, _: &Evidence, _: &mut dyn FnMut(u64)) -> CleanUp {
        CleanUp::default()
    }

    fn life(&self) -> &Life {
        &self.0
    }

    fn begin_use(&self) -> Result<(), String> {
        Ok(())
    }

    fn keep(&self, _: KeptPool) -> Result<(), String> {
        Err("this storage creates no files that a run could keep".to_owned())
    }

    fn volumes(&self) -> Volumes {
        Volumes::default()
    }

    fn held(&self) -> Vec<Arc<dyn Directory>> {
        Vec::new()
    }

    fn owners(&self) -> Vec<FirstRank> {
        Vec::new()
    }

    fn own_bytes(&self) -> u64 {
        0
    }

    fn describe(&self) -> String {
        "nowhere".to_owned()
    }
}

/// By what a place is known again: the directory at its path.
#[derive(Debug)]
pub(crate) struct Landmark {
    pub(crate) namespace: Arc<dyn Namespace>,
    /// From the root.
    pub(crate) directory: PathBuf,
    pub(crate) identity: Option<Identity>,
    /// The directory itself, held open.
    pub(crate) held: Arc<dyn Directory>,
}

/// Whether a directory that is held has no name any more.
pub(crate) fn is_removed(held: &dyn Directory) -> bool {
    held.facts().is_ok_and(|facts| facts.names == Some(0))
}

impl Landmark {
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
                let advice = advice::for_errno(Some(errno.0));
                Err(format!("{path} can no longer be examined: {errno}{advice}"))
            }
        }
    }
}

/// The places of a run, to be looked at from any thread.
#[derive(Clone, Debug, Default)]
pub struct Landmarks(Arc<Marked>);

#[derive(Debug, Default)]
struct Marked {
    all: Vec<Arc<Landmark>>,
    /// What was once found to be wrong: it stays, even where the place is well again.
    gone: OnceLock<String>,
}

impl Landmarks {
    pub(crate) fn new(all: Vec<Arc<Landmark>>) -> Self {
        Self(Arc::new(Marked {
            all,
            gone: OnceLock::new(),
        }))
    }

    /// Whether the places are still the ones where the run began; if not, what became of them.
    pub fn look(&self) -> Result<(), String> {
        let looked = self.0.all.iter().try_for_each(|landmark| landmark.look());
        if let Err(why) = looked {
            self.0.gone.get_or_init(|| why);
        }
        self.0.gone.get().map_or(Ok(()), |why| Err(why.clone()))
    }
}
