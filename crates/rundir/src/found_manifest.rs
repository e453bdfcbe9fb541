//! The manifest that a directory has: whether it is trusted, and whether its run goes on.

use std::time::{Duration, SystemTime};

use engine::Errno;
use engine::namespace::{Directory, EntryKind, Facts, Lock, Mark, Namespace, Stamp};

use crate::dir_snapshot::Before;
use crate::manifest::{BYTES_MAX, Manifest, WRITABLE_BY_OTHERS, inode, remove_by_name};
use crate::names::{self, DRAFT_PREFIX, NAME, draft_process, running_number};

/// What the text of every manifest begins with, also of one that was not written to its end.
const TEXT_BEGINS: &[u8] = b"{\n  \"postmark_manifest\": ";

/// Files that the run makes beside a manifest that has only its name are not older than this.
const CLAIM_LIVES: Duration = Duration::from_secs(2);
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
    /// The manifest of a directory, if it has one.
    pub(crate) fn find(
        namespace: &dyn Namespace,
        directory: &dyn Directory,
    ) -> Result<Option<FoundManifest>, Errno> {
        let foreign = |why: String| Ok(Some(FoundManifest::Foreign(why)));
        let (mark, lock) = match lock_mark(namespace, directory)? {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(why) => return foreign(why),
        };
        let size = mark.facts()?.size_bytes;
        if size > BYTES_MAX {
            return foreign(format!("it has {size} bytes, too many for a manifest"));
        }
        let text = mark.read(BYTES_MAX)?;
        let parsed = serde_json::from_slice::<Self>(&text).map(Box::new);
        if let Some(active) = active(namespace, lock, parsed.as_deref().ok()) {
            return Ok(Some(active));
        }
        let manifest = match parsed {
            Ok(manifest) => manifest,
            Err(error) if is_cut_short(&text) && error.is_eof() => {
                return Self::unfinished(directory, mark).map(Some);
            }
            Err(error) => return foreign(format!("it cannot be parsed: {error}")),
        };
        if manifest.postmark_manifest != Self::version() {
            let version = manifest.postmark_manifest;
            return foreign(format!(
                "it has version {version} (use the version of postmark that wrote it)"
            ));
        }
        let here = inode(&directory.facts()?);
        if manifest.directory_inode != here && !directory.renumbers() {
            let why = "it is a copy of the manifest of another directory";
            return foreign(why.to_owned());
        }
        Ok(Some(FoundManifest::Abandoned(manifest, mark)))
    }

    /// A manifest that was not written to its end. A name that was claimed a moment ago may be a
    /// run's that is about to begin; and a run that was killed at this point has made nothing
    /// yet.
    fn unfinished(directory: &dyn Directory, mark: Box<dyn Mark>) -> Result<FoundManifest, Errno> {
        let changed = mark.facts()?.changed;
        // Read after that: a mark that changes meanwhile is not younger than now.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now_s = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
        let lives = 0..CLAIM_LIVES.as_secs() as i64;
        let is_young = |(second, _): Stamp| lives.contains(&now_s.saturating_sub(second));
        if changed.is_some_and(is_young) {
            return Ok(FoundManifest::Active(None));
        }
        let is_of_run = |name: &[u8]| {
            let of_directory = name.strip_prefix(b"s").or(name.strip_prefix(b"w"));
            running_number(of_directory.unwrap_or(name)).is_some()
        };
        Ok(match names::has_any(directory, is_of_run)? {
            true => FoundManifest::Foreign(
                "it is incomplete, and the directory has files that a run may have created"
                    .to_owned(),
            ),
            false => FoundManifest::Unfinished(mark),
        })
    }
}

type LockedMark = (Box<dyn Mark>, Lock);

