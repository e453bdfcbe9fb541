//! What a session writes to, and the complaints and files of one line.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use document::sanitize;

use crate::same_file::{FileId, id_of};

/// The streams that a session writes to.
pub struct Streams<'a> {
    /// What the original writes to standard output.
    pub output: &'a mut dyn Write,
    /// Complaints and warnings.
    pub errors: &'a mut dyn Write,
}

impl Streams<'_> {
    /// A line for standard error, behind everything that was said on standard output before. Names
    /// and words in it are made harmless, other than on standard output, where `show` gives the
    /// bytes of paths as the original does.
    pub(super) fn complain(&mut self, line: &dyn std::fmt::Display) -> io::Result<()> {
        self.output.flush()?;
        // A closed standard error is no reason to stop.
        let _ = writeln!(self.errors, "{}", sanitize::shown(line));
        Ok(())
    }

    /// Complains of what is odd about a line whatever its command is. `rest` follows the command's
    /// `name`.
    pub(super) fn warn_of_form(&mut self, line: &[u8], name: &str, rest: &[u8]) -> io::Result<()> {
        let said = String::from_utf8_lossy(line);
        let said = said.trim_end();
        let takes_text = matches!(
            name,
            "set location" | "set buffering" | "set report" | "run" | "load" | "show"
        );
        if takes_text && line.ends_with(b"\r") {
            self.complain(&format_args!(
                "Warning: '{said}' ends with a carriage return, which belongs to the value: give \
                 lines that end with a line feed only"
            ))?;
        }
        let takes_number = name.starts_with("set ") && !takes_text;
        if let (true, [skipped @ (b'0'..=b'9' | b'+' | b'-' | b'.'), _, ..]) = (takes_number, rest)
        {
            let skipped = char::from(*skipped);
            self.complain(&format_args!(
                "Warning: '{skipped}' in '{said}' is skipped: give a space behind '{name}'"
            ))?;
        }
        Ok(())
    }

    /// Writes the text of a command at the end of the file that its argument names. False where it
    /// belongs on standard output: without an argument; where the file cannot be opened, which the
    /// original complains of; and where it is one of those that commands are being read from, which
    /// would go on with the text.
    ///
    /// # Errors
    /// The inner one where the file does not take the text, which is told.
    pub(super) fn append(
        &mut self,
        (command, argument): (&str, Option<&[u8]>),
        reading: &[FileId],
        text: &[u8],
    ) -> io::Result<Result<bool, io::Error>> {
        let Some(name) = argument else {
            return Ok(Ok(false));
        };
        let path = Path::new(OsStr::from_bytes(name));
        let shown = path.display();
        let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path) else {
            self.complain(&format_args!(
                "Error: Cannot direct output to file '{shown}'"
            ))?;
            return Ok(Ok(false));
        };
        let facts = file.metadata();
        if facts.is_ok_and(|facts| reading.contains(&id_of(&facts))) {
            self.complain(&format_args!(
                "Error: Cannot direct output to file '{shown}': commands are being read from it; \
                 give another file"
            ))?;
            return Ok(Ok(false));
        }
        if !name.is_empty() && name.iter().all(u8::is_ascii_digit) {
            self.complain(&format_args!(
                "Warning: '{command} {shown}' writes to a file called {shown}: a run has no \
                 length in time or count here, give 'set transactions' and then 'run'"
            ))?;
        }
        let written = file.write_all(text);
        if let Err(error) = &written {
            self.complain(&format_args!("Error: cannot write to '{shown}': {error}"))?;
        }
        Ok(written.map(|()| true))
    }
}
