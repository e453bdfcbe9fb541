//! The command `clean`: removes files that killed runs left in a directory.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Errno;
use engine::namespace::{Directory, EntryKind, Facts, Mark, Namespace};
use record::CleanUp;

use crate::advice;
use crate::found_manifest::{self, FoundManifest};
use crate::heartbeat;
use crate::landmark::Landmark;
use crate::manifest::{self, Kind, Manifest};
use crate::names::{self, own_directory_of};
use crate::ownership::{EndStamps, Evidence};
use crate::run_directory::RunDirectory;

/// The result for one run, or for the incomplete manifests, that `clean` found in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// The run's files were removed, except for those listed in `clean_up.left`.
    Removed {
        directory: PathBuf,
        clean_up: CleanUp,
        /// Paths of the run's directories in other locations, up to a limit.
        others: Vec<String>,
        /// Number of directories in other locations that `others` does not list.
        others_more: u64,
    },
    /// Incomplete manifests of killed runs were removed.
    Drafts {
        directory: PathBuf,
        /// File names of the removed manifests.
        names: Vec<String>,
    },
    /// The run is active: nothing was touched.
    Active {
        directory: PathBuf,
        /// The run's process ID, if its manifest could be read.
        process: Option<u32>,
    },
    /// The run's process has ended, and another process is cleaning up, or is reusing the run's
    /// kept pool: nothing was touched.
    InHands { directory: PathBuf, process: u32 },
    /// The pool was kept for a later run: nothing was touched. `clean` removes a kept pool only if
    /// the pool's own directory is given as the path.
    Kept { directory: PathBuf },
    /// The manifest is not trusted or cannot be read: nothing was touched.
    Untouched {
        directory: PathBuf,
        /// The reason why the manifest is not used, as a sentence.
        why: String,
    },
}

/// The directory cannot be cleaned; contains the message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CleanError(String);

/// Removes files that killed runs left in a directory: in the directory itself, and in the runs'
/// own directories inside it. The path may also be a run's own directory.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub fn clean(namespace: &Arc<dyn Namespace>, path: &Path) -> Result<Vec<Cleaned>, CleanError> {
    let error = |what, path: &Path, errno: Errno| {
        let advice = match advice::for_errno(Some(errno.raw_os_error())) {
            "" => " (use a readable directory)",
            advice => advice,
        };
        let answer = std::io::Error::from(errno);
        CleanError(format!(
            "cannot {what} {}: {answer}{advice}",
            path.display()
        ))
    };
    // Resolves symbolic links, because a removal refuses paths that contain symbolic links.
    let path = namespace
        .real_path(path)
        .map_err(|errno| error("find", path, errno))?;
    let opened = open(namespace, &path);
    let directory = opened.map_err(|errno| error("open the directory", &path, errno))?;
    let names = names::listed(&*directory, names::is_own_directory)
        .map_err(|errno| error("list", &path, errno))?;
    let mut cleaned = Vec::new();
    let mut abandoned = Vec::new();
    for name in names {
        // Skips files and symbolic links that are named like a run's own directory.
        let own = path.join(OsStr::from_bytes(&name));
        let inner = match directory.open(&name) {
            Ok(inner) => inner,
            Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => continue,
            Err(errno) => {
                cleaned.push(Cleaned::Untouched {
                    directory: own,
                    why: told("the directory cannot be opened", errno),
                });
                continue;
            }
        };
        match look(namespace, own.clone(), inner, &mut cleaned) {
            Looked::Unmarked(done) => {
                cleaned.extend(remove_unmarked(&**namespace, &*directory, &name, own).or(done));
            }
            Looked::Left(done) => cleaned.push(done),
            Looked::Abandoned(one) if one.manifest.kept.is_some() => cleaned.push(Cleaned::Kept {
                directory: one.path,
            }),
            Looked::Abandoned(one) => abandoned.push(*one),
        }
    }
    match look(namespace, path.clone(), directory, &mut cleaned) {
        Looked::Unmarked(done) => cleaned.extend(done),
        Looked::Left(done) => cleaned.push(done),
        Looked::Abandoned(one) => abandoned.push(*one),
    }
    cleaned.extend(remove_all(abandoned));
    heartbeat::remove_unneeded();
    Ok(cleaned)
}

fn open(namespace: &Arc<dyn Namespace>, path: &Path) -> Result<Arc<dyn Directory>, Errno> {
    match namespace.open(path) {
        // The namespace returns `PERM` for a directory in which other users could exploit root's
        // rights. `--allow-unsafe-target` permits runs in such a directory, so `clean` may remove
        // their files.
        Err(Errno::PERM) => Arc::clone(namespace).with_own_rights().open(path),
        opened => opened,
    }
}

