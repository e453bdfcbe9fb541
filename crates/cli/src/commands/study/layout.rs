//! Shows the results of a study in the table layouts of published papers.

use archive::Archive;
use campaign::publications;
use document::Format;
use published::layouts::{self, LayoutView};
use study::{Design, PaperLayout, StudyRun};

use crate::ui::problem::Problem;
use crate::ui::screen;

/// Shows archived runs of a study in a paper's layout.
///
/// # Errors
/// Returns an error if a record cannot be read, or the answer cannot be written.
pub fn show(
    archive: &Archive,
    design: &Design,
    runs: &[StudyRun],
    (layout, view, format): (PaperLayout, LayoutView, Format),
) -> Result<(), Problem> {
    let results = publications::layout(archive, design, runs, layout)?;
    screen::answer(
        format,
        || layouts::document(&results, view),
        || document::csv(&layouts::csv(&results, view), "\n"),
        || document::json(&results),
    )
}
