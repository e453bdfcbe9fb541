//! Errors of commands, and how they are printed.

use std::fmt::Display;
use std::io::Write;

use campaign::ErrorForm;
use document::sanitize;

use crate::ui::{signals, width};

pub use campaign::Error as Problem;

/// Exit status of wrong arguments and refused runs: nothing was touched.
pub const WRONG: u8 = 2;

/// Refuses a command, for example because its options contradict one another.
pub fn refuse<T>(why: impl Display) -> Result<T, Problem> {
    Err(Problem::refused(why))
}

/// Prints an error on standard error.
pub fn tell_problem(problem: &Problem) {
    match problem.form {
        ErrorForm::Line | ErrorForm::ClosedPipe => tell(problem),
        ErrorForm::Lines => complain(&problem.to_string()),
        ErrorForm::Silent => {}
    }
}

/// Callbacks of campaigns: messages to the user, and the user's interruption.
pub const USER: campaign::User = campaign::User {
    show: |text| tell(text),
    is_interrupted: signals::is_pending,
};

/// Prints a message on standard error in one line. Control characters are escaped.
pub fn tell(what: impl Display) {
    complain(&sanitize::shown(what).to_string());
}

/// Prints a message on standard error that may have several lines.
pub fn complain(lines: &str) {
    // A closed standard error must not stop the program.
    let lines = format!("postmark: {}", sanitize::lines(lines));
    let _ = writeln!(std::io::stderr(), "{}", width::for_errors(&lines));
}

/// Prints a line without the prefix `postmark:` on standard error.
pub fn show(line: impl Display) {
    // Standard error may be closed.
    let line = sanitize::shown(line).to_string();
    let _ = writeln!(std::io::stderr(), "{}", width::for_errors(&line));
}

/// Writes a text to standard output completely. Terminal escape sequences are removed; the caller
/// has sanitized strings from outside, so that they contain no line breaks.
pub fn print(text: &str) -> Result<(), Problem> {
    print_as_it_is(&sanitize::lines(text))
}

/// Writes a text whose strings from outside are already sanitized.
///
/// # Errors
/// Returns an error if it cannot be written completely.
pub fn print_as_it_is(text: &str) -> Result<(), Problem> {
    let mut output = std::io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    written.map_err(|cause| Problem::undelivered("standard output", &cause))
}
