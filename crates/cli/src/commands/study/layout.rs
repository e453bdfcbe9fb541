//! What a study came to in the tables of a paper.

use archive::Archive;
use document::{Document, Format};
use published::Library;
use published::layouts::{self, LayoutResults, LayoutView, PaperRun};
use study::{Design, PaperLayout, StudyComparisons, StudyRun};

use crate::ui::problem::Problem;
use crate::ui::screen;

/// Refuses counterparts that the paper of the design's layout does not have.
///
/// # Errors
/// The first of them.
pub fn check(design: &Design) -> Result<(), Problem> {
    let Some(layout) = design.layout else {
        return Ok(());
    };
    let library = Library::read().map_err(Problem::refused)?;
    layouts::check(layout, design, &library).map_err(Problem::refused)
}

/// Shows the runs of a study, which are in an archive, in a layout.
///
/// # Errors
/// Where a record cannot be read, or the answer cannot be delivered.
pub fn show(
    archive: &Archive,
    design: &Design,
    runs: &[StudyRun],
    layout: PaperLayout,
    view: LayoutView,
    format: Format,
) -> Result<(), Problem> {
    let results = results(archive, design, runs, layout)?;
    screen::answer(
        format,
        || layouts::document(&results, view),
        || document::csv(&layouts::csv(&results, view), "\n"),
        || document::json(&results),
    )
}

/// The tables and the pictures of a layout for a page, with what was published.
///
/// # Errors
/// Where a record cannot be read.
pub fn on_page(
    archive: &Archive,
    design: &Design,
    runs: &[StudyRun],
    layout: PaperLayout,
) -> Result<Document, Problem> {
    let results = results(archive, design, runs, layout)?;
    let view = LayoutView {
        is_with_published: true,
    };
    let mut document = layouts::document(&results, view);
    for graph in layouts::graphs(&results) {
        document.figure(report::page::dots(&graph));
    }
    Ok(document)
}

fn results(
    archive: &Archive,
    design: &Design,
    runs: &[StudyRun],
    layout: PaperLayout,
) -> Result<LayoutResults, Problem> {
    let mut of_paper = Vec::new();
    for number in runs.iter().filter_map(|run| run.observed.run) {
        of_paper.extend(PaperRun::of(&archive.record(number)?));
    }
    let library = Library::read().map_err(Problem::refused)?;
    let cells = design.cells().unwrap_or_default();
    let compared = StudyComparisons::of(design, &cells, runs, &design.metrics);
    LayoutResults::of(layout, design, &of_paper, &compared, &library).map_err(Problem::refused)
}
