//! The limit on the number of charts of one kind.

use document::Document;

/// Maximum number of charts of one kind. The tables contain all values.
const PICTURES_MAX: usize = 12;

/// Draws a chart for each pair of a row and a column, up to [`PICTURES_MAX`] charts.
pub(super) fn pictures<A: Copy, B: Copy>(
    document: &mut Document,
    rows: impl ExactSizeIterator<Item = A>,
    columns: &[B],
    mut draw: impl FnMut(&mut Document, A, B),
) {
    let all = rows.len() * columns.len();
    let pairs = rows.flat_map(|row| columns.iter().map(move |column| (row, *column)));
    for (row, column) in pairs.take(PICTURES_MAX) {
        draw(document, row, column);
    }
    if all > PICTURES_MAX {
        document.note(format!(
            "{PICTURES_MAX} of {all} pictures are drawn; the tables have all values."
        ));
    }
}
