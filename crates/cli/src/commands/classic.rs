//! The classic prompt on the process's own streams. Its language is `campaign::classic`.

mod progress;
mod prompt;
pub mod runner;

use std::io::{self, Write as _};
use std::path::Path;

use campaign::classic::{ClassicRunner, Interpreter, Plain, PromptSettings, Streams};
use record::Edition;

use crate::ui::terminal;

/// A classic session on the process's own streams: the banner, the configuration file (`file`, or
/// `.pmrc` in the working directory where there is one), then the prompt until `quit` or the end of
/// input.
///
/// Leaves with 0 when every run was complete, 1 when one failed or the streams did, else with the
/// code that an interrupted run gave.
pub fn start(edition: Edition, file: Option<&Path>, engine: &mut dyn ClassicRunner) -> u8 {
    // The lock is not held: a run's progress may come from elsewhere in the process.
    let (mut output, mut errors) = (io::stdout(), io::stderr());
    let interactive = terminal::is_users(&io::stdin()) && terminal::is_users(&output);
    let streams = Streams {
        output: &mut output,
        errors: &mut errors,
    };
    let settings = PromptSettings::new(edition);
    let mut interpreter = Interpreter::new(settings, engine, streams, interactive);
    // Commands may come from a file by way of standard input.
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
            // Nobody reads what a closed pipe does not take; all else deserves a word.
            if error.kind() != io::ErrorKind::BrokenPipe {
                let _ = writeln!(errors, "Error: the session ends: {error}");
            }
            1
        }
    }
}
