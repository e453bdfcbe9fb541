//! Taking a place on the target: looking it through, marking it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Errno;
use engine::namespace::{Access, ActingUser, DIRECTORY_MODE, Directory, Exchanger, Namespace};
use record::Left;

use crate::advice;
use crate::clean::Abandoned;
use crate::dir_snapshot::Before;
use crate::heartbeat::Life;
use crate::manifest::{self, FoundManifest, Kind, Makes, Manifest, MixNames, OtherRank};
use crate::names::{self, OWN_DIRECTORY_PREFIX, running_number, subdirectory, worker_directory};
use crate::owned_files::OwnedDirectories as _;
use crate::ownership::Evidence;
use crate::run_directory::{RunDirectories, RunDirectory};

/// System calls take paths below this, the end not counted (`PATH_MAX` of limits.h has it in).
const PATH_BYTES_MAX: usize = 4096;
/// Names in the way are named up to this many.
const NAMED_MAX: usize = 5;

/// What a run wants to make, and where.
#[derive(Clone, Debug)]
pub struct LayoutRequest {
    /// Where the directories are.
    pub home: Arc<dyn Namespace>,
    /// The user's directories, from the root.
    pub locations: Vec<PathBuf>,
    /// Whether the files go into them, or into directories of the run's own inside them.
    pub in_own_directories: bool,
    /// Running numbers go from 1 to this.
    pub numbers_max: u64,
    /// Subdirectories of each, in a classic run.
    pub subdirectories: u32,
    /// With more than one, each gets a directory of its own.
    pub workers: u32,
    /// How a mix calls what it makes.
    pub mix: Option<MixNames>,
    /// What its files have in common.
    pub makes: Makes,
    /// The program, with its version.
    pub tool: String,
    /// The machine.
    pub host: String,
    /// The run's signs of life.
    pub life: Life,
    /// When the run began, in nanoseconds of the epoch.
    pub began_unix_ns: u64,
    /// The processes that perform it together with this one.
    pub ranks: Vec<OtherRank>,
}

