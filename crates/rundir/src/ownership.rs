//! Decides whether a file belongs to a run before `clean` or the run removes the file.
//! `docs/reference/security.md` lists the criteria; each criterion has a test.

use std::collections::HashMap;

use engine::namespace::{Directory, EntryKind, Facts, Stamp};
use engine::{Errno, Identity};
use workload::contents::Beginning;
use workload::names::NameKind;

use crate::file_pattern::PERMISSIONS;
use crate::manifest::{self, BEGINS_BYTES, Kind, Manifest};
use crate::names;
use crate::pool_contents::Pool;
use crate::worker_status::{PartlyWritten, WrittenName};

/// Evidence about a run's files that is not in its manifest.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Highest running number of a file that a classic run created.
    pub numbers_made: u64,
    /// Names of files that may have been partly written.
    pub partly_written: PartlyWritten,
    /// By how much the wall clock was set back during the run, in nanoseconds.
    pub set_back_ns: i64,
    /// Bounds on the creation times of the run's files; `None` if the time at which the run ended
    /// is not available.
    pub until: Option<EndStamps>,
    /// False if the run was killed. Otherwise, every file that is not in `partly_written` was
    /// written completely.
    pub is_complete: bool,
}

/// Bounds on the creation times of a run's files, derived from the time at which the run was last
/// active. Three bounds are needed, for two reasons. The kernel's clock for file times advances
/// only every few milliseconds. A call in flight may create its file after the run's last
/// heartbeat.
#[derive(Clone, Copy, Debug)]
pub struct EndStamps {
    /// A file created before this time existed before the run ended.
    pub certainly: Stamp,
    /// No completely written file of the run was created after this time.
    pub completed: Stamp,
    /// No file of an operation in flight was created after this time.
    pub under_way: Stamp,
}

impl EndStamps {
    pub(crate) fn new(last_ns: i64) -> Self {
        /// Upper bound for the resolution of the kernel's clock for file times.
        const STAMPED_WITHIN_NS: i64 = 20_000_000;
        /// Maximum time from the run's reading of the clock until the kernel reads the clock for
        /// the times of a file.
        const READ_WITHIN_NS: i64 = 1_000_000;
        /// A call that was in flight when the run ended may have created its file up to this long
        /// after the last heartbeat.
        const UNDER_WAY_NS: i64 = 2_000_000_000;
        Self {
            certainly: stamp(last_ns.saturating_sub(STAMPED_WITHIN_NS)),
            completed: stamp(last_ns.saturating_add(READ_WITHIN_NS)),
            under_way: stamp(last_ns.saturating_add(UNDER_WAY_NS)),
        }
    }
}

/// Origin of a file, a directory or a link: from the run, or from elsewhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Provenance {
    Ours,
    /// Belongs to the run, and its contents prove that the run wrote it.
    Signed,
    /// Certainly not created by the run; contains the reason.
    Others(String),
    /// Of uncertain origin, therefore not removed; contains the reason.
    Unclear(String),
}

/// Distinguishes the files of a run from other files.
pub(crate) struct Ownership<'a> {
    manifest: &'a Manifest,
    evidence: &'a Evidence,
    owner: Option<u32>,
    born: Option<Stamp>,
    /// The worker in whose pool files are being checked; `None` if all workers share one pool.
    worker: Option<u32>,
    /// The number of the tree whose files are being checked; `None` for other files.
    tree: Option<u64>,
    /// The expected contents of the files in this pool.
    contents: Pool<'a>,
    /// Change times that files with several hard links had before this removal, which changes these
    /// times when it removes a link. Used only if creation times are not available.
    linked: HashMap<Identity, Option<Stamp>>,
}

pub(crate) fn stamp(ns: i64) -> Stamp {
    (
        ns.div_euclid(1_000_000_000),
        ns.rem_euclid(1_000_000_000) as u32,
    )
}

