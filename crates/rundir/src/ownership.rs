//! Whose a file is: what is asked of it before it is removed. `docs/security.md` lists the
//! questions; each has a test.

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

/// What is known of a run's files besides.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Files have running numbers up to this, in a classic run.
    pub numbers_made: u64,
    /// Names whose files may have been written in part.
    pub partly_written: PartlyWritten,
    /// By how much the wall clock was set back while the run went on.
    pub set_back_ns: i64,
    /// When the run ended; nothing where that is not known.
    pub until: Option<EndStamps>,
    /// The run goes on, or has ended by itself: what is not among `partly_written` was written to
    /// its end.
    pub is_complete: bool,
}

/// When a run ended, by the times at which its files were made. The kernel stamps files by a clock
/// that is read every few milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct EndStamps {
    /// What was made before this was certainly made while the run went on.
    pub certainly: Stamp,
    /// No file that was completed was made later.
    pub completed: Stamp,
    /// Nor one that was being written.
    pub under_way: Stamp,
}

impl EndStamps {
    pub(crate) fn new(last_ns: i64) -> Self {
        /// More than the time between two readings of that clock.
        const STAMPED_WITHIN_NS: i64 = 20_000_000;
        /// The run's stamps and the kernel's come from clocks that are read one after the other.
        const READ_WITHIN_NS: i64 = 1_000_000;
        /// A call that was under way when the run ended may have made its file so long after the
        /// last sign of life.
        const UNDER_WAY_NS: i64 = 2_000_000_000;
        Self {
            certainly: stamp(last_ns.saturating_sub(STAMPED_WITHIN_NS)),
            completed: stamp(last_ns.saturating_add(READ_WITHIN_NS)),
            under_way: stamp(last_ns.saturating_add(UNDER_WAY_NS)),
        }
    }
}

/// Whose a file, a directory or a link is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Provenance {
    Ours,
    /// The same: its contents tell that the run wrote it.
    Signed,
    /// Not the run's, and why that is certain.
    Others(String),
    /// What cannot be told apart stays, and why.
    Unclear(String),
}

/// What distinguishes the files of a run from everybody else's.
pub(crate) struct Ownership<'a> {
    manifest: &'a Manifest,
    evidence: &'a Evidence,
    owner: Option<u32>,
    born: Option<Stamp>,
    /// Whose the pool is that is looked at; nothing where all workers have one.
    worker: Option<u32>,
    /// Of that pool.
    contents: Pool<'a>,
    /// When files with several names were last changed, before this cleaning has changed them by
    /// removing one; by their numbers. Only where there is no time of birth.
    linked: HashMap<Identity, Option<Stamp>>,
}

pub(crate) fn stamp(ns: i64) -> Stamp {
    (
        ns.div_euclid(1_000_000_000),
        ns.rem_euclid(1_000_000_000) as u32,
    )
}

/// When the run began in the directory of its manifest.
pub(crate) fn began(
    directory: &dyn Directory,
    manifest: &Manifest,
) -> Result<Option<Stamp>, Errno> {
    if manifest.kind == Kind::OwnDirectory {
        // A manifest that was written again is younger than the pool. The directory is not.
        let born = directory.facts()?.born.or(manifest.born);
        if born.is_some() {
            return Ok(born);
        }
    }
    let manifest = directory.facts_of(names::NAME.as_bytes())?;
    // Its last change may be later: NFS and FUSE take names from files when they are closed.
    Ok(manifest.born.or(manifest.modified))
}

