//! Prints documents on standard output. All documents have the same width; on a terminal, they also
//! have colours.

use anstream::{AutoStream, ColorChoice};
use document::{Document, Format, Terminal, WIDTH};

use crate::ui::problem::{self, Problem, print_as_it_is};
use crate::ui::{terminal, width};

/// Renders a document as text for standard output, in the width of all screens.
pub fn text(document: &Document) -> String {
    // `AutoStream` reads NO_COLOR, CLICOLOR_FORCE, CLICOLOR and TERM.
    let colour =
        AutoStream::choice(&std::io::stdout()) != ColorChoice::Never && terminal::may_have_colour();
    match width::given() {
        None if !colour => document::text(document, WIDTH),
        _ => {
            let width = width::of_screens();
            document::on_terminal(document, Terminal { width, colour })
        }
    }
}

/// Renders a document for standard output (`is_screen`) or for a file.
pub fn laid_out(document: &Document, is_screen: bool) -> String {
    if is_screen {
        text(document)
    } else {
        document::text(document, WIDTH)
    }
}

/// Writes the result of [`text`] to standard output, with its colours. In this result, strings from
/// outside are already sanitized.
///
/// # Errors
/// Returns an error if the text cannot be written completely.
pub fn print(text: &str) -> Result<(), Problem> {
    print_as_it_is(text)
}

/// Writes the answer of a command to standard output in the chosen format.
///
/// # Errors
/// Returns an error if the answer cannot be written completely.
pub fn answer(
    format: Format,
    document: impl FnOnce() -> Document,
    csv: impl FnOnce() -> String,
    json: impl FnOnce() -> String,
) -> Result<(), Problem> {
    match format {
        Format::Text => print(&text(&document())),
        format => problem::print(&format.answer(document, csv, json)),
    }
}