/// Returns the time at which the run began, according to the directory of its manifest.
pub(crate) fn began(
    directory: &dyn Directory,
    manifest: &Manifest,
) -> Result<Option<Stamp>, Errno> {
    if manifest.kind == Kind::OwnDirectory {
        // The directory is as old as the pool, whereas a rewritten manifest is newer.
        let born = directory.facts()?.born.or(manifest.born);
        if born.is_some() {
            return Ok(born);
        }
    }
    let manifest = directory.facts_of(names::NAME.as_bytes())?;
    // The change time is not used, because it may be later than the beginning of the run. NFS and
    // FUSE can rename a file, or remove one of its names, when the file is closed.
    Ok(manifest.born.or(manifest.modified))
}

impl<'a> Ownership<'a> {
    /// Creates the check for the run of `manifest`. `owner` owns the manifest, and the run began at
    /// `born`.
    pub(crate) fn new(
        manifest: &'a Manifest,
        evidence: &'a Evidence,
        owner: Option<u32>,
        born: Option<Stamp>,
    ) -> Self {
        Self {
            manifest,
            evidence,
            owner,
            born: born.map(|born| earlier(born, evidence.set_back_ns)),
            worker: None,
            tree: None,
            contents: Pool::of(&manifest.makes.begins, 0),
            linked: HashMap::new(),
        }
    }

    /// Selects the pool of `worker` for all following calls.
    pub(crate) fn enter_pool_of(&mut self, worker: u32) {
        self.worker = Some(worker);
        self.contents = Pool::of(&self.manifest.makes.begins, worker);
    }

    /// Selects the files of a tree for all following calls, or other files with `None`.
    pub(crate) fn enter_tree(&mut self, tree: Option<u64>) {
        self.tree = tree;
    }

    /// Whether the run may have been writing any file when it ended.
    pub(crate) fn has_partly_written(&self) -> bool {
        !self.evidence.partly_written.is_empty()
    }

    /// Whether the file of this name in the selected pool may have been partly written.
    /// This is true for all files of a tree that was being copied.
    pub(crate) fn is_partly_written(&self, name: WrittenName) -> bool {
        let name = self.tree.map_or(name, |tree| (NameKind::Tree, tree));
        let names = &self.evidence.partly_written;
        match self.worker {
            Some(worker) => names.contains(&(name, worker)),
            None => names.range((name, 0)..=(name, u32::MAX)).next().is_some(),
        }
    }

    /// Returns the creation time of a file. If the creation time is not available, returns the
    /// change time that the file had before this removal removed links to it.
    fn born_before_removals(&mut self, facts: &Facts) -> Option<Stamp> {
        let changed = facts.born_or_changed();
        let (None, Some(identity)) = (facts.born, facts.identity) else {
            return changed;
        };
        if facts.names.is_some_and(|names| names > 1) {
            return *self.linked.entry(identity).or_insert(changed);
        }
        // The caller removes the last name of the file next. The inode may then be reused for
        // another file, so the entry in `linked` must not remain.
        self.linked.remove(&identity).unwrap_or(changed)
    }

    /// Decides whether an entry belongs to the run. The caller has checked that the run may use the
    /// entry's name. Also returns the facts on which the decision is based.
    pub(crate) fn of(
        &mut self,
        directory: &dyn Directory,
        name: &[u8],
        which: WrittenName,
    ) -> Result<(Provenance, Facts), Errno> {
        let facts = directory.facts_of(name)?;
        Ok((self.of_facts(directory, name, &facts, which)?, facts))
    }

