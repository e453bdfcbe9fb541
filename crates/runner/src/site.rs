//! Where a run lives on the target: its directories, the mark it leaves there, and how it goes again.
//!
//! The rule is: own only what you made. A place is looked through before the first file is made; whatever
//! bears a name that the run would use keeps the run from starting.

mod before;
mod clean;
mod kept;
pub(crate) mod life;
pub mod manifest;
pub(crate) mod ownership;
mod prepare;
mod removal;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use contract::home::{DIRECTORY_MODE, Directory, EntryKind, Facts, Home, Mark, Stamp};
use contract::{Errno, Identity};
use record::CleanUp;

pub use clean::{CleanError, Cleaned, clean, clean_in};
pub(crate) use kept::take_kept;
pub use prepare::PrepareError;
pub(crate) use prepare::{Wish, prepare, refuse_untrusted};

use crate::advice;
use life::Life;
use manifest::{Kept, Kind, Manifest, worker_directory};
use ownership::{Evidence, Ownership};
use removal::Removal;

/// A run's place.
pub(crate) trait Site: Send + Sync {
    /// To look whether the place is still the one that the run began in.
    fn landmarks(&self) -> Landmarks;

    /// Removes what the run has made and left, and its mark.
    fn leave(&self, evidence: &Evidence, progress: &mut dyn FnMut(u64)) -> CleanUp;

    /// A pool that was kept is in use from now on.
    fn begin_use(&self) -> Result<(), String>;

    /// The run's signs of life.
    fn life(&self) -> &Life;

    /// Leaves everything as it is, for a later run.
    fn keep(&self, kept: Kept) -> Result<(), String>;

    /// The file systems of the place.
    fn volumes(&self) -> Volumes;

    /// Bytes that the run's own directories take: directories stay as large as they once were.
    fn own_bytes(&self) -> u64;

    /// The place in words.
    fn describe(&self) -> String;
}

/// File systems, each by a directory of it that is held open. A value that may be used from any thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volumes(Arc<Vec<Arc<dyn Directory>>>);

impl Volumes {
    /// Writes back everything: syncfs(2).
    pub(crate) fn sync(&self) -> Result<(), String> {
        self.0
            .iter()
            .try_for_each(|directory| directory.sync_file_system().map_err(|errno| errno.to_string()))
    }

    /// The free space of all together; nothing where one does not tell.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let mut sum = (!self.0.is_empty()).then_some(0_u64)?;
        for directory in self.0.iter() {
            sum += directory.free_bytes()?;
        }
        Some(sum)
    }
}

/// Storages that touch no file system have no place.
pub(crate) struct NoSite(pub(crate) Life);

impl Site for NoSite {
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

    fn keep(&self, _: Kept) -> Result<(), String> {
        Err("this storage makes no files that could be kept".to_owned())
    }

    fn volumes(&self) -> Volumes {
        Volumes::default()
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
struct Landmark {
    home: Arc<dyn Home>,
    /// From the root.
    directory: PathBuf,
    identity: Option<Identity>,
}

impl Landmark {
    fn look(&self) -> Result<(), String> {
        let path = self.directory.display();
        let device = |identity: Option<Identity>| identity.map(|identity| identity.device);
        match self.home.facts(&self.directory) {
            Ok(now) if now.identity == self.identity => Ok(()),
            Ok(now) if device(now.identity) != device(self.identity) => Err(format!(
                "{path} is on another file system than when the run began: that one was unmounted or another was mounted over it"
            )),
            Ok(_) => Err(format!(
                "{path} is another directory than when the run began: it was moved or replaced"
            )),
            Err(errno @ (Errno::NOENT | Errno::NOTDIR)) => Err(format!(
                "{path} cannot be found any more ({errno}): its file system was unmounted, or it was moved or removed"
            )),
            Err(errno) => {
                let advice = advice::for_errno(Some(errno.0));
                Err(format!("{path} cannot be examined any more: {errno}{advice}"))
            }
        }
    }
}

/// The places of a run, to be looked at from any thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Landmarks(Arc<Marked>);

#[derive(Debug, Default)]
struct Marked {
    all: Vec<Arc<Landmark>>,
    /// What was once found to be wrong: it stays, even where the place is well again.
    gone: OnceLock<String>,
}

impl Landmarks {
    /// Whether the places are still the ones where the run began; if not, what became of them.
    pub(crate) fn look(&self) -> Result<(), String> {
        let looked = self.0.all.iter().try_for_each(|landmark| landmark.look());
        if let Err(why) = looked {
            self.0.gone.get_or_init(|| why);
        }
        self.0.gone.get().map_or(Ok(()), |why| Err(why.clone()))
    }
}

/// A directory that holds files of the run.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The directory of the files, from the root.
    pub(crate) directory: PathBuf,
    /// The same, held open: it stays reachable when its path does not.
    held: Arc<dyn Directory>,
    /// Where the user's own directory is held: the one above, or the same.
    users: Arc<dyn Directory>,
    manifest: Manifest,
    /// Whose the run's files are, and when the first one may have been made.
    owner: Option<u32>,
    began: Option<Stamp>,
    /// Locked as long as the run lives.
    lock: Mutex<Option<Box<dyn Mark>>>,
    landmark: Arc<Landmark>,
}

/// The places of a run on real file systems.
#[derive(Debug)]
pub(crate) struct Grounds {
    pub(crate) all: Vec<Ground>,
    pub(crate) life: Life,
}

impl Ground {
    /// By what the directory of the files is known again.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.landmark.identity
    }

