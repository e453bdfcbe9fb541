//! One line, one effect: the commands of the prompt and of configuration files.
//!
//! Not where lines come from (`input`), nor how a run is performed (a [`ClassicRunner`]). A
//! command is found by its beginning, the character behind it is skipped, the rest is its argument:
//! so the original has it, and scripts rely on it (`set numbers 100000`).

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

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunEnd {
    /// Everything was done, or the run was out of files: the figures for the report.
    Complete(ClassicFigures),
    /// The same, but something that the run made could not be removed; the runner has said what.
    NotRemoved(ClassicFigures),
    /// It could not be performed or failed; the runner has said why, on standard error.
    Failed,
    /// It was interrupted, or its place has gone away and another run would go astray; the runner
    /// has said which: leave with this code unless somebody sits at the prompt.
    Leave(u8),
}

/// Performs runs for the prompt.
pub trait ClassicRunner {
    /// Performs the workload of these settings, with the original's progress on `output`.
    /// The runner does not print the report, except for what an incomplete run has to show.
    fn run(
        &mut self,
        settings: &PromptSettings,
        workload: Classic,
        output: &mut dyn Write,
        errors: &mut dyn Write,
    ) -> RunEnd;
}

/// Where a line stands: how deep the configuration file is; nothing at the prompt.
type Depth = Option<usize>;

/// What follows a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Line,
    /// `quit`: the prompt or the file ends.
    Quit,
    /// Files load one another without end: all of them end.
    GiveUp,
    /// The session ends with this code.
    Leave(u8),
}

/// The commands' meaning, with the configuration that they change.
pub struct Interpreter<'a> {
    settings: PromptSettings,
    runner: &'a mut dyn ClassicRunner,
    streams: Streams<'a>,
    /// Whether somebody sits at the prompt: `!` is for them only, and an interrupted run does not
    /// end it.
    interactive: bool,
    failed: bool,
    /// The files that commands are being read from, by device and inode.
    reading: Vec<FileId>,
    /// How many were loaded since the prompt had its last line.
    loads: u32,
}

impl<'a> Interpreter<'a> {
    /// An interpreter with these settings to begin with, which writes to these streams.
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

    /// The prompt's lines come from this file: nothing is appended to it.
    pub fn reads(&mut self, facts: &Metadata) {
        self.reading.push(id_of(facts));
    }

    /// The configuration as the lines so far have left it.
    pub fn settings(&self) -> &PromptSettings {
        &self.settings
    }

    /// A whole session: banner, configuration file, prompt. Gives the exit status.
    ///
    /// # Errors
    /// Where writing the output or reading `source` fails.
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
                    &"Warning: 'set report' is no command of edition 1.0: start with --edition 1.5",
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
        // The original prints nothing where it has no working directory any more; nor is there one
        // to print.
        let working_directory = std::env::current_dir().unwrap_or_default();
        let mut text = Vec::new();
        show::configuration(&mut text, &self.settings, &working_directory)?;
        let appended = (self.streams).append(("show", argument), &self.reading, &text)?;
        if let Ok(false) = appended {
            return self.say(text);
        }
        if self.settings.edition == Edition::V1_5 {
            // The original writes these lines here, and only here.
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

    /// The report goes where `run` said. The file is opened only now, as in the original, so that a
    /// location may be the working directory and the file be called like a file of the pool.
    fn report(&mut self, figures: &ClassicFigures, argument: Option<&[u8]>) -> io::Result<()> {
        let text = classic::report(figures, self.settings.format);
        let appended = (self.streams).append(("run", argument), &self.reading, text.as_bytes())?;
        self.failed |= appended.is_err();
        if !appended.unwrap_or(false) {
            // Better here than nowhere.
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

    /// `!COMMAND`. The original runs a shell for configuration files and pipes too: a fault that is
    /// not kept.
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
