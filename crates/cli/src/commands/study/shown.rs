//! Reports the results when a study ends.

use std::time::Duration;

use campaign::archive::ArchivePlace;
use campaign::page;
use campaign::study::{Course, found};
use document::Format;
use published::layouts::LayoutView;
use study::{Comparisons, StudyComparisons, StudyRun};

use super::layout;
use crate::args::StudyArguments;
use crate::commands::compare;
use crate::ui::output::OutputFile;
use crate::ui::problem::{Problem, USER};

/// Writes the HTML page of the study, if the archive contains a run of the study.
pub(super) fn write_page(
    output: OutputFile,
    place: &ArchivePlace,
    id: &str,
    is_unlike_allowed: bool,
) -> Result<(), Problem> {
    /// Time limit for writing the page, because its file system may hang.
    const WRITE_MAX: Duration = Duration::from_secs(60);
    let archive = place.open(false, USER)?;
    let Some(found) = found::find(&archive, id)? else {
        return Ok(());
    };
    let made = page::of_study(&archive, &found, &[], (is_unlike_allowed, false))?;
    output.write(&made.page, WRITE_MAX)
}

/// Prints the comparisons, and the tables of the layout if the study has one. JSON and CSV contain
/// one document: the tables of the layout, or the comparisons if the study has no layout.
pub(super) fn report_of(
    arguments: &StudyArguments,
    place: &ArchivePlace,
    course: &Course<'_>,
    runs: &[StudyRun],
) -> Result<(), Problem> {
    let Some(layout) = course.design.layout else {
        return compare_of(arguments, course, runs);
    };
    if matches!(arguments.format, Format::Text | Format::Markdown) {
        compare_of(arguments, course, runs)?;
    }
    let view = LayoutView {
        is_with_published: arguments.with_published,
    };
    let archive = place.open(false, USER)?;
    let shown = (layout, view, arguments.format);
    layout::show(&archive, course.design, runs, shown)
}

fn compare_of(
    arguments: &StudyArguments,
    course: &Course<'_>,
    runs: &[StudyRun],
) -> Result<(), Problem> {
    let found = StudyComparisons::of(course.design, course.cells, runs, &course.design.metrics);
    let tables = found.tables.into_iter();
    let tables: Vec<Comparisons> = match arguments.unlike {
        true => tables.collect(),
        false => tables.map(Comparisons::without_unlike_shares).collect(),
    };
    compare::show(&tables, arguments.format)
}
