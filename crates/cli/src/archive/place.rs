//! Where the archive lies: which file, whose it is, how its file system bears it, and whether the
//! target shares its device.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::{Archive, ArchiveError, JournalMode, Opening, Owner, Pending};
use document::sanitize;
use nix::unistd::User;
use runner::{NoAnswer, Place, RunSpec};
use spec::Note;
use system::{Class, Fact, Sources, Target, WatchedDevices};

use crate::output::{is_one, is_standard_output};
use crate::problem::{Problem, tell};
use crate::run_spec::error::SpecError;

/// What is said in the place of a file where nothing is to be archived.
const NONE: &str = "none";
/// The archive that is meant where none is said.
const VARIABLE: &str = "POSTMARK_ARCHIVE";

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
    path: PathBuf,
    owner: Option<Owner>,
    /// By an option or the environment; else it is where the user's data are.
    is_asked: bool,
}

/// Where a run is to be archived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Nowhere, as was asked.
    Nowhere,
    /// There.
    At(ArchivePlace),
    /// Nobody has asked for an archive, and none can be had: why.
    Unknown(String),
}

/// What the environment says of where the archive is.
struct Surroundings {
    /// `POSTMARK_ARCHIVE`.
    archive: Option<OsString>,
    /// `XDG_DATA_HOME`, where it is of the user who is meant.
    data: Option<OsString>,
    /// `HOME`.
    home: Option<OsString>,
    /// Whose process this is.
    user: u32,
    /// Who has called a program of root's by sudo.
    invoker: Option<Owner>,
}

impl Surroundings {
    fn read() -> Self {
        // What is empty says nothing.
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let number = |name: &str| variable(name)?.to_str()?.parse().ok();
        // Nobody's where that cannot be read.
        let user = std::fs::metadata("/proc/self").map_or(u32::MAX, |facts| facts.uid());
        let invoker = || {
            Some(Owner {
                user: number("SUDO_UID")?,
                group: number("SUDO_GID")?,
            })
        };
        let is_root = user == 0;
        let invoker = is_root
            .then(invoker)
            .flatten()
            .filter(|owner| owner.user != 0);
        // Under sudo it may be root's own, where nothing is the invoker's.
        let is_meant = |data: &OsString| {
            invoker.is_none_or(|owner| holder(Path::new(data)) == Some(owner.user))
        };
        Self {
            archive: variable(VARIABLE),
            data: variable("XDG_DATA_HOME").filter(is_meant),
            home: variable("HOME"),
            user,
            invoker,
        }
    }
}

/// Whose a directory is; of one that is not there, the nearest above it that is. One whose file
/// system does not answer is nobody's.
fn holder(directory: &Path) -> Option<u32> {
    let directory = directory.to_owned();
    let facts = runner::within(LOOK_MAX, move || {
        directory
            .ancestors()
            .find_map(|above| std::fs::metadata(above).ok())
    });
    facts.ok().flatten().map(|facts| facts.uid())
}

/// Whether what is said in the place of a file says that nothing is to be archived.
pub fn is_none(said: &Path) -> bool {
    // A file of that name is ./none.
    said.as_os_str() == NONE
}

/// The archive that is meant.
///
/// # Errors
/// Where what was asked for is no file.
fn chosen(said: Option<&Path>) -> Result<Chosen, Problem> {
    Ok(find(said, Surroundings::read(), &home_of)?)
}

/// The archive of a run, which does not wait for a file system that does not answer.
///
/// # Errors
/// Where what was asked for is no file, or lies on such a file system.
pub fn chosen_for_run(said: Option<&Path>) -> Result<Chosen, Problem> {
    let chosen = chosen(said)?;
    let Chosen::At(place) = &chosen else {
        return Ok(chosen);
    };
    let path = place.path.clone();
    // What it answers is looked at when the archive is opened.
    match runner::within(LOOK_MAX, move || drop(std::fs::metadata(path))) {
        Ok(()) => Ok(chosen),
        Err(why) if place.is_asked => Err(place.unanswered("look at", why).into()),
        Err(why) => Ok(Chosen::Unknown(
            place.unanswered("look at", why).to_string(),
        )),
    }
}

/// The directory of the archive that is meant; where there is to be none, that of the user's.
///
/// # Errors
/// Where neither can be found.
pub fn directory_of_runs(said: Option<&Path>) -> Result<PathBuf, String> {
    let users = || {
        let surroundings = Surroundings {
            archive: None,
            ..Surroundings::read()
        };
        find(None, surroundings, &home_of)
    };
    let chosen = match chosen(said) {
        Ok(Chosen::Nowhere) => users().map_err(|error| error.to_string()),
        chosen => chosen.map_err(|error| error.to_string()),
    };
    match chosen? {
        Chosen::At(place) => {
            let path = std::path::absolute(&place.path).map_err(|error| error.to_string())?;
            Ok(path.parent().map_or(path.clone(), Path::to_owned))
        }
        Chosen::Unknown(why) => Err(why),
        Chosen::Nowhere => Err("there is no archive".to_owned()),
    }
}

