//! `postmark check`: derives the summary and the verdict of records again, and compares the results
//! with the stored ones.

use std::path::Path;

use document::Format;
use document::sanitize::sanitize;
use record::documents::Documents;
use serde::Serialize;
use verdict::CheckedRecord;

use crate::args::CheckArguments;
use crate::commands::run;
use crate::ui::problem::{Problem, print};
use campaign::import::is_submission;
use campaign::record_source::{self, Called};

/// Exit status if a stored summary or verdict differs from the derived one, or a record breaks a
/// rule.
const WRONG: u8 = 1;
/// Exit status if a document is not a record. The other documents are still checked.
const NOT_A_RECORD: u8 = 2;

/// Checks every record of every file. Returns the highest exit status.
///
/// # Errors
/// Returns an error if the answer cannot be written.
pub fn check(arguments: &CheckArguments) -> Result<u8, Problem> {
    let mut code = 0;
    for path in &arguments.files {
        code = code.max(file(path, arguments.format)?);
    }
    Ok(code)
}

/// The result of checking one document, as a line of JSON.
#[derive(Serialize)]
struct CheckAnswer<'a> {
    /// Path of the file, as on the command line.
    file: String,
    /// Position of the document in its file, from 1.
    document: usize,
    /// Whether the stored summary and verdict agree with the derived ones and the record breaks no
    /// rule. False if the document is not a record.
    is_right: bool,
    problem: Option<&'a str>,
    #[serde(flatten)]
    checked: Option<&'a CheckedRecord>,
}

fn file(path: &Path, format: Format) -> Result<u8, Problem> {
    let source = match record_source::source(path) {
        Ok(source) => source,
        Err(error) => {
            let number = path.to_str().filter(|word| word.parse::<u64>().is_ok());
            let run = number.map_or_else(String::new, |number| {
                format!(" (for a run of the archive: postmark export {number} | postmark check -)")
            });
            let problem = format!("cannot read it: {error}{run}");
            return tell(path, 1, true, Err(problem), format);
        }
    };
    let mut code = 0;
    // If a file contains several documents, each answer contains the position of its document.
    let mut documents = Documents::of(source).enumerate().peekable();
    while let Some((place, document)) = documents.next() {
        let is_only = place == 0 && documents.peek().is_none();
        let found = match document {
            Ok(text) if is_submission(&text) => {
                Err("not a record: a submission has no record to derive from".to_owned())
            }
            Ok(text) => {
                verdict::check::check(&text, &run::resolve).map_err(|error| error.to_string())
            }
            Err(error) => Err(format!("not a record: {error}")),
        };
        code = code.max(tell(path, place + 1, is_only, found, format)?);
    }
    Ok(code)
}

/// Prints the result for one document, and returns the exit status for it.
fn tell(
    path: &Path,
    document: usize,
    is_only: bool,
    found: Result<CheckedRecord, String>,
    format: Format,
) -> Result<u8, Problem> {
    let code = match &found {
        Ok(checked) if checked.is_right() => 0,
        Ok(_) => WRONG,
        Err(_) => NOT_A_RECORD,
    };
    let file = Called(path).to_string();
    print(&match format {
        Format::Json => document::json_line(&CheckAnswer {
            file,
            document,
            is_right: code == 0,
            problem: found.as_ref().err().map(String::as_str),
            checked: found.as_ref().ok(),
        }),
        _ => {
            let name = if is_only {
                file
            } else {
                format!("{file}, document {document}")
            };
            match &found {
                Ok(checked) => report::check::text(&name, checked),
                Err(problem) => format!("{}: {}\n", sanitize(&name), sanitize(problem)),
            }
        }
    })?;
    Ok(code)
}
