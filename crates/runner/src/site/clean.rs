//! `clean`: removing what killed runs have left in a directory.

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use record::CleanUp;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::before::for_each_name;
use super::manifest::{self, Found, Kind, Manifest};
use super::ownership::{Evidence, Until, born, facts};
use super::prepare::{OWN_DIRECTORY_PREFIX, own_directory_of};
use super::removal::open_directory;
use super::{Ground, life};
use crate::advice;

/// What became of one run's leavings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// They were removed, as far as said.
    Removed {
        /// Where they were.
        directory: PathBuf,
        /// What was removed and what was not.
        clean_up: CleanUp,
        /// Other directories that the same run used, the first few of them.
        others: Vec<String>,
        /// How many more there are.
        others_more: u64,
    },
    /// Manifests that killed runs had not written to their end were removed.
    Drafts {
        /// Where they were.
        directory: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// The run goes on: nothing was touched.
    Active {
        /// Where.
        directory: PathBuf,
        /// Its process, where the manifest says it.
        process: Option<u32>,
    },
    /// The run's process is gone, and another one cleans, or takes the run's kept pool: nothing was touched.
    InHands {
        /// Where.
        directory: PathBuf,
        /// The run's process.
        process: u32,
    },
    /// The pool was kept for a later run: nothing was touched. Given itself, it is removed.
    Kept {
        /// Where.
        directory: PathBuf,
    },
    /// Nothing was touched: the manifest is not one that this program believes, or cannot be looked at.
    Untouched {
        /// Where.
        directory: PathBuf,
        /// Why, in a sentence.
        why: String,
    },
}

/// The directory cannot be cleaned.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {}: {answer}: give a directory that you may read", .path.display())]
pub struct CleanError {
    what: &'static str,
    path: PathBuf,
    answer: std::io::Error,
}

/// Removes what killed runs have left in a directory: in itself, and in directories that such runs made in it.
/// A run's own directory can be given, too.
///
/// # Errors
/// Where the directory cannot be read.
pub fn clean(path: &Path) -> Result<Vec<Cleaned>, CleanError> {
    let error = |what, path: &Path, errno: Errno| CleanError {
        what,
        path: path.to_owned(),
        answer: errno.into(),
    };
    // Without links: what is removed is removed by the name that it has.
    let path = std::fs::canonicalize(path).map_err(|answer| CleanError {
        what: "find",
        path: path.to_owned(),
        answer,
    })?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory =
        openat(CWD, &path, flags, Mode::empty()).map_err(|errno| error("open the directory", &path, errno))?;
    let mut names: Vec<OsString> = Vec::new();
    for_each_name(&directory, |name| {
        if name.starts_with(OWN_DIRECTORY_PREFIX.as_bytes()) {
            names.push(OsStr::from_bytes(name).to_owned());
        }
        Ok(())
    })
    .map_err(|errno| error("list", &path, errno))?;
    names.sort();
    let mut cleaned = Vec::new();
    let mut abandoned = Vec::new();
    for name in names {
        // Files, links and other people's directories of such a name are passed by.
        let inner = match open_directory(&directory, &name) {
            Ok(inner) => inner,
            Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => continue,
            Err(errno) => {
                cleaned.push(Cleaned::Untouched {
                    directory: path.join(&name),
                    why: told("the directory cannot be opened", errno),
                });
                continue;
            }
        };
        match look(path.join(&name), inner, &mut cleaned) {
            Looked::Nothing => cleaned.extend(remove_unmarked(&directory, &name, path.join(&name))),
            Looked::Unmarked(done) => {
                cleaned.push(remove_unmarked(&directory, &name, path.join(&name)).unwrap_or(done));
            }
            Looked::Left(done) => cleaned.push(done),
            Looked::Abandoned(one) if one.manifest.kept.is_some() => {
                cleaned.push(Cleaned::Kept { directory: one.path })
            }
            Looked::Abandoned(one) => abandoned.push(one),
        }
    }
    match look(path.clone(), directory, &mut cleaned) {
        Looked::Nothing => {}
        Looked::Unmarked(done) | Looked::Left(done) => cleaned.push(done),
        Looked::Abandoned(one) => abandoned.push(one),
    }
    // The last one first: it gives the directory back its times as the one before had left them, and so on.
    abandoned.sort_by_key(|one| Reverse(one.manifest.began_unix_ns));
    for one in abandoned {
        let path = one.path.clone();
        cleaned.push(one.remove().unwrap_or_else(|errno| Cleaned::Untouched {
            directory: path,
            why: told("the directory or the one above it cannot be opened", errno),
        }));
    }
    Ok(cleaned)
}

fn told(what: &str, errno: Errno) -> String {
    format!("{what}: {errno}{}", advice::for_errno(Some(errno.raw_os_error())))
}

