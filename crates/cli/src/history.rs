//! `postmark history`: what was published, and what others have submitted.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use history::{HistoryError, Library, Submission, SubmissionError, beside, show, submission, submissions};
use record::harmless::path as shown;
use record::{ReadError, Record};

use crate::said::{HistoryArguments, HistoryCommand};
use crate::{Problem, print};

/// Why a command about published results could not do its work. Nothing was touched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryProblem {
    /// A name that is none, or a fault in our own data.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", shown(.path))]
    CannotRead {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        cause: std::io::Error,
    },
    /// A file is no submission.
    #[error("{}: {problem}", shown(.path))]
    Submission {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: SubmissionError,
    },
    /// A file is no record.
    #[error("{}: {problem}", shown(.path))]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: ReadError,
    },
}

/// Shows what was asked for.
///
/// # Errors
/// Where a name or a file is none, or the answer cannot be delivered.
pub fn history(arguments: &HistoryArguments) -> Result<u8, Problem> {
    print(&text(&arguments.command)?)?;
    Ok(0)
}

fn text(command: &HistoryCommand) -> Result<String, HistoryProblem> {
    let library = Library::read()?;
    Ok(match command {
        HistoryCommand::List => show::list(&library),
        HistoryCommand::Show { name, format } => show::show(&library, name.as_deref(), *format)?,
        HistoryCommand::Submissions { files, format } => {
            let read: Vec<Submission> = files.iter().map(|path| submitted(path)).collect::<Result<_, _>>()?;
            submissions::show(&submissions::groups(&library, &read)?, *format)
        }
        HistoryCommand::Beside { record: path, format } => {
            let text = content(path, u64::MAX)?;
            let record = Record::from_json(&text).map_err(|problem| HistoryProblem::Record {
                path: path.clone(),
                problem,
            })?;
            beside(&library, &record)?.show(*format)
        }
    })
}

fn submitted(path: &Path) -> Result<Submission, HistoryProblem> {
    // One byte more than a submission can have tells that it is too long.
    let text = content(path, submission::BYTES_MAX as u64 + 1)?;
    Submission::from_json(&text).map_err(|problem| HistoryProblem::Submission {
        path: path.to_owned(),
        problem,
    })
}

/// What a file holds, so many bytes of it at most.
fn content(path: &Path, bytes_max: u64) -> Result<String, HistoryProblem> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(bytes_max).read_to_end(&mut bytes));
    match read {
        // What is no text is no JSON, which the reader of it says.
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(cause) => Err(HistoryProblem::CannotRead {
            path: path.to_owned(),
            cause,
        }),
    }
}
