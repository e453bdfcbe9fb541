//! The mark that a run leaves before its first file: what it may make, so that anybody can remove
//! it later.
//!
//! A manifest is made exclusively, is on disk (with its directory) before the first file, and stays
//! locked as long as its run lives. One that is locked belongs to a run that goes on; one that is
//! not, to a run that was killed.
//!
//! What it says is believed where the file system says that this user made it in this directory,
//! and not otherwise: anybody can write a file of this name.

use std::time::{Duration, Instant, SystemTime};

use engine::Errno;
use engine::namespace::{Directory, EntryKind, Facts, Lock, Mark, Namespace, Stamp};
use serde::{Deserialize, Serialize};
use workload::contents::ContentSpec;
use workload::layout::Layout;
use workload::names::Names;

use crate::dir_snapshot::Before;
use crate::names::{self, DRAFT_PREFIX, NAME, draft_process, running_number, subdirectory, worker};

/// What the text of every manifest begins with, also of one that was not written to its end.
const TEXT_BEGINS: &[u8] = b"{\n  \"postmark_manifest\": ";

/// The version of the manifests that this program writes.
const VERSION: u32 = 1;
/// No manifest is larger: 4,096 workers with a kept pool each take less than a tenth of it.
const BYTES_MAX: u64 = 8 << 20;
/// Other locations of the run are listed up to so many bytes: every location's manifest lists all
/// others.
const OTHERS_BYTES_MAX: usize = 16 << 10;
/// Files that the run makes beside a manifest that has only its name are not older than this.
const CLAIM_LIVES: Duration = Duration::from_secs(2);
/// The mode of new files is this without the process's mask, or what the file system gives instead.
const DRAFT_MODE: u32 = 0o666;
/// What others may not do to a manifest.
const WRITABLE_BY_OTHERS: u32 = 0o022;

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
    fn seems_alive(&self, home: &dyn Namespace) -> bool {
        is_here(&self.host) && home.is_alive(self.process)
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

/// Bytes of a file that are looked at: more would tell no more.
pub const BEGINS_BYTES: usize = 64;

/// The bits of a mode by which directories are compared: the others may come from the directory
/// above.
pub(crate) const PERMISSIONS: u32 = 0o777;

/// What a run's files have in common, whatever is done to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Makes {
    /// Their permissions: any of these.
    pub modes: Vec<u32>,
    /// The permissions of its directories.
    pub directory_modes: Vec<u32>,
    /// None is larger.
    pub size_max_bytes: u64,
    /// None that was written to its end is smaller.
    pub size_min_bytes: u64,
    /// What they begin with.
    pub begins: Begins,
}

impl Makes {
    /// Another workload goes on with the same files: what it makes is the run's, too.
    pub(crate) fn add(&mut self, other: &Self) {
        for (own, others) in [
            (&mut self.modes, &other.modes),
            (&mut self.directory_modes, &other.directory_modes),
        ] {
            let new: Vec<u32> = others
                .iter()
                .copied()
                .filter(|mode| !own.contains(mode))
                .collect();
            own.extend(new);
        }
        self.size_max_bytes = self.size_max_bytes.max(other.size_max_bytes);
        self.size_min_bytes = self.size_min_bytes.min(other.size_min_bytes);
    }
}

/// What files begin with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begins {
    /// The original's work: what is written begins with the worker's text, each time.
    Texts {
        /// By worker; one for all where they are alike.
        texts: Vec<String>,
        /// The first piece has so many bytes at least.
        size_low_bytes: u64,
    },
    /// With contents that tell whose they are.
    Contents {
        /// What they are like.
        spec: ContentSpec,
        /// The workload's.
        seed: u64,
    },
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

