//! Output files of a command. Their paths are checked before the command changes anything, and the
//! files are opened before a run starts, so that a wrong path does not waste a run. Old contents
//! remain until the new ones are written.
//!
//! A file that is not empty is overwritten only with `--force`. An output file that is also an
//! input, the archive or another output of the same command is always refused, even under another
//! name.
//!
//! A file is written completely or not at all: if writing fails, for example on a full file system,
//! the old file remains. Only files that grow line by line (`--live`, `export`) keep the lines
//! before the error.

mod replacing;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use campaign::archive::ArchivePlace;
use campaign::input::Input;
use campaign::same_file::{FileId, holds_data, id_of, is_same_file};
use document::sanitize;

use crate::ui::problem::{Problem, refuse};
use replacing::Beside;

/// How long to wait for the removal of an empty output file that a refused run has created.
const DISCARD_MAX: Duration = Duration::from_secs(1);

/// An output file, opened but not written yet. If it is dropped in this state, its old contents
/// remain.
pub struct OutputFile {
    path: PathBuf,
    /// `None` after [`Self::write`] or [`Self::begin`].
    file: Option<File>,
    /// True for standard output and for a file descriptor that this process inherited
    /// (`/dev/fd/3`): the output is appended, and the file is never emptied.
    is_kept: bool,
    /// Identity of the file if this command created it: only such a file may be removed.
    made: Option<FileId>,
    /// Identity of a regular file that existed before: the new contents must replace this same
    /// file. `None` for inherited file descriptors.
    former: Option<FileId>,
}

/// The output files of one command, checked against its inputs, its archive and one another.
pub struct Outputs<'a> {
    force: bool,
    archive: Option<&'a ArchivePlace>,
    inputs: &'a [Input],
    /// Output files that [`Self::judge`] has accepted.
    others: Vec<Input>,
}

impl<'a> Outputs<'a> {
    /// `inputs` are the files that the command reads; `archive` is the archive that it reads or
    /// writes.
    ///
    /// # Errors
    /// Returns an error if the archive is one of the inputs.
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

    /// Refuses a path that may not be written to. Changes nothing.
    ///
    /// # Errors
    /// Returns an error if `--force` is missing and the file has contents. Also returns an error if
    /// this command already uses the file, or if the path is a broken symbolic link.
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
            // The error, for example a missing permission, is reported when the file is opened.
            Err(_) => {}
        }
        self.others.push(Input {
            option,
            path: path.to_owned(),
        });
        Ok(())
    }

    /// Refuses an output file that this command also reads or writes under another option. This
    /// check suffices for `--ack-log`, because the run itself refuses an existing log.
    ///
    /// # Errors
    /// Returns an error if the command uses the file.
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

    /// Checks and opens the file of an option, if the option is given.
    ///
    /// Returns the errors of [`Self::judge`] and [`Self::open`].
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

    /// Opens an output file that [`Self::judge`] has accepted, without changing its contents, or
    /// creates it. `-` is standard output.
    ///
    /// # Errors
    /// Returns the system's error, or an error if the file has changed since the check.
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
        // A path like `/dev/fd/3` opens a file that another program may have written to, so new
        // text is appended.
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

/// Whether a path leads to a file descriptor that this process inherited, like `/dev/stdout` or
/// `/dev/fd/3`. The user has opened that file in the shell, so it may have contents.
fn is_descriptor(path: &Path) -> bool {
    /// The kernel follows at most 40 symbolic links, path_resolution(7).
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

pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

impl OutputFile {
    /// An output that is written to standard error, because something else takes standard output.
    ///
    /// # Errors
    /// Returns the system's error if the descriptor cannot be duplicated.
    pub fn standard_error(stream: &impl AsFd) -> Result<Self, Problem> {
        let path = PathBuf::from("standard error");
        let file = stream.as_fd().try_clone_to_owned();
        let file = file.map_err(|cause| unwritable("the report to", &path, &cause))?;
        Ok(Self {
            path,
            file: Some(file.into()),
            is_kept: true,
            made: None,
            former: None,
        })
    }

    /// Replaces the file's old contents completely, or leaves them unchanged. Waits at most
    /// `limit`, because the file system of the output file may hang.
    ///
    /// # Errors
    /// Returns the system's error, or an error if the limit is exceeded.
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

    pub fn shown(&self) -> String {
        sanitize::path(&self.path).into_owned()
    }

    /// Empties the file and returns it, for text that is written line by line.
    pub fn begin(mut self) -> File {
        let (file, is_kept) = self.take();
        if !is_kept {
            // If the file cannot be emptied, the new text overwrites the old text from the start.
            let _ = empty(&file);
        }
        file
    }

    fn take(&mut self) -> (File, bool) {
        let file = self.file.take();
        (file.expect("it is written once"), self.is_kept)
    }
}

/// Removes the output file if this command created it and it is still empty.
impl Drop for OutputFile {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else {
            return;
        };
        // `close` may wait for a server that hangs, and no signal would interrupt it. So only the
        // end of the process closes the file. By that time all messages are printed.
        std::mem::forget(file);
        let (path, made) = (std::mem::take(&mut self.path), self.made);
        // If the file system hangs, the empty file remains.
        let _ = runner::within(DISCARD_MAX, move || {
            remove(&path, |facts| {
                Some(id_of(facts)) == made && facts.len() == 0
            });
        });
    }
}

/// Empties a regular file. Pipes and devices are left unchanged.
fn empty(file: &File) -> std::io::Result<()> {
    match file.metadata().is_ok_and(|facts| facts.is_file()) {
        true => file.set_len(0),
        false => Ok(()),
    }
}

/// Removes the file at this path if `is_ours` recognizes it by its metadata. Errors are ignored.
fn remove(path: &Path, is_ours: impl Fn(&Metadata) -> bool) {
    if fs::symlink_metadata(path).is_ok_and(|facts| is_ours(&facts)) {
        let _ = fs::remove_file(path);
    }
}
