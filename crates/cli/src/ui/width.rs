//! The width of screens, and messages wrapped to the width of a terminal.

use document::{Document, Terminal, WIDTH};

use crate::ui::terminal;

/// Minimum width for wrapping, in characters. A narrower line could not hold a number together with
/// its name.
pub const WIDTH_MIN: usize = 20;

/// Width of a terminal in characters, from the variable `COLUMNS` if it is set. `None` if the width
/// is not known.
pub fn columns(terminal: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = || {
        rustix::termios::tcgetwinsize(terminal)
            .ok()
            .map(|size| size.ws_col.into())
    };
    requested().or_else(size).filter(|columns| *columns > 0)
}

/// The width that the variable `COLUMNS` requests.
fn requested() -> Option<usize> {
    let columns: usize = std::env::var("COLUMNS").ok()?.parse().ok()?;
    (columns > 0).then_some(columns)
}

/// Width of standard output in characters; `None` if it is not a terminal.
pub fn of_terminal() -> Option<usize> {
    let output = std::io::stdout();
    terminal::is_users(&output)
        .then(|| columns(&output))
        .flatten()
}

/// Width of all screens that the variable `COLUMNS` or, without the variable, the terminal sets.
/// `None` if neither sets a width.
pub fn given() -> Option<usize> {
    let given = of_terminal().or_else(requested);
    given.map(|columns| columns.max(WIDTH_MIN))
}

/// Width of all screens, in characters: help, reports, lists and tables on standard output.
pub fn of_screens() -> usize {
    given().unwrap_or(WIDTH)
}

/// Wraps sanitized lines to the width of standard error, if that is a terminal.
pub fn for_errors(lines: &str) -> String {
    let errors = std::io::stderr();
    let columns = terminal::is_users(&errors)
        .then(|| columns(&errors))
        .flatten();
    columns.map_or_else(
        || lines.to_owned(),
        |columns| broken(lines, columns.max(WIDTH_MIN)),
    )
}

/// Wraps lines at `width`. Lines that begin with a blank, such as `    ^^^`, are not wrapped: they
/// point to a position in the line above.
fn broken(lines: &str, width: usize) -> String {
    let line = |line: &str| {
        if line.starts_with(' ') || line.chars().count() <= width {
            return line.to_owned();
        }
        let mut document = Document::default();
        document.words(line);
        let text = document::on_terminal(
            &document,
            Terminal {
                width,
                colour: false,
            },
        );
        text.trim_end().to_owned()
    };
    lines.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_except_column_markers() {
        let text =
            "one two three four five six\n          ^^^^^ expected another number of words\nend\n";
        assert_eq!(
            broken(text, 20),
            "one two three four\nfive six\n          ^^^^^ expected another number of words\nend\n"
        );
    }
}