    fn of_facts(
        &mut self,
        directory: &dyn Directory,
        name: &[u8],
        facts: &Facts,
        (kind, number): WrittenName,
    ) -> Result<Provenance, Errno> {
        let expected = match kind {
            NameKind::Directory | NameKind::Tree => EntryKind::Directory,
            NameKind::SymbolicLink => EntryKind::SymbolicLink,
            NameKind::File | NameKind::Temporary | NameKind::Link => EntryKind::File,
        };
        if facts.kind != expected {
            return Ok(Provenance::Others(format!(
                "it is {}, but this run gives such a name to {}",
                in_words(facts.kind),
                in_words(expected)
            )));
        }
        let is_partly_written = self.is_partly_written((kind, number));
        let born = self.born_before_removals(facts);
        // A file created by a call in flight may have a creation time after the run's last
        // heartbeat. The heartbeat does not record directories and links in flight, so any
        // directory or link may have such a time. Without creation times, so may any file of a mix:
        // a call in flight by another name of the file also sets its times.
        let is_under_way = is_partly_written
            || kind.is_directory()
            || kind == NameKind::SymbolicLink
            || facts.born.is_none() && self.is_killed_mix();
        // Contents are checked first, because only contents can prove that another program created
        // a file. A file of another program does not prevent the removal of the manifest, but a
        // file of uncertain origin does.
        let contents = match kind {
            NameKind::Directory | NameKind::Tree => Provenance::Ours,
            NameKind::SymbolicLink => self.of_link(directory, name)?,
            NameKind::File | NameKind::Temporary | NameKind::Link => {
                self.of_contents(directory, name, facts, is_partly_written)?
            }
        };
        if let Provenance::Others(_) = contents {
            return Ok(contents);
        }
        // The time of the last change replaces a creation time that is not available. Adding or
        // removing a hard link also changes that time. The modification time is therefore used for
        // a file whose contents prove that the run wrote it.
        let made = match facts.born {
            None if contents == Provenance::Signed => facts.modified,
            _ => born,
        };
        let doubt = self
            .doubt_of_time(kind, facts, (born, made), is_under_way)
            .or_else(|| self.doubt_of_attributes(kind, facts));
        Ok(doubt.map_or(contents, Provenance::Unclear))
    }

    /// Whether the run is a mix that may have been killed with calls in flight. A pool is kept only
    /// after all calls have ended.
    fn is_killed_mix(&self) -> bool {
        self.manifest.mix.is_some() && self.manifest.kept.is_none()
    }

    /// Returns the reason why the creation time or the owner makes it uncertain that the run
    /// created the file.
    fn doubt_of_time(
        &self,
        kind: NameKind,
        facts: &Facts,
        (born, made): (Option<Stamp>, Option<Stamp>),
        is_under_way: bool,
    ) -> Option<String> {
        // In a directory that the run made for itself, a matching name is sufficient if the file
        // system does not report creation times.
        if self.manifest.kind == Kind::Location && (born.is_none() || facts.identity.is_none()) {
            return Some("the engine does not report its creation time or inode".to_owned());
        }
        let is_too_late = |until: EndStamps| {
            let last = if is_under_way {
                until.under_way
            } else {
                until.completed
            };
            made.is_some_and(|made| made > last)
        };
        // Creating or removing an entry changes the times of its directory. Without a creation
        // time, the times of a directory do not show whether the run created the directory.
        let is_dated = !kind.is_directory() || facts.born.is_some();
        if is_dated && self.evidence.until.is_some_and(is_too_late) {
            return Some("it was created after the run had ended".to_owned());
        }
        if facts.owner != self.owner {
            let owner = facts.owner.map_or_else(
                || "one that is not available".to_owned(),
                |owner| format!("user {owner}"),
            );
            return Some(format!("it belongs to another owner ({owner})"));
        }
        let is_older = born
            .zip(self.born)
            .is_some_and(|(born, began)| born < began);
        is_older.then(|| "it is older than the run".to_owned())
    }

    /// Returns the reason why the mode or the hard links make it uncertain that the run created the
    /// file.
    fn doubt_of_attributes(&self, kind: NameKind, facts: &Facts) -> Option<String> {
        let makes = &self.manifest.makes;
        let is_given = |mode: u32| match kind {
            NameKind::SymbolicLink => true,
            NameKind::Directory | NameKind::Tree => {
                makes.directory_modes.contains(&(mode & PERMISSIONS))
            }
            NameKind::File | NameKind::Temporary | NameKind::Link => makes.modes.contains(&mode),
        };
        if let Some(mode) = facts.mode.filter(|mode| !is_given(*mode)) {
            return Some(format!(
                "its mode is {mode:04o}, which this run does not use"
            ));
        }
        let has_other_names = facts.names.is_some_and(|names| names > 1);
        (facts.kind == EntryKind::File && has_other_names && self.manifest.mix.is_none())
            .then(|| "it has other hard links, which this run does not create".to_owned())
    }

    fn of_link(&self, directory: &dyn Directory, name: &[u8]) -> Result<Provenance, Errno> {
        let target = directory.target(name)?;
        let is_name = |mix: &manifest::MixNames| {
            matches!(mix.names.parse(&target),
            Some((NameKind::File, number)) if number <= self.manifest.numbers_max)
        };
        Ok(match self.manifest.mix.as_ref().is_some_and(is_name) {
            true => Provenance::Ours,
            false => Provenance::Others(
                "it is a symbolic link, but not to a file of this run".to_owned(),
            ),
        })
    }

