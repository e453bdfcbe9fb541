//! The directories of a run: how they are left, kept and known again.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use engine::namespace::{Directory, EntryKind, Facts, Mark, Stamp};
use engine::{Errno, Identity};
use record::CleanUp;

use crate::advice;
use crate::heartbeat::Life;
use crate::landmark::{Landmark, Landmarks, Volumes, is_removed};
use crate::manifest::{self, FirstRank, KeptPool, Kind, Manifest};
use crate::names::{self, worker_directory};
use crate::ownership::{self, Evidence, Ownership};
use crate::removal::{Removal, left};

/// A directory that holds files of the run.
#[derive(Debug)]
pub struct RunDirectory {
    /// The directory of the files, held open.
    pub(crate) landmark: Landmark,
    /// Where the user's own directory is held: the one above, or the same.
    users: Arc<dyn Directory>,
    manifest: Manifest,
    /// Whose the run's files are, and when the first one may have been made.
    owner: Option<u32>,
    began: Option<Stamp>,
    /// Locked as long as the run lives.
    lock: Mutex<Option<Box<dyn Mark>>>,
}

/// Where the files of a run are: none on an engine that touches no file system.
#[derive(Debug)]
pub struct RunDirectories {
    /// Those that this process has taken, and removes.
    pub(crate) all: Vec<RunDirectory>,
    /// Those that the first rank has taken, where this process is another one.
    joined: Vec<Landmark>,
    /// The run's signs of life, which are needed until the last one is cleaned.
    pub(crate) life: Life,
}

impl RunDirectory {
    pub(crate) fn new(
        landmark: Landmark,
        users: Arc<dyn Directory>,
        manifest: Manifest,
        lock: Box<dyn Mark>,
    ) -> Result<Self, Errno> {
        Ok(Self {
            owner: Manifest::owner(&*landmark.held)?,
            began: ownership::began(&*landmark.held, &manifest)?,
            landmark,
            users,
            manifest,
            lock: Mutex::new(Some(lock)),
        })
    }

    /// The directory of the files, from the root.
    pub fn directory(&self) -> &Path {
        &self.landmark.directory
    }

    /// By what the directory of the files is known again.
    pub fn identity(&self) -> Option<Identity> {
        self.landmark.identity
    }

    /// Removes what the run made here; then, where nothing stays that may be the run's, its mark,
    /// its own directory, and the traces in the user's.
    pub(crate) fn leave(&self, evidence: &Evidence, progress: &mut dyn FnMut(u64)) -> CleanUp {
        let ownership = Ownership::new(&self.manifest, evidence, self.owner, self.began);
        let mut removal = Removal::new(&self.manifest, ownership, evidence.numbers_made, progress);
        removal.directory(&*self.landmark.held, self.directory());
        let (mut done, all_gone) = removal.finish();
        if all_gone {
            self.unmark(&mut done);
        } else {
            let directory = self.directory().display();
            let all = match self.manifest.kind {
                Kind::Location => "",
                Kind::OwnDirectory => " (or the whole directory, if it contains no files of yours)",
            };
            let why = format!(
                "its manifest stays, since the run may have made some of these: remove those that \
                 are not needed{all}, then run 'postmark clean {directory}'"
            );
            done.left.push(left(self.directory(), why));
            done.incomplete = true;
        }
        done
    }

    /// Whether the manifest is still there. With the directory it is gone, which a server calls a
    /// stale handle.
    pub(crate) fn is_marked(&self) -> bool {
        let facts = self.landmark.held.facts_of(names::NAME.as_bytes());
        !matches!(facts, Err(Errno::NOENT | Errno::STALE))
    }

    /// Says in the manifest whether the pool is kept.
    fn rewrite(&self, kept: Option<KeptPool>, life: &Life) -> Result<(), String> {
        let mut manifest = Manifest {
            // Nobody works in a pool that is kept.
            ranks: if kept.is_some() {
                Vec::new()
            } else {
                self.manifest.ranks.clone()
            },
            kept,
            born: self.began,
            life: life.name().map(str::to_owned),
            process: std::process::id(),
            ..self.manifest.clone()
        };
        let lock = manifest.rewrite(&*self.landmark.held).map_err(|errno| {
            format!(
                "cannot write the manifest in {}: {errno}",
                self.directory().display()
            )
        })?;
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
        let name = self.directory().file_name().unwrap_or_default();
        let is_beside_users = self.manifest.kind == Kind::Location || self.named(name).is_ok();
        let mut unmarked = manifest::remove_by_name(&*self.landmark.held, names::NAME);
        if unmarked.is_ok() {
            // On NFS and FUSE it is gone when it is closed.
            *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
            manifest::wait_for_closed(&*self.landmark.held);
        }
        if self.manifest.kind == Kind::OwnDirectory {
            unmarked = unmarked
                .and_then(|()| self.named(name))
                .and_then(|named| manifest::gone(self.users.remove(name.as_bytes(), &named)));
        }
        // An empty directory without a manifest is also removed by whoever cleans at the same time;
        // and a user may remove all.
        if unmarked == Err(Errno::NOENT) && is_removed(&*self.landmark.held) {
            unmarked = Ok(());
        }
        if self.manifest.kind == Kind::OwnDirectory && unmarked.is_ok() {
            done.directories += 1;
        }
        // Times that cannot be set back are no reason to fail: the directory may be another
        // owner's.
        if is_beside_users {
            let _ = self.manifest.before.restore(&*self.users);
        }
        if let Err(errno) = unmarked {
            let why = match errno {
                Errno::NOENT => "it no longer exists here: it was moved, and is empty at its new \
                                 place"
                    .to_owned(),
                errno => format!("cannot be removed: {}", advice::told(errno)),
            };
            if self.is_marked() {
                let mark = self.directory().join(names::NAME);
                done.left.push(left(&mark, why.clone()));
            }
            done.left.push(left(self.directory(), why));
            done.incomplete = true;
        }
    }
}

