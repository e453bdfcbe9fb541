//! Why a command could not do its work, and how it is told.

use std::io::Write;
use std::path::PathBuf;

use document::sanitize;
use published::layouts::LayoutError;
use published::{PublishedError, SubmissionError};
use record::documents::DocumentError;

use crate::commands::run_spec::error::SpecError;
use crate::ui::{signals, width};

/// What was said is wrong; nothing was touched.
pub const WRONG: u8 = 2;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// What was said is wrong.
    #[error(transparent)]
    Meaning(#[from] SpecError),
    /// The run was refused.
    #[error("{0}")]
    Refused(#[from] runner::Refused),
    /// The storage that goes with the work lacks something.
    #[error("{lack}; {default} is the default of this workload")]
    Lacking {
        lack: engine::Unsupported,
        default: &'static str,
    },
    /// The workload cannot be performed.
    #[error(transparent)]
    Workload(#[from] workload::stream::StreamError),
    /// Nothing can be said of what a crash has taken.
    #[error(transparent)]
    Verify(#[from] rundir::VerifyError),
    /// The archive cannot do what it is to do. (Boxed: it is seldom, and large.)
    #[error("{0}")]
    Archive(Box<archive::ArchiveError>),
    /// Nothing can be said of what was published or submitted.
    #[error(transparent)]
    Published(#[from] PublishedProblem),
    /// A gate has nothing to decide on.
    #[error(transparent)]
    Gate(#[from] study::GateError),
    /// The short run before the run did not come to its end.
    #[error("the calibration for --working-set {why}")]
    Calibration { why: String, code: u8 },
    /// A study cannot go on; what it has measured is in the archive.
    #[error("{0}")]
    Study(String),
    /// A page could not be read again.
    #[error("cannot make the page: {0}")]
    Page(#[from] report::page::PageError),
    /// The processes of a launcher could not perform a run together.
    #[error("{why}")]
    Ranks { why: String, code: u8 },
    /// Rank 0 has a problem, which it tells itself: its exit status.
    #[error("rank 0 ended the run")]
    OfFirstRank(u8),
    /// What was done in each second could not be written.
    #[error("cannot write --live to {to}: {cause}")]
    Live { to: String, cause: std::io::Error },
    /// A report could not be delivered.
    #[error("cannot write the report to {to}: {cause}")]
    Report { to: String, cause: std::io::Error },
}

impl Problem {
    /// Whether a reader has closed its pipe, as in `postmark schema | head`: it has read what it
    /// wants.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Report { cause, .. } if cause.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Tells it on standard error.
    pub fn tell(&self) {
        match self {
            // With the line of the file that it is about.
            Self::Meaning(SpecError::Config { .. }) => complain(&self.to_string()),
            Self::OfFirstRank(_) => {}
            problem => tell(problem),
        }
    }

    /// The exit status: 2 where nothing was touched, 1 where something was done.
    pub fn code(&self) -> u8 {
        match self {
            Self::Refused(refused) if refused.left_something() => 1,
            Self::Meaning(_)
            | Self::Refused(_)
            | Self::Lacking { .. }
            | Self::Workload(_)
            | Self::Verify(_)
            | Self::Archive(_)
            | Self::Published(_)
            | Self::Gate(_) => WRONG,
            Self::Calibration { code, .. } | Self::Ranks { code, .. } | Self::OfFirstRank(code) => {
                *code
            }
            Self::Study(_) | Self::Page(_) | Self::Live { .. } | Self::Report { .. } => 1,
        }
    }
}

impl From<campaign::Error> for Problem {
    fn from(error: campaign::Error) -> Self {
        match error {
            campaign::Error::Refused(why) => SpecError::ConfigError(why).into(),
            campaign::Error::Failed(why) => Self::Study(why),
        }
    }
}

/// The user of this program, as campaigns see them.
pub const USER: campaign::User = campaign::User {
    show: |text| tell(text),
    is_interrupted: signals::is_pending,
};

/// Tells something on standard error in a line of its own, whatever stands in it.
pub fn tell(what: impl std::fmt::Display) {
    complain(&sanitize::shown(what).to_string());
}

/// Tells something on standard error that may have several lines.
pub fn complain(lines: &str) {
    // A closed standard error is no reason to stop.
    let lines = format!("postmark: {}", sanitize::lines(lines));
    let _ = writeln!(std::io::stderr(), "{}", width::for_errors(&lines));
}

/// Writes to standard output, wholly. Nothing in it is obeyed by a terminal; strings of others were
/// made harmless where they were put in, so that they begin no lines.
pub fn print(text: &str) -> Result<(), Problem> {
    print_as_it_is(&sanitize::lines(text))
}

/// Writes a text whose strings of others were made harmless before.
///
/// # Errors
/// Where it cannot be written wholly.
pub fn print_as_it_is(text: &str) -> Result<(), Problem> {
    let mut output = std::io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    written.map_err(|cause| Problem::Report {
        to: "standard output".to_owned(),
        cause,
    })
}

/// Why a command about published results could not do its work. Nothing was touched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishedProblem {
    /// A name that is none, or a fault in our own data.
    #[error(transparent)]
    Published(#[from] PublishedError),
    /// The results of a study cannot be shown in the tables of a paper.
    #[error(transparent)]
    Layout(Box<LayoutError>),
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", sanitize::path(.path))]
    CannotRead {
        path: PathBuf,
        cause: std::io::Error,
    },
    /// A file is no submission.
    #[error("{}: {problem}", sanitize::path(.path))]
    Submission {
        path: PathBuf,
        problem: SubmissionError,
    },
    /// A file has something that is no JSON.
    #[error("{}: JSON document {place}: {problem}", sanitize::path(.path))]
    Document {
        path: PathBuf,
        /// From 1.
        place: usize,
        problem: DocumentError,
    },
    /// There is no submission with this number.
    #[error(
        "there is no submission {0} in the archive ('postmark published submissions' shows the \
         numbers; S3 is number 3)"
    )]
    NoSuchSubmission(u64),
}

impl From<LayoutError> for PublishedProblem {
    fn from(error: LayoutError) -> Self {
        Self::Layout(Box::new(error))
    }
}