/// A place cannot be taken; nothing was changed, but for [`Left`](Self::Left).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The directory cannot be used.
    #[error("cannot {what} {}: {answer}{hint}", .path.display())]
    System {
        /// What was being done.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system answered.
        answer: std::io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// Something in it has a name that the run would use.
    #[error(
        "{} already contains {names}, and a run would use these names (use an empty directory, or \
            move these away)",
        .path.display()
    )]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// The names, a few of them.
        names: String,
    },
    /// Another run is going on there.
    #[error("{} is in use by another run of postmark, process {process} (wait for it, or use \
        another directory)", .path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process, as its manifest says.
        process: String,
    },
    /// The run that it belonged to is gone, and another process has it.
    #[error(
        "{} is in use: the run's process ({process}) has ended, and another process cleans the \
            directory or uses its pool (wait for that, or use another directory)",
        .path.display()
    )]
    InHands {
        /// The directory.
        path: PathBuf,
        /// The process of the run that was there.
        process: u32,
    },
    /// A system call would not take the paths.
    #[error(
        "{} is too long: with the run's file names, a path has {bytes} bytes and must stay below \
            {PATH_BYTES_MAX} bytes (use a shorter one)",
        .path.display()
    )]
    TooLong {
        /// The directory of the files.
        path: PathBuf,
        /// The longest path below it.
        bytes: usize,
    },
    /// No pool was kept there.
    #[error("{} has no kept pool (create one with --keep, or remove --reuse)", .path.display())]
    NoKept {
        /// The directory.
        path: PathBuf,
    },
    /// More than one was.
    #[error("{} has several kept pools of this workload: {names} (choose one with --target)",
        .path.display())]
    SeveralKept {
        /// The directory.
        path: PathBuf,
        /// The pools' directories.
        names: String,
    },
    /// The pool there is of another workload.
    #[error(
        "{} has no kept pool of this workload, but one with '{found}' instead of '{wanted}' (use \
            the options of the run that kept it, or remove --reuse)",
        .path.display()
    )]
    OtherKept {
        /// The directory.
        path: PathBuf,
        /// The workload of the pool.
        found: String,
        /// The workload that was asked for.
        wanted: String,
    },
    /// What the first rank has made is not what this one finds.
    #[error(
        "{} is not the directory that rank 0 on host {host} has taken: {why} (use a --target that \
            all hosts share, under the same path)",
        .path.display()
    )]
    NotShared {
        /// The directory.
        path: PathBuf,
        /// The machine of the first rank.
        host: String,
        /// What was found.
        why: String,
    },
    /// There is a manifest that is not believed.
    #[error(
        "cannot use {}: its manifest ({}) is not trusted: {why} (use another directory, or remove \
            the manifest if nobody needs it)",
        .path.display(), names::NAME
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Root was to work where somebody else may exchange the directory.
    #[error(
        "refuse to run as root in {}: {who} may rename entries of {} and replace them with links \
            to other files (run as that user, use a directory of root, or add {option})",
        .path.display(), .directory.display()
    )]
    Untrusted {
        /// The location.
        path: PathBuf,
        /// The directory whose entries can be renamed.
        directory: PathBuf,
        /// By whom.
        who: String,
        /// What allows it, or what is besides in the way.
        option: &'static str,
    },
    /// Root was to follow a symbolic link that somebody else may replace.
    #[error(
        "refuse to run as root in {}: {who} may replace a symbolic link on the way, in {} (use \
            the path without symbolic links, or add --allow-unsafe-target)",
        .path.display(), .directory.display()
    )]
    Link {
        /// The location.
        path: PathBuf,
        /// Where the link lies.
        directory: PathBuf,
        /// By whom.
        who: String,
    },
    /// Root was to work in directories of several users.
    #[error(
        "refuse to run as root in {}: it would be used as user {user}, and {} as user {others} \
            (use targets of one user)",
        .path.display(), .other.display()
    )]
    SeveralUsers {
        /// A location.
        path: PathBuf,
        /// With whose rights it is used.
        user: u32,
        /// Another one.
        other: PathBuf,
        /// With whose rights that is used.
        others: u32,
    },
    /// What was made before it failed is there still, or may be.
    #[error("{error}; not removed: {}", listed(.left))]
    Left {
        /// What failed.
        error: Box<Self>,
        /// What may be there. Never empty.
        left: Vec<Left>,
    },
    /// A run was killed there.
    #[error("{} still contains files of a killed run (remove them with 'postmark clean {}')",
        .path.display(), .path.display())]
    Abandoned {
        /// The directory.
        path: PathBuf,
    },
}

fn listed(left: &[Left]) -> String {
    let lines: Vec<String> = left
        .iter()
        .map(|one| format!("{} ({})", one.path, one.why))
        .collect();
    lines.join(", ")
}

impl PrepareError {
    /// The error, with what could not be removed after it.
    fn with_left(self, left: Vec<Left>) -> Self {
        match (self, left.is_empty()) {
            (error, true) => error,
            (
                Self::Left {
                    error,
                    left: mut all,
                },
                false,
            ) => {
                all.extend(left);
                Self::Left { error, left: all }
            }
            (error, false) => Self::Left {
                error: Box::new(error),
                left,
            },
        }
    }
}

pub(super) fn system(what: &'static str, path: &Path, errno: Errno) -> PrepareError {
    let hint = match errno {
        Errno::NOENT => " (create the directory first, or use an existing one)",
        Errno::NOTDIR => " (use a directory)",
        Errno::ACCESS | Errno::PERM => " (use a writable directory)",
        Errno::ROFS => {
            " (the file system is mounted read-only: mount it read-write, or use another)"
        }
        Errno::NOSPC | Errno::DQUOT => " (the file system is full: free some space or inodes)",
        Errno::NAMETOOLONG => " (with the run's file names, a path must stay below 4096 bytes)",
        Errno::LOOP => " (use the directory itself, not a circular link)",
        errno => advice::for_errno(Some(errno.0)),
    };
    PrepareError::System {
        what,
        path: path.to_owned(),
        answer: errno.into(),
        hint,
    }
}

