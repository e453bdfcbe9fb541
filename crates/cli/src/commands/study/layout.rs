//! What a study came to in the tables of a paper.

use archive::Archive;
use campaign::publications;
use document::Format;
use published::layouts::{self, LayoutView};
use study::{Design, PaperLayout, StudyRun};

use crate::ui::problem::Problem;
use crate::ui::screen;

/// Shows the runs of a study, which are in an archive, in a layout.
///
/// # Errors
/// Where a record cannot be read, or the answer cannot be delivered.
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
