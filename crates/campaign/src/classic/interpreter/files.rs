//! Reads configuration files line by line, with limits for files that load each other.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{Depth, Interpreter, Next};
use crate::classic::input::{LINE_MAX_BYTES, read_line};
use crate::same_file::id_of;

/// Maximum depth to which configuration files may load each other. The original stops only when it
/// runs out of file descriptors.
pub(super) const LOAD_DEPTH_MAX: usize = 100;
/// Maximum number of files that one line of the prompt, or the first configuration file, may load.
/// Without this limit, files that each load two others would load practically without end. The
/// limit is far above the needs of scripts.
pub(super) const LOADS_MAX: u32 = 10_000;
/// The configuration file that is read if no other is given.
const DEFAULT_FILE: &str = ".pmrc";

impl Interpreter<'_> {
    /// Reads the first configuration file; `quit` in this file ends the session. If the default
    /// file does not exist, it is skipped.
    pub(super) fn start_up(&mut self, file: Option<&Path>) -> io::Result<Next> {
        let path = file.unwrap_or(Path::new(DEFAULT_FILE));
        match File::open(path) {
            Ok(opened) => self.read_file(path, opened, 0),
            Err(error) => {
                if file.is_some() || error.kind() != io::ErrorKind::NotFound {
                    self.streams.complain(&format_args!(
                        "Warning: cannot read configuration file '{}', the defaults stay: {error}",
                        path.display()
                    ))?;
                }
                Ok(Next::Line)
            }
        }
    }

    fn read_file(&mut self, path: &Path, file: File, depth: usize) -> io::Result<Next> {
        // Records only regular files, because output that is appended to a pipe or terminal is not
        // read as commands. A file that cannot be examined is not recorded either.
        let facts = file.metadata().ok().filter(Metadata::is_file);
        let above = self.reading.len();
        self.reading.extend(facts.as_ref().map(id_of));
        let next = self.read_lines(path, file, depth);
        self.reading.truncate(above);
        next
    }

    fn read_lines(&mut self, path: &Path, file: File, depth: usize) -> io::Result<Next> {
        self.say("Reading configuration from file '")?;
        self.say(path.as_os_str().as_bytes())?;
        self.say("'\n")?;
        let mut reader = BufReader::new(file);
        loop {
            match read_line(&mut reader, LINE_MAX_BYTES) {
                Ok(Some(line)) => match self.line(&line, Some(depth))? {
                    Next::Line => {}
                    end => return Ok(end),
                },
                Ok(None) => return Ok(Next::Line),
                Err(error) => {
                    // As in the original, a read error ends the file.
                    self.streams.complain(&format_args!(
                        "Warning: reading configuration file '{}' ends here: {error}",
                        path.display()
                    ))?;
                    return Ok(Next::Line);
                }
            }
        }
    }

    pub(super) fn load(&mut self, argument: Option<&[u8]>, above: Depth) -> io::Result<Next> {
        let Some(argument) = argument else {
            self.streams
                .complain(&"Error: no configuration file specified")?;
            return Ok(Next::Line);
        };
        let path = Path::new(OsStr::from_bytes(argument));
        let depth = above.unwrap_or(0) + 1;
        let path_shown = path.display();
        self.loads += 1;
        let already = if depth > LOAD_DEPTH_MAX {
            Some(format!("{LOAD_DEPTH_MAX} files have loaded one another"))
        } else {
            (self.loads > LOADS_MAX).then(|| format!("{LOADS_MAX} files were loaded"))
        };
        if let Some(already) = already {
            self.failed = true;
            self.streams.complain(&format_args!(
                "Error: cannot read configuration file '{path_shown}': {already} already, which \
                 is the limit; no more is read of them"
            ))?;
            return Ok(Next::GiveUp);
        }
        match File::open(path) {
            // `quit` ends the file that contains the command, not the file that loads it.
            Ok(file) => Ok(match self.read_file(path, file, depth)? {
                Next::Quit => Next::Line,
                next => next,
            }),
            Err(_) => {
                self.streams.complain(&format_args!(
                    "Error: cannot read configuration file '{path_shown}'"
                ))?;
                Ok(Next::Line)
            }
        }
    }
}