/// Takes all places of a run, or none. A directory that is named twice is taken once. Gives for
/// every location the number of its run directory.
pub fn prepare(wish: &LayoutRequest) -> Result<(RunDirectories, Vec<usize>), PrepareError> {
    let mut run_directories = RunDirectories::new(Vec::new(), wish.life.clone());
    let mut run_directory_of = Vec::new();
    // Where there are too few open files for all places, some are needed to leave those that were
    // taken.
    let spare = wish
        .locations
        .first()
        .map(|first| [(); 4].map(|()| wish.home.open(first)));
    for location in &wish.locations {
        match take(wish, location, &run_directories) {
            Ok(Taken::New(run_directory)) => {
                run_directory_of.push(run_directories.all.len());
                run_directories.all.push(*run_directory);
            }
            Ok(Taken::Again(number)) => run_directory_of.push(number),
            Err(error) => {
                drop(spare);
                // No file was made.
                let cleaned = run_directories.leave(&Evidence::default(), &mut |_| ());
                return Err(error.with_left(cleaned.left));
            }
        }
    }
    run_directories.life.lies_in(run_directories.all.len());
    Ok((run_directories, run_directory_of))
}

enum Taken {
    New(Box<RunDirectory>),
    Again(usize),
}

fn take(
    wish: &LayoutRequest,
    location: &Path,
    earlier: &RunDirectories,
) -> Result<Taken, PrepareError> {
    let users = wish
        .home
        .open(location)
        .map_err(|errno| system("open the directory", location, errno))?;
    if !wish.in_own_directories {
        refuse_long_paths(wish, location)?;
        let facts = users
            .facts()
            .map_err(|errno| system("examine", location, errno))?;
        let again = earlier
            .all
            .iter()
            .position(|run_directory| match run_directory.identity() {
                Some(identity) => facts.identity == Some(identity),
                None => run_directory.directory == location,
            });
        if let Some(number) = again {
            return Ok(Taken::Again(number));
        }
        refuse_other_runs(wish, location, &users)?;
    }
    let mut in_the_way = Vec::new();
    let looked = Before::read(&*users, |name| {
        if !wish.in_own_directories && is_in_the_way(wish, name) && in_the_way.len() <= NAMED_MAX {
            in_the_way.push(name.to_owned());
        }
    });
    let before = looked.map_err(|errno| system("list the directory", location, errno))?;
    let mut manifest = Manifest {
        postmark_manifest: Manifest::version(),
        tool: wish.tool.clone(),
        kind: if wish.in_own_directories {
            Kind::OwnDirectory
        } else {
            Kind::Location
        },
        process: std::process::id(),
        host: wish.host.clone(),
        began_unix_ns: wish.began_unix_ns,
        numbers_max: wish.numbers_max,
        subdirectories: wish.subdirectories,
        workers: wish.workers,
        mix: wish.mix.clone(),
        makes: wish.makes.clone(),
        directory_inode: 0,
        born: None,
        life: wish.life.name().map(str::to_owned),
        ranks: wish.ranks.clone(),
        kept: None,
        before,
        others: Vec::new(),
        others_more: 0,
    };
    let others = wish.locations.iter().filter(|other| *other != location);
    manifest.list_others(others.map(|other| other.to_string_lossy().into_owned()));
    if wish.in_own_directories {
        return own_directory(wish, location, users, manifest);
    }
    if !in_the_way.is_empty() {
        return Err(occupied(location, &*users, &in_the_way));
    }
    let lock = match manifest.write(&*users) {
        Ok(lock) => lock,
        // Somebody was quicker since the look at it.
        Err(Errno::EXIST) => {
            refuse_other_runs(wish, location, &users)?;
            return Err(system("mark", location, Errno::EXIST));
        }
        Err(errno) => {
            // It was there for a moment.
            let _ = manifest.before.restore(&*users);
            let left = marks_left(&*users, location, location);
            return Err(system("write a manifest in", location, errno).with_left(left));
        }
    };
    let held = Arc::clone(&users);
    let run_directory = RunDirectory::new(
        Arc::clone(&wish.home),
        location.to_owned(),
        held,
        users,
        manifest,
        lock,
    );
    run_directory
        .map(|run_directory| Taken::New(Box::new(run_directory)))
        .map_err(|errno| system("examine", location, errno))
}

