//! The mark that a run leaves before its first file: what it may make, so that anybody can remove
//! it later.
//!
//! A manifest is made exclusively, is on disk (with its directory) before the first file, and stays
//! locked as long as its run lives. One that is locked belongs to a run that goes on; one that is
//! not, to a run that was killed.
//!
//! What it says is believed where the file system says that this user made it in this directory,
//! and not otherwise: anybody can write a file of this name.

use std::time::{Duration, Instant};

use engine::Errno;
use engine::namespace::{Directory, Facts, Lock, Mark, Namespace, Stamp};
use serde::{Deserialize, Serialize};
use workload::layout::Layout;
use workload::names::Names;

use crate::dir_snapshot::Before;
use crate::names::{DRAFT_PREFIX, NAME, has_any, is_of_classic_pool, worker};

use crate::file_pattern::PERMISSIONS;
pub use crate::file_pattern::{BEGINS_BYTES, Begins, Makes};

/// The version of the manifests that this program writes.
const VERSION: u32 = 1;
/// No manifest is larger: 4,096 workers with a kept pool each take less than a tenth of it.
pub(crate) const BYTES_MAX: u64 = 8 << 20;
/// Other locations of the run are listed up to so many bytes: every location's manifest lists all
/// others.
const OTHERS_BYTES_MAX: usize = 16 << 10;
/// The mode of new files is this without the process's mask, or what the file system gives instead.
const DRAFT_MODE: u32 = 0o666;
/// What others may not do to a manifest.
pub(crate) const WRITABLE_BY_OTHERS: u32 = 0o022;

/// What kind of directory a manifest lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A directory that the run made for itself.
    OwnDirectory,
    /// The user's own directory: the files lie beside whatever else is there.
    Location,
}

/// What a run says of itself before it makes its first file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub postmark_manifest: u32,
    pub tool: String,
    pub kind: Kind,
    pub process: u32,
    pub host: String,
    pub began_unix_ns: u64,
    /// The files have running numbers from 1 to this as names.
    pub numbers_max: u64,
    /// With more than one, the files lie in `s0` and so on, which the run makes.
    pub subdirectories: u32,
    /// With more than one, each has a directory of its own: `w0` and so on.
    #[serde(default)]
    pub workers: u32,
    /// How the files and directories of a mix are called; nothing in a classic run.
    #[serde(default)]
    pub mix: Option<MixNames>,
    /// What all of its files have in common.
    pub makes: Makes,
    /// The number of the directory that it was written in, by which a copy elsewhere is known.
    pub directory_inode: u64,
    /// When the run began, where this manifest was written later in the place of another.
    #[serde(default)]
    pub born: Option<Stamp>,
    /// Where the run shows signs of life.
    #[serde(default)]
    pub life: Option<String>,
    /// The processes that perform the run together with this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<OtherRank>,
    /// Whether the pool was left for a later run, and how far its workers had come.
    #[serde(default)]
    pub kept: Option<KeptPool>,
    /// The user's directory before the run.
    pub before: Before,
    /// The directories that the same run uses besides, the first few of them, and how many more
    /// there are.
    pub others: Vec<String>,
    #[serde(default)]
    pub others_more: u64,
}

/// A process that performs a run together with the one that has the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRank {
    /// The number of its first worker.
    pub first_worker: u32,
    /// Its process.
    pub process: u32,
    /// The machine that it runs on.
    pub host: String,
    /// Where it shows signs of life, on that machine.
    pub life: Option<String>,
}

/// Whose a directory is, by what its manifest says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstRank {
    /// The machine.
    pub host: String,
    /// The process there.
    pub process: u32,
    /// When its run began, in nanoseconds of the epoch.
    pub began_unix_ns: u64,
}

impl OtherRank {
    pub(crate) fn seems_alive(&self, namespace: &dyn Namespace) -> bool {
        is_here(&self.host) && namespace.is_alive(self.process)
    }
}

/// How a mix calls what it makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MixNames {
    /// Where its directories are.
    pub layout: Layout,
    /// What its names look like.
    pub names: Names,
}

