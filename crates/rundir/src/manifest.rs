//! The manifest that a run writes before its first file. It lists the files and directories that
//! the run may make, so that `clean` can remove them later.
//!
//! A manifest is created exclusively, and is on disk (with its directory) before the first file.
//! The manifest stays locked while its run is alive. A locked manifest belongs to an active run, an
//! unlocked one to a run that was killed or has kept its pool.
//!
//! A manifest is trusted only if the file system reports that this user made it in this directory.
//! Otherwise any user could write a file of this name.

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

const VERSION: u32 = 1;
/// Maximum size of a manifest in bytes. A manifest of 4,096 workers with a kept pool is less than a
/// tenth of this size.
pub(crate) const BYTES_MAX: u64 = 8 << 20;
/// Maximum total length of the paths in `others`, in bytes. The length is limited because the
/// manifest of each location lists all other locations.
const OTHERS_BYTES_MAX: usize = 16 << 10;
/// Mode that is requested for a new manifest. The actual mode lacks the bits of the process's
/// umask, or is assigned by the file system.
const DRAFT_MODE: u32 = 0o666;
/// Permission bits that let the group or other users write a manifest.
pub(crate) const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The kind of directory that contains the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A directory that the run made for itself.
    OwnDirectory,
    /// The user's own directory, which may also contain other files.
    Location,
}

/// The contents of a manifest, written before the run makes its first file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub postmark_manifest: u32,
    pub tool: String,
    pub kind: Kind,
    pub process: u32,
    pub host: String,
    pub began_unix_ns: u64,
    /// Highest running number in a file name. The lowest is 1.
    pub numbers_max: u64,
    /// Number of subdirectories of a pool. The run puts its files in subdirectories `s0`, `s1`, ...
    /// if there are more than 1.
    pub subdirectories: u32,
    /// Number of pools. Each pool has its own directory (`w0`, `w1`, ...) if there are more than 1.
    #[serde(default)]
    pub workers: u32,
    /// Layout and names of a mix's files and directories; `None` for a classic run.
    #[serde(default)]
    pub mix: Option<MixNames>,
    /// Properties that all files of the run share.
    pub makes: Makes,
    /// Inode of the directory in which the manifest was written. If the manifest was copied to
    /// another directory, the inode of that directory differs.
    pub directory_inode: u64,
    /// Time at which the run began. It is set if this manifest replaced an earlier manifest,
    /// because the new manifest is younger than the run.
    #[serde(default)]
    pub born: Option<Stamp>,
    /// Name of the run's heartbeat file; `None` if the run has no such file.
    #[serde(default)]
    pub life: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<OtherRank>,
    /// The kept pool: its contents, and the progress of each worker's stream. `None` if the run did
    /// not keep its pool.
    #[serde(default)]
    pub kept: Option<KeptPool>,
    /// The state of the user's directory before the run.
    pub before: Before,
    /// Paths of the run's directories in other locations, up to a limit; `others_more` counts the
    /// rest.
    pub others: Vec<String>,
    #[serde(default)]
    pub others_more: u64,
}

/// A rank of the run other than the one that wrote the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRank {
    pub first_worker: u32,
    pub process: u32,
    pub host: String,
    /// Name of the rank's heartbeat file, on the rank's host.
    pub life: Option<String>,
}

/// The first rank of a run, which owns the run's directories, as recorded in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstRank {
    pub host: String,
    /// Process ID of the rank on that host.
    pub process: u32,
    /// Time at which the run began, in nanoseconds since the epoch.
    pub began_unix_ns: u64,
}

impl OtherRank {
    pub(crate) fn seems_alive(&self, namespace: &dyn Namespace) -> bool {
        is_here(&self.host) && namespace.is_alive(self.process)
    }
}

/// How a mix lays out and names its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MixNames {
    pub layout: Layout,
    pub names: Names,
}

/// A pool that was left for a later run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPool {
    /// Canonical text of the options that determine the pool's files, including the seed.
    pub pool: String,
    /// Canonical text of the workload without the number of transactions.
    pub workload: String,
    /// The position that each worker's stream has reached on this pool.
    pub positions: Vec<Position>,
    /// Number of files, links and directories in the pool.
    pub names: u64,
    /// Time at which the pool was kept, in nanoseconds since the epoch. Files made later do not
    /// belong to the run.
    pub left_ns: i64,
    /// By how much the wall clock was set back between the beginning of the run and the keeping of
    /// the pool, in nanoseconds.
    #[serde(default)]
    pub set_back_ns: i64,
}

/// The position of a worker's stream when its pool was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Number of transactions that had begun.
    pub transactions: u64,
    /// Number of operations that the stream issued in transactions, including skipped ones. One
    /// transaction can consist of several operations.
    pub intents: u64,
}

impl Manifest {
    pub(crate) fn version() -> u32 {
        VERSION
    }

    /// Writes the manifest durably into a directory. The returned mark keeps the manifest locked.
    /// The manifest is complete and locked before it gets its name, so no other process reads a
    /// partial manifest. Also fills in the modes of the run's files, derived from the mode that the
    /// file system assigns to the manifest.
    pub(crate) fn write(&mut self, directory: &dyn Directory) -> Result<Box<dyn Mark>, Errno> {
        let mut tries_left = 10;
        loop {
            match self.write_as(directory, false) {
                // Before the draft is locked, `clean` in another PID namespace may mistake it for a
                // draft of a killed run and remove it.
                Err(Errno::NOENT | Errno::WOULDBLOCK) if tries_left > 0 => tries_left -= 1,
                written => return written,
            }
        }
    }