/// The mark of a directory with its lock, or why it is not trusted.
fn lock_mark(
    namespace: &dyn Namespace,
    directory: &dyn Directory,
) -> Result<Result<Option<LockedMark>, String>, Errno> {
    let mut tries_left = 10;
    loop {
        let mark = match directory.mark(NAME) {
            Ok(Some(mark)) => mark,
            Ok(None) => return Ok(Ok(None)),
            Err(Errno::LOOP) => return Ok(Err("it is a symbolic link".to_owned())),
            Err(errno) => return Err(errno),
        };
        if let Err(why) = is_made_by_us(namespace, directory, &mark.facts()?) {
            return Ok(Err(why));
        }
        let lock = mark.lock()?;
        tries_left -= 1;
        // Else another one was put in its place meanwhile. Some file systems number their files
        // anew all the time.
        if tries_left == 0 || mark.is_named()? {
            return Ok(Ok(Some((mark, lock))));
        }
    }
}

/// What a manifest is whose run goes on, or that another process uses.
fn active(
    namespace: &dyn Namespace,
    lock: Lock,
    manifest: Option<&Manifest>,
) -> Option<FoundManifest> {
    let is_active = match lock {
        // The first rank has the lock, and others may be working yet.
        Lock::Ours => {
            let mut ranks = manifest.iter().flat_map(|manifest| &manifest.ranks);
            ranks.any(|rank| rank.seems_alive(namespace))
        }
        Lock::Others => true,
        Lock::Unknown => manifest.is_some_and(|manifest| manifest.seems_alive(namespace)),
    };
    is_active.then(|| match manifest {
        Some(manifest) if !manifest.seems_alive(namespace) => {
            FoundManifest::InHands(manifest.process)
        }
        manifest => FoundManifest::Active(manifest.cloned().map(Box::new)),
    })
}

/// Whether a file in a directory is one that this user has made there, as far as the namespace
/// knows; and if not, why.
fn is_made_by_us(
    namespace: &dyn Namespace,
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
    let (Some(process), Some(owner), Some(mode)) = (namespace.user(), facts.owner, facts.mode)
    else {
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
    let draft = format!("{DRAFT_PREFIX}{}-0", std::process::id());
    let mark = directory.draft(&draft).ok()?;
    let mode = mark.facts().ok().and_then(|facts| facts.mode);
    mark.restrict(mode.unwrap_or_default() & !WRITABLE_BY_OTHERS);
    let probed = mark.facts().ok();
    // By its name alone, which is this process's own: some file systems number their files anew all
    // the time.
    let removed = match &probed {
        Some(facts) => {
            let identity = None;
            let by_name = Facts { identity, ..*facts };
            directory.remove(draft.as_bytes(), &by_name).map(drop)
        }
        None => remove_by_name(directory, &draft),
    };
    removed.ok()?;
    // Where that is somebody else's right the times are true.
    let _ = before.restore(directory);
    let probed = probed?;
    probed.owner.zip(probed.mode)
}

/// Whether a text may be the first part of a manifest's.
fn is_cut_short(text: &[u8]) -> bool {
    let length = text.len().min(TEXT_BEGINS.len());
    text[..length] == TEXT_BEGINS[..length]
}

/// Removes the drafts of runs that were killed before they had made anything. Gives their names.
pub(crate) fn remove_drafts(
    namespace: &dyn Namespace,
    directory: &dyn Directory,
) -> Result<Vec<String>, Errno> {
    let is_left =
        |name: &[u8]| draft_process(name).is_some_and(|process| !namespace.is_alive(process));
    let drafts = names::listed(directory, is_left)?;
    let mut removed = Vec::new();
    for draft in drafts
        .into_iter()
        .filter_map(|draft| String::from_utf8(draft).ok())
    {
        // What cannot be opened, is locked or has other contents belongs to somebody else.
        if is_abandoned_draft(namespace, directory, &draft)
            && remove_by_name(directory, &draft).is_ok()
        {
            removed.push(draft);
        }
    }
    Ok(removed)
}

fn is_abandoned_draft(namespace: &dyn Namespace, directory: &dyn Directory, draft: &str) -> bool {
    let Ok(Some(mark)) = directory.mark(draft) else {
        return false;
    };
    mark.facts()
        .is_ok_and(|facts| is_made_by_us(namespace, directory, &facts).is_ok())
        && matches!(mark.lock(), Ok(Lock::Ours | Lock::Unknown))
        && mark
            .read(TEXT_BEGINS.len() as u64)
            .is_ok_and(|text| is_cut_short(&text))
}
