//! Where the archive lies: how its file system bears it, what waits beside it, and whether the
//! target shares its device.

use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::{Archive, ArchiveError, JournalMode, Opening, Owner, Pending};
use document::sanitize;
use runner::{NoAnswer, Place, RunSpec};
use spec::Note;
use system::{Class, Fact, Sources, Target, WatchedDevices};

use crate::error::Error;
use crate::same_file::is_same_file;
use crate::user::User;

/// A command waits so long for another process that keeps the archive.
const PATIENCE: Duration = Duration::from_secs(20);
/// A run that is to begin waits so long, and whoever takes in what waits beside the archive.
const PATIENCE_SHORT: Duration = Duration::from_secs(2);
/// A run that is to begin waits so long for an archive's file system, which may be busy, and have
/// much to take in.
const OPEN_MAX: Duration = Duration::from_secs(60);
/// A file system that does not tell for so long what is at a path does not keep a run from its
/// start any longer.
pub(super) const LOOK_MAX: Duration = Duration::from_secs(5);
/// Files beside an archive that were left are named up to this many.
const NAMED_MAX: usize = 5;

/// An archive that may not be there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePlace {
    pub(super) path: PathBuf,
    pub(super) owner: Option<Owner>,
    /// By an option or the environment; else it is where the user's data are.
    pub(super) is_asked: bool,
}

impl ArchivePlace {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who is to own what is made there.
    pub fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// Whether somebody has asked for an archive there.
    pub fn is_asked(&self) -> bool {
        self.is_asked
    }

    /// Its file system does not answer.
    pub(super) fn unanswered(&self, doing: &'static str, why: NoAnswer) -> ArchiveError {
        ArchiveError::file(doing, &self.path, &std::io::Error::other(why))
    }

    /// Opens it for a command, and takes in the records that wait beside it.
    ///
    /// # Errors
    /// Where it cannot be opened, or there is none and none is to be made.
    pub fn open(&self, make: bool, user: User) -> Result<Archive, ArchiveError> {
        self.open_within(make, PATIENCE, user)
    }

    /// The same for a run that is to begin: makes it, and waits neither for another process nor for
    /// a file system for long.
    ///
    /// # Errors
    /// Where it cannot be opened, made or written to.
    pub fn open_for_run(&self, user: User) -> Result<Archive, ArchiveError> {
        let place = self.clone();
        let opened = runner::within(OPEN_MAX, move || {
            place.open_within(true, PATIENCE_SHORT, user)
        });
        opened.unwrap_or_else(|why| Err(self.unanswered("open", why)))
    }

    /// Whether a record could be left in a file beside it.
    ///
    /// # Errors
    /// Why it could not.
    pub fn may_leave_beside(&self) -> Result<(), ArchiveError> {
        let path = self.path.clone();
        let may = runner::within(LOOK_MAX, move || archive::may_leave_beside(&path));
        may.unwrap_or_else(|why| Err(self.unanswered("write a file beside", why)))
    }

    fn open_within(
        &self,
        make: bool,
        patience: Duration,
        user: User,
    ) -> Result<Archive, ArchiveError> {
        let waiting = archive::waiting(&self.path).len();
        // What waits where no archive could be made has one made for it.
        let make = make || (waiting > 0 && !self.path.exists());
        let mut archive = self.opened(make, patience)?;
        if waiting > 0 {
            take_in(&mut archive, waiting, user);
        }
        Ok(archive)
    }

    fn opened(&self, make: bool, patience: Duration) -> Result<Archive, ArchiveError> {
        let (class, kind) = match self.target().mount {
            Fact::Known(mount) => (Some(mount.class()), mount.file_system_type),
            Fact::NotApplicable | Fact::Unavailable(_) => (None, String::new()),
        };
        Archive::open(&Opening {
            path: &self.path,
            journal: journal(class, &kind),
            owner: self.owner,
            make,
            patience,
        })
    }

