//! Reports the results when a study ends.

use std::time::Duration;

use campaign::archive::ArchivePlace;
use campaign::page;
use campaign::study::{Course, found};
use document::{Format, sanitize};
use published::layouts::LayoutView;
use report::study::sides;
use study::{Comparisons, Repeats, SideBlocks, StudyComparisons, StudyRun};

use super::layout;
use crate::args::StudyArguments;
use crate::commands::compare;
use crate::ui::output::OutputFile;
use crate::ui::problem::{Problem, USER, tell};
use crate::ui::screen;

/// Time limit for writing a file, because its file system may hang.
const WRITE_MAX: Duration = Duration::from_secs(60);

/// Writes the HTML page of the study, if the archive contains a run of the study.
pub(super) fn write_page(
    output: OutputFile,
    place: &ArchivePlace,
    id: &str,
    is_unlike_allowed: bool,
) -> Result<(), Problem> {
    let archive = place.open(false, USER)?;
    let Some(found) = found::find(&archive, id)? else {
        return Ok(());
    };
    let made = page::of_study(&archive, &found, &[], (is_unlike_allowed, false))?;
    output.write(&made.page, WRITE_MAX)
}

/// Prints the comparisons, and the tables of the layout if the study has one. JSON and CSV contain
/// one document: the tables of the layout, or the comparisons if the study has no layout. The
/// results of a repeated run are written to `output` if it is given.
pub(super) fn report_of(
    arguments: &StudyArguments,
    place: &ArchivePlace,
    (course, runs): (&Course<'_>, &[StudyRun]),
    output: Option<OutputFile>,
) -> Result<(), Problem> {
    if course.is_repetition() {
        let found = Repeats::of(course.design, course.id, runs);
        return repeats(&found, arguments.format, output);
    }
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

/// Prints the results of a repeated run, or writes them to `output`.
fn repeats(found: &Repeats, format: Format, output: Option<OutputFile>) -> Result<(), Problem> {
    let document = || report::repeats::document(found);
    let csv = || report::repeats::as_csv(found);
    let json = || document::json(found);
    match output {
        None => screen::answer(format, document, csv, json),
        Some(output) => output.write(&format.answer(document, csv, json), WRITE_MAX),
    }
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
    compare::show(&tables, &[], arguments.format)?;
    if let Some((_, block)) = course.side {
        let tag = arguments.remarks.tag.first();
        let tag = tag.map_or_else(|| "TAG".to_owned(), ToString::to_string);
        let blocks = (block, course.design.blocks);
        let tag = sanitize::shown(&tag).to_string();
        tell(sides::next_step(&SideBlocks::of(runs), blocks, &tag));
    }
    Ok(())
}
