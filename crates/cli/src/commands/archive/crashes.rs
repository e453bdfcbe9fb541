//! Results of crash rounds, by the words that name runs.

use std::path::Path;

use archive::{Archive, Remarks};
use campaign::archive::crashes;
use campaign::page::remarks_in_words;
use campaign::record_source;
use document::Format;
use report::page;
use rundir::CrashReport;
use verdict::ListedRun;

use super::opened::{newest_tagged, number, open};
use crate::args::ArchiveArgument;
use crate::ui::problem::{Problem, refuse};
use crate::ui::screen;

/// A result, with what users added to it in an archive.
pub struct NamedCrash {
    pub report: CrashReport,
    pub remarks: Remarks,
}

/// Finds a result by its number, its identity, a tag whose newest entry it is, or its file. Returns
/// `None` if the word does not name a result, so that it may name a run.
///
/// # Errors
/// Returns an error if the result cannot be read.
pub fn find(word: &Path, archive: &ArchiveArgument) -> Result<Option<NamedCrash>, Problem> {
    if let Some(name) = record_source::name(word) {
        let archive = open(archive)?;
        let entry = archive.called(name)?;
        return archived(&archive, &entry);
    }
    if let Some((archive, entry, _)) = newest_tagged(word, archive) {
        return archived(&archive, &entry);
    }
    let found = crashes::in_file(word)?;
    Ok(found.map(|report| NamedCrash {
        report,
        remarks: Remarks::default(),
    }))
}

/// Reads the result of an entry. Returns `None` if the entry is a run.
///
/// # Errors
/// Returns an error if the result cannot be read.
pub(super) fn archived(
    archive: &Archive,
    entry: &ListedRun,
) -> Result<Option<NamedCrash>, Problem> {
    if entry.headline.crash.is_none() {
        return Ok(None);
    }
    Ok(Some(NamedCrash {
        report: crashes::get(archive, number(entry))?,
        remarks: Remarks::from(entry),
    }))
}

impl NamedCrash {
    /// The JSON document in exports and pages, with tags and note.
    pub fn json(&self) -> String {
        self.remarks.added_to(crashes::compact(&self.report))
    }

    /// The result in a format of reports.
    ///
    /// # Errors
    /// Returns an error for the formats of the original.
    pub(super) fn text(&self, format: Format, is_screen: bool) -> Result<String, Problem> {
        if format.is_classic() {
            return refuse(
                "--format classic and terse cannot show crash rounds (use text, markdown or json)",
            );
        }
        let mut document = remarks_in_words(&self.remarks);
        document.append(report::crash::document(&self.report));
        Ok(match format {
            Format::Text => screen::laid_out(&document, is_screen),
            Format::Json => document::json(&self.report),
            format => format.document(&document, document::WIDTH),
        })
    }

    /// The page of the result.
    pub(super) fn page(&self) -> String {
        let remarks = remarks_in_words(&self.remarks);
        page::crash_page(&self.report, &remarks, &self.json())
    }
}
