//! Files that a command writes for its user. They are judged before anything is touched, and opened
//! before the run, so that a wrong path costs nothing; what was in them goes when there is
//! something to write.
//!
//! An output that holds something already is written over with `--force` alone. An output that is
//! an input, the archive or another output of the same command is refused always, whatever path
//! leads to it.
//!
//! A file is written whole or not at all: what is written fails on a full file system, and a good
//! file is not lost by that. (What is written line by line, as by `--live` and `export`, is what
//! came until then.)

mod replacing;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use campaign::archive::ArchivePlace;
use campaign::input::Input;
use campaign::same_file::{FileId, holds_data, id_of, is_same_file};
use document::sanitize;

use crate::ui::problem::{Problem, refuse};
use replacing::Beside;

/// An empty file of a run that was refused is not waited for any longer.
const DISCARD_MAX: Duration = Duration::from_secs(1);

/// See the module's text.
/// One that is dropped before it is written leaves things as they were.
pub struct OutputFile {
    path: PathBuf,
    /// Nothing once it is written.
    file: Option<File>,
    /// Whether what is in it stays: it is standard output, or somebody else has opened it.
    is_kept: bool,
    /// Which file it is, where this command has made it.
    made: Option<FileId>,
    /// Which file it is, where it was there before, is a regular file, and nobody else has opened
    /// it.
    former: Option<FileId>,
}

/// The files of one command, so that none of its outputs is something that it reads or writes
/// besides.
pub struct Outputs<'a> {
    force: bool,
    archive: Option<&'a ArchivePlace>,
    inputs: &'a [Input],
    /// Outputs that were judged before.
    others: Vec<Input>,
}

impl<'a> Outputs<'a> {
    /// The outputs of a command that reads these files and, where there is an archive, reads or
    /// writes that one.
    ///
    /// # Errors
    /// Where the archive is one of the files that are read.
    pub fn new(
        force: bool,
        archive: Option<&'a ArchivePlace>,
        inputs: &'a [Input],
    ) -> Result<Self, Problem> {
        for input in inputs {
            if let Some(archive) =
                archive.filter(|archive| is_same_file(archive.path(), &input.path))
            {
                return refuse(format!(
                    "{} {}: the archive {} is the same file (use another --archive)",
                    input.option,
                    sanitize::path(&input.path),
                    sanitize::path(archive.path())
                ));
            }
        }
        Ok(Self {
            force,
            archive,
            inputs,
            others: Vec::new(),
        })
    }

    /// Refuses a path that may not be written to. Touches nothing.
    ///
    /// # Errors
    /// Where it holds something, or is a file of this command already.
    pub fn judge(&mut self, option: &'static str, path: &Path) -> Result<(), Problem> {
        if is_standard_output(path) {
            return Ok(());
        }
        self.refuse_twice(option, path)?;
        let shown = sanitize::path(path);
        match fs::metadata(path) {
            Ok(facts) if holds_data(&facts) && !self.force && !is_descriptor(path) => {
                return Err(exists(option, path));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if let Ok(to) = fs::read_link(path) {
                    return refuse(format!(
                        "cannot write {option} {shown}: the symbolic link points to {}, which \
                         does not exist (remove the link, or use another file)",
                        sanitize::path(&to)
                    ));
                }
            }
            // Opening it says why not.
            Err(_) => {}
        }
        self.others.push(Input {
            option,
            path: path.to_owned(),
        });
        Ok(())
    }

    /// Refuses a file that this command reads or writes besides. One that somebody else refuses
    /// where it exists needs no more.
    ///
    /// # Errors
    /// Where it is one.
    pub fn refuse_twice(&self, option: &'static str, path: &Path) -> Result<(), Problem> {
        if let Some(archive) = self.archive {
            archive
                .refuse(option, path)
                .map_err(|error| Problem::refused(error.to_string()))?;
        }
        let shown = sanitize::path(path);
        let is_it = |other: &&Input| is_same_file(&other.path, path);
        if let Some(input) = self.inputs.iter().find(is_it) {
            return refuse(format!(
                "cannot write {option} {shown}: the run reads this file ({}) (use another file)",
                input.option
            ));
        }
        match self.others.iter().find(is_it) {
            Some(other) => refuse(format!(
                "cannot write {option} {shown}: {} writes to the same file (use another one)",
                other.option
            )),
            None => Ok(()),
        }
    }

    /// Judges a file that an option names, if it does, and opens it.
    ///
    /// # Errors
    /// As the two.
    pub fn judge_and_open(
        &mut self,
        option: &'static str,
        path: Option<&Path>,
    ) -> Result<Option<OutputFile>, Problem> {
        let Some(path) = path else {
            return Ok(None);
        };
        self.judge(option, path)?;
        self.open(option, path).map(Some)
    }

