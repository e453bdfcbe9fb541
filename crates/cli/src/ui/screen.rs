//! Documents on standard output: a terminal's width and colours where it is one, else neither.

use anstream::{AutoStream, ColorChoice};
use document::{Document, Format, Terminal, WIDTH};

use crate::ui::problem::{self, Problem, print_as_it_is};
use crate::ui::terminal;
use crate::ui::width::{WIDTH_MIN, columns};

/// A document as text: for a terminal with its width, where it is below this one, and elsewhere in
/// lines of this width.
pub fn text(document: &Document, width: usize) -> String {
    // NO_COLOR, CLICOLOR_FORCE, CLICOLOR and TERM are looked at.
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

/// A document as text for standard output (`is_screen`), or for a file in lines of this width.
pub fn laid_out(document: &Document, width: usize, is_screen: bool) -> String {
    if is_screen {
        text(document, width)
    } else {
        document::text(document, width)
    }
}

/// How many characters fit in a line of standard output; nothing where that is no terminal.
pub fn width() -> Option<usize> {
    let output = std::io::stdout();
    terminal::is_users(&output)
        .then(|| columns(&output))
        .flatten()
}

/// Writes what [`text`] has made: strings of others were made harmless there.
///
/// # Errors
/// Where it cannot be written wholly.
pub fn print(text: &str) -> Result<(), Problem> {
    print_as_it_is(text)
}

/// Writes an answer to standard output: the one of its views that the format shows.
///
/// # Errors
/// Where it cannot be written wholly.
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