    /// Decides by size and contents whether a file belongs to the run.
    fn of_contents(
        &self,
        directory: &dyn Directory,
        name: &[u8],
        facts: &Facts,
        is_partly_written: bool,
    ) -> Result<Provenance, Errno> {
        if facts.size_bytes > self.manifest.makes.size_max_bytes {
            let why = "it is larger than any file of this run";
            return Ok(Provenance::Others(why.to_owned()));
        }
        let mut begins = [0; BEGINS_BYTES];
        let begins = match directory.read(name, 0, &mut begins) {
            Ok(length) => &begins[..length],
            Err(Errno::NOENT) => return Err(Errno::NOENT),
            Err(errno) => {
                let why = format!("its contents cannot be read: {errno}");
                return Ok(Provenance::Unclear(why));
            }
        };
        Ok(self.of_beginning(begins, facts, is_partly_written))
    }

    /// Decides by the first bytes of a file whether the file belongs to the run.
    fn of_beginning(&self, begins: &[u8], facts: &Facts, is_partly_written: bool) -> Provenance {
        let makes = &self.manifest.makes;
        // In the user's directory, a partly written file belongs to the run only if the run was
        // writing a file of that name. In the run's own directory, creation during the run is
        // sufficient.
        let is_own = self.manifest.kind == Kind::OwnDirectory;
        let was_certainly_there = |until: EndStamps| {
            facts
                .born_or_changed()
                .is_none_or(|born| born < until.certainly)
        };
        let may_be_cut_short =
            is_partly_written || is_own && self.evidence.until.is_some_and(was_certainly_there);
        let is_of_its_time = is_own && (self.evidence.is_complete || self.evidence.until.is_some());
        let cut_short = |what: &str| match may_be_cut_short {
            true => Provenance::Ours,
            false => Provenance::Unclear(format!(
                "{what}, and no trace shows that this run was writing it"
            )),
        };
        if begins.is_empty() {
            return match makes.size_min_bytes == 0 && is_of_its_time {
                true => Provenance::Ours,
                false => cut_short("it is empty"),
            };
        }
        match self.contents.beginning(begins) {
            Beginning::Ours | Beginning::TooShort if facts.size_bytes < makes.size_min_bytes => {
                cut_short("it is shorter than any file of this run")
            }
            Beginning::Ours => Provenance::Signed,
            // A run's contents may begin with one or two zero bytes, so a very short file of zeros
            // may be complete.
            Beginning::TooShort if is_of_its_time => Provenance::Ours,
            Beginning::TooShort => {
                Provenance::Unclear("it is too short to show which run created it".to_owned())
            }
            Beginning::Others if begins.iter().all(|byte| *byte == 0) => {
                cut_short("it begins with zeros")
            }
            Beginning::Others => {
                Provenance::Others("it does not begin like the files of this run".to_owned())
            }
        }
    }
}

fn in_words(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "a regular file",
        EntryKind::Directory => "a directory",
        EntryKind::SymbolicLink => "a symbolic link",
        EntryKind::Other => "a pipe, a socket or a device",
    }
}

fn earlier((seconds, nanoseconds): Stamp, ns: i64) -> Stamp {
    if ns == 0 {
        return (seconds, nanoseconds);
    }
    // Subtracts another second, because the clock may have been set back by slightly more than the
    // run observed.
    let born_ns = seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds.into());
    stamp(born_ns.saturating_sub(ns).saturating_sub(1_000_000_000))
}

#[cfg(test)]
mod tests {
    use engine::namespace::Namespace as _;
    use engines::kernel_namespace::KernelNamespace;
    use workload::layout::Layout;
    use workload::names::Names;

    use super::*;
    use crate::dir_snapshot::Before;
    use crate::manifest::{Begins, Makes};