/// The archive that is meant by a command that is about one.
///
/// # Errors
/// Where there is to be none.
pub fn place_of_one(said: Option<&Path>) -> Result<ArchivePlace, Problem> {
    let told = match chosen(said)? {
        Chosen::At(place) => return Ok(place),
        Chosen::Unknown(why) => why,
        Chosen::Nowhere => {
            format!(
                "there is no archive, because of --archive {NONE} or {VARIABLE}={NONE} (use \
                 --archive FILE)"
            )
        }
    };
    Err(SpecError::ConfigError(told).into())
}

fn find(
    said: Option<&Path>,
    surroundings: Surroundings,
    home_of: &dyn Fn(u32) -> Option<PathBuf>,
) -> Result<Chosen, SpecError> {
    let said = said
        .map(Path::to_owned)
        .or(surroundings.archive.map(PathBuf::from));
    if let Some(path) = said {
        if is_standard_output(&path) {
            let told = "invalid value '-' for --archive: expected the path of a file (./- for a \
                        file with this name), or none";
            return Err(SpecError::ConfigError(told.to_owned()));
        }
        if is_none(&path) {
            return Ok(Chosen::Nowhere);
        }
        return Ok(Chosen::At(ArchivePlace {
            path,
            owner: None,
            is_asked: true,
        }));
    }
    // Others than absolute ones are to be ignored, by the XDG Base Directory Specification 0.8.
    let data = surroundings
        .data
        .map(PathBuf::from)
        .filter(|data| data.is_absolute());
    let home = || match surroundings.invoker {
        Some(owner) => home_of(owner.user),
        None => {
            let home = surroundings
                .home
                .map(PathBuf::from)
                .filter(|home| home.is_absolute());
            home.or_else(|| home_of(surroundings.user))
        }
    };
    let data = data.or_else(|| home().map(|home| home.join(".local/share")));
    let Some(data) = data else {
        let told = "cannot find the archive: neither XDG_DATA_HOME nor HOME names a directory, \
                    and the user has no home directory (use --archive FILE, or --archive none)";
        return Ok(Chosen::Unknown(told.to_owned()));
    };
    Ok(Chosen::At(ArchivePlace {
        path: data.join("postmark/archive.db"),
        owner: surroundings.invoker,
        is_asked: false,
    }))
}