/// Finds the manifest of a killed run in its directory, and locks it.
///
/// # Errors
/// Returns the reason if the manifest is lost, is not trusted, or belongs to an active run.
pub(crate) fn find_abandoned(
    namespace: &Arc<dyn Namespace>,
    path: &Path,
) -> Result<Abandoned, String> {
    let directory = open(namespace, path).map_err(|errno| {
        let what = format!("the directory {} cannot be opened", path.display());
        told(&what, errno)
    })?;
    // Drafts of the manifest are removed. They contain nothing that is needed.
    match look(namespace, path.to_owned(), directory, &mut Vec::new()) {
        Looked::Abandoned(one) => Ok(*one),
        Looked::Unmarked(_) => Err("its manifest is lost".to_owned()),
        Looked::Left(Cleaned::Untouched { why, .. }) => Err(why),
        Looked::Left(_) => Err("it is in use".to_owned()),
    }
}

/// Removes the files of several runs, beginning with the latest run. Each removal restores the
/// directory times from before its run. In the end, the directory therefore has the times from
/// before the first run.
fn remove_all(mut abandoned: Vec<Abandoned>) -> impl Iterator<Item = Cleaned> {
    abandoned.sort_by_key(|one| Reverse(one.manifest.began_unix_ns));
    abandoned.into_iter().map(|one| {
        let path = one.path.clone();
        one.remove().unwrap_or_else(|errno| Cleaned::Untouched {
            directory: path,
            why: told("the directory or the one above it cannot be opened", errno),
        })
    })
}

fn told(what: &str, errno: Errno) -> String {
    format!("{what}: {}", advice::told(errno))
}

enum Looked {
    /// The directory contains no manifest. The field is the result for an incomplete manifest that
    /// was found and removed. Removing it is safe, because a run makes its first file only after
    /// its manifest is complete.
    Unmarked(Option<Cleaned>),
    /// The directory contains a run's files or a manifest, and must not be cleaned.
    Left(Cleaned),
    /// The directory of a killed run.
    Abandoned(Box<Abandoned>),
}

/// A directory of a killed run, with the manifest and the lock on the manifest.
pub(crate) struct Abandoned {
    pub(crate) namespace: Arc<dyn Namespace>,
    pub(crate) path: PathBuf,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) manifest: Box<Manifest>,
    pub(crate) lock: Box<dyn Mark>,
}

fn look(
    namespace: &Arc<dyn Namespace>,
    path: PathBuf,
    directory: Arc<dyn Directory>,
    cleaned: &mut Vec<Cleaned>,
) -> Looked {
    // A manifest that belongs to this process's own user shows that the run used the rights of this
    // user. The files of the run are then removed with the same rights.
    let is_own = |facts: Facts| facts.kind == EntryKind::File && facts.owner == namespace.user();
    let own = directory.with_own_rights();
    let own = own.filter(|_| directory.facts_of(names::NAME.as_bytes()).is_ok_and(is_own));
    let directory = own.unwrap_or(directory);
    let left = |directory, why| Looked::Left(Cleaned::Untouched { directory, why });
    // A draft of a manifest that cannot be removed does no harm, because no run uses its name for a
    // file.
    if let Some(names) = found_manifest::remove_drafts(&**namespace, &*directory)
        .ok()
        .filter(|names| !names.is_empty())
    {
        let directory = path.clone();
        cleaned.push(Cleaned::Drafts { directory, names });
    }
    match Manifest::find(&**namespace, &*directory) {
        Ok(None) => Looked::Unmarked(None),
        Ok(Some(FoundManifest::Active(manifest))) => Looked::Left(Cleaned::Active {
            directory: path,
            process: manifest.map(|manifest| manifest.process),
        }),
        Ok(Some(FoundManifest::InHands(process))) => Looked::Left(Cleaned::InHands {
            directory: path,
            process,
        }),
        Ok(Some(FoundManifest::Foreign(why))) => left(
            path,
            format!("its manifest ({}) is not trusted: {why}", names::NAME),
        ),
        Ok(Some(FoundManifest::Unfinished(_lock))) => {
            match manifest::remove_by_name(&*directory, names::NAME) {
                Ok(()) => Looked::Unmarked(Some(removed(path, 0))),
                Err(errno) => left(
                    path,
                    told("its manifest is incomplete and cannot be removed", errno),
                ),
            }
        }
        Ok(Some(FoundManifest::Abandoned(manifest, lock))) => {
            Looked::Abandoned(Box::new(Abandoned {
                namespace: Arc::clone(namespace),
                path,
                directory,
                manifest,
                lock,
            }))
        }
        Err(errno) => left(path, told("its manifest cannot be read", errno)),
    }
}

