//! Processes a file from an untrusted source as the commands that read such files do: separates its
//! documents, prints records in every format, compares records with published results, converts
//! records to command-line options as `--like` does, and builds tables of submissions. The test
//! `hostile.rs` uses stored inputs, and the fuzz target `import` generates new inputs.

#[path = "../../../report/tests/all/imported.rs"]
mod imported;

use std::sync::OnceLock;

use document::{Format, sanitize};
use published::submissions::Numbered;
use published::{ConfigurationShape, Library, Submission, beside, submission_tables, submissions};
use record::Record;
use record::documents::Documents;
use serde_json::Value;
use workload::Workload;

/// To check the fingerprint of a submission, its stream is generated. This is done only if all its
/// workers together have at most this number of files and transactions.
const PLANNED_MAX: u64 = 2_000;

/// Returns the number of documents that are records or submissions.
///
/// # Panics
/// Panics if a result is not as expected.
pub fn hand_over(bytes: &[u8]) -> usize {
    Documents::of(bytes)
        .flatten()
        .filter(|document| take(document))
        .count()
}

fn take(document: &str) -> bool {
    if campaign::import::is_submission(document) {
        return submission(document);
    }
    if !imported::import(document.as_bytes()) {
        return false;
    }
    let record = Record::from_json(document).expect("it was read");
    // If the tags or the note are invalid, the error message must not be empty.
    if let Err(problem) = archive::Remarks::of_document(document) {
        assert!(!problem.is_empty());
    }
    let _ = record::words_again(&record.spec);
    if !is_published(&record.spec.workload) {
        let beside = beside(library(), &record);
        show(|format| beside.show(format));
    }
    true
}

fn submission(document: &str) -> bool {
    let submission = match Submission::from_json(document) {
        Ok(submission) => submission,
        Err(error) => {
            let told = error.to_string();
            is_harmless(&told);
            assert!(!told.contains('\n'), "{told}");
            return false;
        }
    };
    let written = submission.to_json();
    is_harmless(&written);
    let again = Submission::from_json(&sanitize::lines(&written));
    assert_eq!(again.as_ref(), Ok(&submission));
    if is_short(&submission.workload) && !is_published(&submission.workload) {
        let numbered = Numbered {
            number: 1,
            submission,
        };
        let groups = submissions::groups(library(), &[numbered]);
        show(|format| submission_tables::show(&groups, format));
    }
    true
}

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(Library::read)
}

/// Whether published rows have the configuration of `workload`. Submissions with such a workload
/// are not compared with these rows, because the comparison would generate a long stream.
fn is_published(workload: &Workload) -> bool {
    static SHAPES: OnceLock<Vec<ConfigurationShape>> = OnceLock::new();
    let published = SHAPES.get_or_init(|| {
        let rows = library().rows().into_iter();
        rows.map(|row| ConfigurationShape::of_configuration(row.configuration))
            .collect()
    });
    ConfigurationShape::of(workload).is_some_and(|(shape, _)| published.contains(&shape))
}

fn is_short(workload: &Workload) -> bool {
    let of_each = workload.files().saturating_add(workload.transactions());
    of_each.saturating_mul(workload.workers.count().into()) <= PLANNED_MAX
}

/// Renders a view in all formats, and asserts that each result is harmless.
fn show(view: impl Fn(Format) -> String) {
    for format in [Format::Text, Format::Json, Format::Csv, Format::Markdown] {
        let shown = view(format);
        is_harmless(&shown);
        if format == Format::Json {
            serde_json::from_str::<Value>(&sanitize::lines(&shown)).expect("JSON stays JSON");
        }
    }
}

/// Asserts that a text contains no escape sequences or invisible characters, except line breaks and
/// tabs.
fn is_harmless(text: &str) {
    let harmful =
        |character: char| !matches!(character, '\n' | '\t') && sanitize::is_harmful(character);
    assert!(!text.replace("\r\n", "\n").contains(harmful), "{text:?}");
}
