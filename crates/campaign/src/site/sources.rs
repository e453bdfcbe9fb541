//! Finds the files of a site below a directory. Symbolic links are not followed, only regular files
//! are opened, and a file is never changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use document::sanitize;
use report::site::SourceProblem;
use rustix::fs::{Mode, OFlags};

use crate::error::Error;
use crate::same_file::{FileId, id_of};

/// Maximum depth of directories.
const DEPTH_MAX: usize = 32;
/// Maximum number of files, so that a wrong directory does not fill the memory.
const FILES_MAX: usize = 1_000_000;
/// The file that marks a directory as a site, with the list of its files.
pub const MARKER: &str = "postmark-site.json";
/// The name of the file that makes a directory a submission.
pub const SUBMISSION: &str = "submission.toml";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Records as JSON, or a page of `report` that contains records.
    Records,
    Archive,
    Design,
    Submission,
}

impl SourceKind {
    fn of(name: &OsStr) -> Option<Self> {
        if name == SUBMISSION {
            return Some(Self::Submission);
        }
        match Path::new(name).extension()?.to_str()? {
            "json" | "jsonl" | "html" => Some(Self::Records),
            "db" | "sqlite" => Some(Self::Archive),
            "toml" => Some(Self::Design),
            _ => None,
        }
    }
}

/// A file of the site, with its path relative to the directory.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub path: PathBuf,
    pub name: String,
    pub kind: SourceKind,
}

impl SourceFile {
    /// Opens the file. A name that has become a link or a pipe is refused, without waiting for
    /// another process.
    ///
    /// # Errors
    /// Returns the system's error, or an error if the file is not a regular file.
    pub fn open(&self) -> io::Result<File> {
        open_regular(&self.path)
    }
}

pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// The files below a directory, in the order of their names, and the files that cannot be used.
#[derive(Debug, Default)]
pub struct Sources {
    pub files: Vec<SourceFile>,
    pub problems: Vec<SourceProblem>,
}

impl Sources {
    /// Finds the files below a directory. Names that begin with a period, sites, and the directory
    /// with the identity `excluded` are left out.
    ///
    /// # Errors
    /// Returns an error if a directory cannot be read, or if there are too many files.
    pub fn find(root: &Path, excluded: Option<FileId>) -> Result<Self, Error> {
        let facts = fs::metadata(root).map_err(|cause| cannot_read(root, &cause))?;
        if !facts.is_dir() {
            return Err(Error::refused(format_args!(
                "cannot make a site of {}: it is not a directory (give the directory with the \
                 records)",
                sanitize::path(root)
            )));
        }
        let mut found = Self::default();
        found.walk(root, Path::new(""), 0, excluded)?;
        Ok(found)
    }

    fn walk(
        &mut self,
        root: &Path,
        inside: &Path,
        depth: usize,
        excluded: Option<FileId>,
    ) -> Result<(), Error> {
        let directory = root.join(inside);
        let failed = |cause: io::Error| cannot_read(&directory, &cause);
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entries.len() + self.files.len() > FILES_MAX {
                return Err(Error::refused(format_args!(
                    "cannot make a site of {}: it has more than {FILES_MAX} files (give the \
                     directory with the records)",
                    sanitize::path(root)
                )));
            }
            let kind = entry.file_type().map_err(failed)?;
            entries.insert(entry.file_name(), kind);
        }
        if entries.contains_key(OsStr::new(MARKER)) && depth > 0 {
            return Ok(());
        }
        for (name, kind) in entries {
            let below = inside.join(&name);
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = root.join(&below);
            let shown = sanitize::path(&below).into_owned();
            if kind.is_dir() {
                let id = fs::symlink_metadata(&path).map(|facts| id_of(&facts)).ok();
                match depth {
                    _ if id.is_some() && id == excluded => {}
                    DEPTH_MAX => self.reject(&shown, "its directories are nested too deeply"),
                    _ => self.walk(root, &below, depth + 1, excluded)?,
                }
            } else if kind.is_symlink() {
                self.reject(&shown, "it is a symbolic link, which is not followed");
            } else if let Some(of) = SourceKind::of(&name) {
                match kind.is_file() {
                    true => self.files.push(SourceFile {
                        path,
                        name: shown,
                        kind: of,
                    }),
                    false => self.reject(&shown, "it is not a regular file"),
                }
            }
        }
        Ok(())
    }

    fn reject(&mut self, name: &str, why: &str) {
        self.problems.push(SourceProblem::new(name, why));
    }
}

fn cannot_read(path: &Path, cause: &io::Error) -> Error {
    Error::refused(format_args!(
        "cannot read the directory {}: {cause} (give a directory that you can read)",
        sanitize::path(path)
    ))
}

/// The directories of submissions.
pub fn submission_directories(files: &[SourceFile]) -> BTreeSet<PathBuf> {
    let submissions = files
        .iter()
        .filter(|file| file.kind == SourceKind::Submission);
    submissions
        .filter_map(|file| Some(file.path.parent()?.to_owned()))
        .collect()
}

/// The submission that a file belongs to: that of the nearest directory above it.
pub fn submission_of(path: &Path, directories: &BTreeMap<PathBuf, usize>) -> Option<usize> {
    let mut above = path.ancestors().skip(1);
    above.find_map(|directory| directories.get(directory).copied())
}