impl Abandoned {
    /// Converts into a run directory, which can remove the files as the run itself would.
    pub(crate) fn into_run_directory(self) -> Result<RunDirectory, Errno> {
        let users = match self.manifest.kind {
            Kind::Location => Arc::clone(&self.directory),
            Kind::OwnDirectory => self.directory.above()?,
        };
        let landmark = Landmark::new(&self.namespace, self.path, self.directory)?;
        RunDirectory::new(landmark, users, *self.manifest, self.lock)
    }

    pub(crate) fn remove(self) -> Result<Cleaned, Errno> {
        let (others, others_more) = (self.manifest.others.clone(), self.manifest.others_more);
        let evidence = self.evidence();
        let lives = self.lives();
        let directory = self.path.clone();
        let run_directory = self.into_run_directory()?;
        let clean_up = run_directory.leave(&evidence, &mut |_| ());
        if !run_directory.is_marked() {
            let lives = lives.iter().filter_map(|(_, life)| life.as_deref());
            lives.for_each(heartbeat::cleaned);
        }
        Ok(Cleaned::Removed {
            directory,
            clean_up,
            others,
            others_more,
        })
    }

    /// Returns evidence about the run's files: from the manifest of a kept pool, otherwise from the
    /// run's heartbeat files.
    pub(crate) fn evidence(&self) -> Evidence {
        let none = Evidence {
            numbers_made: u64::MAX,
            ..Evidence::default()
        };
        if let Some(kept) = &self.manifest.kept {
            return Evidence {
                until: Some(EndStamps::new(kept.left_ns)),
                set_back_ns: kept.set_back_ns,
                ..none
            };
        }
        let mut evidence = none;
        let mut last_ns = Some(i64::MIN);
        for (first_worker, life) in self.lives() {
            let Some(signs) = life.as_deref().and_then(heartbeat::read) else {
                // The heartbeat file of a rank on another host cannot be read. The time at which
                // that rank ended is therefore not available.
                last_ns = None;
                continue;
            };
            last_ns = last_ns.map(|last_ns| last_ns.max(signs.last_ns));
            evidence.set_back_ns = evidence.set_back_ns.max(signs.set_back_ns);
            let names = signs.partly_written.into_iter();
            evidence
                .partly_written
                .extend(names.map(|(name, worker)| (name, first_worker + worker)));
        }
        evidence.until = last_ns.map(EndStamps::new);
        evidence
    }

    /// Returns, for each rank, the number of its first worker and the name of its heartbeat file.
    fn lives(&self) -> Vec<(u32, Option<String>)> {
        let others = self.manifest.ranks.iter();
        let others = others.map(|rank| (rank.first_worker, rank.life.clone()));
        [(0, self.manifest.life.clone())]
            .into_iter()
            .chain(others)
            .collect()
    }
}

/// Removes the empty directory of a run that was killed after it had made the directory and before
/// it wrote its manifest.
fn remove_unmarked(
    namespace: &dyn Namespace,
    parent: &dyn Directory,
    name: &[u8],
    path: PathBuf,
) -> Option<Cleaned> {
    /// Maximum time from the beginning of a run until it makes its directory, in seconds.
    const MADE_WITHIN_S: i64 = 60;
    let (began, process) = own_directory_of(name)?;
    let facts = parent.facts_of(name).ok()?;
    let of_that_time = began.saturating_sub(1)..began.saturating_add(MADE_WITHIN_S);
    // If the creation time is not available, the name of the directory is sufficient. This name
    // contains the time at which the run began, and the run's process ID.
    let is_of_that_time = facts
        .born_or_changed()
        .is_none_or(|(second, _)| of_that_time.contains(&second));
    // A live process with this ID may be about to write its manifest into the directory.
    let user = parent
        .acts_as()
        .map(|acting| acting.user)
        .or(namespace.user());
    if !is_of_that_time || namespace.is_alive(process) || facts.owner != user {
        return None;
    }
    // Only an empty directory is removed. A directory with files and without a manifest may belong
    // to a user.
    match manifest::gone(parent.remove(name, &facts)) {
        Ok(()) => {}
        Err(Errno::NOTEMPTY) => return None,
        Err(errno) => {
            return Some(Cleaned::Untouched {
                directory: path,
                why: told("the directory of a run cannot be removed", errno),
            });
        }
    }
    Some(removed(path, 1))
}

/// Returns the result for a run that was killed before it made a file, and left only directories.
fn removed(directory: PathBuf, directories: u64) -> Cleaned {
    Cleaned::Removed {
        directory,
        clean_up: CleanUp {
            directories,
            ..CleanUp::default()
        },
        others: Vec::new(),
        others_more: 0,
    }
}