impl RunDirectories {
    pub(crate) fn new(all: Vec<RunDirectory>, joined: Vec<Landmark>, life: Life) -> Self {
        life.lies_in(all.len() + joined.len());
        Self { all, joined, life }
    }

    /// Of a run that touches no file system.
    pub fn none(life: Life) -> Self {
        Self::new(Vec::new(), Vec::new(), life)
    }

    /// Those that this process has taken.
    pub fn all(&self) -> &[RunDirectory] {
        &self.all
    }

    fn each(&self) -> impl Iterator<Item = &Landmark> {
        let own = self.all.iter().map(|run_directory| &run_directory.landmark);
        own.chain(&self.joined)
    }

    /// By what each directory is known again.
    pub fn identities(&self) -> Vec<Option<Identity>> {
        self.each().map(|landmark| landmark.identity).collect()
    }

    /// To look whether the directories are still the ones that the run began in.
    pub fn landmarks(&self) -> Landmarks {
        Landmarks::new(self.each().cloned().collect())
    }

    /// Removes what the run has made and left, and its marks. What the first rank has taken is left
    /// to that one.
    pub fn leave(&self, evidence: &Evidence, progress: &mut dyn FnMut(u64)) -> CleanUp {
        let mut done = CleanUp::default();
        // The last one first: a directory that two of them lie in then gets back its times before
        // the first.
        for run_directory in self.all.iter().rev() {
            let before = done.files;
            let part = run_directory.leave(evidence, &mut |files| {
                self.life.removes();
                progress(before + files);
            });
            done.files += part.files;
            done.directories += part.directories;
            done.left.extend(part.left);
            done.incomplete |= part.incomplete;
        }
        // Whoever cleans later needs to know when the run ended.
        match self.all.iter().filter(|one| one.is_marked()).count() {
            0 => self.life.end(),
            marked => self.life.lies_in(marked),
        }
        done
    }

    /// The run's signs of life.
    pub fn life(&self) -> &Life {
        &self.life
    }

    /// A pool that was kept is in use from now on.
    pub fn begin_use(&self) -> Result<(), String> {
        for (index, run_directory) in self.all.iter().enumerate() {
            if let Err(why) = run_directory.rewrite(None, &self.life) {
                // Nothing was changed yet: the pool is kept as before. Where that cannot be written
                // either, the first error says more.
                for begun in &self.all[..=index] {
                    let _ = begun.rewrite(begun.manifest.kept.clone(), &self.life);
                }
                return Err(why);
            }
        }
        Ok(())
    }

    /// Leaves everything as it is, for a later run.
    pub fn keep(&self, kept: &KeptPool) -> Result<(), String> {
        if self.each().next().is_none() {
            return Err("this storage creates no files that a run could keep".to_owned());
        }
        for run_directory in &self.all {
            run_directory.rewrite(Some(kept.clone()), &self.life)?;
        }
        self.life.end();
        Ok(())
    }

    /// The file systems of the directories.
    pub fn volumes(&self) -> Volumes {
        Volumes::of(self.each())
    }

    /// The directory of each location's files, held open.
    pub fn held(&self) -> Vec<Arc<dyn Directory>> {
        self.each()
            .map(|landmark| Arc::clone(&landmark.held))
            .collect()
    }

    /// Whose each directory is that this process has taken: by that other ranks know it.
    pub fn owners(&self) -> Vec<FirstRank> {
        let all = self.all.iter();
        all.map(|run_directory| run_directory.manifest.first_rank())
            .collect()
    }

    /// Bytes that the directories take which this process has taken: directories stay as large as
    /// they once were.
    pub fn own_bytes(&self) -> u64 {
        let bytes = |facts: Result<Facts, Errno>| {
            facts
                .ok()
                .and_then(|facts| facts.allocated_bytes)
                .unwrap_or(0)
        };
        let of_a_run_directory = |run_directory: &RunDirectory| {
            let (held, workers) = (&run_directory.landmark.held, run_directory.manifest.workers);
            let of_a_worker = |worker| bytes(held.facts_of(worker_directory(worker).as_bytes()));
            let of_workers = (0..workers).filter(|_| workers > 1).map(of_a_worker);
            bytes(held.facts()) + of_workers.sum::<u64>()
        };
        self.all.iter().map(of_a_run_directory).sum()
    }

    /// The directories in words.
    pub fn describe(&self) -> String {
        let paths: Vec<String> = self
            .each()
            .map(|landmark| landmark.directory.display().to_string())
            .collect();
        match paths.is_empty() {
            true => "nowhere".to_owned(),
            false => paths.join(", "),
        }
    }
}
