//! Assembles the results of a study from its runs and a published source.

use std::collections::BTreeMap;

use study::{Design, Flaw, PaperLayout, StudyComparisons};

use super::measured::PaperRun;
use super::results::LayoutResults;
use super::{printed, studied};
use crate::library::Library;
use crate::source::Source;

/// The error if results cannot be shown in a layout. Either the paper lacks a system that the
/// design names as a counterpart, or the design is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LayoutError(String);

impl From<Flaw> for LayoutError {
    fn from(flaw: Flaw) -> Self {
        Self(flaw.to_string())
    }
}

/// Returns the name of the source that a layout follows.
const fn source_of(layout: PaperLayout) -> &'static str {
    match layout {
        PaperLayout::Tr3022 => "paper",
        PaperLayout::Veritas => "veritas",
        PaperLayout::Sessions => "lfs",
        PaperLayout::Submissions => "mail-page",
        PaperLayout::Completion => "nfs-iscsi",
    }
}

/// Checks that the paper contains all systems that the design names as counterparts.
///
/// # Errors
/// Returns an error that names the first counterpart that does not exist.
pub fn check(layout: PaperLayout, design: &Design, library: &Library) -> Result<(), LayoutError> {
    let paper = source(library, layout);
    for (target, system) in &design.counterparts {
        let columns = paper.systems.iter().map(|known| known.column.as_str());
        let columns: Vec<&str> = columns.collect();
        if !columns.contains(&system.as_str()) {
            return Err(LayoutError(format!(
                "counterparts.{target} = \"{system}\": {} has no such system (use one of {})",
                paper.name,
                columns.join(", ")
            )));
        }
    }
    Ok(())
}

fn source(library: &Library, layout: PaperLayout) -> &Source {
    let name = source_of(layout);
    let found = library.sources.iter().find(|source| source.name == name);
    found.expect("a test shows every layout")
}

impl LayoutResults {
    /// Collects the results of a study's runs and the paper's results for the same work. `compared`
    /// contains the comparisons of the same study.
    ///
    /// # Errors
    /// Returns an error if the paper lacks a counterpart, or if the design is invalid.
    pub fn of(
        layout: PaperLayout,
        design: &Design,
        runs: &[PaperRun],
        compared: &StudyComparisons,
        library: &Library,
    ) -> Result<Self, LayoutError> {
        if design.layout.is_none_or(|own| own == layout) {
            check(layout, design, library)?;
        }
        let paper = source(library, layout);
        let cells = design.cells()?;
        let mut results = Self {
            layout,
            study: design.name.clone(),
            source: paper.name.clone(),
            works: Vec::new(),
            systems: Vec::new(),
            values: Vec::new(),
            invalid: Vec::new(),
            is_doubtful: compared.is_doubtful(),
            alpha: compared.alpha,
            blocks: BTreeMap::new(),
        };
        let places = studied::add_works_and_systems(&mut results, design, &cells, runs);
        studied::add_missing_protocols(&mut results, runs);
        studied::add_values(&mut results, runs, &places);
        printed::add(&mut results, paper);
        Ok(results)
    }
}
