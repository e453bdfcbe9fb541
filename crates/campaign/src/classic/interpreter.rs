//! Interprets the commands of the prompt and of configuration files, line by line.
//!
//! The beginning of a line identifies the command; the next character is skipped, and the rest of
//! the line is the argument. The original does the same, and scripts rely on it (`set numbers
//! 100000`). Lines are read from `input`, and a [`ClassicRunner`] performs the runs.

mod files;
mod streams;

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use record::{Classic, ClassicFigures, Edition, End};
use report::classic;

pub use self::streams::Streams;
use super::input::PromptInput;
use super::settings::PromptSettings;
use super::show;
use crate::same_file::{FileId, id_of};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunEnd {
    /// The run completed or ran out of files; contains the figures of its report.
    Complete(ClassicFigures),
    /// As `Complete`, but some of the run's files could not be removed. The runner has listed these
    /// files.
    NotRemoved(ClassicFigures),
    /// The run could not be performed, or failed. The runner has written the reason to standard
    /// error.
    Failed,
    /// The run was interrupted, or its target no longer exists, so that further runs would fail.
    /// The runner has written the reason. The session ends with this exit code, unless the prompt
    /// is interactive.
    Leave(u8),
}

pub trait ClassicRunner {
    /// Performs the workload of these settings, and writes the original's progress lines to
    /// `output`. Writes no report, except for the partial results of an incomplete run.
    fn run(
        &mut self,
        settings: &PromptSettings,
        workload: Classic,
        output: &mut dyn Write,
        errors: &mut dyn Write,
    ) -> RunEnd;
}

/// Nesting depth of the configuration file that contains a line; `None` for a line of the prompt.
type Depth = Option<usize>;

/// The action after a line was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Line,
    /// `quit`: stop reading the prompt or the configuration file.
    Quit,
    /// Stop reading all configuration files, because too many of them load each other.
    GiveUp,
    /// End the session with this exit code.
    Leave(u8),
}

pub struct Interpreter<'a> {
    settings: PromptSettings,
    runner: &'a mut dyn ClassicRunner,
    streams: Streams<'a>,
    /// Whether a user types at the prompt. Otherwise `!` is refused, and an interrupted run ends
    /// the session.
    interactive: bool,
    failed: bool,
    /// Device and inode of the files from which commands are being read.
    reading: Vec<FileId>,
    /// Number of configuration files loaded since the last line of the prompt.
    loads: u32,
}

impl<'a> Interpreter<'a> {
    pub fn new(
        settings: PromptSettings,
        runner: &'a mut dyn ClassicRunner,
        streams: Streams<'a>,
        interactive: bool,
    ) -> Self {
        Self {
            settings,
            runner,
            streams,
            interactive,
            failed: false,
            reading: Vec::new(),
            loads: 0,
        }
    }

    /// Records that the prompt's lines are read from this file, so that no output is appended to
    /// it.
    pub fn reads(&mut self, facts: &Metadata) {
        self.reading.push(id_of(facts));
    }

    /// Returns the settings after the lines executed so far.
    pub fn settings(&self) -> &PromptSettings {
        &self.settings
    }

    /// Runs a session: banner, configuration file, prompt. Returns the exit status of the process.
    ///
    /// # Errors
    /// Returns an error if writing the output or reading `source` fails.
    pub fn session(&mut self, file: Option<&Path>, source: &mut dyn PromptInput) -> io::Result<u8> {
        self.say(classic::banner(self.settings.edition))?;
        let mut next = self.start_up(file)?;
        loop {
            match next {
                Next::Line | Next::GiveUp => {}
                Next::Quit => break,
                Next::Leave(code) => return Ok(code),
            }
            let Some(line) = source.line(self.streams.output)? else {
                break;
            };
            self.loads = 0;
            next = self.line(&line, None)?;
        }
        Ok(u8::from(self.failed))
    }

    fn say(&mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        self.streams.output.write_all(text.as_ref())
    }

