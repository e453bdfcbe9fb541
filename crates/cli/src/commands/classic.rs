//! The classic prompt on standard input and output. The module `campaign::classic` interprets its
//! commands.

mod progress;
mod prompt;
pub mod runner;

use std::io::{self, Write as _};
use std::path::Path;

use campaign::classic::{ClassicRunner, Interpreter, Plain, PromptSettings, Streams};
use record::Edition;

use crate::ui::problem::show;
use crate::ui::terminal;

/// Performs a classic session: prints the banner, reads the configuration file, and prompts until
/// `quit` or the end of input. The configuration file is `file`, or `.pmrc` in the working
/// directory if that exists.
///
/// Returns exit status 0 if every run was complete, and 1 if a run or a stream failed. If a run was
/// interrupted, returns the exit status of that run.
pub fn start(edition: Edition, file: Option<&Path>, engine: &mut dyn ClassicRunner) -> u8 {
    // Standard output is not locked for the session: another thread may print the progress of a
    // run.
    let (mut output, mut errors) = (io::stdout(), io::stderr());
    let interactive = terminal::is_users(&io::stdin()) && terminal::is_users(&output);
    if interactive && file.is_none() && terminal::is_users(&errors) {
        show("'postmark help' lists the commands and the options of this program.");
    }
    let streams = Streams {
        output: &mut output,
        errors: &mut errors,
    };
    let settings = PromptSettings::new(edition);
    let mut interpreter = Interpreter::new(settings, engine, streams, interactive);
    // Standard input may be a file. The interpreter refuses to write output to this file, because
    // the session would then read its own output.
    if let Some(facts) = std::fs::metadata("/dev/stdin")
        .ok()
        .filter(std::fs::Metadata::is_file)
    {
        interpreter.reads(&facts);
    }
    let result = if interactive && terminal::obeys_escapes() {
        prompt::Editing::new(edition).and_then(|mut source| interpreter.session(file, &mut source))
    } else {
        let mut source = Plain::new(io::stdin().lock());
        interpreter.session(file, &mut source)
    };
    match result.and_then(|code| output.flush().map(|()| code)) {
        Ok(code) => code,
        Err(error) => {
            // If standard output is a closed pipe, its reader has ended on purpose, so no error is
            // printed.
            if error.kind() != io::ErrorKind::BrokenPipe {
                let _ = writeln!(errors, "Error: the session ends: {error}");
            }
            1
        }
    }
}
