//! `postmark engines`: lists the I/O engines.

use document::Format;
use engines::registry::ROWS;
use report::engines::{csv, document, json};

use crate::ui::problem::Problem;
use crate::ui::screen;

/// Lists the I/O engines with their capabilities.
///
/// # Errors
/// Returns an error if the list cannot be written.
pub fn list(format: Format) -> Result<u8, Problem> {
    let all = || ROWS.iter().map(|row| row.facts);
    screen::answer(format, || document(all()), || csv(all()), || json(all()))?;
    Ok(0)
}