    /// Removes what the run made here; then, where nothing stays that may be the run's, its mark, its own directory, and the
    /// traces in the user's.
    fn leave(&self, evidence: &Evidence, progress: &mut dyn FnMut(u64)) -> CleanUp {
        let ownership = Ownership::new(&self.manifest, evidence, self.owner, self.began);
        let mut removal = Removal::new(&self.manifest, ownership, evidence.numbers_made, progress);
        removal.directory(&*self.held, &self.directory);
        let (mut done, all_gone) = removal.finish();
        if all_gone {
            self.unmark(&mut done);
        } else {
            let directory = self.directory.display();
            let all = match self.manifest.kind {
                Kind::Location => "",
                Kind::OwnDirectory => " (or the whole directory, where nothing in it is yours)",
            };
            let why = format!(
                "its manifest stays, since the run may have made some of these: remove those that are not needed{all}, then run \
                 'postmark clean {directory}'"
            );
            done.left.extend(left(&self.directory, why).left);
            done.incomplete = true;
        }
        done
    }

    /// Whether the manifest is still there.
    fn is_marked(&self) -> bool {
        !matches!(self.held.facts_of(manifest::NAME.as_bytes()), Err(Errno::NOENT))
    }

    /// Says in the manifest whether the pool is kept.
    fn rewrite(&self, kept: Option<Kept>, life: &Life) -> Result<(), String> {
        let mut manifest = Manifest {
            kept,
            born: self.began,
            life: life.name().map(str::to_owned),
            process: std::process::id(),
            ..self.manifest.clone()
        };
        let lock = manifest
            .rewrite(&*self.held)
            .map_err(|errno| format!("cannot write the manifest in {}: {errno}", self.directory.display()))?;
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(lock);
        Ok(())
    }

    /// What the run's own directory is in the user's, where it still has this name there.
    fn named(&self, name: &OsStr) -> Result<Facts, Errno> {
        let named = self.users.facts_of(name.as_bytes())?;
        if named.kind == EntryKind::Directory && named.identity == self.landmark.identity {
            Ok(named)
        } else {
            Err(Errno::NOENT)
        }
    }

    fn unmark(&self, done: &mut CleanUp) {
        let name = self.directory.file_name().unwrap_or_default();
        let is_beside_users = self.manifest.kind == Kind::Location || self.named(name).is_ok();
        let mut unmarked = manifest::remove_by_name(&*self.held, manifest::NAME);
        if unmarked.is_ok() {
            // On NFS and FUSE it is gone when it is closed.
            *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
            manifest::wait_for_closed(&*self.held);
        }
        if self.manifest.kind == Kind::OwnDirectory {
            unmarked = unmarked
                .and_then(|()| self.named(name))
                .and_then(|named| manifest::gone(self.users.remove(name.as_bytes(), &named)));
            // An empty directory without a manifest is also removed by whoever cleans at the same time.
            if unmarked == Err(Errno::NOENT) && self.held.facts().is_ok_and(|held| held.names == Some(0)) {
                unmarked = Ok(());
            }
            if unmarked.is_ok() {
                done.directories += 1;
            }
        }
        // Times that cannot be set back are no reason to fail: the directory may be another owner's.
        if is_beside_users {
            let _ = self.manifest.before.restore(&*self.users);
        }
        if let Err(errno) = unmarked {
            let why = match errno {
                Errno::NOENT => {
                    "it is not there any more: somebody moved it, and it is empty where it is now".to_owned()
                }
                errno => format!("cannot be removed: {errno}{}", advice::for_errno(Some(errno.0))),
            };
            done.left.extend(left(&self.directory, why).left);
            done.incomplete = true;
        }
    }
}