    /// Replaces the existing manifest durably. The new manifest is locked as long as the returned
    /// mark exists.
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
            // The failed write does no harm: the run has created no file, or its earlier manifest
            // still exists. If the draft cannot be removed, `clean` removes it later.
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

    /// Adds the modes that the run's files will have. These modes are derived from `given`, the
    /// mode of the manifest, and from `place`, the mode of the directory. Modes that are already
    /// listed remain, because files in a kept pool have them.
    fn take_modes(&mut self, given: u32, place: Option<u32>) {
        let makes = &mut self.makes;
        for asked in makes.modes.clone() {
            let is_own = is_of_its_own(given);
            take(&mut makes.modes, if is_own { given } else { given & asked });
        }
        // A file system that assigns its own modes assigns the same mode to all directories.
        if let Some(place) = place.filter(|_| is_of_its_own(given)) {
            take(&mut makes.directory_modes, place & PERMISSIONS);
        }
    }

    /// Reads the manifest of an active run without checking its owner. Returns `None` if the
    /// directory contains no manifest.
    ///
    /// # Errors
    /// Returns the reason if the manifest cannot be read or parsed.
    pub(crate) fn read_beside(directory: &dyn Directory) -> Result<Option<Self>, String> {
        let Some(mark) = directory.mark(NAME).map_err(|errno| errno.to_string())? else {
            return Ok(None);
        };
        let text = mark.read(BYTES_MAX).map_err(|errno| errno.to_string())?;
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| error.to_string())
    }

    /// Whether the run may create this name in the directory of its manifest.
    pub(crate) fn may_name(&self, name: &[u8]) -> bool {
        match self.workers > 1 {
            true => worker(name).is_some_and(|number| number < u64::from(self.workers)),
            false => self.may_name_in_pool(name),
        }
    }

    /// Whether the run may create this name in a pool's directory.
    pub(crate) fn may_name_in_pool(&self, name: &[u8]) -> bool {
        match &self.mix {
            Some(mix) => mix.layout.is_directory_name(name) || mix.names.parse(name).is_some(),
            None => is_of_classic_pool(name, self.subdirectories, self.numbers_max),
        }
    }

    /// Whether the run may create a file of this name in a directory of a classic pool.
    pub(crate) fn may_name_a_file(&self, name: &[u8]) -> bool {
        is_of_classic_pool(name, 0, self.numbers_max)
    }

    /// Whether the directory contains no name that the run may create.
    pub(crate) fn names_nothing_in(&self, directory: &dyn Directory) -> Result<bool, Errno> {
        Ok(!has_any(directory, |name| self.may_name(name))?)
    }

    pub(crate) fn first_rank(&self) -> FirstRank {
        FirstRank {
            host: self.host.clone(),
            process: self.process,
            began_unix_ns: self.began_unix_ns,
        }
    }

    /// Lists other locations of the run, up to [`OTHERS_BYTES_MAX`].
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

    /// Returns the owner of the manifest in a directory. The same user owns all files of the run.
    pub(crate) fn owner(directory: &dyn Directory) -> Result<Option<u32>, Errno> {
        Ok(directory.facts_of(NAME.as_bytes())?.owner)
    }

    /// Whether the run may be active, for namespaces without locks. This is the case if its process
    /// is alive, or if the run is on another host, where its process cannot be checked.
    pub(crate) fn seems_alive(&self, namespace: &dyn Namespace) -> bool {
        !is_here(&self.host) || namespace.is_alive(self.process)
    }
}

fn is_here(host: &str) -> bool {
    rustix::system::uname().nodename().to_string_lossy() == host
}

/// Removes the file with this name without checking its identity, because only the run uses the
/// name.
pub(crate) fn remove_by_name(directory: &dyn Directory, name: &str) -> Result<(), Errno> {
    let facts = directory.facts_of(name.as_bytes())?;
    gone(directory.remove(name.as_bytes(), &facts))
}

/// Converts the result `false` ("not removed, because the name now belongs to another file") into
/// `NOENT`.
pub(crate) fn gone(removed: Result<bool, Errno>) -> Result<(), Errno> {
    match removed? {
        true => Ok(()),
        false => Err(Errno::NOENT),
    }
}

/// Returns the inode number; 0 if it is not available.
pub(crate) fn inode(facts: &Facts) -> u64 {
    facts.identity.map_or(0, |identity| identity.inode)
}

/// Whether the file system assigns its own mode to a file made with [`DRAFT_MODE`]. `given` is the
/// mode of the file.
fn is_of_its_own(given: u32) -> bool {
    given & !DRAFT_MODE != 0
}

fn take(modes: &mut Vec<u32>, mode: u32) {
    if !modes.contains(&mode) {
        modes.push(mode);
    }
}

/// Prefixes of the temporary names that NFS and FUSE give to files that are removed while open. The
/// names exist until the files are closed.
const REMOVED_OPEN: [&[u8]; 2] = [b".nfs", b".fuse_hidden"];
/// Maximum wait until the temporary name of a closed file disappears.
const TO_BE_GONE: Duration = Duration::from_secs(1);

/// Waits until the temporary names of removed and closed files disappear from the directory.
pub(crate) fn wait_for_closed(directory: &dyn Directory) {
    let is_removed = |name: &[u8]| REMOVED_OPEN.iter().any(|begins| name.starts_with(begins));
    let is_there = || has_any(directory, is_removed).unwrap_or(false);
    let began = Instant::now();
    while directory.keeps_removed() && began.elapsed() < TO_BE_GONE && is_there() {
        std::thread::sleep(Duration::from_millis(10));
    }
}
