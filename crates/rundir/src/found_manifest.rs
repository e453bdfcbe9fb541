//! Finds the manifest of a directory. Determines whether the manifest is trusted, and whether its
//! run is active.

use std::time::{Duration, SystemTime};

use engine::Errno;
use engine::namespace::{Directory, EntryKind, Facts, Lock, Mark, Namespace, Stamp};

use crate::dir_snapshot::Before;
use crate::manifest::{BYTES_MAX, Manifest, WRITABLE_BY_OTHERS, inode, remove_by_name};
use crate::names::{self, DRAFT_PREFIX, NAME, draft_process, running_number};

/// The first bytes of every manifest, by which an incomplete manifest is recognized.
const TEXT_BEGINS: &[u8] = b"{\n  \"postmark_manifest\": ";

/// Minimum age of an incomplete manifest that counts as abandoned. A younger manifest may still be
/// written by its run.
const CLAIM_LIVES: Duration = Duration::from_secs(2);
/// A manifest in a directory, and the state of its run.
#[derive(Debug)]
pub(crate) enum FoundManifest {
    /// The manifest is complete, was made by this user, and is now locked by this process: its run
    /// was killed, or kept its pool.
    Abandoned(Box<Manifest>, Box<dyn Mark>),
    /// The run of the manifest is active. The field is `None` if the manifest cannot be parsed.
    Active(Option<Box<Manifest>>),
    /// The run's process (with this ID) has ended. Another process holds the lock, because it
    /// cleans up or reuses a kept pool.
    InHands(u32),
    /// The manifest was made by this user, but is incomplete: its run was killed before it made a
    /// file.
    Unfinished(Box<dyn Mark>),
    /// The manifest is not trusted; contains the reason.
    Foreign(String),
}

impl Manifest {
    /// Finds and locks the manifest of a directory. Returns `None` if the directory contains no
    /// manifest.
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

    /// Determines the state of the run whose manifest is incomplete. If the manifest is young, the
    /// run may be about to begin. If it is old, the run was killed before it made a file.
    fn unfinished(directory: &dyn Directory, mark: Box<dyn Mark>) -> Result<FoundManifest, Errno> {
        let changed = mark.facts()?.changed;
        // The clock is read after the file's change time. The manifest's age is therefore not
        // negative, even if the manifest changes in between.
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

/// Locks the manifest of a directory. The inner error is the reason why the manifest is not
/// trusted.
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
        // Another process may replace the manifest before it is locked; the next try then opens the
        // new manifest. The number of tries is limited because some file systems keep changing
        // inode numbers.
        if tries_left == 0 || mark.is_named()? {
            return Ok(Ok(Some((mark, lock))));
        }
    }
}

/// Returns a result if the manifest's run is active, or if another process uses the manifest;
/// otherwise `None`.
fn active(
    namespace: &dyn Namespace,
    lock: Lock,
    manifest: Option<&Manifest>,
) -> Option<FoundManifest> {
    let is_active = match lock {
        // The first rank has released the lock, but other ranks of the run may still be working.
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

/// Checks that this user made the file in this directory, as far as the namespace reports owners.
/// Returns the reason if another user may have made it.
fn is_made_by_us(
    namespace: &dyn Namespace,
    directory: &dyn Directory,
    facts: &Facts,
) -> Result<(), String> {
    if facts.kind != EntryKind::File {
        return Err("it is not a regular file".to_owned());
    }
    // A server that creates hard links but does not remove names leaves the draft beside the
    // manifest, so the manifest has two names.
    if facts
        .names
        .is_some_and(|names| names > 1 && names > marks_of(directory, facts))
    {
        return Err("it has other hard links and was created elsewhere".to_owned());
    }
    // If the file system reports no owners, all users who may write to the directory are trusted.
    let (Some(process), Some(owner), Some(mode)) = (namespace.user(), facts.owner, facts.mode)
    else {
        return Ok(());
    };
    let me = directory.acts_as().map_or(process, |acting| acting.user);
    // Files made with the process's own rights also count as made by this user.
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

/// Returns the number of manifests and drafts in a directory that are hard links to the same file.
fn marks_of(directory: &dyn Directory, facts: &Facts) -> u64 {
    let is_same = |mark: &Vec<u8>| {
        let found = directory.facts_of(mark);
        facts.identity.is_some() && found.is_ok_and(|found| found.identity == facts.identity)
    };
    let marks = names::listed(directory, names::is_mark).unwrap_or_default();
    marks.iter().filter(|mark| is_same(mark)).count() as u64
}

/// Returns the owner and mode that a manifest of this process gets in the directory. Creates and
/// removes a test manifest to determine them. Returns `None` if the file system uses the requested
/// owner and mode. Preserves the directory's times.
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
    // Removes the draft by its name without checking its inode, because some file systems keep
    // changing inode numbers. The name contains this process's ID, so it is unique.
    let removed = match &probed {
        Some(facts) => {
            let identity = None;
            let by_name = Facts { identity, ..*facts };
            directory.remove(draft.as_bytes(), &by_name).map(drop)
        }
        None => remove_by_name(directory, &draft),
    };
    removed.ok()?;
    // The draft has changed the directory's times. The error is ignored, because this process may
    // lack the right to set the times.
    let _ = before.restore(directory);
    let probed = probed?;
    probed.owner.zip(probed.mode)
}

/// Whether `text` may be the beginning of a manifest that was not written completely.
fn is_cut_short(text: &[u8]) -> bool {
    let length = text.len().min(TEXT_BEGINS.len());
    text[..length] == TEXT_BEGINS[..length]
}

/// Removes drafts of manifests that killed runs left, and returns the names of the drafts.
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
        // A draft that cannot be opened, is locked, or has other contents belongs to another
        // process or user, and is kept.
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