/// A place that root uses with the rights of another user alone, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: as root, files are made and removed there as user {}, since {} may rename entries of {} \
        and replace them with links to \
     other files",
    .path.display(), .user.user, .exchanger.who, .exchanger.directory.display()
)]
pub struct OtherUser {
    path: PathBuf,
    user: ActingUser,
    exchanger: Exchanger,
}

/// The other user with whose rights all of these locations are used; nothing where these are the
/// process's own. Refuses root a place where others could turn its rights against it.
/// `subdirectories` are those beside the user's own files.
pub fn other_user(
    home: &dyn Namespace,
    locations: &[PathBuf],
    trusts_others: bool,
    subdirectories: u32,
) -> Result<Option<OtherUser>, PrepareError> {
    let mut first: Option<(&PathBuf, Option<OtherUser>)> = None;
    for location in locations {
        let other = other_user_in(home, location, trusts_others, subdirectories)?;
        let number = |other: &Option<OtherUser>| other.as_ref().map_or(0, |other| other.user.user);
        match &first {
            None => first = Some((location, other)),
            Some((another, before)) if number(before) != number(&other) => {
                return Err(PrepareError::SeveralUsers {
                    path: location.clone(),
                    user: number(&other),
                    other: (*another).clone(),
                    others: number(before),
                });
            }
            Some(_) => {}
        }
    }
    Ok(first.and_then(|(_, other)| other))
}

fn other_user_in(
    home: &dyn Namespace,
    location: &Path,
    trusts_others: bool,
    subdirectories: u32,
) -> Result<Option<OtherUser>, PrepareError> {
    let access = home
        .access(location)
        .map_err(|errno| system("examine", location, errno))?;
    let path = location.to_owned();
    let untrusted = |Exchanger { directory, who }, option| PrepareError::Untrusted {
        path: location.to_owned(),
        directory,
        who,
        option,
    };
    match access {
        Access::Own => Ok(None),
        Access::As(_, exchanger) | Access::Refused(exchanger) | Access::Link(exchanger)
            if trusts_others =>
        {
            // Names in subdirectories are resolved through them: beside the user's own files others
            // may exchange these, too.
            match subdirectories > 1 {
                true => Err(untrusted(
                    exchanger,
                    "no subdirectories (--allow-unsafe-target does not cover them)",
                )),
                false => Ok(None),
            }
        }
        Access::As(user, exchanger) => Ok(Some(OtherUser {
            path,
            user,
            exchanger,
        })),
        Access::Link(Exchanger { directory, who }) => Err(PrepareError::Link {
            path,
            directory,
            who,
        }),
        Access::Refused(exchanger) => Err(untrusted(exchanger, "--allow-unsafe-target")),
    }
}

fn refuse_long_paths(wish: &LayoutRequest, directory: &Path) -> Result<(), PrepareError> {
    let subdirectory = if wish.subdirectories > 1 {
        format!("/s{}", wish.subdirectories - 1)
    } else {
        String::new()
    };
    let longest = match &wish.mix {
        None => format!("{subdirectory}/{}", wish.numbers_max).len(),
        Some(mix) => {
            let mut deepest = Vec::new();
            mix.layout
                .write_temporary_directory(mix.layout.places() - 1, &mut deepest);
            deepest.len() + mix.names.length_max(wish.numbers_max) + 1
        }
    };
    let worker = if wish.workers > 1 {
        format!("/w{}", wish.workers).len()
    } else {
        0
    };
    let bytes = directory.as_os_str().len() + worker + longest;
    if bytes < PATH_BYTES_MAX {
        return Ok(());
    }
    Err(PrepareError::TooLong {
        path: directory.to_owned(),
        bytes,
    })
}