/// What a look into a directory has found.
enum Looked {
    /// No manifest.
    Nothing,
    /// One that was not whole: nothing can have been made after it. It was removed.
    Unmarked(Cleaned),
    /// Something that is left alone.
    Left(Cleaned),
    /// What a killed run has left.
    Abandoned(Box<Abandoned>),
}

struct Abandoned {
    path: PathBuf,
    directory: OwnedFd,
    manifest: Box<Manifest>,
    lock: File,
}

fn look(path: PathBuf, directory: OwnedFd, cleaned: &mut Vec<Cleaned>) -> Looked {
    let left = |directory, why| Looked::Left(Cleaned::Untouched { directory, why });
    // A draft that cannot be removed does no harm; its name is on no list of a run.
    if let Some(names) = manifest::remove_drafts(&directory)
        .ok()
        .filter(|names| !names.is_empty())
    {
        let directory = path.clone();
        cleaned.push(Cleaned::Drafts { directory, names });
    }
    match Manifest::find(&directory) {
        Ok(None) => Looked::Nothing,
        Ok(Some(Found::Active(manifest))) => Looked::Left(Cleaned::Active {
            directory: path,
            process: manifest.map(|manifest| manifest.process),
        }),
        Ok(Some(Found::InHands(process))) => Looked::Left(Cleaned::InHands {
            directory: path,
            process,
        }),
        Ok(Some(Found::Foreign(why))) => left(path, format!("its manifest ({}) is not trusted: {why}", manifest::NAME)),
        Ok(Some(Found::Unfinished(_lock))) => match unlinkat(&directory, manifest::NAME, AtFlags::empty()) {
            Ok(()) => Looked::Unmarked(Cleaned::Removed {
                directory: path,
                clean_up: CleanUp::default(),
                others: Vec::new(),
                others_more: 0,
            }),
            Err(errno) => left(
                path,
                told("its manifest was not written to its end, and cannot be removed", errno),
            ),
        },
        Ok(Some(Found::Abandoned(manifest, lock))) => Looked::Abandoned(Box::new(Abandoned {
            path,
            directory,
            manifest,
            lock,
        })),
        Err(errno) => left(path, told("its manifest cannot be read", errno)),
    }
}

impl Abandoned {
    fn remove(self) -> Result<Cleaned, Errno> {
        let (others, others_more) = (self.manifest.others.clone(), self.manifest.others_more);
        let evidence = self.evidence();
        let life = self.manifest.life.clone();
        let owner = Manifest::owner(&self.directory).ok();
        let users = match self.manifest.kind {
            Kind::Location => rustix::io::dup(&self.directory)?,
            Kind::OwnDirectory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                openat(&self.directory, "..", flags, Mode::empty())?
            }
        };
        let ground = Ground::new(self.path.clone(), self.directory, users, *self.manifest, self.lock)?;
        let clean_up = ground.leave(&evidence, &mut |_| ());
        if let (Some(life), Some(owner), false) = (life, owner, ground.is_marked()) {
            life::cleaned(&life, owner);
        }
        Ok(Cleaned::Removed {
            directory: self.path,
            clean_up,
            others,
            others_more,
        })
    }

    /// What is known of the run's files.
    fn evidence(&self) -> Evidence {
        let none = Evidence {
            numbers_made: u64::MAX,
            ..Evidence::default()
        };
        if let Some(kept) = &self.manifest.kept {
            return Evidence {
                until: Some(Until::new(kept.left_ns)),
                set_back_ns: kept.set_back_ns,
                ..none
            };
        }
        let owner = Manifest::owner(&self.directory);
        let signs = self.manifest.life.as_ref().zip(owner.ok());
        let Some(signs) = signs.and_then(|(life, owner)| life::read(life, owner)) else {
            return none;
        };
        Evidence {
            until: Some(Until::new(signs.last_ns)),
            set_back_ns: signs.set_back_ns,
            partly_written: signs.writing,
            ..none
        }
    }
}

/// A run that was killed between making its directory and marking it leaves the directory empty.
fn remove_unmarked(parent: &OwnedFd, name: &OsStr, path: PathBuf) -> Option<Cleaned> {
    /// A run makes its directory so many seconds after it has begun, at most.
    const MADE_WITHIN_S: i64 = 60;
    let (began, process) = own_directory_of(name.as_bytes())?;
    let facts = facts(parent, name).ok()?;
    let is_of_that_time = (began.saturating_sub(1)..began.saturating_add(MADE_WITHIN_S)).contains(&born(&facts).0);
    // One that was made a moment ago is going to be marked.
    if !is_of_that_time || manifest::is_alive(process) || facts.stx_uid != rustix::process::geteuid().as_raw() {
        return None;
    }
    // Removes it only where it is empty.
    unlinkat(parent, name, AtFlags::REMOVEDIR).ok()?;
    Some(Cleaned::Removed {
        directory: path,
        clean_up: CleanUp {
            directories: 1,
            ..CleanUp::default()
        },
        others: Vec::new(),
        others_more: 0,
    })
}