/// A manifest that is there.
#[derive(Debug)]
pub(crate) enum FoundManifest {
    /// Whole and ours, and its lock is ours now.
    Abandoned(Box<Manifest>, Box<dyn Mark>),
    /// Its run goes on.
    Active(Option<Box<Manifest>>),
    /// Its run's process, which this is, is gone, and another one has the lock: it cleans, or takes
    /// a pool that was kept.
    InHands(u32),
    /// Ours, and not whole: its run was killed before it had made anything.
    Unfinished(Box<dyn Mark>),
    /// Not one that is believed, and why.
    Foreign(String),
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
        for mode in makes.modes.clone() {
            take(&mut makes.modes, mode_given(given, mode));
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

    /// The manifest of a directory, if it has one.
    pub(crate) fn find(
        home: &dyn Namespace,
        directory: &dyn Directory,
    ) -> Result<Option<FoundManifest>, Errno> {
        let mut tries_left = 10;
        let (mark, locked) = loop {
            let mark = match directory.mark(NAME) {
                Ok(Some(mark)) => mark,
                Ok(None) => return Ok(None),
                Err(Errno::LOOP) => {
                    return Ok(Some(FoundManifest::Foreign(
                        "it is a symbolic link".to_owned(),
                    )));
                }
                Err(errno) => return Err(errno),
            };
            if let Err(why) = is_made_by_us(home, directory, &mark.facts()?) {
                return Ok(Some(FoundManifest::Foreign(why)));
            }
            let locked = mark.lock()?;
            tries_left -= 1;
            // Else another one was put in its place meanwhile. Some file systems number their files
            // anew all the time.
            if tries_left == 0 || mark.is_named()? {
                break (mark, locked);
            }
        };
        let size = mark.facts()?.size_bytes;
        if size > BYTES_MAX {
            return Ok(Some(FoundManifest::Foreign(format!(
                "it has {size} bytes, too many for a manifest"
            ))));
        }
        let text = mark.read(BYTES_MAX)?;
        let parsed = serde_json::from_slice::<Self>(&text).map(Box::new);
        let is_active = match locked {
            // The first rank has the lock, and others may be working yet.
            Lock::Ours => parsed
                .as_ref()
                .is_ok_and(|manifest| manifest.ranks.iter().any(|rank| rank.seems_alive(home))),
            Lock::Others => true,
            Lock::Unknown => parsed
                .as_ref()
                .is_ok_and(|manifest| manifest.seems_alive(home)),
        };
        if is_active {
            let parsed = parsed.ok();
            let gone = parsed
                .as_ref()
                .filter(|manifest| !manifest.seems_alive(home));
            return Ok(Some(match gone {
                Some(manifest) => FoundManifest::InHands(manifest.process),
                None => FoundManifest::Active(parsed),
            }));
        }
        let manifest = match parsed {
            Ok(manifest) => manifest,
            Err(error) if is_cut_short(&text) && error.is_eof() => {
                return Self::unfinished(directory, mark);
            }
            Err(error) => {
                return Ok(Some(FoundManifest::Foreign(format!(
                    "it cannot be parsed: {error}"
                ))));
            }
        };
        if manifest.postmark_manifest != VERSION {
            let version = manifest.postmark_manifest;
            return Ok(Some(FoundManifest::Foreign(format!(
                "it has version {version} (use the version of postmark that wrote it)"
            ))));
        }
        let here = inode(&directory.facts()?);
        if manifest.directory_inode != here && !directory.renumbers() {
            return Ok(Some(FoundManifest::Foreign(
                "it is a copy of the manifest of another directory".to_owned(),
            )));
        }
        Ok(Some(FoundManifest::Abandoned(manifest, mark)))
    }

    /// A manifest that was not written to its end. A name that was claimed a moment ago may be a
    /// run's that is about to begin; and a run that was killed at this point has made nothing
    /// yet.
    fn unfinished(
        directory: &dyn Directory,
        mark: Box<dyn Mark>,
    ) -> Result<Option<FoundManifest>, Errno> {
        let is_young = |(second, _): Stamp| {
            (0..CLAIM_LIVES.as_secs() as i64).contains(&now_s().saturating_sub(second))
        };
        if mark.facts()?.changed.is_some_and(is_young) {
            return Ok(Some(FoundManifest::Active(None)));
        }
        let mut holds_more = false;
        directory.list(&mut |entry| {
            let name = entry.name;
            holds_more |= running_number(
                name.strip_prefix(b"s")
                    .or(name.strip_prefix(b"w"))
                    .unwrap_or(name),
            )
            .is_some();
            Ok(())
        })?;
        Ok(Some(match holds_more {
            true => FoundManifest::Foreign(
                "it is incomplete, and the directory has files that a run may have created"
                    .to_owned(),
            ),
            false => FoundManifest::Unfinished(mark),
        }))
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
            None if self.subdirectories > 1 => {
                subdirectory(name).is_some_and(|number| number < u64::from(self.subdirectories))
            }
            None => self.may_name_a_file(name),
        }
    }

    /// The same of the files in a directory of the original's work.
    pub(crate) fn may_name_a_file(&self, name: &[u8]) -> bool {
        running_number(name).is_some_and(|number| (1..=self.numbers_max).contains(&number))
    }

