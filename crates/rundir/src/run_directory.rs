//! The directories of a run: functions that remove, keep and identify them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use engine::namespace::{Directory, EntryKind, Facts, Mark, Stamp};
use engine::{Errno, Identity};
use record::CleanUp;

use crate::advice;
use crate::found_manifest;
use crate::heartbeat::Life;
use crate::landmark::{Landmark, Landmarks, Volumes, is_removed};
use crate::manifest::{self, FirstRank, KeptPool, Kind, Manifest};
use crate::names::{self, worker_directory};
use crate::ownership::{self, Evidence, Ownership};
use crate::removal::{Removal, left};

#[derive(Debug)]
pub struct RunDirectory {
    /// The directory that contains the files, held open.
    pub(crate) landmark: Landmark,
    /// The user's directory, held open: the parent of the run's own directory, or the same
    /// directory as in `landmark`.
    users: Arc<dyn Directory>,
    manifest: Manifest,
    /// Owner of the run's files, and the earliest possible creation time of a file.
    owner: Option<u32>,
    began: Option<Stamp>,
    /// The locked manifest, which shows other processes that the run is alive; `None` after its
    /// removal.
    lock: Mutex<Option<Box<dyn Mark>>>,
}

/// The directories of a run; empty for an engine that touches no file system.
#[derive(Debug)]
pub struct RunDirectories {
    /// Directories that this process has prepared and will remove.
    pub(crate) all: Vec<RunDirectory>,
    /// Directories that the first rank has prepared, if this process is another rank.
    joined: Vec<Landmark>,
    /// The run's heartbeat, whose file is needed until the last directory is cleaned.
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

    /// Returns the absolute path of the directory that contains the files.
    pub fn directory(&self) -> &Path {
        &self.landmark.directory
    }

    /// Returns the device and inode of the directory that contains the files.
    pub fn identity(&self) -> Option<Identity> {
        self.landmark.identity
    }

    /// Removes the files of the run in this directory. If no entry remains that may belong to the
    /// run, also removes the manifest and the run's own directory. Then restores the times of the
    /// user's directory.
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

    /// Whether the manifest still exists. An NFS server returns `ESTALE` for a directory that was
    /// removed together with its manifest.
    pub(crate) fn is_marked(&self) -> bool {
        let facts = self.landmark.held.facts_of(names::NAME.as_bytes());
        !matches!(facts, Err(Errno::NOENT | Errno::STALE))
    }

    fn rewrite(&self, kept: Option<KeptPool>, life: &Life) -> Result<(), String> {
        let mut manifest = Manifest {
            // No rank is working in a kept pool, so the manifest of the pool lists no ranks.
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

    /// Returns the facts of the run's own directory if it still has this name in the user's
    /// directory.
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
            // NFS and FUSE remove an open file only when it is closed. Dropping the lock closes the
            // manifest.
            *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
            manifest::wait_for_closed(&*self.landmark.held);
        }
        if self.manifest.kind == Kind::OwnDirectory {
            unmarked = unmarked
                .and_then(|()| self.named(name))
                .and_then(|named| manifest::gone(self.users.remove(name.as_bytes(), &named)));
        }
        // If the directory no longer exists, the removal succeeded. A concurrent `clean` removes an
        // empty directory without a manifest, and a user may have removed the whole directory.
        if unmarked == Err(Errno::NOENT) && is_removed(&*self.landmark.held) {
            unmarked = Ok(());
        }
        if self.manifest.kind == Kind::OwnDirectory && unmarked.is_ok() {
            done.directories += 1;
        }
        // A failure to restore the times is ignored, because the directory may have another owner.
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

    /// Returns an empty list of directories, for a run that touches no file system.
    pub fn none(life: Life) -> Self {
        Self {
            all: Vec::new(),
            joined: Vec::new(),
            life,
        }
    }

    /// Returns the directories that this process has prepared.
    pub fn all(&self) -> &[RunDirectory] {
        &self.all
    }

    fn each(&self) -> impl Iterator<Item = &Landmark> {
        let own = self.all.iter().map(|run_directory| &run_directory.landmark);
        own.chain(&self.joined)
    }

    pub fn identities(&self) -> Vec<Option<Identity>> {
        self.each().map(|landmark| landmark.identity).collect()
    }

    /// Returns the open directories, to check whether their paths still lead to the same
    /// directories.
    pub fn landmarks(&self) -> Landmarks {
        Landmarks::new(self.each().cloned().collect())
    }

    /// Removes the files, directories and manifests of the run that this process has prepared. The
    /// first rank removes the directories that other ranks have joined.
    pub fn leave(&self, evidence: &Evidence, progress: &mut dyn FnMut(u64)) -> CleanUp {
        let mut done = CleanUp::default();
        // The directories are removed in reverse order. The first directory is therefore removed
        // last. If two directories have the same parent, this removal restores the times that the
        // parent had before the run.
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
        // If manifests remain, a later `clean` needs the heartbeat file to determine the time at
        // which the run ended.
        match self.all.iter().filter(|one| one.is_marked()).count() {
            0 => self.life.end(),
            marked => self.life.lies_in(marked),
        }
        done
    }

    pub fn life(&self) -> &Life {
        &self.life
    }

    /// Rewrites the manifests of a kept pool, which mark the pool as in use from then on.
    pub fn begin_use(&self) -> Result<(), String> {
        for (index, run_directory) in self.all.iter().enumerate() {
            let Landmark {
                namespace, held, ..
            } = &run_directory.landmark;
            // A run that was killed here may have left a draft of the manifest. A draft that cannot
            // be removed does no harm to this run.
            let _ = found_manifest::remove_drafts(&**namespace, &**held);
            if let Err(why) = run_directory.rewrite(None, &self.life) {
                // The pool is unchanged, so its manifests mark it as kept again. An error of this
                // second rewrite is ignored, because the first error explains the failure.
                for begun in &self.all[..=index] {
                    let _ = begun.rewrite(begun.manifest.kept.clone(), &self.life);
                }
                return Err(why);
            }
        }
        Ok(())
    }

    /// Leaves all files in place for a later run, and records the kept pool in the manifests.
    pub fn keep(&self, kept: &KeptPool) -> Result<(), String> {
        if self.each().next().is_none() {
            return Err("this engine creates no files that a run could keep".to_owned());
        }
        for run_directory in &self.all {
            run_directory.rewrite(Some(kept.clone()), &self.life)?;
        }
        self.life.end();
        Ok(())
    }

    pub fn volumes(&self) -> Volumes {
        Volumes::of(self.each())
    }

    /// Returns the open directories that contain the files of each location.
    pub fn held(&self) -> Vec<Arc<dyn Directory>> {
        self.each()
            .map(|landmark| Arc::clone(&landmark.held))
            .collect()
    }

    /// Returns, for each directory that this process has prepared, the first rank as recorded in
    /// the manifest. Other ranks identify the directory by this entry.
    pub fn owners(&self) -> Vec<FirstRank> {
        let all = self.all.iter();
        all.map(|run_directory| run_directory.manifest.first_rank())
            .collect()
    }

    /// Returns the allocated bytes of the directories that this process has prepared, without their
    /// files. These bytes remain allocated after the files are removed, because a directory does
    /// not shrink.
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

    /// Returns the paths of the directories, separated by commas.
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
