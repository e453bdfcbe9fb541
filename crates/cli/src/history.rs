//! `postmark history`: what was published, and what others have submitted.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use history::{Format, HistoryError, Library, Submission, SubmissionError, beside, show, submission, submissions};
use record::Record;
use record::harmless::path as shown;

use crate::said::{ArchiveArgument, HistoryArguments, HistoryCommand};
use crate::{Problem, earlier, print};

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
}

/// Shows what was asked for.
///
/// # Errors
/// Where a name or a file is none, or the answer cannot be delivered.
pub fn history(arguments: &HistoryArguments) -> Result<u8, Problem> {
    print(&text(&arguments.command)?)?;
    Ok(0)
}

fn text(command: &HistoryCommand) -> Result<String, Problem> {
    let library = Library::read().map_err(HistoryProblem::from)?;
    let shown = match command {
        HistoryCommand::List => Ok(show::list(&library)),
        HistoryCommand::Show { name, format } => show::show(&library, name.as_deref(), *format),
        HistoryCommand::Submissions { files, archive, format } => {
            let all = if files.is_empty() {
                archived(archive)?
            } else {
                files.iter().map(|path| submitted(path)).collect::<Result<_, _>>()?
            };
            submissions::groups(&library, &all).map(|groups| submissions::show(&groups, *format))
        }
        HistoryCommand::Beside { run, format } => {
            let record = earlier::find(run, None)?;
            beside(&library, &record).map(|beside| beside.show(*format))
        }
    };
    Ok(shown.map_err(HistoryProblem::from)?)
}

/// A run beside the published rows of the same configuration, for people.
///
/// # Errors
/// Where our own data are at fault.
pub fn beside_in_text(record: &Record) -> Result<String, Problem> {
    let library = Library::read().map_err(HistoryProblem::from)?;
    let beside = beside(&library, record).map_err(HistoryProblem::from)?;
    Ok(beside.show(Format::Text))
}

/// The submissions of an archive.
fn archived(said: &ArchiveArgument) -> Result<Vec<Submission>, Problem> {
    let read = |text: &String| {
        Submission::from_json(text).map_err(|problem| HistoryProblem::Submission {
            path: PathBuf::from("a submission in the archive"),
            problem,
        })
    };
    let texts = crate::archive::submissions(said)?;
    Ok(texts.iter().map(read).collect::<Result<_, _>>()?)
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