    fn line(&mut self, line: &[u8], depth: Depth) -> io::Result<Next> {
        let edition = self.settings.edition;
        match (line, depth) {
            (b"?", None) => return self.say(show::help(edition, b"")).map(|()| Next::Line),
            (b"exit", None) => return Ok(Next::Quit),
            ([b'!', command @ ..], _) => return self.shell(command, depth).map(|()| Next::Line),
            _ => {}
        }
        let mut names = show::COMMANDS.into_iter().map(|(name, _)| name);
        let Some(name) = names.find(|name| line.starts_with(name.as_bytes())) else {
            return self.unknown(line, depth).map(|()| Next::Line);
        };
        let rest = &line[name.len()..];
        let argument = rest.split_first().map(|(_, argument)| argument);
        self.streams.warn_of_form(line, name, rest)?;
        match name {
            "quit" => return Ok(Next::Quit),
            "run" => return self.run(argument),
            "load" => return self.load(argument, depth),
            "show" => self.show(argument)?,
            "help" => self.say(show::help(edition, argument.unwrap_or_default()))?,
            "set report" if edition == Edition::V1_0 => {
                self.say("Eh?\n")?;
                self.streams.complain(
                    &"Warning: 'set report' is no command of edition 1.0: start with --compat 1.5",
                )?;
            }
            name => match self.settings.set(name, argument) {
                Ok(warning) => warning.map_or(Ok(()), |line| self.streams.complain(&line))?,
                Err(refusal) => self.streams.complain(&format_args!("Error: {refusal}"))?,
            },
        }
        Ok(Next::Line)
    }

    fn show(&mut self, argument: Option<&[u8]>) -> io::Result<()> {
        // If the working directory was removed, the original prints an empty path. This program
        // does the same.
        let working_directory = std::env::current_dir().unwrap_or_default();
        let mut text = Vec::new();
        show::configuration(&mut text, &self.settings, &working_directory)?;
        let appended = (self.streams).append(("show", argument), &self.reading, &text)?;
        if let Ok(false) = appended {
            return self.say(text);
        }
        if self.settings.edition == Edition::V1_5 {
            // The original writes the locations to standard output even if the other output of
            // `show` is written to a file.
            show::locations(self.streams.output, &self.settings)?;
        }
        Ok(())
    }

    fn run(&mut self, argument: Option<&[u8]>) -> io::Result<Next> {
        let workload = match self.settings.workload() {
            Ok(workload) => workload,
            Err(unrunnable) => {
                let refusal = format_args!("Error: cannot run: {unrunnable}");
                self.streams.complain(&refusal)?;
                self.failed = true;
                return Ok(Next::Line);
            }
        };
        let Streams { output, errors } = &mut self.streams;
        output.flush()?;
        match self.runner.run(&self.settings, workload, *output, *errors) {
            RunEnd::Complete(figures) => self.report(&figures, argument)?,
            RunEnd::NotRemoved(figures) => {
                self.failed = true;
                self.report(&figures, argument)?;
            }
            RunEnd::Failed => self.failed = true,
            RunEnd::Leave(code) => {
                self.failed = true;
                if !self.interactive {
                    return Ok(Next::Leave(code));
                }
            }
        }
        Ok(Next::Line)
    }

    /// Writes the report to the file that the `run` command names. As in the original, the file is
    /// opened only after the run has deleted its pool. The file may therefore be in a location and
    /// have the name of a pool file.
    fn report(&mut self, figures: &ClassicFigures, argument: Option<&[u8]>) -> io::Result<()> {
        let text = classic::report(figures, self.settings.format);
        let appended = (self.streams).append(("run", argument), &self.reading, text.as_bytes())?;
        self.failed |= appended.is_err();
        if !appended.unwrap_or(false) {
            // The report is written to standard output if the file cannot be opened or written.
            self.say(text)?;
        }
        if figures.end == End::OutOfReach {
            self.streams.complain(
                &"Warning: the files that are left lie in slots that edition 1.0's generator \
                  cannot draw, where the original searches for ever: take fewer files or \
                  transactions",
            )?;
        }
        Ok(())
    }

    /// Executes `!COMMAND`, only at an interactive prompt. The original also executes commands from
    /// configuration files and pipes; this program does not reproduce that fault.
    fn shell(&mut self, command: &[u8], depth: Depth) -> io::Result<()> {
        let streams = &mut self.streams;
        if !self.interactive || depth.is_some() {
            return streams.complain(&"Error: '!' runs a shell at an interactive prompt only");
        }
        streams.output.flush()?;
        let status = Command::new("/bin/sh")
            .arg("-c")
            .arg(OsStr::from_bytes(command))
            .status();
        match status {
            Ok(_) => Ok(()),
            Err(error) => streams.complain(&format_args!("Error: cannot run /bin/sh: {error}")),
        }
    }

    fn unknown(&mut self, line: &[u8], depth: Depth) -> io::Result<()> {
        self.say("Eh?\n")?;
        let right = match line {
            b"exit" => "quit",
            b"?" => "help",
            _ => return Ok(()),
        };
        if depth.is_none() {
            return Ok(());
        }
        let word = String::from_utf8_lossy(line);
        self.streams.complain(&format_args!(
            "Warning: '{word}' is a word of the prompt and no command in a file: give '{right}'"
        ))
    }
}

#[cfg(test)]
mod tests;
