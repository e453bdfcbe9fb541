//! What a study came to in the tables of a paper.

use archive::Archive;
use document::{Rendering, WIDTH};
use published::Library;
use published::layouts::{self, LayoutResults, LayoutView, PaperRun};
use study::{Design, PaperLayout, StudyComparisons, StudyRun};

use crate::options::CompareFormat;
use crate::problem::{Problem, PublishedProblem, print};
use crate::screen;

/// Refuses counterparts that the paper of the design's layout does not have.
///
/// # Errors
/// The first of them.
pub fn check(design: &Design) -> Result<(), Problem> {
    let Some(layout) = design.layout else { return Ok(()) };
    let library = Library::read().map_err(PublishedProblem::from)?;
    Ok(layouts::check(layout, design, &library).map_err(PublishedProblem::from)?)
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
    format: CompareFormat,
) -> Result<(), Problem> {
    let mut of_paper = Vec::new();
    for number in runs.iter().filter_map(|run| run.observed.run) {
        of_paper.extend(PaperRun::of(&archive.record(number)?));
    }
    let library = Library::read().map_err(PublishedProblem::from)?;
    let cells = design.cells().unwrap_or_default();
    let compared = StudyComparisons::of(design, &cells, runs, &design.metrics);
    let results = LayoutResults::of(layout, design, &of_paper, &compared, &library).map_err(PublishedProblem::from)?;
    let document = || layouts::document(&results, view);
    match format {
        CompareFormat::Text => screen::print(&screen::text(&document(), WIDTH)),
        CompareFormat::Markdown => print(&Rendering::Markdown.show(&document(), WIDTH)),
        CompareFormat::Csv => print(&document::csv(&layouts::csv(&results, view), "\n")),
        CompareFormat::Json => print(&document::json(&results)),
    }
}