    /// What it lies on, or will.
    fn target(&self) -> Target {
        // Where it is a link, its target's file system bears it.
        let path = std::fs::canonicalize(&self.path).or_else(|_| std::path::absolute(&self.path));
        let path = path.unwrap_or_else(|_| self.path.clone());
        let there = path.ancestors().find(|ancestor| ancestor.exists());
        Target::read(&Sources::default(), there.unwrap_or(Path::new("/")))
    }

    /// Refuses a file that is to be written and is the archive, or one of those that SQLite has
    /// beside it.
    ///
    /// # Errors
    /// Where it is one.
    pub fn refuse(&self, option: &str, path: &Path) -> Result<(), Error> {
        if path == Path::new("-") {
            return Ok(());
        }
        let archive = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let beside = |end: &str| {
            let mut name = archive.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        };
        if ["", "-wal", "-shm", "-journal"]
            .iter()
            .any(|end| is_same_file(&beside(end), path))
        {
            let path = sanitize::path(path);
            return Err(Error::refused(format!(
                "cannot write {option} {path}: this file is the archive (use another file)"
            )));
        }
        Ok(())
    }

    /// Says so where the archive and a target lie on one device.
    pub fn shares(&self, spec: &RunSpec) -> Option<Note> {
        if spec.place == Place::Nowhere || !spec.engine.uses_directories() {
            return None;
        }
        let (place, targets) = (self.clone(), spec.targets.clone());
        let look = move || {
            let ours = place.target();
            let sources = Sources::default();
            let mut targets = targets
                .iter()
                .map(|target| Target::read(&sources, spec::directory(target)));
            targets.find_map(|target| shared(&sources, &ours, &target))
        };
        // Of a file system that does not answer the run says so itself.
        let shared = runner::within(LOOK_MAX, look).ok().flatten()?;
        Some(Note::ArchiveOnTarget {
            archive: self.path.to_string_lossy().into_owned(),
            shared,
        })
    }
}

/// Takes in the records that wait beside an archive, and tells of it. None of them keeps anybody
/// from anything: what cannot be taken in waits on.
fn take_in(archive: &mut Archive, waiting: usize, user: User) {
    let mut numbers = Vec::new();
    let mut left = Vec::new();
    let taken = archive
        .writable()
        .and_then(|()| archive.wait_up_to(PATIENCE_SHORT))
        .and_then(|()| {
            archive.take_waiting(&mut |pending| match pending {
                Pending::Imported(number) => numbers.push(number.to_string()),
                Pending::Left { path, why } => left.push((path, why)),
                _ => {}
            })
        });
    // The patience for what follows is what it was before; where it cannot be set, it is shorter.
    let _ = archive.wait_up_to(PATIENCE);
    if let Err(error) = taken {
        let waiting = waiting.saturating_sub(numbers.len() + left.len());
        user.tell(format_args!(
            "{waiting} {} of earlier runs still {} in files beside the archive, because it cannot \
             be written: {error}",
            if waiting == 1 { "record" } else { "records" },
            if waiting == 1 { "waits" } else { "wait" },
        ));
    }
    if !numbers.is_empty() {
        user.tell(format_args!(
            "added to the archive from files beside it: run {}",
            numbers.join(", ")
        ));
    }
    for (path, why) in left.iter().take(NAMED_MAX) {
        user.tell(format_args!(
            "not added to the archive: {}: {why} (move this file away)",
            sanitize::path(path)
        ));
    }
    if left.len() > NAMED_MAX {
        user.tell(format_args!(
            "and {} other files like that",
            left.len() - NAMED_MAX
        ));
    }
}