    /// The manifest of a classic run with files like the one of `facts`.
    fn manifest(directory: &dyn Directory, facts: &Facts) -> Manifest {
        Manifest {
            postmark_manifest: Manifest::version(),
            tool: String::new(),
            kind: Kind::OwnDirectory,
            process: 1,
            host: String::new(),
            began_unix_ns: 0,
            numbers_max: 100,
            subdirectories: 1,
            workers: 2,
            mix: None,
            makes: Makes {
                modes: facts.mode.into_iter().collect(),
                directory_modes: Vec::new(),
                size_max_bytes: 1_000,
                size_min_bytes: 500,
                begins: Begins::Texts {
                    texts: vec!["text".to_owned()],
                    size_low_bytes: 1,
                },
            },
            directory_inode: 0,
            born: None,
            life: None,
            ranks: Vec::new(),
            kept: None,
            before: Before::read(directory, |_| ()).unwrap(),
            others: Vec::new(),
            others_more: 0,
        }
    }

    fn until_change_of(facts: &Facts) -> EndStamps {
        let (seconds, nanoseconds) = facts.born_or_changed().unwrap();
        EndStamps::new(seconds * 1_000_000_000 + i64::from(nanoseconds))
    }

    /// Workers with private pools use the same file names. An incomplete file belongs to the run
    /// only if the worker of its pool, not another worker, was writing a file of that name.
    #[test]
    fn partly_written_names_count_only_in_the_writers_pool() {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("12"), "").unwrap();
        let directory = KernelNamespace::default().open(top.path()).unwrap();
        let facts = directory.facts_of(b"12").unwrap();
        let manifest = manifest(&*directory, &facts);
        let name = (NameKind::File, 12);
        let evidence = Evidence {
            partly_written: [(name, 1)].into(),
            until: Some(until_change_of(&facts)),
            ..Evidence::default()
        };
        let mut ownership = Ownership::new(&manifest, &evidence, facts.owner, None);
        let mut whose = |worker: Option<u32>| {
            if let Some(worker) = worker {
                ownership.enter_pool_of(worker);
            }
            ownership.of(&*directory, b"12", name).unwrap().0
        };
        assert_eq!(whose(None), Provenance::Ours, "all have one pool");
        assert_eq!(whose(Some(1)), Provenance::Ours);
        assert!(matches!(whose(Some(0)), Provenance::Unclear(_)));
    }

    /// Without creation times, an append in flight to another name of a file sets its times.
    #[test]
    fn linked_file_may_be_changed_by_a_call_in_flight() {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("12.l"), "text".repeat(200)).unwrap();
        let directory = KernelNamespace::default().open(top.path()).unwrap();
        let facts = directory.facts_of(b"12.l").unwrap();
        let classic = manifest(&*directory, &facts);
        let mix = Manifest {
            mix: Some(manifest::MixNames {
                layout: Layout::default(),
                names: Names::default(),
            }),
            ..classic.clone()
        };
        let kept = Manifest {
            kept: Some(manifest::KeptPool::default()),
            ..mix.clone()
        };
        let evidence = Evidence {
            until: Some(until_change_of(&facts)),
            ..Evidence::default()
        };
        let of = |manifest: &Manifest, seconds_later: i64| {
            let later = |stamp: Option<Stamp>| {
                let (seconds, nanoseconds) = stamp.unwrap();
                Some((seconds + seconds_later, nanoseconds))
            };
            let appended = Facts {
                born: None,
                modified: later(facts.modified),
                changed: later(facts.changed),
                ..facts
            };
            let mut ownership = Ownership::new(manifest, &evidence, facts.owner, None);
            let name = (NameKind::Link, 12);
            let whose = ownership.of_facts(&*directory, b"12.l", &appended, name);
            whose.unwrap()
        };
        assert_eq!(of(&mix, 0), Provenance::Signed);
        assert_eq!(of(&mix, 1), Provenance::Signed);
        assert!(matches!(of(&mix, 3), Provenance::Unclear(_)));
        assert!(matches!(of(&classic, 1), Provenance::Unclear(_)));
        assert!(matches!(of(&kept, 1), Provenance::Unclear(_)));
    }

    #[test]
    fn earliest_creation_time_is_earlier_if_the_clock_was_set_back() {
        assert_eq!(earlier((10, 5), 0), (10, 5));
        assert_eq!(earlier((10, 5), 2_000_000_000), (7, 5));
    }
}
