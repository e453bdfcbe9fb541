//! How wide a terminal is, and lines of standard error that fit into it.

use document::{Document, Terminal};

use crate::ui::terminal;

/// Narrower terminals are taken for this wide, in characters: less holds no number with its name.
pub const WIDTH_MIN: usize = 20;

/// How many characters fit in a line of a terminal: by `COLUMNS`, else as it says itself.
pub fn columns(terminal: &impl std::os::fd::AsFd) -> Option<usize> {
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let size = || {
        rustix::termios::tcgetwinsize(terminal)
            .ok()
            .map(|size| size.ws_col.into())
    };
    let is_width = |columns: &usize| *columns > 0;
    said.filter(is_width).or_else(size).filter(is_width)
}

/// Harmless lines for standard error: broken between words where that is a terminal, as they are
/// elsewhere.
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

/// Lines that begin with a blank stay: they point to a place in the line above them.
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
    fn lines_are_broken_between_words_and_those_that_point_to_a_place_are_not() {
        let text =
            "one two three four five six\n          ^^^^^ expected another number of words\nend\n";
        assert_eq!(
            broken(text, 20),
            "one two three four\nfive six\n          ^^^^^ expected another number of words\nend\n"
        );
    }
}
