//! The path of the archive. Determines the journal mode from the file system, detects targets on
//! the same device, and imports the records that wait beside the archive.

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

/// Maximum wait of a command for another process that has locked the archive.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum wait for the lock at the beginning of a run, and when records beside the archive are
/// imported.
const PATIENCE_SHORT: Duration = Duration::from_secs(2);
/// Maximum time for opening the archive at the beginning of a run, including the import of waiting
/// records. The archive's file system may be busy.
const OPEN_MAX: Duration = Duration::from_secs(60);
/// Maximum wait for a response of a file system at the beginning of a run.
pub(super) const LOOK_MAX: Duration = Duration::from_secs(5);
/// Maximum number of files beside an archive that a message lists.
const NAMED_MAX: usize = 5;

/// The path of an archive, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePlace {
    pub(super) path: PathBuf,
    pub(super) owner: Option<Owner>,
    /// Whether an option or the environment names the archive. If not, it is in the user's data
    /// directory.
    pub(super) is_asked: bool,
}

impl ArchivePlace {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the owner of new files beside the archive; `None` for the user of this process.
    pub fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// Whether an option or the environment names this archive.
    pub fn is_asked(&self) -> bool {
        self.is_asked
    }

    pub(super) fn unanswered(&self, doing: &'static str, why: NoAnswer) -> ArchiveError {
        ArchiveError::file(doing, &self.path, &std::io::Error::other(why))
    }

    /// Opens the archive for a command, and imports the records that wait beside the archive.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be opened, or if it does not exist and `make` is
    /// false.
    pub fn open(&self, make: bool, user: User) -> Result<Archive, ArchiveError> {
        self.open_within(make, PATIENCE, user)
    }

    /// Opens the archive for a run that is about to begin, and creates it if necessary. The time
    /// limits for other processes and for the file system are short.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be opened, created or written.
    pub fn open_for_run(&self, user: User) -> Result<Archive, ArchiveError> {
        let place = self.clone();
        let opened = runner::within(OPEN_MAX, move || {
            place.open_within(true, PATIENCE_SHORT, user)
        });
        opened.unwrap_or_else(|why| Err(self.unanswered("open", why)))
    }

    /// Checks that a record can be written to a file beside the archive.
    ///
    /// # Errors
    /// Returns the reason if the file cannot be written.
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
        // If records wait although the archive does not exist, the archive is created for them.
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

    /// Returns the file system on which the archive is, or will be created.
    fn target(&self) -> Target {
        // The archive is on the file system of a symbolic link's target, not of the link.
        let path = std::fs::canonicalize(&self.path).or_else(|_| std::path::absolute(&self.path));
        let path = path.unwrap_or_else(|_| self.path.clone());
        let there = path.ancestors().find(|ancestor| ancestor.exists());
        Target::read(&Sources::default(), there.unwrap_or(Path::new("/")))
    }

    /// Refuses an output file that is the archive, or a file that SQLite keeps beside the archive.
    ///
    /// # Errors
    /// Returns an error if the output would overwrite the archive or a file of SQLite.
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

    /// Returns a note if the run's archive and one of its targets are on the same device.
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
        // If a target's file system does not respond, the run itself reports this later.
        let shared = runner::within(LOOK_MAX, look).ok().flatten()?;
        Some(Note::ArchiveOnTarget {
            archive: self.path.to_string_lossy().into_owned(),
            shared,
        })
    }
}

/// Imports the records that wait beside an archive, and reports the result. A record that cannot be
/// imported continues to wait, and the command continues.
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
    // Restores the time limit for later operations. If this fails, the shorter limit remains.
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

/// Describes the device or file system that contains both targets. `None` if they share none, or if
/// one of them is in memory.
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

/// Returns the journal mode for a file system of this class and type. A write-ahead log is used
/// only if no other machine can use the file system, because all processes must share the log's
/// memory.
fn journal(class: Option<Class>, kind: &str) -> JournalMode {
    /// File systems on block devices that several machines can mount at the same time.
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
    fn output_to_the_archive_is_refused_under_every_path() {
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
    fn write_ahead_log_is_used_only_on_local_file_systems() {
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
        // Determines the class from a line of the mount table. All of these file systems must get a
        // rollback journal.
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