fn is_in_the_way(wish: &LayoutRequest, name: &[u8]) -> bool {
    if wish.subdirectories > 1 {
        subdirectory(name).is_some_and(|number| number < u64::from(wish.subdirectories))
    } else {
        running_number(name).is_some_and(|number| (1..=wish.numbers_max).contains(&number))
    }
}

fn refuse_other_runs(
    wish: &LayoutRequest,
    location: &Path,
    directory: &Arc<dyn Directory>,
) -> Result<(), PrepareError> {
    let error = |errno| system("read the manifest in", location, errno);
    match Manifest::find(&*wish.home, &**directory).map_err(error)? {
        None => Ok(()),
        Some(FoundManifest::Abandoned(manifest, lock))
            if manifest.names_nothing_in(&**directory).map_err(error)? =>
        {
            // Its files were removed by hand.
            let abandoned = Abandoned {
                home: Arc::clone(&wish.home),
                path: location.to_owned(),
                directory: Arc::clone(directory),
                manifest,
                lock,
            };
            abandoned.remove().map_err(error)?;
            match Manifest::find(&*wish.home, &**directory).map_err(error)? {
                None => Ok(()),
                Some(found) => Err(not_ours(location, &found)),
            }
        }
        Some(found) => Err(not_ours(location, &found)),
    }
}

/// Why a directory with this manifest cannot be taken.
pub(super) fn not_ours(location: &Path, found: &FoundManifest) -> PrepareError {
    let path = location.to_owned();
    match found {
        FoundManifest::Active(manifest) => PrepareError::InUse {
            path,
            process: manifest.as_ref().map_or_else(
                || "unknown".to_owned(),
                |manifest| manifest.process.to_string(),
            ),
        },
        FoundManifest::InHands(process) => PrepareError::InHands {
            path,
            process: *process,
        },
        FoundManifest::Abandoned(..) | FoundManifest::Unfinished(_) => {
            PrepareError::Abandoned { path }
        }
        FoundManifest::Foreign(why) => PrepareError::Foreign {
            path,
            why: why.clone(),
        },
    }
}

/// Says what is in the way: files by name, directories with a name in them.
fn occupied(location: &Path, directory: &dyn Directory, in_the_way: &[Vec<u8>]) -> PrepareError {
    let mut names: Vec<String> = Vec::new();
    for name in in_the_way.iter().take(NAMED_MAX) {
        let shown = String::from_utf8_lossy(name).into_owned();
        let mut inner = None;
        if let Ok(opened) = directory.open(name) {
            // A directory that cannot be listed is named by itself.
            let _ = opened.list(&mut |entry| {
                inner.get_or_insert_with(|| String::from_utf8_lossy(entry.name).into_owned());
                Ok(())
            });
        }
        names.push(match inner {
            Some(inner) => format!("'{shown}' (with '{shown}/{inner}' in it)"),
            None => format!("'{shown}'"),
        });
    }
    if in_the_way.len() > NAMED_MAX {
        names.push("others".to_owned());
    }
    PrepareError::Occupied {
        path: location.to_owned(),
        names: names.join(", "),
    }
}

