//! The page of a study, or of sides that are compared, with all of their runs out of the archive.

use std::collections::BTreeSet;

use archive::{Archive, Remarks};
use campaign::study::found::FoundStudy;
use campaign::study::select::{Found, all_of_study, sides};
use document::Document;
use record::Record;
use report::figures::comparison_figures;
use report::page::{ComparedPage, comparison_page};
use study::{Comparisons, Design, Metric, SideGroup};

use super::opened::remarks;
use super::page_run::{ArchivedRun, PageFiles};
use crate::args::ReportArguments;
use crate::commands::study::layout;
use crate::ui::problem::Problem;

/// The page of a study.
///
/// # Errors
/// Where its design has no cells, or a record cannot be read.
pub fn study_page(
    archive: &Archive,
    study: &FoundStudy,
    metrics: &[Metric],
    (is_unlike_allowed, with_figures): (bool, bool),
) -> Result<PageFiles, Problem> {
    let mut found = all_of_study(archive, study, metrics)?;
    if !is_unlike_allowed {
        found.tables = found
            .tables
            .into_iter()
            .map(Comparisons::without_unlike_shares)
            .collect();
    }
    let name = format!("study {} ({})", study.design.name, study.id);
    let more = match study.design.layout {
        Some(of) => layout::on_page(archive, &study.design, &study.runs, of)?,
        None => Document::default(),
    };
    page(
        archive,
        name,
        &found,
        (Some(&study.design), more),
        with_figures,
    )
}

/// The page of sides, the first of which is the baseline.
///
/// # Errors
/// Where a word stands for nothing, sides are not alike, or a record cannot be read.
pub fn sides_page(
    archive: &Archive,
    words: &[String],
    arguments: &ReportArguments,
) -> Result<PageFiles, Problem> {
    let found = sides(archive, words, &arguments.metric, arguments.unlike)?;
    let labels = |group: &SideGroup| {
        group
            .sides
            .iter()
            .map(|side| side.label.clone())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let name = found.groups.iter().map(|group| {
        format!(
            "{} compared with {}",
            labels(group),
            group.baseline.side.label
        )
    });
    let name = name.collect::<Vec<_>>().join("; ");
    let with_figures = arguments.figures.is_some();
    page(
        archive,
        name,
        &found,
        (None, Document::default()),
        with_figures,
    )
}

fn page(
    archive: &Archive,
    name: String,
    found: &Found,
    (design, more): (Option<&Design>, Document),
    with_figures: bool,
) -> Result<PageFiles, Problem> {
    let mut numbers = BTreeSet::new();
    for group in &found.groups {
        let baseline = std::iter::once(&group.baseline.side).chain(&group.baseline.twin);
        let all = baseline.chain(&group.sides);
        numbers.extend(all.flat_map(|side| &side.runs).filter_map(|run| run.run));
    }
    let mut kept = Vec::new();
    for number in numbers {
        let remarks: Remarks = remarks(&archive.called(&number.to_string())?);
        let record: Record = archive.record(number)?;
        kept.push((number, ArchivedRun::of(record, &remarks)));
    }
    let page = ComparedPage {
        name,
        groups: &found.groups,
        tables: &found.tables,
        metrics: &found.metrics,
        design,
        more,
        runs: kept
            .iter()
            .map(|(number, run)| (*number, run.on_page()))
            .collect(),
    };
    let figures = || comparison_figures(&page);
    PageFiles::of(comparison_page(&page), with_figures.then_some(figures))
}