    /// Opens a file that was judged, which stays as it is for now, or makes it; `-` is standard
    /// output.
    ///
    /// # Errors
    /// What the system answered, or what has changed since it was judged.
    pub fn open(&self, option: &'static str, path: &Path) -> Result<OutputFile, Problem> {
        let failed = |cause| unwritable(option, path, &cause);
        if is_standard_output(path) {
            let output = std::io::stdout().as_fd().try_clone_to_owned();
            return Ok(OutputFile {
                path: PathBuf::from("standard output"),
                file: Some(output.map_err(failed)?.into()),
                is_kept: true,
                made: None,
                former: None,
            });
        }
        let path = path.to_owned();
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => {
                let made = file.metadata().map_err(failed)?;
                return Ok(OutputFile {
                    made: Some(id_of(&made)),
                    former: None,
                    path,
                    file: Some(file),
                    is_kept: false,
                });
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        let is_descriptor = is_descriptor(&path);
        // What whoever has opened it has written there stays.
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .append(is_descriptor)
            .open(&path)
            .map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        if holds_data(&facts) && !self.force && !is_descriptor {
            return Err(exists(option, &path));
        }
        for other in self.inputs.iter().chain(&self.others) {
            let is_same = |other: Metadata| id_of(&other) == id_of(&facts);
            let is_itself = other.option == option && other.path == path;
            if holds_data(&facts) && !is_itself && fs::metadata(&other.path).is_ok_and(is_same) {
                return refuse(format!(
                    "cannot write {option} {}: {} names the same file (use another one)",
                    sanitize::path(&path),
                    other.option
                ));
            }
        }
        Ok(OutputFile {
            path,
            file: Some(file),
            is_kept: is_descriptor,
            made: None,
            former: (facts.is_file() && !is_descriptor).then(|| id_of(&facts)),
        })
    }
}

/// A file for the report, or for its lines, cannot be written.
pub fn unwritable(option: &str, path: &Path, cause: &std::io::Error) -> Problem {
    let path = sanitize::path(path);
    Problem::refused(format_args!(
        "cannot write to {path}: {cause} (use another file for {option})"
    ))
}

fn exists(option: &str, path: &Path) -> Problem {
    Problem::refused(format!(
        "cannot write {option} {}: the file exists (use another file, or --force to overwrite it)",
        sanitize::path(path)
    ))
}

/// Whether a path is that of a descriptor that was opened before: `/dev/stdout`, `/dev/fd/3`.
/// Whoever opened it has chosen the file.
fn is_descriptor(path: &Path) -> bool {
    /// More the kernel does not follow either (path_resolution(7)).
    const LINKS_MAX: usize = 40;
    let Ok(mut path) = std::path::absolute(path) else {
        return false;
    };
    for _ in 0..LINKS_MAX {
        let Some(directory) = path
            .parent()
            .and_then(|parent| fs::canonicalize(parent).ok())
        else {
            return false;
        };
        if directory.starts_with("/proc") && directory.ends_with("fd") {
            return true;
        }
        match fs::read_link(&path) {
            Ok(to) => path = directory.join(to),
            Err(_) => return false,
        }
    }
    false
}

/// Whether a file's name means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

impl OutputFile {
    /// Writes all of it in the place of what was there, or leaves what was there. The file's own
    /// file system may hang as well as the target: it is waited for so long.
    ///
    /// # Errors
    /// What the system answered, or that it did not answer.
    pub fn write(mut self, text: &str, limit: Duration) -> Result<(), Problem> {
        let (text, to) = (text.to_owned(), self.path.clone());
        let (made, former) = (self.made, self.former);
        let (mut file, is_kept) = self.take();
        let write = move || {
            let beside = former.map_or(Ok(None), |former| Beside::of(&to, former))?;
            if let Some(beside) = beside {
                return beside.write(text.as_bytes());
            }
            let empty = if is_kept { Ok(()) } else { empty(&file) };
            let written = empty.and_then(|()| file.write_all(text.as_bytes()));
            written.inspect_err(|_| remove(&to, |facts| Some(id_of(facts)) == made))
        };
        let written = runner::within(limit, write);
        let written = written.unwrap_or_else(|why| Err(std::io::Error::other(why)));
        written.map_err(|cause| Problem::undelivered(self.shown(), &cause))
    }

    /// Its path, for messages.
    pub fn shown(&self) -> String {
        sanitize::path(&self.path).into_owned()
    }

    /// What was there goes; what is written comes in its place.
    pub fn begin(mut self) -> File {
        let (file, is_kept) = self.take();
        if !is_kept {
            // Where it cannot be emptied, what is written over it is all that can be told.
            let _ = empty(&file);
        }
        file
    }

    fn take(&mut self) -> (File, bool) {
        let file = self.file.take();
        (file.expect("it is written once"), self.is_kept)
    }
}

/// Leaves no empty file behind.
impl Drop for OutputFile {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else {
            return;
        };
        // Its `close` may wait for a server that hangs, whatever signal comes: the process's end
        // closes it, when all is told.
        std::mem::forget(file);
        let (path, made) = (std::mem::take(&mut self.path), self.made);
        // Where that does not answer, so does nothing else there.
        let _ = runner::within(DISCARD_MAX, move || {
            remove(&path, |facts| {
                Some(id_of(facts)) == made && facts.len() == 0
            });
        });
    }
}

/// Takes out what is in a file. Pipes and devices have nothing in them.
fn empty(file: &File) -> std::io::Result<()> {
    match file.metadata().is_ok_and(|facts| facts.is_file()) {
        true => file.set_len(0),
        false => Ok(()),
    }
}

/// Removes a file that this command has made, if it is there still. What cannot be removed stays.
fn remove(path: &Path, is_ours: impl Fn(&Metadata) -> bool) {
    if fs::symlink_metadata(path).is_ok_and(|facts| is_ours(&facts)) {
        let _ = fs::remove_file(path);
    }
}