fn own_directory(
    wish: &LayoutRequest,
    location: &Path,
    users: Arc<dyn Directory>,
    manifest: Manifest,
) -> Result<Taken, PrepareError> {
    let seconds = manifest.began_unix_ns / 1_000_000_000;
    // A server that loses every reply is not asked for ever.
    let mut unknown_left = 3;
    for attempt in 0..1_000 {
        let name = format!(
            "{OWN_DIRECTORY_PREFIX}{seconds}-{}-{attempt}",
            manifest.process
        );
        let directory = location.join(&name);
        refuse_long_paths(wish, &directory)?;
        let error = match users.make(name.as_bytes(), 0o755) {
            Ok(()) => match mark(wish, &users, &name, directory.clone(), manifest.clone()) {
                Ok(run_directory) => return Ok(run_directory),
                Err(errno) => (errno, system("write a manifest in", &directory, errno)),
            },
            Err(Errno::EXIST) => continue,
            Err(errno) => (errno, system("make a directory in", location, errno)),
        };
        let (errno, error) = error;
        // It has this run's own name, and only an empty directory is removed.
        let removed = manifest::remove_by_name(&*users, &name);
        // `clean` in another process namespace has taken it for one of a run that was killed.
        if errno == Errno::NOENT && removed == Err(Errno::NOENT) {
            continue;
        }
        if errno == REPLY_LOST && removed.is_ok() && unknown_left > 0 {
            unknown_left -= 1;
            continue;
        }
        let _ = manifest.before.restore(&*users);
        let may_come = [REPLY_LOST, Errno::TIMEDOUT].contains(&errno);
        let left = match removed {
            Ok(()) => Vec::new(),
            Err(Errno::NOENT) if !may_come => Vec::new(),
            Err(errno) => directory_left(&*users, &name, location, &directory, errno),
        };
        return Err(error.with_left(left));
    }
    Err(system(
        "find a free name for a directory in",
        location,
        Errno::EXIST,
    ))
}

/// What a call fails with whose reply was lost with the connection: nobody knows whether it was
/// performed.
const REPLY_LOST: Errno = Errno(rustix::io::Errno::CONNRESET.raw_os_error());

/// A directory of the run's that could not be removed, or may be made yet, and the marks in it.
fn directory_left(
    users: &dyn Directory,
    name: &str,
    location: &Path,
    directory: &Path,
    errno: Errno,
) -> Vec<Left> {
    let cleaned = format!("run 'postmark clean {}' later", location.display());
    let why = match errno {
        Errno::NOENT => format!("the server may make it yet, as it did not answer: {cleaned}"),
        errno => format!("it may be there, and cannot be removed: {errno}; {cleaned}"),
    };
    let mut left = vec![Left {
        path: directory.to_string_lossy().into_owned(),
        why,
    }];
    if let Ok(held) = users.open(name.as_bytes()) {
        left.extend(marks_left(&*held, directory, location));
    }
    left
}

/// The marks in a directory where there was none before this run.
fn marks_left(held: &dyn Directory, directory: &Path, location: &Path) -> Vec<Left> {
    // What cannot be listed lies in a directory that is named.
    let marks = names::listed(held, names::is_mark).unwrap_or_default();
    let left = |mark: &Vec<u8>| Left {
        path: directory
            .join(OsStr::from_bytes(mark))
            .to_string_lossy()
            .into_owned(),
        why: format!("run 'postmark clean {}' later", location.display()),
    };
    marks.iter().map(left).collect()
}

fn mark(
    wish: &LayoutRequest,
    users: &Arc<dyn Directory>,
    name: &str,
    directory: PathBuf,
    mut manifest: Manifest,
) -> Result<Taken, Errno> {
    let held = users.open(name.as_bytes())?;
    let lock = manifest.write(&*held)?;
    users.sync()?;
    let users = Arc::clone(users);
    Ok(Taken::New(Box::new(RunDirectory::new(
        Arc::clone(&wish.home),
        directory,
        held,
        users,
        manifest,
        lock,
    )?)))
}

impl RunDirectories {
    /// Makes a directory for each worker in every place. On failure everything is removed again.
    pub fn make_worker_directories(&self, workers: u32) -> Result<(), PrepareError> {
        for run_directory in &self.all {
            for worker in 0..workers {
                let name = worker_directory(worker);
                if let Err(errno) = run_directory.held.make(name.as_bytes(), DIRECTORY_MODE) {
                    let path = run_directory.directory.join(&name);
                    let cleaned = self.leave(&Evidence::default(), &mut |_| ());
                    return Err(system("make the directory", &path, errno).with_left(cleaned.left));
                }
            }
            if let Err(errno) = run_directory.held.sync() {
                let path = run_directory.directory.clone();
                let cleaned = self.leave(&Evidence::default(), &mut |_| ());
                return Err(system("sync", &path, errno).with_left(cleaned.left));
            }
        }
        Ok(())
    }
}
