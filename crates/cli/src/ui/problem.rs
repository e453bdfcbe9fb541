//! Prints errors and messages on standard error, and plain text on standard output.

use std::fmt::Display;
use std::io::Write;

use campaign::ErrorForm;
use document::sanitize;

use crate::ui::{signals, width};

pub use campaign::Error as Problem;

/// Exit status if the arguments are wrong or the run is refused: nothing was changed.
pub const WRONG: u8 = 2;

/// Refuses a command, for example because its options contradict one another.
pub fn refuse<T>(why: impl Display) -> Result<T, Problem> {
    Err(Problem::refused(why))
}

pub fn tell_problem(problem: &Problem) {
    match problem.form {
        ErrorForm::Line | ErrorForm::ClosedPipe => tell(problem),
        ErrorForm::Lines => complain(&problem.to_string()),
        ErrorForm::Silent => {}
    }
}

/// How the crate `campaign` reaches the user: it prints messages with `show` and checks whether the
/// user wants to stop with `is_interrupted`.
pub const USER: campaign::User = campaign::User {
    show: |text| tell(text),
    is_interrupted: signals::is_pending,
};

/// Prints a message of one line on standard error. Control characters are escaped.
pub fn tell(what: impl Display) {
    complain(&sanitize::shown(what).to_string());
}

/// Prints a message of one or several lines on standard error.
pub fn complain(lines: &str) {
    // A closed standard error must not stop the program.
    let lines = format!("postmark: {}", sanitize::lines(lines));
    let _ = writeln!(std::io::stderr(), "{}", width::for_errors(&lines));
}

/// Prints a line without the prefix `postmark:` on standard error.
pub fn show(line: impl Display) {
    // If standard error is closed, the line is lost and the program continues.
    let line = sanitize::shown(line).to_string();
    let _ = writeln!(std::io::stderr(), "{}", width::for_errors(&line));
}

/// Writes a text completely to standard output. Control characters in the text, except line breaks
/// and tabs, are escaped. The caller must have sanitized strings from outside: a line break in them
/// would add a line.
pub fn print(text: &str) -> Result<(), Problem> {
    print_as_it_is(&sanitize::lines(text))
}

/// Writes a text unchanged to standard output. Strings from outside must already be sanitized;
/// colours are kept.
///
/// # Errors
/// Returns an error if the text cannot be written completely.
pub fn print_as_it_is(text: &str) -> Result<(), Problem> {
    let mut output = std::io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    written.map_err(|cause| Problem::undelivered("standard output", &cause))
}
