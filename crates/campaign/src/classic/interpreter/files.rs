//! Reads configuration files line by line, with limits on files that load one another.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{Depth, Interpreter, Next};
use crate::classic::input::{LINE_MAX_BYTES, read_line};
use crate::same_file::id_of;

/// Maximum depth to which configuration files may load one another. The original stops when it runs
/// out of file descriptors.
pub(super) const LOAD_DEPTH_MAX: usize = 100;
/// Maximum number of files that one line of the prompt, or the first configuration file, may load.
/// It ends files that load one another twice at each level, and is far above what scripts need.
pub(super) const LOADS_MAX: u32 = 10_000;
/// The configuration file that is read by default.
const DEFAULT_FILE: &str = ".pmrc";

impl Interpreter<'_> {
    /// Reads the first configuration file; `quit` in it ends the session. A missing file is
    /// skipped.
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
        // Pipes and terminals are not recorded, because writing to them is harmless; nor is a file
        // that cannot be examined.
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
                    // The original treats this as the end of the file.
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
            // `quit` ends the file that contains it, not the file that loads it.
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
