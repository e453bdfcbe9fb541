//! `postmark engines`.

use document::Format;
use engines::registry::ROWS;
use report::engines::{csv, document, json};

use crate::ui::problem::Problem;
use crate::ui::screen;

/// Lists the I/O engines with what is known of each.
///
/// # Errors
/// Where the list cannot be delivered.
pub fn list(format: Format) -> Result<u8, Problem> {
    let all = || ROWS.iter().map(|row| row.facts);
    screen::answer(format, || document(all()), || csv(all()), || json(all()))?;
    Ok(0)
}
