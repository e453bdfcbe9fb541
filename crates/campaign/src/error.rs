//! The common error type of commands and campaigns.

use std::fmt::Display;

/// A command or a campaign cannot begin or continue; contains the message for the user.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    text: String,
    /// The exit status of the process.
    pub code: u8,
    pub form: ErrorForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorForm {
    /// The message is shown as one line.
    Line,
    /// The message contains lines of the input file that contains the mistake.
    Lines,
    /// The message is not shown, because rank 0 shows it.
    Silent,
    /// The message is not shown: the reader closed the pipe, as in `postmark schema | head`, and
    /// needs no more output.
    ClosedPipe,
}

impl Error {
    /// Returns the error for a request that was refused before any file was changed. Exit status 2.
    pub fn refused(why: impl Display) -> Self {
        Self::with_code(2, why)
    }

    /// Returns the error for a failure during a command, which may already have performed runs.
    /// Exit status 1.
    pub fn failed(why: impl Display) -> Self {
        Self::with_code(1, why)
    }

    pub fn with_code(code: u8, why: impl Display) -> Self {
        Self {
            text: why.to_string(),
            code,
            form: ErrorForm::Line,
        }
    }

    /// Returns the error for a report that could not be written to its destination.
    pub fn undelivered(to: impl Display, cause: &std::io::Error) -> Self {
        let error = Self::failed(format_args!("cannot write the report to {to}: {cause}"));
        match cause.kind() {
            std::io::ErrorKind::BrokenPipe => error.shown(ErrorForm::ClosedPipe),
            _ => error,
        }
    }

    #[must_use]
    pub fn shown(self, form: ErrorForm) -> Self {
        Self { form, ..self }
    }
}

/// Converts errors of other crates that occur before any file is changed.
macro_rules! refused {
    ($($error:ty),*) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::refused(error)
            }
        })*
    };
}

refused!(
    archive::ArchiveError,
    spec::ConfigError,
    study::GateError,
    workload::WorkloadError
);

impl From<runner::Refused> for Error {
    fn from(refused: runner::Refused) -> Self {
        match refused.left_something() {
            true => Self::failed(refused),
            false => Self::refused(refused),
        }
    }
}

impl From<report::page::PageError> for Error {
    fn from(error: report::page::PageError) -> Self {
        Self::failed(format_args!("cannot make the page: {error}"))
    }
}