/// A pool that was left for a later run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPool {
    /// What the pool was made of, in a fixed form: seed and all.
    pub pool: String,
    /// The workload without its number of transactions, in a fixed form.
    pub workload: String,
    /// How much of each worker's stream the pool has behind it.
    pub positions: Vec<Position>,
    /// How many files, links and directories there are.
    pub names: u64,
    /// When it was left, in nanoseconds of the epoch: what was made later is somebody else's.
    pub left_ns: i64,
    /// By how much the wall clock was set back until then.
    #[serde(default)]
    pub set_back_ns: i64,
}

/// How far a worker's stream was performed when its pool was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Transactions that had begun.
    pub transactions: u64,
    /// Intents of transactions that were performed.
    pub intents: u64,
}

impl Manifest {
    pub(crate) fn version() -> u32 {
        VERSION
    }

    /// Writes the manifest into a directory, durably, and keeps it locked by the file that is given
    /// back. It is whole and locked before it gets its name, so that nobody ever finds it
    /// otherwise. The modes of the run's files are filled in, by what the file system gives to
    /// this one.
    pub(crate) fn write(&mut self, directory: &dyn Directory) -> Result<Box<dyn Mark>, Errno> {
        let mut tries_left = 10;
        loop {
            match self.write_as(directory, false) {
                // Until the draft is locked, `clean` in another process namespace takes it for one
                // of a run that was killed.
                Err(Errno::NOENT | Errno::WOULDBLOCK) if tries_left > 0 => tries_left -= 1,
                written => return written,
            }
        }
    }

    /// Writes the manifest in the place of the one that is there, durably; it stays locked by the
    /// mark that is given back.
    pub(crate) fn rewrite(&mut self, directory: &dyn Directory) -> Result<Box<dyn Mark>, Errno> {
        self.write_as(directory, true)
    }

    fn write_as(
        &mut self,
        directory: &dyn Directory,
        replaces: bool,
    ) -> Result<Box<dyn Mark>, Errno> {
        let draft = format!("{DRAFT_PREFIX}{}-{}", self.process, self.began_unix_ns);
        let mark = directory.draft(&draft)?;
        let written = self
            .fill(directory, &*mark)
            .and_then(|()| directory.name_draft(mark, NAME, replaces))
            .and_then(|mark| directory.sync().map(|()| mark));
        written.inspect_err(|_| {
            // Nothing was made yet, or the manifest that was there is there still. Where the draft
            // cannot be removed, `clean` will.
            let _ = remove_by_name(directory, &draft);
        })
    }

    fn fill(&mut self, directory: &dyn Directory, mark: &dyn Mark) -> Result<(), Errno> {
        if mark.lock()? == Lock::Others {
            return Err(Errno::WOULDBLOCK);
        }
        let place = directory.facts()?;
        if let Some(given) = mark.facts()?.mode {
            self.take_modes(given, place.mode);
            if given & WRITABLE_BY_OTHERS != 0 {
                mark.restrict(given & !WRITABLE_BY_OTHERS);
            }
        }
        self.directory_inode = inode(&place);
        mark.write(&serde_json::to_vec_pretty(self).unwrap_or_default())
    }

    /// Fills in the modes that the run's files get where a mark got this one, in a directory of
    /// that mode. Of a pool that an earlier run has kept, the files that are there have its
    /// modes.
    fn take_modes(&mut self, given: u32, place: Option<u32>) {
        let makes = &mut self.makes;
        for asked in makes.modes.clone() {
            let is_own = is_of_its_own(given);
            take(&mut makes.modes, if is_own { given } else { given & asked });
        }
        // A file system with modes of its own gives all directories one.
        if let Some(place) = place.filter(|_| is_of_its_own(given)) {
            take(&mut makes.directory_modes, place & PERMISSIONS);
        }
    }

