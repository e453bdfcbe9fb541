//! The output streams of a session, its error messages, and the files to which commands append.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use document::sanitize;

use crate::same_file::{FileId, id_of};

pub struct Streams<'a> {
    /// Standard output: everything that the original prints.
    pub output: &'a mut dyn Write,
    /// Error messages and warnings.
    pub errors: &'a mut dyn Write,
}

impl Streams<'_> {
    /// Writes a line to standard error, after flushing standard output. Replaces characters that
    /// could control the terminal. Standard output is not sanitized, because `show` prints the
    /// bytes of paths as the original does.
    pub(super) fn complain(&mut self, line: &dyn std::fmt::Display) -> io::Result<()> {
        self.output.flush()?;
        // The error is ignored, so that the session continues if standard error is closed.
        let _ = writeln!(self.errors, "{}", sanitize::shown(line));
        Ok(())
    }

    /// Warns of a malformed line. Covers only mistakes that are possible in several commands.
    /// `rest` is the part of the line after the command's `name`.
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

    /// Appends the text of a command to the file that its argument names. Returns `false` if the
    /// text must be written to standard output instead, for one of these reasons:
    /// - The command has no argument.
    /// - The file cannot be opened; this shows the original's message.
    /// - Commands are being read from the file, and the appended text would be read as commands.
    ///
    /// # Errors
    /// Returns an inner error if the file cannot be written, after showing a message. Returns an
    /// outer error if writing the message fails.
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
