//! The error that all commands and campaigns have.

use std::fmt::Display;

/// Why a command or a campaign cannot begin or go on, in words for the user.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    text: String,
    /// The exit status.
    pub code: u8,
    /// How it is shown.
    pub form: ErrorForm,
}

/// How an error is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorForm {
    /// As one line.
    Line,
    /// With the lines of the file that it is about.
    Lines,
    /// Not at all: rank 0 shows it.
    Silent,
    /// A reader has closed its pipe, as in `postmark schema | head`: it has read what it wants.
    ClosedPipe,
}

impl Error {
    /// What was asked for is wrong. Nothing was touched.
    pub fn refused(why: impl Display) -> Self {
        Self::with_code(2, why)
    }

    /// Something failed after runs may have been performed.
    pub fn failed(why: impl Display) -> Self {
        Self::with_code(1, why)
    }

    /// One with an exit status of its own.
    pub fn with_code(code: u8, why: impl Display) -> Self {
        Self {
            text: why.to_string(),
            code,
            form: ErrorForm::Line,
        }
    }

    /// A report could not be delivered.
    pub fn undelivered(to: impl Display, cause: &std::io::Error) -> Self {
        let error = Self::failed(format_args!("cannot write the report to {to}: {cause}"));
        match cause.kind() {
            std::io::ErrorKind::BrokenPipe => error.shown(ErrorForm::ClosedPipe),
            _ => error,
        }
    }

    /// The same in another form.
    #[must_use]
    pub fn shown(self, form: ErrorForm) -> Self {
        Self { form, ..self }
    }
}

/// Errors of others after which nothing was touched.
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
