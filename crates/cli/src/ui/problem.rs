//! Why a command could not do its work, and how it is told.

use std::fmt::Display;
use std::io::Write;

use campaign::ErrorForm;
use document::sanitize;

use crate::ui::{signals, width};

pub use campaign::Error as Problem;

/// What was said is wrong; nothing was touched.
pub const WRONG: u8 = 2;

/// Why options of a command contradict one another, as any result.
pub fn refuse<T>(why: impl Display) -> Result<T, Problem> {
    Err(Problem::refused(why))
}

/// Tells a problem on standard error.
pub fn tell_problem(problem: &Problem) {
    match problem.form {
        ErrorForm::Line | ErrorForm::ClosedPipe => tell(problem),
        ErrorForm::Lines => complain(&problem.to_string()),
        ErrorForm::Silent => {}
    }
}

/// The user of this program, as campaigns see them.
pub const USER: campaign::User = campaign::User {
    show: |text| tell(text),
    is_interrupted: signals::is_pending,
};

/// Tells something on standard error in a line of its own, whatever stands in it.
pub fn tell(what: impl Display) {
    complain(&sanitize::shown(what).to_string());
}

/// Tells something on standard error that may have several lines.
pub fn complain(lines: &str) {
    // A closed standard error is no reason to stop.
    let lines = format!("postmark: {}", sanitize::lines(lines));
    let _ = writeln!(std::io::stderr(), "{}", width::for_errors(&lines));
}

/// Shows a line on standard error, as it is.
pub fn show(line: impl Display) {
    // Nobody may be reading.
    let line = sanitize::shown(line).to_string();
    let _ = writeln!(std::io::stderr(), "{}", width::for_errors(&line));
}

/// Writes to standard output, wholly. Nothing in it is obeyed by a terminal; strings of others were
/// made harmless where they were put in, so that they begin no lines.
pub fn print(text: &str) -> Result<(), Problem> {
    print_as_it_is(&sanitize::lines(text))
}

/// Writes a text whose strings of others were made harmless before.
///
/// # Errors
/// Where it cannot be written wholly.
pub fn print_as_it_is(text: &str) -> Result<(), Problem> {
    let mut output = std::io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    written.map_err(|cause| Problem::undelivered("standard output", &cause))
}