    /// Whether a directory has no name that the run gives.
    pub(crate) fn names_nothing_in(&self, directory: &dyn Directory) -> Result<bool, Errno> {
        let mut is_nothing = true;
        directory.list(&mut |entry| {
            is_nothing &= !self.may_name(entry.name);
            Ok(())
        })?;
        Ok(is_nothing)
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
    fn seems_alive(&self, home: &dyn Namespace) -> bool {
        !is_here(&self.host) || home.is_alive(self.process)
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
fn inode(facts: &Facts) -> u64 {
    facts.identity.map_or(0, |identity| identity.inode)
}

fn now_s() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
}

/// The mode of a file that is made with `asked`, where the system gave `given` to one that was made
/// with [`DRAFT_MODE`].
fn mode_given(given: u32, asked: u32) -> u32 {
    if is_of_its_own(given) {
        given
    } else {
        given & asked
    }
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

/// Whether a file in a directory is one that this user has made there, as far as the home knows;
/// and if not, why.
fn is_made_by_us(
    home: &dyn Namespace,
    directory: &dyn Directory,
    facts: &Facts,
) -> Result<(), String> {
    if facts.kind != EntryKind::File {
        return Err("it is not a regular file".to_owned());
    }
    // A server that makes names and removes none leaves the draft beside the manifest.
    if facts
        .names
        .is_some_and(|names| names > 1 && names > marks_of(directory, facts))
    {
        return Err("it has other hard links and was created elsewhere".to_owned());
    }
    // Where files have no owners everybody who may write there is trusted.
    let (Some(process), Some(owner), Some(mode)) = (home.user(), facts.owner, facts.mode) else {
        return Ok(());
    };
    let me = directory.acts_as().map_or(process, |acting| acting.user);
    // What the process's user has made with its own rights is no less its own.
    let is_ours = owner == me || owner == process;
    if is_ours && mode & WRITABLE_BY_OTHERS == 0 || given_here(directory) == Some((owner, mode)) {
        return Ok(());
    }
    Err(if is_ours {
        format!("its mode {mode:04o} lets other users write it")
    } else {
        format!(
            "it belongs to user {owner}, not to the current user {me} (only its owner can clean, \
             as with 'sudo -u #{owner}')"
        )
    })
}

/// How many marks of a directory are names of one file.
fn marks_of(directory: &dyn Directory, facts: &Facts) -> u64 {
    let is_same = |mark: &Vec<u8>| {
        let found = directory.facts_of(mark);
        facts.identity.is_some() && found.is_ok_and(|found| found.identity == facts.identity)
    };
    let marks = names::listed(directory, names::is_mark).unwrap_or_default();
    marks.iter().filter(|mark| is_same(mark)).count() as u64
}

/// The owner and the mode that a manifest gets that this process makes in a directory, where its
/// file system may give other ones than were asked for. The directory's times stay as they are.
fn given_here(directory: &dyn Directory) -> Option<(u32, u32)> {
    if !directory.gives_its_own() {
        return None;
    }
    let before = Before::read(directory, |_| ()).ok()?;
    let given = directory.given_to_marks(&format!("{DRAFT_PREFIX}{}-0", std::process::id()))?;
    // Where that is somebody else's right the times are true.
    let _ = before.restore(directory);
    Some(given)
}

/// Whether a text may be the first part of a manifest's.
fn is_cut_short(text: &[u8]) -> bool {
    let length = text.len().min(TEXT_BEGINS.len());
    text[..length] == TEXT_BEGINS[..length]
}

/// How NFS and FUSE call files that were removed while they were open, until they are closed.
const REMOVED_OPEN: [&[u8]; 2] = [b".nfs", b".fuse_hidden"];
/// A file that was closed is gone after this, or stays.
const TO_BE_GONE: Duration = Duration::from_secs(1);

/// Waits until what was removed while it was open, and has been closed just now, is gone from the
/// directory.
pub(crate) fn wait_for_closed(directory: &dyn Directory) {
    let is_there = || {
        let mut is_there = false;
        let listed = directory.list(&mut |entry| {
            is_there |= REMOVED_OPEN
                .iter()
                .any(|begins| entry.name.starts_with(begins));
            Ok(())
        });
        listed.is_ok() && is_there
    };
    let began = Instant::now();
    while directory.keeps_removed() && began.elapsed() < TO_BE_GONE && is_there() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Removes the drafts of runs that were killed before they had made anything. Gives their names.
pub(crate) fn remove_drafts(
    home: &dyn Namespace,
    directory: &dyn Directory,
) -> Result<Vec<String>, Errno> {
    let is_left = |name: &[u8]| draft_process(name).is_some_and(|process| !home.is_alive(process));
    let drafts = names::listed(directory, is_left)?;
    let mut removed = Vec::new();
    for draft in drafts
        .into_iter()
        .filter_map(|draft| String::from_utf8(draft).ok())
    {
        // What cannot be opened, is locked or has other contents belongs to somebody else.
        if is_abandoned_draft(home, directory, &draft) && remove_by_name(directory, &draft).is_ok()
        {
            removed.push(draft);
        }
    }
    Ok(removed)
}

fn is_abandoned_draft(home: &dyn Namespace, directory: &dyn Directory, draft: &str) -> bool {
    let Ok(Some(mark)) = directory.mark(draft) else {
        return false;
    };
    mark.facts()
        .is_ok_and(|facts| is_made_by_us(home, directory, &facts).is_ok())
        && matches!(mark.lock(), Ok(Lock::Ours | Lock::Unknown))
        && mark
            .read(TEXT_BEGINS.len() as u64)
            .is_ok_and(|text| is_cut_short(&text))
}
