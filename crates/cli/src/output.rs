//! Files that a run writes for its user. Opened before the run, so that a wrong path costs nothing; what was in them goes
//! when there is something to write.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::harmless;

use crate::Problem;
use crate::meant::MeaningError;

/// An empty file of a run that was refused is not waited for any longer.
const DISCARD_MAX: Duration = Duration::from_secs(1);

/// See the module's text.
pub struct OutputFile {
    path: PathBuf,
    file: Box<dyn Target>,
    is_new: bool,
}

/// Whether a file's name means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file, or standard output.
trait Target: Write + Send {
    /// Takes out what is in it, where that can be done.
    fn empty(&self) -> std::io::Result<()>;
}

impl Target for File {
    fn empty(&self) -> std::io::Result<()> {
        // Pipes and devices have nothing in them.
        if self.metadata().is_ok_and(|facts| facts.is_file()) {
            self.set_len(0)
        } else {
            Ok(())
        }
    }
}

impl Target for std::io::Stdout {
    fn empty(&self) -> std::io::Result<()> {
        Ok(())
    }
}

impl OutputFile {
    /// Opens a file, which stays as it is for now, or makes it; `-` is standard output.
    ///
    /// # Errors
    /// What the system answered.
    pub fn open(path: PathBuf) -> Result<Self, MeaningError> {
        if is_standard_output(&path) {
            return Ok(Self {
                path: PathBuf::from("standard output"),
                file: Box::new(std::io::stdout()),
                is_new: false,
            });
        }
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map(|file| (file, true));
        let opened = made.or_else(|error| match error.kind() {
            ErrorKind::AlreadyExists => OpenOptions::new().write(true).open(&path).map(|file| (file, false)),
            _ => Err(error),
        });
        match opened {
            Ok((file, is_new)) => Ok(Self {
                path,
                file: Box::new(file),
                is_new,
            }),
            Err(cause) => Err(MeaningError::Output { path, cause }),
        }
    }

    /// Writes all of it in the place of what was there. The file's own file system may hang as well as the target: it is
    /// waited for so long.
    ///
    /// # Errors
    /// What the system answered, or that it did not answer.
    pub fn write(self, text: &str, limit: Duration) -> Result<(), Problem> {
        let Self { path, mut file, .. } = self;
        let text = text.to_owned();
        let write = move || file.empty().and_then(|()| file.write_all(text.as_bytes()));
        let written = runner::within(limit, write);
        let written = written.unwrap_or_else(|why| Err(std::io::Error::other(why)));
        written.map_err(|cause| Problem::Report {
            to: harmless::path(&path).into_owned(),
            cause,
        })
    }

    /// What was there goes; what is written comes in its place.
    pub fn begin(self) -> Box<dyn Write + Send> {
        // Where it cannot be emptied, what is written over it is all that can be told.
        let _ = self.file.empty();
        Box::new(Lines(self.file))
    }

    /// The run was refused: leaves no empty file behind.
    pub fn discard(self) {
        // What cannot be removed is an empty file; where that does not answer, so does nothing else there.
        let _ = runner::within(DISCARD_MAX, move || {
            if self.is_new {
                let _ = std::fs::remove_file(&self.path);
            }
        });
    }
}

/// Each is out when it is written.
struct Lines(Box<dyn Target>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.0.flush()?;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}
