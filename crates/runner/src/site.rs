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
mod trust;

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use contract::Identity;
use record::CleanUp;
use rustix::fs::{AtFlags, Mode, Stat, fstat, stat, statat, unlinkat};
use rustix::io::Errno;

pub use clean::{CleanError, Cleaned, clean};
pub(crate) use kept::take_kept;
pub use prepare::PrepareError;
pub(crate) use prepare::{Wish, prepare, refuse_untrusted};

use crate::advice;
use life::Life;
use manifest::{Kept, Kind, Manifest, worker_directory};
use ownership::{Evidence, Ownership, Stamp};
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
pub(crate) struct Volumes(Arc<Vec<OwnedFd>>);

impl Volumes {
    /// Writes back everything: syncfs(2).
    pub(crate) fn sync(&self) -> Result<(), String> {
        self.0
            .iter()
            .try_for_each(|directory| rustix::fs::syncfs(directory).map_err(|errno| errno.to_string()))
    }

    /// The free space of all together; nothing where one does not tell.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let mut sum = (!self.0.is_empty()).then_some(0_u64)?;
        for directory in self.0.iter() {
            let facts = rustix::fs::fstatvfs(directory).ok()?;
            sum += facts.f_bfree * facts.f_frsize;
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
        Err("nothing can be kept nowhere".to_owned())
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
    /// From the root.
    directory: PathBuf,
    identity: Identity,
}

impl Landmark {
    fn look(&self) -> Result<(), String> {
        let path = self.directory.display();
        match stat(&self.directory) {
            Ok(now) if identity(&now) == self.identity => Ok(()),
            Ok(now) if now.st_dev != self.identity.device => Err(format!(
                "{path} is on another file system than when the run began: that one was unmounted or another was mounted over it"
            )),
            Ok(_) => Err(format!(
                "{path} is another directory than when the run began: it was moved or replaced"
            )),
            Err(errno @ (Errno::NOENT | Errno::NOTDIR)) => Err(format!(
                "{path} cannot be found any more ({errno}): its file system was unmounted, or it was moved or removed"
            )),
            Err(errno) => {
                let advice = advice::for_errno(Some(errno.raw_os_error()));
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
    held: OwnedFd,
    /// Where the user's own directory is held: the one above, or the same.
    users: OwnedFd,
    manifest: Manifest,
    /// Whose the run's files are, and when the first one may have been made.
    owner: u32,
    began: Stamp,
    /// Locked as long as the run lives.
    lock: Mutex<File>,
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
    pub(crate) fn identity(&self) -> Identity {
        self.landmark.identity
    }

    /// Removes what the run made here; then, where nothing stays that may be the run's, its mark, its own directory, and the
    /// traces in the user's.
    fn leave(&self, evidence: &Evidence, progress: &mut dyn FnMut(u64)) -> CleanUp {
        let ownership = Ownership::new(&self.manifest, evidence, self.owner, self.began);
        let mut removal = Removal::new(&self.manifest, ownership, evidence.numbers_made, progress);
        removal.directory(&self.held, &self.directory);
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
        !matches!(
            statat(&self.held, manifest::NAME, AtFlags::SYMLINK_NOFOLLOW),
            Err(Errno::NOENT)
        )
    }

    /// Says in the manifest whether the pool is kept.
    fn rewrite(&self, kept: Option<Kept>, life: &Life) -> Result<(), String> {
        let mut manifest = Manifest {
            kept,
            born: Some(self.began),
            life: life.name().map(str::to_owned),
            process: rustix::process::getpid().as_raw_nonzero().get() as u32,
            ..self.manifest.clone()
        };
        let lock = manifest
            .rewrite(&self.held)
            .map_err(|errno| format!("cannot write the manifest in {}: {errno}", self.directory.display()))?;
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = lock;
        Ok(())
    }

    /// Whether the run's own directory still has this name in the user's.
    fn is_named(&self, name: &OsStr) -> Result<(), Errno> {
        let named = statat(&self.users, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if identity(&named) == self.landmark.identity {
            Ok(())
        } else {
            Err(Errno::NOENT)
        }
    }

    fn unmark(&self, done: &mut CleanUp) {
        let name = self.directory.file_name().unwrap_or_default();
        let is_beside_users = self.manifest.kind == Kind::Location || self.is_named(name).is_ok();
        let mut unmarked = unlinkat(&self.held, manifest::NAME, AtFlags::empty());
        if self.manifest.kind == Kind::OwnDirectory {
            unmarked = unmarked
                .and_then(|()| self.is_named(name))
                .and_then(|()| unlinkat(&self.users, name, AtFlags::REMOVEDIR));
            if unmarked.is_ok() {
                done.directories += 1;
            }
        }
        // Times that cannot be set back are no reason to fail: the directory may be another owner's.
        if is_beside_users {
            let _ = self.manifest.before.restore(&self.users);
        }
        if let Err(errno) = unmarked {
            done.left
                .extend(left(&self.directory, format!("cannot be removed: {errno}")).left);
            done.incomplete = true;
        }
    }
}

fn identity(facts: &Stat) -> Identity {
    Identity {
        device: facts.st_dev,
        inode: facts.st_ino,
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
            let part = ground.leave(evidence, &mut |files| progress(before + files));
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
            if !devices.contains(&ground.identity().device) {
                devices.push(ground.identity().device);
                // One that cannot be held twice is synced with the others' or not at all: it says so in no number.
                held.extend(rustix::io::dup(&ground.held));
            }
        }
        Volumes(Arc::new(held))
    }

    fn own_bytes(&self) -> u64 {
        let bytes = |blocks: i64| u64::try_from(blocks).unwrap_or(0) * 512;
        let of_a_ground = |ground: &Ground| {
            let own = fstat(&ground.held).map_or(0, |facts| bytes(facts.st_blocks));
            let workers = (0..ground.manifest.workers).filter(|_| ground.manifest.workers > 1);
            let of_a_worker = |worker| {
                let facts = statat(&ground.held, worker_directory(worker), AtFlags::SYMLINK_NOFOLLOW);
                facts.map_or(0, |facts| bytes(facts.st_blocks))
            };
            own + workers.map(of_a_worker).sum::<u64>()
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
                let made = rustix::fs::mkdirat(&ground.held, &name, Mode::from_raw_mode(0o755));
                if let Err(errno) = made {
                    let path = ground.directory.join(&name);
                    self.leave(&Evidence::default(), &mut |_| ());
                    return Err(prepare::system("make the directory", &path, errno));
                }
            }
            if let Err(errno) = manifest::sync_directory(&ground.held) {
                let path = ground.directory.clone();
                self.leave(&Evidence::default(), &mut |_| ());
                return Err(prepare::system("sync", &path, errno));
            }
        }
        Ok(())
    }
}

impl Ground {
    fn new(directory: PathBuf, held: OwnedFd, users: OwnedFd, manifest: Manifest, lock: File) -> Result<Self, Errno> {
        Ok(Self {
            owner: Manifest::owner(&held)?,
            began: ownership::began(&held, &manifest)?,
            landmark: Arc::new(Landmark {
                directory: directory.clone(),
                identity: identity(&fstat(&held)?),
            }),
            directory,
            held,
            users,
            manifest,
            lock: Mutex::new(lock),
        })
    }
}