/// What two directories lie on both, in words.
fn shared(sources: &Sources, one: &Target, other: &Target) -> Option<String> {
    let is_memory = |target: &Target| target.class == Fact::Known(Class::Memory);
    if is_memory(one) || is_memory(other) {
        return None;
    }
    let devices = |target: &Target| -> Vec<String> {
        let found = WatchedDevices::of(sources, [target])
            .into_known()
            .unwrap_or_default();
        found.list.into_iter().map(|device| device.name).collect()
    };
    let of_other = devices(other);
    if let Some(name) = devices(one)
        .into_iter()
        .find(|name| of_other.contains(name))
    {
        return Some(format!("device {name}"));
    }
    let mounted = |target: &Target| target.mount.known().map(|mount| mount.device);
    (mounted(one).is_some() && mounted(one) == mounted(other)).then(|| "file system".to_owned())
}

/// How changes reach an archive on a file system of this class and type: a write-ahead log where it
/// is known to be of this machine alone, as its processes share memory.
fn journal(class: Option<Class>, kind: &str) -> JournalMode {
    /// Several machines mount these block devices at once.
    const OF_A_CLUSTER: [&str; 2] = ["gfs2", "ocfs2"];
    match class {
        Some(Class::Block) if !OF_A_CLUSTER.contains(&kind) => JournalMode::WriteAhead,
        Some(Class::Memory | Class::Overlay) => JournalMode::WriteAhead,
        Some(Class::Block | Class::Network | Class::Other) | None => JournalMode::Rollback,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_many_paths() {
        let scene = tempfile::tempdir().unwrap();
        let path = |name: &str| scene.path().join(name);
        std::fs::write(path("archive.db"), "").unwrap();
        std::os::unix::fs::symlink(path("archive.db"), path("link")).unwrap();
        std::fs::write(path("other"), "").unwrap();
        let place = ArchivePlace {
            path: path("link"),
            owner: None,
            is_asked: true,
        };
        for same in [
            "archive.db",
            "link",
            "./archive.db",
            "archive.db-wal",
            "archive.db-journal",
        ] {
            let told = place
                .refuse("--output", &path(same))
                .unwrap_err()
                .to_string();
            assert!(
                told.contains("--output") && told.contains("use another file"),
                "{told}"
            );
        }
        for other in ["other", "new", "link-wal"] {
            place.refuse("--output", &path(other)).unwrap();
        }
        place.refuse("--output", Path::new("-")).unwrap();
        let new = ArchivePlace {
            path: path("new.db"),
            owner: None,
            is_asked: true,
        };
        assert!(new.refuse("--output", &path("./new.db")).is_err());
    }

    #[test]
    fn a_log_in_shared_memory_is_for_one_machine() {
        for (class, kind, journal_of) in [
            (Some(Class::Block), "ext4", JournalMode::WriteAhead),
            (Some(Class::Block), "xfs", JournalMode::WriteAhead),
            (Some(Class::Block), "btrfs", JournalMode::WriteAhead),
            (Some(Class::Memory), "tmpfs", JournalMode::WriteAhead),
            (Some(Class::Overlay), "overlay", JournalMode::WriteAhead),
            (Some(Class::Block), "gfs2", JournalMode::Rollback),
            (Some(Class::Block), "ocfs2", JournalMode::Rollback),
            (Some(Class::Network), "nfs4", JournalMode::Rollback),
            (Some(Class::Other), "fuse.whatever", JournalMode::Rollback),
            (None, "", JournalMode::Rollback),
        ] {
            assert_eq!(journal(class, kind), journal_of, "{kind}");
        }
        // Which types are of a network is told by the mount.
        for kind in [
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "9p",
            "virtiofs",
            "ceph",
            "fuse.ceph",
            "lustre",
            "fuse.sshfs",
            "glusterfs",
        ] {
            let line = format!("36 35 0:98 / /mnt rw - {kind} server:/export rw\n");
            let mounts = system::MountTable::parse(&line).unwrap().mounts;
            assert_eq!(
                journal(Some(mounts[0].class()), kind),
                JournalMode::Rollback,
                "{kind}"
            );
        }
    }
}
