//! Prints documents on standard output. On a terminal they have its width and colours.

use anstream::{AutoStream, ColorChoice};
use document::{Document, Format, Terminal, WIDTH};

use crate::ui::problem::{self, Problem, print_as_it_is};
use crate::ui::terminal;
use crate::ui::width::{WIDTH_MIN, columns};

/// Renders a document as text of at most `width` columns. A narrower terminal reduces the width.
pub fn text(document: &Document, width: usize) -> String {
    // `AutoStream` reads NO_COLOR, CLICOLOR_FORCE, CLICOLOR and TERM.
    let colour =
        AutoStream::choice(&std::io::stdout()) != ColorChoice::Never && terminal::may_have_colour();
    match self::width() {
        None if !colour => document::text(document, width),
        columns => {
            let width = columns.map_or(width, |columns| columns.clamp(WIDTH_MIN, width));
            document::on_terminal(document, Terminal { width, colour })
        }
    }
}

/// Renders a document for standard output (`is_screen`) or for a file.
pub fn laid_out(document: &Document, width: usize, is_screen: bool) -> String {
    if is_screen {
        text(document, width)
    } else {
        document::text(document, width)
    }
}

/// Width of standard output in characters; `None` if it is not a terminal.
pub fn width() -> Option<usize> {
    let output = std::io::stdout();
    terminal::is_users(&output)
        .then(|| columns(&output))
        .flatten()
}

/// Writes the result of [`text`] to standard output, with its colours. In this result, strings from
/// outside are already sanitized.
///
/// # Errors
/// Returns an error if it cannot be written completely.
pub fn print(text: &str) -> Result<(), Problem> {
    print_as_it_is(text)
}

/// Writes the answer of a command to standard output in the chosen format.
///
/// # Errors
/// Returns an error if it cannot be written completely.
pub fn answer(
    format: Format,
    document: impl FnOnce() -> Document,
    csv: impl FnOnce() -> String,
    json: impl FnOnce() -> String,
) -> Result<(), Problem> {
    match format {
        Format::Text => print(&text(&document(), WIDTH)),
        format => problem::print(&format.answer(document, csv, json)),
    }
}