/// The home of a user by the database of users.
fn home_of(user: u32) -> Option<PathBuf> {
    let found = User::from_uid(user.into()).ok()??;
    Some(found.dir).filter(|home| home.is_absolute())
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
        ArchiveError::File {
            doing,
            path: self.path.clone(),
            cause: std::io::Error::other(why),
        }
    }

    /// Opens it for a command, and takes in the records that wait beside it.
    ///
    /// # Errors
    /// Where it cannot be opened, or there is none and none is to be made.
    pub fn open(&self, make: bool) -> Result<Archive, ArchiveError> {
        self.open_within(make, PATIENCE)
    }

    /// The same for a run that is to begin: makes it, and waits neither for another process nor for
    /// a file system for long.
    ///
    /// # Errors
    /// Where it cannot be opened, made or written to.
    pub fn open_for_run(&self) -> Result<Archive, ArchiveError> {
        let place = self.clone();
        let opened = runner::within(OPEN_MAX, move || place.open_within(true, PATIENCE_SHORT));
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

    fn open_within(&self, make: bool, patience: Duration) -> Result<Archive, ArchiveError> {
        let waiting = archive::waiting(&self.path).len();
        // What waits where no archive could be made has one made for it.
        let make = make || (waiting > 0 && !self.path.exists());
        let mut archive = self.opened(make, patience)?;
        if waiting > 0 {
            take_in(&mut archive, waiting);
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
    pub fn refuse(&self, option: &str, path: &Path) -> Result<(), SpecError> {
        if is_standard_output(path) {
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
            .any(|end| is_one(&beside(end), path))
        {
            let path = sanitize::path(path);
            return Err(SpecError::ConfigError(format!(
                "cannot write {option} {path}: this file is the archive (use another file)"
            )));
        }
        Ok(())
    }

    /// Says so where the archive and a target lie on one device.
    pub fn shares(&self, spec: &RunSpec) -> Option<Note> {
        if spec.place == Place::Nowhere || spec.storage.speaks_to_servers() {
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
fn take_in(archive: &mut Archive, waiting: usize) {
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
        tell(format_args!(
            "{waiting} {} of earlier runs still {} in files beside the archive, because it cannot \
             be written: {error}",
            if waiting == 1 { "record" } else { "records" },
            if waiting == 1 { "waits" } else { "wait" },
        ));
    }
    if !numbers.is_empty() {
        tell(format_args!(
            "added to the archive from files beside it: run {}",
            numbers.join(", ")
        ));
    }
    for (path, why) in left.iter().take(NAMED_MAX) {
        tell(format_args!(
            "not added to the archive: {}: {why} (move this file away)",
            sanitize::path(path)
        ));
    }
    if left.len() > NAMED_MAX {
        tell(format_args!(
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

    fn surroundings() -> Surroundings {
        Surroundings {
            archive: None,
            data: None,
            home: Some("/home/me".into()),
            user: 7,
            invoker: None,
        }
    }

    fn path(said: Option<&str>, surroundings: Surroundings) -> Option<(String, Option<Owner>)> {
        let home_of = |user: u32| (user == 1000).then(|| PathBuf::from("/home/invoker"));
        match find(said.map(Path::new), surroundings, &home_of).unwrap() {
            Chosen::At(place) => Some((place.path.display().to_string(), place.owner)),
            Chosen::Nowhere | Chosen::Unknown(_) => None,
        }
    }

    fn is_unknown(surroundings: Surroundings) -> bool {
        matches!(
            find(None, surroundings, &|_| None).unwrap(),
            Chosen::Unknown(_)
        )
    }

    fn is_asked(said: Option<&str>, surroundings: Surroundings) -> bool {
        match find(said.map(Path::new), surroundings, &|_| None).unwrap() {
            Chosen::At(place) => place.is_asked,
            Chosen::Nowhere | Chosen::Unknown(_) => false,
        }
    }

    #[test]
    fn what_is_said_goes_before_the_environment_and_that_before_the_data_folder() {
        let with_variable = || Surroundings {
            archive: Some("/v.db".into()),
            data: Some("/data".into()),
            ..surroundings()
        };
        assert_eq!(
            path(Some("/s.db"), with_variable()),
            Some(("/s.db".to_owned(), None))
        );
        assert_eq!(
            path(None, with_variable()),
            Some(("/v.db".to_owned(), None))
        );
        assert_eq!(path(Some("none"), with_variable()), None);
        assert_eq!(
            path(Some("./none"), with_variable()),
            Some(("./none".to_owned(), None))
        );
        let variable_none = Surroundings {
            archive: Some("none".into()),
            ..surroundings()
        };
        assert_eq!(path(None, variable_none), None);
        let data = Surroundings {
            data: Some("/data".into()),
            ..surroundings()
        };
        assert_eq!(
            path(None, data),
            Some(("/data/postmark/archive.db".to_owned(), None))
        );
        let home = "/home/me/.local/share/postmark/archive.db";
        assert_eq!(path(None, surroundings()), Some((home.to_owned(), None)));
        let relative = Surroundings {
            data: Some("data".into()),
            ..surroundings()
        };
        assert_eq!(path(None, relative), Some((home.to_owned(), None)));
        let nothing = Surroundings {
            home: None,
            ..surroundings()
        };
        assert!(is_unknown(nothing));
        assert!(is_asked(Some("/s.db"), surroundings()) && is_asked(None, with_variable()));
        assert!(!is_asked(None, surroundings()));
        let a_service = Surroundings {
            home: None,
            user: 1000,
            ..surroundings()
        };
        let home = "/home/invoker/.local/share/postmark/archive.db";
        assert_eq!(path(None, a_service), Some((home.to_owned(), None)));
        assert!(find(Some(Path::new("-")), surroundings(), &|_| None).is_err());
    }

    #[test]
    fn under_sudo_it_is_the_invoking_users() {
        let invoker = Some(Owner {
            user: 1000,
            group: 100,
        });
        let under_sudo = || Surroundings {
            home: Some("/root".into()),
            invoker,
            ..surroundings()
        };
        let place = "/home/invoker/.local/share/postmark/archive.db";
        assert_eq!(path(None, under_sudo()), Some((place.to_owned(), invoker)));
        assert_eq!(
            path(Some("/s.db"), under_sudo()),
            Some(("/s.db".to_owned(), None))
        );
        let unknown = Surroundings {
            invoker: Some(Owner { user: 7, group: 7 }),
            ..surroundings()
        };
        assert!(is_unknown(unknown), "root's is not taken instead");
    }

    #[test]
    fn a_directory_that_is_not_there_is_its_holders() {
        let ours = rustix::process::getuid().as_raw();
        let scene = tempfile::tempdir().unwrap();
        assert_eq!(holder(&scene.path().join("not/there")), Some(ours));
        assert_eq!(holder(Path::new("/proc/1/nowhere")), Some(0));
    }

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
    fn homes_are_found_by_number() {
        assert_eq!(home_of(0), Some(PathBuf::from("/root")));
        assert_eq!(home_of(u32::MAX - 7), None);
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