impl<'a> Ownership<'a> {
    /// Of the run of a manifest that `owner` has, and that began at `born`.
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
            contents: Pool::of(&manifest.makes.begins, 0),
            linked: HashMap::new(),
        }
    }

    /// The files that follow are of this worker's pool.
    pub(crate) fn enter_pool_of(&mut self, worker: u32) {
        self.worker = Some(worker);
        self.contents = Pool::of(&self.manifest.makes.begins, worker);
    }

    /// Whether a file of this name in this pool may have been written in part.
    fn is_partly_written(&self, name: WrittenName) -> bool {
        let names = &self.evidence.partly_written;
        match self.worker {
            Some(worker) => names.contains(&(name, worker)),
            None => names.range((name, 0)..=(name, u32::MAX)).next().is_some(),
        }
    }

    /// When something was made, whatever this cleaning has changed of it.
    fn born_before_removals(&mut self, facts: &Facts) -> Option<Stamp> {
        let changed = facts.born_or_changed();
        let (None, Some(identity)) = (facts.born, facts.identity) else {
            return changed;
        };
        if facts.names.is_some_and(|names| names > 1) {
            return *self.linked.entry(identity).or_insert(changed);
        }
        // Of the last name: the number may be another file's afterwards.
        self.linked.remove(&identity).unwrap_or(changed)
    }

    /// Whose a name is that has the form of the run's, and what was looked at to tell.
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
            NameKind::Directory => EntryKind::Directory,
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
        // What a directory or a link is tells whose it is: which of them was being made is not
        // written down.
        let is_under_way =
            is_partly_written || matches!(kind, NameKind::Directory | NameKind::SymbolicLink);
        // What is certain comes first: only what is not certain keeps the manifest.
        let contents = match kind {
            NameKind::Directory => Provenance::Ours,
            NameKind::SymbolicLink => self.of_link(directory, name)?,
            NameKind::File | NameKind::Temporary | NameKind::Link => {
                self.of_contents(directory, name, facts, is_partly_written)?
            }
        };
        if let Provenance::Others(_) = contents {
            return Ok(contents);
        }
        // Without a time of birth the last change has to do. A name that is given or taken later is
        // one, too: of what tells by its contents that the run wrote it, it matters when it
        // was written.
        let made = match facts.born {
            None if contents == Provenance::Signed => facts.modified,
            _ => born,
        };
        let doubt = self
            .doubt_of_time(kind, facts, (born, made), is_under_way)
            .or_else(|| self.doubt_of_attributes(kind, facts));
        Ok(doubt.map_or(contents, Provenance::Unclear))
    }

    /// Why it is not certain that the run created something, by when that was and who owns it.
    fn doubt_of_time(
        &self,
        kind: NameKind,
        facts: &Facts,
        (born, made): (Option<Stamp>, Option<Stamp>),
        is_under_way: bool,
    ) -> Option<String> {
        // Below a directory that the run has claimed for itself a name of its form is enough where
        // nothing more can be known.
        if self.manifest.kind == Kind::Location && (born.is_none() || facts.identity.is_none()) {
            return Some("the storage does not report its creation time or inode".to_owned());
        }
        let is_too_late = |until: EndStamps| {
            let last = if is_under_way {
                until.under_way
            } else {
                until.completed
            };
            made.is_some_and(|made| made > last)
        };
        // Whatever is made or removed in a directory later changes it: without a time of birth its
        // times say nothing of who made it.
        let is_dated = kind != NameKind::Directory || facts.born.is_some();
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

    /// Why it is not certain that the run created something, by its mode and its hard links.
    fn doubt_of_attributes(&self, kind: NameKind, facts: &Facts) -> Option<String> {
        let makes = &self.manifest.makes;
        let is_given = |mode: u32| match kind {
            NameKind::SymbolicLink => true,
            NameKind::Directory => makes.directory_modes.contains(&(mode & PERMISSIONS)),
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

    /// Whose a file is by its contents.
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

    /// The same by the first bytes of its contents.
    fn of_beginning(&self, begins: &[u8], facts: &Facts, is_partly_written: bool) -> Provenance {
        let makes = &self.manifest.makes;
        // Beside the user's files one that was not written to its end is the run's where the run
        // was writing that very name. In a directory of its own it is enough that it was
        // made while the run went on.
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
            // A byte or two of a run's contents may well be zeros.
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
    // The clock may have gone back a little further than it was seen to.
    let born_ns = seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds.into());
    stamp(born_ns.saturating_sub(ns).saturating_sub(1_000_000_000))
}

#[cfg(test)]
mod tests {
    use engine::namespace::Namespace as _;
    use engines::kernel_namespace::KernelNamespace;

    use super::*;
    use crate::dir_snapshot::Before;
    use crate::manifest::{Begins, Makes};

    /// Workers with a pool each give the same names: that one of them was writing says nothing of
    /// the other's directory.
    #[test]
    fn what_a_worker_was_writing_is_told_of_its_own_pool() {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("12"), "").unwrap();
        let directory = KernelNamespace::default().open(top.path()).unwrap();
        let facts = directory.facts_of(b"12").unwrap();
        let manifest = Manifest {
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
            before: Before::read(&*directory, |_| ()).unwrap(),
            others: Vec::new(),
            others_more: 0,
        };
        let (seconds, nanoseconds) = facts.born_or_changed().unwrap();
        let name = (NameKind::File, 12);
        let evidence = Evidence {
            partly_written: [(name, 1)].into(),
            until: Some(EndStamps::new(
                seconds * 1_000_000_000 + i64::from(nanoseconds),
            )),
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

    #[test]
    fn a_clock_that_went_back_moves_the_bound() {
        assert_eq!(earlier((10, 5), 0), (10, 5));
        assert_eq!(earlier((10, 5), 2_000_000_000), (7, 5));
    }
}
