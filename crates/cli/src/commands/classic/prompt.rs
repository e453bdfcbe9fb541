//! The classic prompt with line editing, for sessions at a terminal.

use std::io::{self, Write};

use campaign::classic::{PROMPT, PromptInput, commands};
use record::Edition;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};

/// A prompt with history, editing and completion. Ctrl-C discards the current line; Ctrl-D at its
/// start ends the session.
pub struct Editing {
    editor: Editor<Words, MemHistory>,
}

impl Editing {
    /// Creates a prompt that completes the commands of one version of the original PostMark: 1.0 or
    /// 1.5.
    ///
    /// # Errors
    /// Returns an error if the terminal cannot be used.
    pub fn new(edition: Edition) -> io::Result<Self> {
        let config = Config::builder().auto_add_history(true).build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history).map_err(into_io)?;
        editor.set_helper(Some(Words {
            edition,
            files: FilenameCompleter::new(),
        }));
        Ok(Self { editor })
    }
}

impl PromptInput for Editing {
    fn line(&mut self, output: &mut dyn Write) -> io::Result<Option<Vec<u8>>> {
        output.flush()?;
        loop {
            match self.editor.readline(PROMPT) {
                Ok(line) => return Ok(Some(line.into_bytes())),
                Err(ReadlineError::Interrupted) => {}
                // The line editor accepts only UTF-8. Other bytes can be read from a configuration
                // file, which the message suggests.
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    // A closed standard error must not stop the session.
                    let _ = writeln!(
                        io::stderr(),
                        "Error: that line is no text; put it into a configuration file and load \
                         that"
                    );
                }
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(into_io(error)),
            }
        }
    }
}

fn into_io(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// Completes commands, and the names of files after commands that take one.
struct Words {
    edition: Edition,
    files: FilenameCompleter,
}

impl Helper for Words {}

impl Highlighter for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Validator for Words {}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        for command in ["set location ", "load ", "run ", "show "] {
            if let Some(path) = line[..at].strip_prefix(command) {
                let path = path.strip_prefix(['+', '-']).unwrap_or(path);
                let (start, pairs) = self.files.complete_path(path, path.len())?;
                return Ok((at - path.len() + start, pairs));
            }
        }
        Ok((0, completions(self.edition, &line[..at])))
    }
}

/// Commands, and the values of `set buffering` and `set report`, that start with the text typed so
/// far.
fn completions(edition: Edition, begun: &str) -> Vec<Pair> {
    let names = commands(edition).map(|(name, _)| name);
    let reports: &[&str] = if edition == Edition::V1_5 {
        &["set report verbose", "set report terse"]
    } else {
        &[]
    };
    names
        .chain(["set buffering true", "set buffering false"])
        .chain(reports.iter().copied())
        .filter(|name| name.starts_with(begun))
        .map(|name| Pair {
            display: name.to_owned(),
            replacement: name.to_owned(),
        })
        .collect()
}