fn left(path: &std::path::Path, why: String) -> CleanUp {
    CleanUp {
        left: vec![record::Left {
            path: path.to_string_lossy().into_owned(),
            why,
        }],
        incomplete: true,
        ..CleanUp::default()
    }
}

impl Site for Grounds {
    fn landmarks(&self) -> Landmarks {
        Landmarks(Arc::new(Marked {
            all: self.all.iter().map(|ground| Arc::clone(&ground.landmark)).collect(),
            gone: OnceLock::new(),
        }))
    }

    fn leave(&self, evidence: &Evidence, progress: &mut dyn FnMut(u64)) -> CleanUp {
        let mut done = CleanUp::default();
        // The last one first: a directory that two of them lie in then gets back its times before the first.
        for ground in self.all.iter().rev() {
            let before = done.files;
            let part = ground.leave(evidence, &mut |files| {
                self.life.removes();
                progress(before + files);
            });
            done.files += part.files;
            done.directories += part.directories;
            done.left.extend(part.left);
            done.incomplete |= part.incomplete;
        }
        // Whoever cleans later needs to know when the run ended.
        match self.all.iter().filter(|ground| ground.is_marked()).count() {
            0 => self.life.end(),
            marked => self.life.lies_in(marked),
        }
        done
    }

    fn life(&self) -> &Life {
        &self.life
    }

    fn begin_use(&self) -> Result<(), String> {
        for (index, ground) in self.all.iter().enumerate() {
            if let Err(why) = ground.rewrite(None, &self.life) {
                // Nothing was changed yet: the pool is kept as before. Where that cannot be written either, the first
                // error says more.
                for begun in &self.all[..=index] {
                    let _ = begun.rewrite(begun.manifest.kept.clone(), &self.life);
                }
                return Err(why);
            }
        }
        Ok(())
    }

    fn keep(&self, kept: Kept) -> Result<(), String> {
        let kept = self
            .all
            .iter()
            .try_for_each(|ground| ground.rewrite(Some(kept.clone()), &self.life));
        if kept.is_ok() {
            self.life.end();
        }
        kept
    }

    fn volumes(&self) -> Volumes {
        let mut devices = Vec::new();
        let mut held = Vec::new();
        for ground in &self.all {
            let device = ground.identity().map(|identity| identity.device);
            if device.is_none() || !devices.contains(&device) {
                devices.push(device);
                held.push(Arc::clone(&ground.held));
            }
        }
        Volumes(Arc::new(held))
    }

    fn own_bytes(&self) -> u64 {
        let bytes = |facts: Result<Facts, Errno>| facts.ok().and_then(|facts| facts.allocated_bytes).unwrap_or(0);
        let of_a_ground = |ground: &Ground| {
            let workers = (0..ground.manifest.workers).filter(|_| ground.manifest.workers > 1);
            let of_a_worker = |worker| bytes(ground.held.facts_of(worker_directory(worker).as_bytes()));
            bytes(ground.held.facts()) + workers.map(of_a_worker).sum::<u64>()
        };
        self.all.iter().map(of_a_ground).sum()
    }

    fn describe(&self) -> String {
        let paths: Vec<String> = self
            .all
            .iter()
            .map(|ground| ground.directory.display().to_string())
            .collect();
        paths.join(", ")
    }
}

impl Grounds {
    /// Makes a directory for each worker in every place. On failure everything is removed again.
    pub(crate) fn make_worker_directories(&self, workers: u32) -> Result<(), PrepareError> {
        for ground in &self.all {
            for worker in 0..workers {
                let name = worker_directory(worker);
                if let Err(errno) = ground.held.make(name.as_bytes(), DIRECTORY_MODE) {
                    let path = ground.directory.join(&name);
                    self.leave(&Evidence::default(), &mut |_| ());
                    return Err(prepare::system("make the directory", &path, errno));
                }
            }
            if let Err(errno) = ground.held.sync() {
                let path = ground.directory.clone();
                self.leave(&Evidence::default(), &mut |_| ());
                return Err(prepare::system("sync", &path, errno));
            }
        }
        Ok(())
    }
}

impl Ground {
    fn new(
        home: Arc<dyn Home>,
        directory: PathBuf,
        held: Arc<dyn Directory>,
        users: Arc<dyn Directory>,
        manifest: Manifest,
        lock: Box<dyn Mark>,
    ) -> Result<Self, Errno> {
        Ok(Self {
            owner: Manifest::owner(&*held)?,
            began: ownership::began(&*held, &manifest)?,
            landmark: Arc::new(Landmark {
                home,
                directory: directory.clone(),
                identity: held.facts()?.identity,
            }),
            directory,
            held,
            users,
            manifest,
            lock: Mutex::new(Some(lock)),
        })
    }
}
