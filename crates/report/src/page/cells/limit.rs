//! How many pictures of a kind are drawn.

use document::Document;

/// No kind of picture is drawn more often: the tables have the rest.
pub(super) const PICTURES_MAX: usize = 12;

pub(super) fn left_out(document: &mut Document, all: usize) {
    if all > PICTURES_MAX {
        document.note(format!(
            "{PICTURES_MAX} of {all} pictures are drawn; the tables have all values."
        ));
    }
}
