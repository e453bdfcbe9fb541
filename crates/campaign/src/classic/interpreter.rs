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
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use record::{Classic, ClassicFigures, Edition, End};
use report::classic;

use self::streams::Streams;
use super::input::PromptInput;
use super::settings::PromptSettings;
use super::show;

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

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineOrigin {
    Prompt,
    /// In a configuration file, so many deep.
    File(usize),
}

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
    /// Whether somebody sits at the prompt: `!` is for them only, and an interrupted run does not
    /// end it.
    interactive: bool,
    failed: bool,
    /// The files that commands are being read from, by device and inode.
    reading: Vec<(u64, u64)>,
    /// How many were loaded since the prompt had its last line.
    loads: u32,
}

impl<'a> Interpreter<'a> {
    /// An interpreter with these settings to begin with.
    pub fn new(
        settings: PromptSettings,
        runner: &'a mut dyn ClassicRunner,
        interactive: bool,
    ) -> Self {
        Self {
            settings,
            runner,
            interactive,
            failed: false,
            reading: Vec::new(),
            loads: 0,
        }
    }

    /// The prompt's lines come from this file: nothing is appended to it.
    pub fn reads(&mut self, facts: &Metadata) {
        self.reading.push((facts.dev(), facts.ino()));
    }

    /// The configuration as the lines so far have left it.
    pub fn settings(&self) -> &PromptSettings {
        &self.settings
    }

    /// A whole session: banner, configuration file, prompt. Gives the exit status.
    ///
    /// # Errors
    /// Where `output` does not take what is said, or `source` cannot be read.
    pub fn session(
        &mut self,
        file: Option<&Path>,
        source: &mut dyn PromptInput,
        output: &mut dyn Write,
        errors: &mut dyn Write,
    ) -> io::Result<u8> {
        let streams = &mut Streams { output, errors };
        streams
            .output
            .write_all(classic::banner(self.settings.edition).as_bytes())?;
        match self.start_up(file, streams)? {
            Next::Line | Next::GiveUp => {}
            Next::Quit => return Ok(u8::from(self.failed)),
            Next::Leave(code) => return Ok(code),
        }
        while let Some(line) = source.line(streams.output)? {
            self.loads = 0;
            match self.line(&line, LineOrigin::Prompt, streams)? {
                Next::Line | Next::GiveUp => {}
                Next::Quit => break,
                Next::Leave(code) => return Ok(code),
            }
        }
        Ok(u8::from(self.failed))
    }

    fn line(
        &mut self,
        line: &[u8],
        place: LineOrigin,
        streams: &mut Streams<'_>,
    ) -> io::Result<Next> {
        match (line, place) {
            (b"?", LineOrigin::Prompt) => {
                streams
                    .output
                    .write_all(show::help(self.settings.edition, b"").as_bytes())?;
                return Ok(Next::Line);
            }
            (b"exit", LineOrigin::Prompt) => return Ok(Next::Quit),
            ([b'!', command @ ..], _) => {
                return self.shell(command, place, streams).map(|()| Next::Line);
            }
            _ => {}
        }
        let found = show::COMMANDS
            .iter()
            .find(|command| line.starts_with(command.name.as_bytes()));
        let Some(name) = found.map(|command| command.name) else {
            return unknown(line, place, streams).map(|()| Next::Line);
        };
        let rest = &line[name.len()..];
        let argument = rest.split_first().map(|(_, argument)| argument);
        streams.warn_of_form(line, name, rest)?;
        match name {
            "quit" => return Ok(Next::Quit),
            "run" => return self.run(argument, streams),
            "load" => return self.load(argument, place, streams),
            "show" => self.show(argument, streams)?,
            "help" => {
                let text = show::help(self.settings.edition, argument.unwrap_or_default());
                streams.output.write_all(text.as_bytes())?;
            }
            "set report" if self.settings.edition == Edition::V1_0 => {
                streams.output.write_all(b"Eh?\n")?;
                streams.complain(
                    &"Warning: 'set report' is no command of edition 1.0: start with --edition 1.5",
                )?;
            }
            name => match self.settings.set(name, argument) {
                Ok(warning) => warning.map_or(Ok(()), |line| streams.complain(&line))?,
                Err(refusal) => streams.complain(&format_args!("Error: {refusal}"))?,
            },
        }
        Ok(Next::Line)
    }

    fn show(&self, argument: Option<&[u8]>, streams: &mut Streams<'_>) -> io::Result<()> {
        // The original prints nothing where it has no working directory any more; nor is there one
        // to print.
        let working_directory = std::env::current_dir().unwrap_or_default();
        let mut text = Vec::new();
        show::configuration(&mut text, &self.settings, &working_directory)?;
        if let Ok(false) = streams.append(("show", argument), &self.reading, &text)? {
            return streams.output.write_all(&text);
        }
        if self.settings.edition == Edition::V1_5 {
            // The original writes these lines here, and only here.
            show::locations(streams.output, &self.settings)?;
        }
        Ok(())
    }

    fn run(&mut self, argument: Option<&[u8]>, streams: &mut Streams<'_>) -> io::Result<Next> {
        let workload = match self.settings.workload() {
            Ok(workload) => workload,
            Err(unrunnable) => {
                streams.complain(&format_args!("Error: cannot run: {unrunnable}"))?;
                self.failed = true;
                return Ok(Next::Line);
            }
        };
        streams.output.flush()?;
        match self
            .runner
            .run(&self.settings, workload, streams.output, streams.errors)
        {
            RunEnd::Complete(figures) => self.report(&figures, argument, streams)?,
            RunEnd::NotRemoved(figures) => {
                self.failed = true;
                self.report(&figures, argument, streams)?;
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
    fn report(
        &mut self,
        figures: &ClassicFigures,
        argument: Option<&[u8]>,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        let text = classic::report(figures, self.settings.format);
        let appended = streams.append(("run", argument), &self.reading, text.as_bytes())?;
        self.failed |= appended.is_err();
        if !appended.unwrap_or(false) {
            // Better here than nowhere.
            streams.output.write_all(text.as_bytes())?;
        }
        if figures.end == End::OutOfReach {
            streams.complain(
                &"Warning: the files that are left lie in slots that edition 1.0's generator \
                  cannot draw, where the original searches for ever: take fewer files or \
                  transactions",
            )?;
        }
        Ok(())
    }

    /// `!COMMAND`. The original runs a shell for configuration files and pipes too: a fault that is
    /// not kept.
    fn shell(
        &self,
        command: &[u8],
        place: LineOrigin,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if !self.interactive || place != LineOrigin::Prompt {
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
}

fn unknown(line: &[u8], place: LineOrigin, streams: &mut Streams<'_>) -> io::Result<()> {
    streams.output.write_all(b"Eh?\n")?;
    let right = match line {
        b"exit" => "quit",
        b"?" => "help",
        _ => return Ok(()),
    };
    if place == LineOrigin::Prompt {
        return Ok(());
    }
    let word = String::from_utf8_lossy(line);
    streams.complain(&format_args!(
        "Warning: '{word}' is a word of the prompt and no command in a file: give '{right}'"
    ))
}

#[cfg(test)]
mod tests;
