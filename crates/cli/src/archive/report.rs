//! `postmark report`: one HTML file about runs.

use std::path::Path;
use std::time::Duration;

use archive::{Archive, NoteText, Remarks};
use document::Document;
use document::harmless::path as shown;
use record::Record;
use record::documents::Documents;
use report::page::{PageRun, page};

use super::{find, number, open, place, remarks};
use crate::earlier;
use crate::options::ReportArguments;
use crate::output::{Input, Outputs, is_standard_output};
use crate::problem::{Problem, print};
use crate::run_spec::error::SpecError;

/// The file's own file system is waited for so long.
const WRITE_MAX: Duration = Duration::from_secs(60);

/// A run that goes on the page: its record, what somebody has said of it, and the document with both.
struct Told {
    record: Record,
    remarks: Document,
    json: String,
}

impl Told {
    fn of(record: Record, remarks: &Remarks) -> Self {
        let mut told = Document::default();
        if !remarks.tags.is_empty() {
            let tags: Vec<String> = remarks.tags.iter().map(ToString::to_string).collect();
            told.words(format!("Tags: {}", tags.join(" ")));
        }
        if let Some(note) = remarks.note.as_ref().and_then(NoteText::text) {
            told.words(format!("Note: {note}"));
        }
        let json = remarks.document(&record);
        Self {
            record,
            remarks: told,
            json,
        }
    }
}

/// Writes the page.
///
/// # Errors
/// Where there is no such run, one cannot be read, or the file cannot be written.
pub fn report(arguments: &ReportArguments) -> Result<u8, Problem> {
    let named = |run: &&std::path::PathBuf| earlier::name(run).is_some();
    let is_archived = arguments.runs.iter().any(|run| named(&run));
    let archive_place = is_archived.then(|| place::place_of_one(arguments.archive.archive.as_deref()));
    let archive_place = archive_place.transpose()?;
    let files = arguments.runs.iter().filter(|run| !named(run));
    let inputs: Vec<Input> = files.map(|run| Input::new("RUN", run)).collect();
    let mut outputs = Outputs::new(arguments.force, archive_place.as_ref(), &inputs)?;
    outputs.judge("--output", &arguments.output)?;
    let archive = is_archived.then(|| open(&arguments.archive)).transpose()?;
    let mut told = Vec::new();
    for run in &arguments.runs {
        match (earlier::name(run), &archive) {
            (Some(word), Some(archive)) => told.push(archived(archive, word)?),
            _ => told.extend(in_file(run)?),
        }
    }
    let runs = told.iter().map(|told| PageRun {
        record: &told.record,
        json: &told.json,
        remarks: told.remarks.clone(),
    });
    let text = page(&runs.collect::<Vec<_>>());
    let output = outputs.open("--output", &arguments.output)?;
    output.write(&text, WRITE_MAX)?;
    if !is_standard_output(&arguments.output) {
        print(&format!("Report: {}\n", shown(&arguments.output)))?;
    }
    Ok(0)
}

fn archived(archive: &Archive, word: &str) -> Result<Told, Problem> {
    let entry = find(archive, word)?;
    Ok(Told::of(archive.record(number(&entry))?, &remarks(&entry)))
}

/// All runs of a file: an export or a page may have several.
fn in_file(path: &Path) -> Result<Vec<Told>, SpecError> {
    let source = earlier::source(path).map_err(|cause| SpecError::CannotReadRun {
        run: earlier::Called(path).to_string(),
        cause,
    })?;
    let mut all = Vec::new();
    for document in Documents::of(source) {
        let text = document.map_err(|error| earlier::wrong(path, error))?;
        let record = Record::from_json(&text).map_err(|error| earlier::wrong(path, error))?;
        let remarks = Remarks::of_document(&text).map_err(|error| earlier::wrong(path, error))?;
        all.push(Told::of(record, &remarks));
    }
    Ok(all)
}