    /// What the manifest of a run that goes on says; nothing where there is none. Whose it is is
    /// not asked.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn read_beside(directory: &dyn Directory) -> Result<Option<Self>, String> {
        let Some(mark) = directory.mark(NAME).map_err(|errno| errno.to_string())? else {
            return Ok(None);
        };
        let text = mark.read(BYTES_MAX).map_err(|errno| errno.to_string())?;
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| error.to_string())
    }

    /// Whether the run gives such a name in the directory of its manifest.
    pub(crate) fn may_name(&self, name: &[u8]) -> bool {
        match self.workers > 1 {
            true => worker(name).is_some_and(|number| number < u64::from(self.workers)),
            false => self.may_name_in_pool(name),
        }
    }

    /// The same in a pool's directory.
    pub(crate) fn may_name_in_pool(&self, name: &[u8]) -> bool {
        match &self.mix {
            Some(mix) => mix.layout.is_directory_name(name) || mix.names.parse(name).is_some(),
            None => is_of_classic_pool(name, self.subdirectories, self.numbers_max),
        }
    }

    /// The same of the files in a directory of the original's work.
    pub(crate) fn may_name_a_file(&self, name: &[u8]) -> bool {
        is_of_classic_pool(name, 0, self.numbers_max)
    }

    /// Whether a directory has no name that the run gives.
    pub(crate) fn names_nothing_in(&self, directory: &dyn Directory) -> Result<bool, Errno> {
        Ok(!has_any(directory, |name| self.may_name(name))?)
    }

    /// Whose the directory is.
    pub(crate) fn first_rank(&self) -> FirstRank {
        FirstRank {
            host: self.host.clone(),
            process: self.process,
            began_unix_ns: self.began_unix_ns,
        }
    }

    /// Lists other locations of the run, as many as there is room for.
    pub(crate) fn list_others(&mut self, others: impl Iterator<Item = String>) {
        let mut bytes = 0;
        for other in others {
            bytes += other.len();
            if bytes <= OTHERS_BYTES_MAX {
                self.others.push(other);
            } else {
                self.others_more += 1;
            }
        }
    }

    /// Who has the manifest that lies in a directory: the owner of all files of its run.
    pub(crate) fn owner(directory: &dyn Directory) -> Result<Option<u32>, Errno> {
        Ok(directory.facts_of(NAME.as_bytes())?.owner)
    }

    /// Whether the run may still go on, as far as locks do not tell: its process is there, or was
    /// on another machine.
    pub(crate) fn seems_alive(&self, namespace: &dyn Namespace) -> bool {
        !is_here(&self.host) || namespace.is_alive(self.process)
    }
}

/// Whether a machine of this name is this one.
fn is_here(host: &str) -> bool {
    rustix::system::uname().nodename().to_string_lossy() == host
}

/// Removes what has a name that is the run's own.
pub(crate) fn remove_by_name(directory: &dyn Directory, name: &str) -> Result<(), Errno> {
    let facts = directory.facts_of(name.as_bytes())?;
    gone(directory.remove(name.as_bytes(), &facts))
}

/// What was to be removed is there no more where its name stands for something else by now.
pub(crate) fn gone(removed: Result<bool, Errno>) -> Result<(), Errno> {
    match removed? {
        true => Ok(()),
        false => Err(Errno::NOENT),
    }
}

/// The number of what facts were read of; 0 where it has none.
pub(crate) fn inode(facts: &Facts) -> u64 {
    facts.identity.map_or(0, |identity| identity.inode)
}

/// Whether the file system gave a mode of its own to what was made with [`DRAFT_MODE`].
fn is_of_its_own(given: u32) -> bool {
    given & !DRAFT_MODE != 0
}

fn take(modes: &mut Vec<u32>, mode: u32) {
    if !modes.contains(&mode) {
        modes.push(mode);
    }
}

/// How NFS and FUSE call files that were removed while they were open, until they are closed.
const REMOVED_OPEN: [&[u8]; 2] = [b".nfs", b".fuse_hidden"];
/// A file that was closed is gone after this, or stays.
const TO_BE_GONE: Duration = Duration::from_secs(1);

/// Waits until what was removed while it was open, and has been closed just now, is gone from the
/// directory.
pub(crate) fn wait_for_closed(directory: &dyn Directory) {
    let is_removed = |name: &[u8]| REMOVED_OPEN.iter().any(|begins| name.starts_with(begins));
    let is_there = || has_any(directory, is_removed).unwrap_or(false);
    let began = Instant::now();
    while directory.keeps_removed() && began.elapsed() < TO_BE_GONE && is_there() {
        std::thread::sleep(Duration::from_millis(10));
    }
}
